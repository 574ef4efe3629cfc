//! How sends and questions for queues may end.

use std::time::Duration;

use rmq_core::{Instant, MessageQueue, OpId, SendError, SendErrorKind, SendResult};

use super::Op;
use crate::checked::call::Kind;
use crate::checked::{ONE_TERMINAL_EVENT, WITHIN_POLICY};
use crate::oracle::Violation;

pub(super) fn sent(op: OpId, ended: &Op, result: &SendResult) -> Result<(), Violation> {
    Violation::unless(ended.kind.is_two_way(), ONE_TERMINAL_EVENT, || {
        format!("{op:?}, {}, is Sent", ended.kind.name())
    })?;
    Violation::unless((1..=ended.attempts).contains(&result.attempts), WITHIN_POLICY, || {
        format!("{op:?} was sent in attempt {} of {}", result.attempts, ended.attempts)
    })
}

pub(super) fn written(op: OpId, ended: &Op) -> Result<(), Violation> {
    Violation::unless(ended.kind == Kind::Oneway, ONE_TERMINAL_EVENT, || {
        format!("{op:?}, {}, is OnewayWritten", ended.kind.name())
    })
}

pub(super) fn queues_found(op: OpId, ended: &Op, queues: &[MessageQueue]) -> Result<(), Violation> {
    let asked = ended.kind == Kind::FindQueues;
    Violation::unless(asked && !queues.is_empty(), ONE_TERMINAL_EVENT, || {
        format!("{op:?}, {}, found the queues {queues:?}", ended.kind.name())
    })
}

pub(super) fn failed(now: Instant, op: OpId, ended: &Op, error: &SendError) -> Result<(), Violation> {
    let is_send = !ended.kind.is_back() && !matches!(ended.kind, Kind::Recall | Kind::Request);
    Violation::unless(is_send, ONE_TERMINAL_EVENT, || {
        format!("{op:?}, {}, is SendFailed", ended.kind.name())
    })?;
    failure(now, op, ended, error)
}

/// Whether the wait before another attempt would have lasted to the end.
fn no_time_left(ended: &Op, error: &SendError) -> bool {
    let last = error.attempts().last();
    let time = ended.deadline.saturating_since(ended.began);
    last.is_some_and(|last| last.began.saturating_add(ended.backoff) >= time)
}

/// Times and attempts of a send that was given up.
pub(super) fn failure(now: Instant, op: OpId, ended: &Op, error: &SendError) -> Result<(), Violation> {
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
