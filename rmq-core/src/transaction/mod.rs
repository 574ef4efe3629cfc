//! Transactions (producer §9): half messages that are ended, and what brokers ask about those that are not.
//!
//! A half message is an ordinary send. Its end is a one-way request, carried by a [`SendOp`](crate::producer::SendOp) so
//! that all operations have one table, one timer and one way out. A check is no operation: it is what a broker wants to
//! know, kept until it is answered or too old.

mod check;
mod end;

pub use check::CheckToken;
pub(crate) use check::{ANSWER_TIMEOUT, Check, MAX_AGE};
pub(crate) use end::{End, Offsets};

use rmq_proto::message::{Prepared, SysFlag, TransactionType};
use rmq_proto::properties;

/// Whether a message was prepared to be a half message of this group.
pub(crate) fn is_half_of(message: &Prepared, group: &str) -> bool {
    SysFlag(message.sys_flag()).transaction() == TransactionType::Prepared
        && properties::value(message.properties(), properties::PGROUP) == Some(group)
}
