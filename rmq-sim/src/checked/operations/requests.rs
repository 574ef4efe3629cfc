//! Requests, replied to or not.

use rmq_core::{Event, Instant, NoReplyError, NoReplyErrorKind, OpId};

use super::{Op, Operations, sends};
use crate::checked::call::Kind;
use crate::checked::{ONE_TERMINAL_EVENT, WITHIN_POLICY};
use crate::oracle::Violation;

/// Counts the end of a request, and judges it.
pub(super) fn ended(ops: &mut Operations, now: Instant, op: OpId, event: &Event) -> Result<(), Violation> {
    let ended = ops.end(op, event)?;
    match event {
        Event::Replied { reply, .. } => {
            ops.tally.requests_succeeded += 1;
            is_request(op, &ended, "Replied")?;
            Violation::unless((1..=ended.attempts).contains(&reply.attempts), WITHIN_POLICY, || {
                format!("{op:?} was replied to after {} attempts of {}", reply.attempts, ended.attempts)
            })
        }
        Event::RequestFailed { error, .. } => {
            ops.tally.requests_failed += 1;
            is_request(op, &ended, "RequestFailed")?;
            no_reply(now, op, &ended, error)
        }
        _ => Ok(()),
    }
}

fn is_request(op: OpId, ended: &Op, told: &str) -> Result<(), Violation> {
    Violation::unless(ended.kind == Kind::Request, ONE_TERMINAL_EVENT, || {
        format!("{op:?}, {}, is {told}", ended.kind.name())
    })
}

/// A request that was given up: its time was over, or its send failed.
fn no_reply(now: Instant, op: OpId, ended: &Op, error: &NoReplyError) -> Result<(), Violation> {
    let over = error.took() >= ended.deadline.saturating_since(ended.began);
    let true_kind = match error.kind() {
        NoReplyErrorKind::TimedOut => over,
        NoReplyErrorKind::SendFailed => !over && error.request().is_err(),
        _ => true,
    };
    let lived = now.saturating_since(ended.began);
    Violation::unless(true_kind && error.took() <= lived, WITHIN_POLICY, || {
        format!("{op:?} got no reply after {lived:?}: {error:?}")
    })?;
    match error.request() {
        Ok(sent) => Violation::unless((1..=ended.attempts).contains(&sent.attempts), WITHIN_POLICY, || {
            format!("{op:?} was sent in attempt {} of {}", sent.attempts, ended.attempts)
        }),
        Err(error) => sends::failure(now, op, ended, error),
    }
}
