//! Ends of transactions, told to a broker or not.

use rmq_core::{Event, Instant, OpId, RequestError};

use super::Operations;
use crate::checked::{ONE_TERMINAL_EVENT, WITHIN_POLICY};
use crate::oracle::Violation;

/// Counts the end of one, and judges it.
pub(super) fn ended(ops: &mut Operations, now: Instant, op: OpId, event: &Event) -> Result<(), Violation> {
    let ended = ops.end(op, event)?;
    let error = if let Event::EndTransactionFailed { error, .. } = event { Some(error) } else { None };
    let told = if error.is_some() { "EndTransactionFailed" } else { "TransactionEnded" };
    ops.tally.ends_failed += u64::from(error.is_some());
    ops.tally.ends_written += u64::from(error.is_none());
    Violation::unless(ended.kind.is_end(), ONE_TERMINAL_EVENT, || {
        format!("{op:?}, {}, is {told}", ended.kind.name())
    })?;
    let Some(error) = error else { return Ok(()) };
    let lived = now.saturating_since(ended.began);
    let over = error.took() >= ended.deadline.saturating_since(ended.began);
    let true_cause = over || !matches!(error.cause(), RequestError::Timeout { .. });
    Violation::unless(true_cause && error.took() <= lived, WITHIN_POLICY, || {
        format!("{op:?}, {}, failed after {lived:?}: {error:?}", ended.kind.name())
    })
}
