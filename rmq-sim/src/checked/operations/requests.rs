//! Requests that got no reply.

use rmq_core::{Instant, NoReplyError, NoReplyErrorKind, OpId};

use super::{Op, failure};
use crate::checked::call::Kind;
use crate::checked::{ONE_TERMINAL_EVENT, WITHIN_POLICY};
use crate::oracle::Violation;

/// A request that was given up: its time was over, or its send failed.
pub(super) fn no_reply(now: Instant, op: OpId, ended: &Op, error: &NoReplyError) -> Result<(), Violation> {
    let is_request = ended.kind == Kind::Request;
    Violation::unless(is_request, ONE_TERMINAL_EVENT, || {
        format!("{op:?}, {}, is RequestFailed", ended.kind.name())
    })?;
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
        Err(error) => failure(now, op, ended, error),
    }
}
