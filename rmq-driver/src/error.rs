//! What a user of the handles can meet.

use rmq_core::proto::message::{BatchError, InflateError, MessageError, ReplyError};
use rmq_core::{
    ConfigError, EndTransactionError, NoReplyError, RecallError, RecallInvalid, RejectReason, SendBackError,
    SendError,
};

use crate::runtime::SpawnError;

/// A client that could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The client's task cannot be started.
    #[error("cannot start the client's task: {0}")]
    Spawn(#[from] SpawnError),
}

/// Why a message was not sent, given back, recalled or replied to, or is not known to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The message breaks a rule. Nothing was sent.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The messages cannot go out as one batch. Nothing was sent.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The client did not accept the message. Nothing was sent.
    #[error("not accepted: {0}")]
    Rejected(RejectReason),
    /// The selector picked no queue. Nothing was sent.
    #[error("the selector picked no queue")]
    NoQueueChosen,
    /// Accepted and given up; the error says what was tried.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A send-back was accepted and given up; the error says what was tried. The message is still the caller's.
    #[error(transparent)]
    SendBack(#[from] SendBackError),
    /// The message to be recalled cannot be meant so. Nothing was sent.
    #[error(transparent)]
    RecallInvalid(#[from] RecallInvalid),
    /// A recall was accepted and given up; the error says what was tried.
    #[error(transparent)]
    Recall(#[from] RecallError),
    /// A broker could not be told how a transaction went. It has the half message, and asks after a while: nothing is to be done.
    #[error(transparent)]
    EndTransaction(#[from] EndTransactionError),
    /// The message cannot be replied to. Nothing was sent.
    #[error(transparent)]
    NotARequest(#[from] ReplyError),
    /// A request was accepted and got no reply; the error says what became of it.
    #[error(transparent)]
    NoReply(#[from] NoReplyError),
    /// A request was replied to, but the reply's body cannot be inflated.
    #[error("the reply's body cannot be inflated: {0}")]
    ReplyBody(#[from] InflateError),
    /// The client is shut down. Nothing was sent.
    #[error("the client is shut down: start another one")]
    ShutDown,
    /// The client's task ended before its time: its runtime was shut down, or a bug made it panic.
    #[error(
        "the client's task ended before shutdown() was called: its runtime has ended, or lacks I/O or time"
    )]
    TaskLost,
}

impl Error {
    pub(crate) fn rejected(reason: RejectReason) -> Self {
        match reason {
            RejectReason::ShutDown => Self::ShutDown,
            reason => Self::Rejected(reason),
        }
    }

    /// Whether the same call may succeed later with nothing changed on the user's side.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Send(error) => error.is_retryable(),
            Self::SendBack(error) => error.is_retryable(),
            Self::Recall(error) => error.is_retryable(),
            Self::NoReply(error) => error.is_retryable(),
            Self::Rejected(reason) => {
                use RejectReason::{NoPermit, TooManyBytes, TooManyOperations};
                matches!(reason, TooManyOperations { .. } | TooManyBytes { .. } | NoPermit { .. })
            }
            Self::Message(_)
            | Self::Batch(_)
            | Self::RecallInvalid(_)
            | Self::NotARequest(_)
            | Self::ReplyBody(_)
            | Self::NoQueueChosen
            | Self::EndTransaction(_)
            | Self::ShutDown
            | Self::TaskLost => false,
        }
    }

    /// Whether a broker may have stored the message all the same, or recalled it: bytes went out, and no answer settled it.
    pub fn may_have_been_stored(&self) -> bool {
        match self {
            Self::Send(error) => error.may_have_been_stored(),
            Self::SendBack(error) => error.may_have_been_stored(),
            Self::Recall(error) => error.may_have_been_recalled(),
            Self::NoReply(error) => error.may_have_been_stored(),
            Self::ReplyBody(_) | Self::TaskLost | Self::EndTransaction(_) => true,
            Self::Message(_)
            | Self::Batch(_)
            | Self::RecallInvalid(_)
            | Self::NotARequest(_)
            | Self::NoQueueChosen
            | Self::Rejected(_)
            | Self::ShutDown => false,
        }
    }
}
