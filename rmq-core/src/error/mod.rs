//! What went wrong, with what a user needs to act on it.

mod request;
mod send;
mod send_back;

pub use request::{CloseCause, RequestError};
pub(crate) use send::SendFailure;
pub use send::{Attempt, SendError, SendErrorKind, ServerOutcome};
pub(crate) use send_back::SendBackFailure;
pub use send_back::{SendBackAttempt, SendBackError, SendBackErrorKind};

/// A command that was not accepted. It hands back what it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Rejected<T> {
    /// Why.
    pub reason: RejectReason,
    /// What the caller passed in.
    pub given: T,
}

/// Why a command was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RejectReason {
    /// As many operations as [`Limits::operations`](crate::Limits::operations) allows are under way or wait to be
    /// told.
    #[error("{limit} operations are under way, the limit: wait for some to end")]
    TooManyOperations {
        /// The limit.
        limit: usize,
    },
    /// The messages under way hold as many bytes as
    /// [`Limits::operation_bytes`](crate::Limits::operation_bytes) allows.
    #[error(
        "messages of {held} bytes are under way and this one has {more}, over the limit of {limit}: wait for some to end"
    )]
    TooManyBytes {
        /// Bytes held.
        held: usize,
        /// Bytes of this message.
        more: usize,
        /// The limit.
        limit: usize,
    },
    /// So much of the producer is under way that the send would have to [wait](crate::InFlight), which it
    /// [may not](crate::SendOptions::no_wait).
    #[error(
        "{messages} messages of {bytes} bytes of this producer are under way, its limit: wait for some to end"
    )]
    NoPermit {
        /// Messages under way.
        messages: usize,
        /// Bytes that they hold.
        bytes: usize,
    },
    /// No such producer was added to this client.
    #[error("the producer belongs to another client")]
    UnknownProducer,
    /// The queue given for a message belongs to another topic than the message.
    #[error("the queue belongs to another topic than the message")]
    OtherTopic,
    /// The name of the topic asked for breaks a rule of names.
    #[error("no topic can have this name")]
    TopicName,
    /// The client is shutting down or has shut down.
    #[error("the client is shut down")]
    ShutDown,
}
