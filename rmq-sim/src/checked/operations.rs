//! Operations: each ends once, in the way it may, in its time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rmq_core::proto::message::{ID_ROOM, Prepared};
use rmq_core::{
    Event, Instant, Limits, OpId, ProducerConfig, ProducerId, RejectReason, SendError, SendErrorKind,
    SendOptions,
};

use super::{ONE_TERMINAL_EVENT, WITHIN_LIMITS, WITHIN_POLICY};
use crate::oracle::Violation;

/// What a producer's sends are held to.
#[derive(Clone, Copy, Debug)]
struct Policy {
    timeout: Duration,
    attempts: u32,
    attempts_at_queue: u32,
    backoff: Duration,
}

/// An operation whose end was not polled yet.
#[derive(Clone, Copy, Debug)]
struct Op {
    began: Instant,
    deadline: Instant,
    attempts: u32,
    backoff: Duration,
    kind: Kind,
    oneway: bool,
    cancelled: bool,
    /// Least bytes it holds: its body and the properties it was given.
    bytes: usize,
}

/// Where an operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// To any queue of its topic.
    Send,
    /// To a given one.
    SendTo,
    /// Nowhere: it asks for the queues.
    FindQueues,
}

/// What an operation brings, as far as the contract speaks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    producer: ProducerId,
    timeout: Option<Duration>,
    oneway: bool,
    bytes: usize,
    kind: Kind,
}

impl Call {
    pub(super) fn new(kind: Kind, producer: ProducerId, message: &Prepared, options: SendOptions) -> Self {
        let SendOptions { timeout, oneway, .. } = options;
        let bytes = message.body().len() + message.properties().len();
        Self { producer, timeout, oneway, bytes, kind }
    }

    /// The same call with the message that came back.
    pub(super) fn again(self, message: &Prepared, options: SendOptions) -> Self {
        Self::new(self.kind, self.producer, message, options)
    }

    pub(super) fn find_queues(producer: ProducerId, timeout: Option<Duration>) -> Self {
        Self { producer, timeout, oneway: false, bytes: 0, kind: Kind::FindQueues }
    }
}

/// How many operations came to what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) accepted: u64,
    pub(super) oneways: u64,
    pub(super) rejected: u64,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Operations {
    limits: Limits,
    producers: BTreeMap<ProducerId, Policy>,
    live: BTreeMap<OpId, Op>,
    by_deadline: BTreeSet<(Instant, OpId)>,
    /// The newest operation of each index. Ids of one index only grow, so one that does not was used before.
    newest: BTreeMap<usize, OpId>,
    bytes: usize,
    pub(super) tally: Tally,
    /// By when a shutdown has to be over.
    pub(super) shutdown: Option<Instant>,
}

