//! A message given back to its broker, to be consumed again later (producer §12).

mod message;
mod op;

pub use message::{Redelivery, SendBack, SendBackInvalid};
pub(crate) use op::{AfterFailure, BackStep, SendBackOp};

use crate::event::SendResult;

/// How a message was given back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SentBack {
    /// The broker that has the message took it back: it is in the group's retry topic, waits for its delay there, or is
    /// a dead letter.
    ByBroker,
    /// That broker could not be asked, or did not say yes: a copy was sent to the group's retry topic. Where that broker
    /// was asked and its answer was lost, the group may get the message twice.
    RetryTopic(SendResult),
}
