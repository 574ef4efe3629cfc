//! An open connection.

use alloc::collections::VecDeque;

use rmq_proto::frame::FrameDecoder;

use super::Pending;
use crate::event::OpId;
use crate::io::ConnId;
use crate::time::Instant;

/// Silent timeouts in a row that close a connection.
const SILENCE: u32 = 2;

/// How far apart the opaques of two connections begin. Each connection counts for itself, so that its bytes do not
/// depend on what others do; the distance lets a person tell them apart in a capture.
const OPAQUES_APART: i32 = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Up {
    pub(crate) conn: ConnId,
    pub(crate) decoder: FrameDecoder,
    pub(crate) pending: Pending,
    /// Whether a write marker waits in the outputs.
    pub(crate) write_queued: bool,
    /// Bytes handed to the stream and not yet reported written.
    outstanding: usize,
    pub(crate) stall_deadline: Option<Instant>,
    pub(crate) last_activity: Instant,
    pub(crate) received: u64,
    handed: u64,
    written: u64,
    /// One-way sends, by the count of written bytes that completes each.
    oneways: VecDeque<(u64, OpId)>,
    silent_timeouts: u32,
    next_opaque: i32,
}

impl Up {
    pub(crate) fn new(conn: ConnId, now: Instant, max_frame: usize) -> Self {
        Self {
            conn,
            next_opaque: (conn.serial as i32).wrapping_mul(OPAQUES_APART),
            decoder: FrameDecoder::new(max_frame),
            pending: Pending::default(),
            write_queued: false,
            outstanding: 0,
            stall_deadline: None,
            last_activity: now,
            received: 0,
            handed: 0,
            written: 0,
            oneways: VecDeque::new(),
            silent_timeouts: 0,
        }
    }

    /// The next opaque that no waiting request has (wire §1.4); wraps.
    pub(crate) fn take_opaque(&mut self) -> i32 {
        loop {
            let opaque = self.next_opaque;
            self.next_opaque = opaque.wrapping_add(1);
            if mutated!(ReuseOpaque) && opaque % 4 == 3 {
                return opaque - 1;
            }
            if !self.pending.contains(opaque) {
                return opaque;
            }
        }
    }

    /// Whether a write may be handed out.
    pub(crate) fn has_credit(&self) -> bool {
        self.outstanding == 0 || mutated!(WriteWithoutCredit)
    }

    /// Bytes that the stream has not taken yet.
    pub(crate) fn unwritten(&self) -> usize {
        self.outstanding
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.outstanding == 0 && self.pending.is_empty()
    }

    /// A one-way send ends when the stream has taken `bytes` more than it was handed so far.
    pub(crate) fn push_oneway(&mut self, bytes: usize, op: OpId) {
        self.oneways.push_back((self.handed + bytes as u64, op));
    }

    pub(crate) fn hand_out(&mut self, bytes: usize, now: Instant, stall_deadline: Instant) {
        self.outstanding += bytes;
        self.handed += bytes as u64;
        self.stall_deadline = Some(stall_deadline);
        self.last_activity = now;
    }

    /// Reports progress; returns how much of it can be, which is less when more is reported than was handed out.
    pub(crate) fn progress(&mut self, bytes: usize, now: Instant, stall_deadline: Instant) -> usize {
        let bytes = bytes.min(self.outstanding);
        if bytes > 0 {
            self.outstanding -= bytes;
            self.written += bytes as u64;
            self.last_activity = now;
            self.stall_deadline = if self.outstanding == 0 { None } else { Some(stall_deadline) };
        }
        bytes
    }

    /// The next one-way send whose bytes are all written.
    pub(crate) fn pop_oneway(&mut self) -> Option<OpId> {
        let &(end, op) = self.oneways.front()?;
        if end > self.written {
            return None;
        }
        self.oneways.pop_front();
        Some(op)
    }

    pub(crate) fn oneways(&self) -> impl Iterator<Item = OpId> {
        self.oneways.iter().map(|(_, op)| *op)
    }

    pub(crate) fn receive(&mut self, bytes: usize, now: Instant) {
        self.received += bytes as u64;
        self.silent_timeouts = 0;
        self.last_activity = now;
    }

    /// Counts a timeout of a request after whose writing nothing at all came in; true when it is one too many.
    pub(crate) fn timed_out(&mut self, received_when_written: u64) -> bool {
        if self.received != received_when_written {
            return false;
        }
        self.silent_timeouts += 1;
        self.silent_timeouts >= SILENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmq_proto::code::RequestCode;

    use crate::link::{Entry, Owner};
    use crate::route::TopicId;
    use crate::slab::Id;

    fn entry() -> Entry {
        let owner = Owner::Route(TopicId(Id { slot: 0, generation: 0 }));
        Entry {
            owner: Some(owner),
            code: RequestCode::HEART_BEAT,
            again: false,
            written_at: Instant::ZERO,
            received: 0,
        }
    }

    #[test]
    fn bug_03_opaques_wrap_and_skip_those_that_wait() {
        let mut up = Up::new(ConnId { slot: 0, serial: 0 }, Instant::ZERO, 1_024);
        up.next_opaque = i32::MAX;
        up.pending.insert(i32::MIN, entry());
        let taken = [up.take_opaque(), up.take_opaque(), up.take_opaque()];
        assert_eq!(taken, [i32::MAX, i32::MIN + 1, i32::MIN + 2]);
    }

    #[test]
    fn connections_count_apart() {
        let first = |serial| Up::new(ConnId { slot: 0, serial }, Instant::ZERO, 1_024).take_opaque();
        assert_eq!([first(0), first(1)], [0, OPAQUES_APART]);
    }
}