impl Operations {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            producers: BTreeMap::new(),
            live: BTreeMap::new(),
            by_deadline: BTreeSet::new(),
            newest: BTreeMap::new(),
            bytes: 0,
            tally: Tally::default(),
            shutdown: None,
        }
    }

    pub(super) fn producer(&mut self, id: ProducerId, config: &ProducerConfig) {
        let policy = Policy {
            timeout: config.timeout(),
            attempts: config.max_attempts().get(),
            attempts_at_queue: config.max_attempts_at_queue().get(),
            backoff: config.backoff(),
        };
        self.producers.insert(id, policy);
    }

    pub(super) fn producers(&self) -> usize {
        self.producers.len()
    }

    pub(super) fn live(&self) -> usize {
        self.live.len()
    }

    /// Least and most bytes that the operations under way hold.
    pub(super) fn bytes(&self) -> (usize, usize) {
        (self.bytes, self.bytes + self.live.len() * ID_ROOM)
    }

    pub(super) fn accepted(&mut self, now: Instant, op: OpId, call: Call) -> Result<(), Violation> {
        self.tally.accepted += u64::from(call.kind != Kind::FindQueues);
        self.tally.oneways += u64::from(call.oneway);
        let known = self.producers.get(&call.producer).copied();
        let policy = known.ok_or_else(|| {
            Violation::new(WITHIN_LIMITS, format!("{op:?} was accepted for {:?}, unknown", call.producer))
        })?;
        let live = self.live.len();
        let timeout = call.timeout.unwrap_or(policy.timeout);
        let attempts = match call.kind {
            _ if call.oneway => 1,
            Kind::SendTo => policy.attempts_at_queue,
            Kind::Send => policy.attempts,
            Kind::FindQueues => 0,
        };
        let deadline = now + timeout;
        let Call { oneway, bytes, kind, .. } = call;
        let backoff = policy.backoff;
        let new = Op { began: now, deadline, attempts, backoff, kind, oneway, cancelled: false, bytes };
        let last = self.newest.insert(op.index(), op);
        if self.live.insert(op, new).is_none() {
            self.bytes += call.bytes;
            self.by_deadline.insert((deadline, op));
        }
        Violation::unless(last.is_none_or(|last| last < op), ONE_TERMINAL_EVENT, || {
            format!("{op:?} was given out after {last:?}")
        })?;
        Violation::unless(self.shutdown.is_none(), ONE_TERMINAL_EVENT, || {
            format!("{op:?} was accepted after the call of shutdown")
        })?;
        Violation::unless(
            live < self.limits.operations && self.bytes <= self.limits.operation_bytes,
            WITHIN_LIMITS,
            || format!("{op:?} was accepted as number {} with {} bytes under way", live + 1, self.bytes),
        )
    }

    /// A command was turned away: the reason has to be true.
    pub(super) fn rejected(&mut self, call: Call, reason: RejectReason) -> Result<(), Violation> {
        self.tally.rejected += 1;
        let (least, most) = self.bytes();
        let true_reason = match reason {
            RejectReason::TooManyOperations { limit } => {
                limit == self.limits.operations && self.live.len() >= limit
            }
            RejectReason::TooManyBytes { held, more, limit } => {
                limit == self.limits.operation_bytes
                    && (least..=most).contains(&held)
                    && (call.bytes..=call.bytes + ID_ROOM).contains(&more)
                    && held.saturating_add(more) > limit
            }
            RejectReason::UnknownProducer => !self.producers.contains_key(&call.producer),
            RejectReason::ShutDown => self.shutdown.is_some(),
            _ => true,
        };
        Violation::unless(true_reason, WITHIN_LIMITS, || {
            format!("{reason:?} with {} operations of {least} to {most} bytes", self.live.len())
        })
    }

    pub(super) fn cancel(&mut self, op: OpId) {
        if let Some(op) = self.live.get_mut(&op) {
            op.cancelled = true;
        }
    }

    /// An event was polled. Returns whether it ended an operation.
    pub(super) fn event(&mut self, now: Instant, event: &Event) -> Result<bool, Violation> {
        match event {
            Event::Sent { op, result } => {
                let ended = self.end(*op, event)?;
                self.tally.succeeded += 1;
                Violation::unless(!ended.oneway, ONE_TERMINAL_EVENT, || format!("one-way {op:?} is Sent"))?;
                Violation::unless((1..=ended.attempts).contains(&result.attempts), WITHIN_POLICY, || {
                    format!("{op:?} was sent in attempt {} of {}", result.attempts, ended.attempts)
                })?;
            }
            Event::OnewayWritten { op } => {
                let ended = self.end(*op, event)?;
                self.tally.succeeded += 1;
                Violation::unless(ended.oneway, ONE_TERMINAL_EVENT, || {
                    format!("two-way {op:?} is OnewayWritten")
                })?;
            }
            Event::QueuesFound { op, queues } => {
                let ended = self.end(*op, event)?;
                let asked = ended.kind == Kind::FindQueues;
                Violation::unless(asked && !queues.is_empty(), ONE_TERMINAL_EVENT, || {
                    format!("{op:?}, a {:?}, found the queues {queues:?}", ended.kind)
                })?;
            }
            Event::SendFailed { op, error } => {
                let ended = self.end(*op, event)?;
                self.tally.failed += u64::from(ended.kind != Kind::FindQueues);
                failure(now, *op, &ended, error)?;
            }
            Event::Cancelled { op } => {
                let ended = self.end(*op, event)?;
                self.tally.cancelled += 1;
                Violation::unless(ended.cancelled, ONE_TERMINAL_EVENT, || {
                    format!("{op:?} is Cancelled, which nobody asked for")
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn end(&mut self, op: OpId, event: &Event) -> Result<Op, Violation> {
        let Some(ended) = self.live.remove(&op) else {
            let known = self.newest.get(&op.index()).is_some_and(|newest| *newest >= op);
            let what = if known { "has ended already" } else { "was never accepted" };
            return Err(Violation::new(ONE_TERMINAL_EVENT, format!("{op:?} {what}: {event:?}")));
        };
        self.by_deadline.remove(&(ended.deadline, op));
        self.bytes -= ended.bytes;
        Ok(ended)
    }

    /// Nothing is left that should have ended by `now`, and the next timer is not too late for what is under way.
    pub(super) fn end_turn(&self, now: Instant, next: Option<Instant>, over: bool) -> Result<(), Violation> {
        if let Some((deadline, op)) = self.by_deadline.first() {
            Violation::unless(*deadline > now, WITHIN_POLICY, || {
                format!("{op:?}, due at {deadline:?}, has not ended at {now:?}")
            })?;
            let never = *deadline == Instant::from_micros(u64::MAX);
            Violation::unless(never || next.is_some_and(|next| next <= *deadline), WITHIN_POLICY, || {
                format!("{op:?} is due at {deadline:?}, the next timer at {next:?}")
            })?;
        }
        let late = self.shutdown.filter(|by| *by <= now && !over);
        Violation::unless(late.is_none(), WITHIN_POLICY, || {
            format!("the shutdown, due at {late:?}, has not ended at {now:?}")
        })
    }
}

/// Whether the wait before another attempt would have lasted to the end.
fn no_time_left(ended: &Op, error: &SendError) -> bool {
    let last = error.attempts().last();
    let time = ended.deadline.saturating_since(ended.began);
    last.is_some_and(|last| last.began.saturating_add(ended.backoff) >= time)
}

/// Times and attempts of a send that was given up.
fn failure(now: Instant, op: OpId, ended: &Op, error: &SendError) -> Result<(), Violation> {
    let attempts = error.attempts();
    Violation::unless(attempts.len() <= ended.attempts as usize, WITHIN_POLICY, || {
        format!("{op:?} failed after {} attempts of {}", attempts.len(), ended.attempts)
    })?;
    let used_up = attempts.len() == ended.attempts as usize;
    let true_kind = match error.kind() {
        SendErrorKind::TimedOut => error.took() >= ended.deadline.saturating_since(ended.began),
        SendErrorKind::AttemptsExhausted => used_up || no_time_left(ended, error),
        SendErrorKind::Refused => !attempts.is_empty(),
        _ => true,
    };
    Violation::unless(true_kind, WITHIN_POLICY, || {
        format!("{op:?} failed after {} attempts of {}: {error:?}", attempts.len(), ended.attempts)
    })?;
    let lived = now.saturating_since(ended.began);
    let mut end = Duration::ZERO;
    for attempt in attempts {
        let ordered = attempt.began >= end;
        end = attempt.began.saturating_add(attempt.took);
        Violation::unless(ordered && end <= error.took(), WITHIN_POLICY, || {
            format!("{op:?} has an attempt outside of its time: {error:?}")
        })?;
    }
    Violation::unless(error.took() <= lived, WITHIN_POLICY, || {
        format!("{op:?} says it took {:?}, but began {lived:?} ago", error.took())
    })
}
