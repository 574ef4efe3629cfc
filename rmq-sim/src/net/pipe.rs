//! One direction of a stream.

use std::collections::VecDeque;

use bytes::Bytes;
use rmq_core::Instant;

/// Bytes on their way, in pieces that arrive in the order they left.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    segments: VecDeque<(Instant, Bytes)>,
    len: usize,
    /// When the newest piece arrives; the next one cannot be earlier.
    last: Instant,
    end: Option<Instant>,
    /// Whether a timer is set for the front.
    pub(super) armed: bool,
}

/// What a pipe gives when its time has come.
#[derive(Debug)]
pub(super) enum Arrived {
    Piece(Bytes),
    End,
}

impl Pipe {
    pub(super) const fn new() -> Self {
        Self { segments: VecDeque::new(), len: 0, last: Instant::ZERO, end: None, armed: false }
    }

    /// Bytes that have not arrived.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, arrives: Instant, data: Bytes) {
        self.last = self.last.max(arrives);
        self.len += data.len();
        self.segments.push_back((self.last, data));
    }

    /// Nothing follows; whoever reads learns of it at `arrives`, or after the last piece.
    pub(super) fn end(&mut self, arrives: Instant) {
        self.last = self.last.max(arrives);
        self.end.get_or_insert(self.last);
    }

    /// When there is something to take.
    pub(super) fn next(&self) -> Option<Instant> {
        self.segments.front().map(|(arrives, _)| *arrives).or(self.end)
    }

    pub(super) fn take(&mut self, now: Instant) -> Option<Arrived> {
        if self.next()? > now {
            return None;
        }
        let Some((_, data)) = self.segments.pop_front() else {
            return Some(Arrived::End);
        };
        self.len -= data.len();
        Some(Arrived::Piece(data))
    }

    /// Everything that is on its way, as if it arrived now.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Bytes> + use<> {
        self.len = 0;
        std::mem::take(&mut self.segments).into_iter().map(|(_, data)| data)
    }
}
