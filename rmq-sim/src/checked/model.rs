//! The contract as a model: it is told every call and every output, and says what does not fit.

use rmq_core::{
    ClientConfig, Event, Input, Instant, OpId, Output, ProducerConfig, ProducerId, RejectReason, Stats,
    WriteData,
};

use super::call::Call;
use super::connections::{Connections, Meaning};
use super::frames::Frames;
use super::gauges::Gauges;
use super::operations::Operations;
use super::{NO_SPIN, ONE_TERMINAL_EVENT};
use crate::oracle::Violation;

#[derive(Clone, Debug)]
pub(super) struct Model {
    /// The latest time of any call.
    now: Instant,
    max_frame: usize,
    ops: Operations,
    conns: Connections,
    gauges: Gauges,
    frames: Option<Frames>,
    /// Whether the last event of all was polled.
    over: bool,
    first: Option<Violation>,
    pub(super) violations: u64,
}

impl Model {
    pub(super) fn new(config: &ClientConfig, now: Instant) -> Self {
        let limits = config.limits();
        Self {
            now,
            max_frame: limits.frame,
            ops: Operations::new(limits.clone()),
            conns: Connections::new(limits.write_batch),
            gauges: Gauges::new(limits.clone(), config.name_servers().len()),
            frames: Some(Frames::new(limits.frame)),
            over: false,
            first: None,
            violations: 0,
        }
    }

    /// Looks into frames or not. What was not seen cannot be judged, so nothing changes once a connection was ordered,
    /// but that looking can end.
    pub(super) fn watch_frames(&mut self, watch: bool) {
        if !watch {
            self.frames = None;
        } else if self.frames.is_none() && self.conns.ordered() == 0 {
            self.frames = Some(Frames::new(self.max_frame));
        }
    }

    #[cfg(test)]
    pub(super) fn frames_mut(&mut self) -> Option<&mut Frames> {
        self.frames.as_mut()
    }

    pub(super) fn take_violation(&mut self) -> Option<Violation> {
        self.first.take()
    }

    pub(super) fn note(&mut self, result: Result<(), Violation>) {
        if let Err(violation) = result {
            self.violations += 1;
            self.first = self.first.take().or(Some(violation));
        }
    }

    pub(super) fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    pub(super) fn producer(&mut self, id: ProducerId, config: &ProducerConfig) {
        self.ops.producer(id, config);
    }

    pub(super) fn name_servers(&mut self, count: usize) {
        self.gauges.name_servers(count);
    }

    pub(super) fn accepted(&mut self, op: OpId, call: Call) {
        let result = self.ops.accepted(self.now, op, call);
        self.note(result);
    }

    pub(super) fn rejected(&mut self, call: Call, reason: RejectReason) {
        let result = self.ops.rejected(call, reason);
        self.note(result);
    }

    /// A command that hands nothing back.
    pub(super) fn called(&mut self, call: Call, result: &Result<OpId, RejectReason>) {
        match result {
            Ok(op) => self.accepted(*op, call),
            Err(reason) => self.rejected(call, *reason),
        }
    }

    pub(super) fn answered(&mut self, remark: Option<&str>, result: &Result<OpId, RejectReason>) {
        self.called(Call::answer(remark, self.max_frame), result);
    }

    pub(super) fn cancel(&mut self, op: OpId) {
        self.ops.cancel(op);
    }

    pub(super) fn shutdown(&mut self, within: core::time::Duration) {
        self.ops.shutdown.get_or_insert(self.now + within);
    }

    pub(super) fn input(&mut self, input: &Input) {
        let meaning = self.conns.input(input);
        let Some(frames) = &mut self.frames else { return };
        match (meaning, input) {
            (Meaning::Taken(bytes), Input::Written { conn, .. }) => frames.taken(*conn, bytes),
            (Meaning::Fact, Input::Connected { conn }) => frames.opened(*conn),
            (Meaning::Fact, Input::Received { conn, data }) => frames.received(*conn, data.clone()),
            (Meaning::Fact, Input::Closed { conn, .. }) => frames.gone(*conn),
            _ => {}
        }
    }

    pub(super) fn output(&mut self, output: &Output) {
        let result =
            Violation::unless(!self.over, ONE_TERMINAL_EVENT, || format!("after ShutDown: {output:?}"));
        self.note(result);
        match output {
            Output::Connect { conn, .. } => {
                let result = self.conns.connect(*conn);
                self.note(result);
            }
            Output::Write { conn, data } => {
                let one_frame = is_one_frame(data);
                let result = self.conns.write(*conn, data.len(), one_frame);
                self.note(result);
                let oneways = self.ops.tally.oneways + self.ops.tally.ends;
                if let Some(frames) = &mut self.frames {
                    let result = frames.write(*conn, data.segments(), oneways);
                    self.note(result);
                }
            }
            Output::Close { conn } => {
                let result = self.conns.close(*conn);
                self.note(result);
                if let Some(frames) = &mut self.frames {
                    frames.gone(*conn);
                }
            }
            Output::Event(event) => self.event(event),
        }
    }

    fn event(&mut self, event: &Event) {
        match self.ops.event(self.now, event) {
            Ok(true) => {
                if let Some(result) = self.frames.as_mut().map(|frames| frames.event(event)) {
                    self.note(result);
                }
            }
            Ok(false) => {}
            Err(violation) => self.note(Err(violation)),
        }
        if matches!(event, Event::ShutDown) {
            self.over = true;
            let (ops, conns, asked) = (self.ops.live(), self.conns.live(), self.ops.shutdown.is_some());
            self.note(Violation::unless(asked && ops == 0 && conns == 0, ONE_TERMINAL_EVENT, || {
                format!("ShutDown with {ops} operations and {conns} connections, asked for: {asked}")
            }));
        }
    }

    /// All outputs were polled.
    pub(super) fn drained(&mut self) {
        self.conns.drained();
    }

    /// The driver has done all there is to do, and the client says this.
    pub(super) fn end_turn(&mut self, next: Option<Instant>, stats: &Stats) {
        let (now, over) = (self.now, self.over);
        self.note(Violation::unless(next.is_none_or(|next| next > now), NO_SPIN, || {
            format!("at {now:?} the next timer is at {next:?}")
        }));
        self.note(Violation::unless(next.is_none() || !over, ONE_TERMINAL_EVENT, || {
            format!("after ShutDown a timer is armed at {next:?}")
        }));
        let result = self.ops.end_turn(now, next, over);
        self.note(result);
        let result = self.gauges.check(stats, &self.ops, &self.conns);
        self.note(result);
    }
}

/// Whether the first frame of a write is all of it.
fn is_one_frame(data: &WriteData) -> bool {
    let mut word = [0; 4];
    let mut bytes = data.segments().iter().flatten();
    word.fill_with(|| bytes.next().copied().unwrap_or_default());
    (u32::from_be_bytes(word) as usize).checked_add(4) == Some(data.len())
}
