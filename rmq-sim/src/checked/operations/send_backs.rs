//! How send-backs may end.

use rmq_core::{Instant, OpId, SendBackError, SendBackErrorKind, SentBack};

use super::{Op, sends};
use crate::checked::call::Kind;
use crate::checked::{ONE_TERMINAL_EVENT, WITHIN_POLICY};
use crate::oracle::Violation;

/// A dead letter went nowhere but to its broker; the attempts of any other are within the policy.
pub(super) fn sent_back(op: OpId, ended: &Op, how: &SentBack) -> Result<(), Violation> {
    let (is_back, is_dead) = (ended.kind.is_back(), ended.kind == Kind::DeadLetter);
    let may = match how {
        SentBack::RetryTopic(result) => !is_dead && (1..=ended.attempts).contains(&result.attempts),
        _ => true,
    };
    Violation::unless(is_back, ONE_TERMINAL_EVENT, || format!("{op:?}, {}, is SentBack", ended.kind.name()))?;
    Violation::unless(may, WITHIN_POLICY, || {
        format!("{op:?}, {}, was sent back so: {how:?}", ended.kind.name())
    })
}

/// A send-back that was given up: in its way, in its time, and the retry within its own.
pub(super) fn failure(now: Instant, op: OpId, ended: &Op, error: &SendBackError) -> Result<(), Violation> {
    let lived = now.saturating_since(ended.began);
    let true_kind = match (error.kind(), ended.kind) {
        (SendBackErrorKind::RetryFailed(retry), Kind::Back { retry: timeout }) => {
            let began =
                Instant::from_micros((now.as_micros()).saturating_sub(retry.took().as_micros() as u64));
            sends::failure(now, op, &Op { began, deadline: began + timeout, ..*ended }, retry)?;
            true
        }
        (SendBackErrorKind::DeadLetterRefused, Kind::DeadLetter) => error.tries() > 0,
        (SendBackErrorKind::ShutDown, kind) => kind.is_back(),
        _ => false,
    };
    let took = error.attempts().iter().all(|attempt| attempt.began + attempt.took <= error.took());
    Violation::unless(true_kind && took && error.took() <= lived, WITHIN_POLICY, || {
        format!("{op:?}, {}, failed after {lived:?}: {error:?}", ended.kind.name())
    })
}
