//! What went wrong, with what a user needs to act on it.

mod no_reply;
mod recall;
mod request;
mod send;
mod send_back;
mod transaction;

pub(crate) use no_reply::NoReply;
pub use no_reply::{NoReplyError, NoReplyErrorKind};
pub use recall::RecallError;
pub(crate) use request::cut;
pub(crate) use request::kept;
pub use request::{CloseCause, RequestError};
pub(crate) use send::SendFailure;
pub use send::{Attempt, SendError, SendErrorKind, ServerOutcome};
pub(crate) use send_back::SendBackFailure;
pub use send_back::{SendBackAttempt, SendBackError, SendBackErrorKind};
pub use transaction::EndTransactionError;

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
    /// The request names another client as the one to reply to.
    #[error("the request was prepared for another client")]
    OtherClient,
    /// The name of the topic breaks a rule of names, for a send-back that of its retry topic. It may do so only within the
    /// client's namespace, which makes it longer.
    #[error("no topic can have this name, with the client's namespace if it has one")]
    TopicName,
    /// The message was not prepared to be a half message of the producer's group.
    #[error("not a half message of the producer's group: prepare it with `Message::prepare_half`")]
    NotHalf,
    /// The broker gave the half message an offset id that cannot be read, so it cannot be told where the message is.
    #[error(
        "the offset id of the half message cannot be read: leave its transaction to the broker, which will ask"
    )]
    OffsetMessageId,
    /// The check was answered or let go before, or is older than 60 s.
    #[error("the check was answered before, or is older than 60 s: the broker asks again if it has to")]
    CheckOver,
    /// The client is shutting down or has shut down.
    #[error("the client is shut down")]
    ShutDown,
}
