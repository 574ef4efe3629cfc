//! How recalls may end.

use rmq_core::{Instant, OpId, RecallError, SendErrorKind};

use super::super::call::Kind;
use super::super::{ONE_TERMINAL_EVENT, WITHIN_POLICY};
use super::Op;
use crate::oracle::Violation;

pub(super) fn ended(op: OpId, ended: &Op, how: &str) -> Result<(), Violation> {
    Violation::unless(ended.kind == Kind::Recall, ONE_TERMINAL_EVENT, || {
        format!("{op:?}, {}, is {how}", ended.kind.name())
    })
}

/// A recall that was given up: in its time, after at most one attempt.
pub(super) fn failure(now: Instant, op: OpId, ended: &Op, error: &RecallError) -> Result<(), Violation> {
    let lived = now.saturating_since(ended.began);
    let tried = error.attempt().is_none_or(|attempt| attempt.began + attempt.took <= error.took());
    let true_kind = match error.kind() {
        SendErrorKind::TimedOut => error.took() >= ended.deadline.saturating_since(ended.began),
        SendErrorKind::AttemptsExhausted | SendErrorKind::Refused => error.attempt().is_some(),
        _ => true,
    };
    Violation::unless(true_kind && tried && error.took() <= lived, WITHIN_POLICY, || {
        format!("{op:?}, a recall, failed after {lived:?}: {error:?}")
    })
}
