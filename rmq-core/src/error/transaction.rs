//! What the end of a transaction came to.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::request::Rounded;
use super::{Attempt, RequestError, SendError, SendFailure};
use crate::address::Address;
use crate::event::Resolution;

/// A broker that could not be told how a transaction went. Nothing is lost: it asks a producer of the group after a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndTransactionError(Box<Failure>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    resolution: Resolution,
    topic: Arc<str>,
    message_id: String,
    broker: Arc<str>,
    address: Option<Address>,
    cause: RequestError,
    took: Duration,
}

impl EndTransactionError {
    /// From the error of the send that carried it, which had one attempt.
    pub(crate) fn of(error: SendError, resolution: Resolution) -> Self {
        let SendFailure { topic, message_id, mut attempts, took, .. } = *error.0;
        let (broker, address, cause) = match attempts.pop() {
            Some(Attempt { broker, address, error, .. }) => (broker, address, error),
            None => (Arc::default(), None, RequestError::Timeout { after: took, written: false }),
        };
        Self(Box::new(Failure { resolution, topic, message_id, broker, address, cause, took }))
    }

    pub(crate) fn topic_mut(&mut self) -> &mut Arc<str> {
        &mut self.0.topic
    }

    /// What it was to be told.
    pub fn resolution(&self) -> Resolution {
        self.0.resolution
    }

    /// The message's topic.
    pub fn topic(&self) -> &str {
        &self.0.topic
    }

    /// The id that this client gave the message.
    pub fn message_id(&self) -> &str {
        &self.0.message_id
    }

    /// Name of the broker; empty when neither it nor a route says it.
    pub fn broker(&self) -> &str {
        &self.0.broker
    }

    /// Its address; none when no route names a master.
    pub fn address(&self) -> Option<&Address> {
        self.0.address.as_ref()
    }

    /// Why it could not be told.
    pub fn cause(&self) -> &RequestError {
        &self.0.cause
    }

    /// Time from the call to its end.
    pub fn took(&self) -> Duration {
        self.0.took
    }

    /// Whether the broker may have been told all the same.
    pub fn may_have_been_told(&self) -> bool {
        self.0.cause.may_have_been_stored()
    }
}

impl fmt::Display for EndTransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { resolution, topic, message_id, broker, address, cause, took } = &*self.0;
        let what = match resolution {
            Resolution::Commit => "committed",
            Resolution::Rollback => "rolled back",
            Resolution::Unknown => "not decided",
        };
        write!(f, "broker `{broker}`")?;
        if let Some(address) = address {
            write!(f, " ({address})")?;
        }
        write!(
            f,
            " does not know yet that message {message_id} of topic `{topic}` is {what}, after {}: {cause}; it will ask",
            Rounded(*took)
        )
    }
}

impl core::error::Error for EndTransactionError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.0.cause)
    }
}
