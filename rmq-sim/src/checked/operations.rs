//! Operations: each ends once, in the way it may, in its time.

mod recalls;
mod requests;
mod send_backs;
mod sends;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rmq_core::{Event, Instant, Limits, OpId, ProducerConfig, ProducerId, RejectReason};

use super::call::{Call, Kind};
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

/// Attempts that a send-back has to send to the retry topic.
const RETRY_ATTEMPTS: u32 = 3;

/// An operation whose end was not polled yet.
#[derive(Clone, Copy, Debug)]
struct Op {
    began: Instant,
    deadline: Instant,
    /// When the time for a send-back's broker is over.
    asked_until: Option<Instant>,
    attempts: u32,
    backoff: Duration,
    kind: Kind,
    cancelled: bool,
    /// Least bytes it holds: its body and the properties it was given.
    bytes: usize,
    /// Most bytes of its message ids.
    ids: usize,
}

/// How many operations came to what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) accepted: u64,
    pub(super) oneways: u64,
    pub(super) rejected: u64,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) backs: u64,
    pub(super) backs_succeeded: u64,
    pub(super) backs_failed: u64,
    pub(super) recalls: u64,
    pub(super) recalls_succeeded: u64,
    pub(super) recalls_failed: u64,
    pub(super) requests: u64,
    pub(super) requests_succeeded: u64,
    pub(super) requests_failed: u64,
    pub(super) cancelled: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Operations {
    limits: Limits,
    producers: BTreeMap<ProducerId, Policy>,
    live: BTreeMap<OpId, Op>,
    by_deadline: BTreeSet<(Instant, OpId)>,
    /// Send-backs that had no turn yet after the time for their brokers was over.
    asking: BTreeSet<(Instant, OpId)>,
    /// The newest operation of each index. Ids of one index only grow, so one that does not was used before.
    newest: BTreeMap<usize, OpId>,
    bytes: usize,
    ids: usize,
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
            asking: BTreeSet::new(),
            newest: BTreeMap::new(),
            bytes: 0,
            ids: 0,
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
        (self.bytes, self.bytes + self.ids)
    }

    pub(super) fn accepted(&mut self, now: Instant, op: OpId, call: Call) -> Result<(), Violation> {
        match call.kind {
            Kind::Back { .. } | Kind::DeadLetter => self.tally.backs += 1,
            Kind::Send | Kind::SendTo | Kind::Oneway => self.tally.accepted += 1,
            Kind::Recall => self.tally.recalls += 1,
            Kind::Request => self.tally.requests += 1,
            Kind::FindQueues => {}
        }
        self.tally.oneways += u64::from(call.kind == Kind::Oneway);
        let known = self.producers.get(&call.producer).copied();
        let policy = known.ok_or_else(|| {
            Violation::new(WITHIN_LIMITS, format!("{op:?} was accepted for {:?}, unknown", call.producer))
        })?;
        let live = self.live.len();
        let timeout = call.timeout.unwrap_or(policy.timeout);
        let Call { kind, bytes, ids, .. } = call;
        let (attempts, deadline) = match kind {
            Kind::Send | Kind::Request | Kind::DeadLetter => (policy.attempts, now + timeout),
            Kind::SendTo => (policy.attempts_at_queue, now + timeout),
            Kind::Oneway | Kind::Recall => (1, now + timeout),
            Kind::FindQueues => (0, now + timeout),
            Kind::Back { retry } => (RETRY_ATTEMPTS, now + timeout + retry),
        };
        let asked_until = matches!(kind, Kind::Back { .. }).then_some(now + timeout);
        let backoff = policy.backoff;
        let new =
            Op { began: now, deadline, asked_until, attempts, backoff, kind, cancelled: false, bytes, ids };
        let last = self.newest.insert(op.index(), op);
        if self.live.insert(op, new).is_none() {
            self.bytes += bytes;
            self.ids += ids;
            self.by_deadline.insert((deadline, op));
            self.asking.extend(asked_until.map(|at| (at, op)));
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
                    && (call.bytes..=call.bytes + call.ids).contains(&more)
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
                sends::sent(*op, &ended, result)?;
            }
            Event::OnewayWritten { op } => {
                let ended = self.end(*op, event)?;
                self.tally.succeeded += 1;
                sends::written(*op, &ended)?;
            }
            Event::QueuesFound { op, queues } => {
                let ended = self.end(*op, event)?;
                sends::queues_found(*op, &ended, queues)?;
            }
            Event::SendFailed { op, error } => {
                let ended = self.end(*op, event)?;
                self.tally.failed += u64::from(ended.kind != Kind::FindQueues);
                sends::failed(now, *op, &ended, error)?;
            }
            Event::SentBack { op, how } => {
                let ended = self.end(*op, event)?;
                self.tally.backs_succeeded += 1;
                send_backs::sent_back(*op, &ended, how)?;
            }
            Event::SendBackFailed { op, error } => {
                let ended = self.end(*op, event)?;
                self.tally.backs_failed += 1;
                send_backs::failure(now, *op, &ended, error)?;
            }
            Event::Recalled { op, .. } => {
                let ended = self.end(*op, event)?;
                self.tally.recalls_succeeded += 1;
                recalls::ended(*op, &ended, "Recalled")?;
            }
            Event::RecallFailed { op, error } => {
                let ended = self.end(*op, event)?;
                self.tally.recalls_failed += 1;
                recalls::ended(*op, &ended, "RecallFailed")?;
                recalls::failure(now, *op, &ended, error)?;
            }
            Event::Replied { op, .. } | Event::RequestFailed { op, .. } => {
                requests::ended(self, now, *op, event)?;
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
        self.asking.remove(&(ended.asked_until.unwrap_or(ended.deadline), op));
        self.bytes -= ended.bytes;
        self.ids -= ended.ids;
        Ok(ended)
    }

    /// The retry of a send-back has all its time, however late the turn comes in which the time of its broker is over.
    fn let_retry(&mut self, now: Instant) {
        while let Some((_, id)) = self.asking.first().copied().filter(|(at, _)| *at <= now) {
            self.asking.pop_first();
            if let Some(op) = self.live.get_mut(&id)
                && let Kind::Back { retry } = op.kind
            {
                self.by_deadline.remove(&(op.deadline, id));
                op.deadline = op.deadline.max(now + retry);
                self.by_deadline.insert((op.deadline, id));
            }
        }
    }

    /// Nothing is left that should have ended by `now`, and the next timer is not too late for what is under way.
    pub(super) fn end_turn(
        &mut self,
        now: Instant,
        next: Option<Instant>,
        over: bool,
    ) -> Result<(), Violation> {
        self.let_retry(now);
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
