//! Why a request got no reply.

use alloc::boxed::Box;
use core::fmt;
use core::time::Duration;

use rmq_proto::code::ResponseCode;

use super::SendError;
use super::request::Rounded;
use crate::event::SendResult;

/// How a request came to its end without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoReplyErrorKind {
    /// It could not be sent, and its time was not over yet. Java: MQClientException -1.
    SendFailed,
    /// Its time was over; [`request`](NoReplyError::request) says whether a broker had it. Java: RequestTimeoutException
    /// 10006.
    TimedOut,
    /// The client shut down before.
    ShutDown,
}

/// A request that was given up, and what became of the message itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoReplyError(pub(crate) Box<NoReply>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoReply {
    pub(crate) kind: NoReplyErrorKind,
    pub(crate) sent: Option<SendResult>,
    /// Of a request that was sent, what its send would have come to.
    pub(crate) error: SendError,
}

impl NoReplyError {
    /// How it ended.
    pub fn kind(&self) -> NoReplyErrorKind {
        self.0.kind
    }

    /// What became of the request itself: where it is, or why no broker said that it has it.
    ///
    /// # Errors
    ///
    /// The failure of its send.
    pub fn request(&self) -> Result<&SendResult, &SendError> {
        self.0.sent.as_ref().ok_or(&self.0.error)
    }

    /// The topic of the request.
    pub fn topic(&self) -> &str {
        self.0.error.topic()
    }

    /// The id of the request.
    pub fn message_id(&self) -> &str {
        self.0.error.message_id()
    }

    /// Time from the call to its end.
    pub fn took(&self) -> Duration {
        self.0.error.took()
    }

    /// The code of the last attempt to send it, when a broker answered that one with an error.
    pub fn code(&self) -> Option<ResponseCode> {
        self.request().err().and_then(SendError::code)
    }

    /// Whether the same call may succeed later with nothing changed on the user's side. The other side may then get the
    /// request twice.
    pub fn is_retryable(&self) -> bool {
        match (self.0.kind, self.request()) {
            (NoReplyErrorKind::ShutDown, _) => false,
            (_, Ok(_)) => true,
            (_, Err(error)) => error.is_retryable(),
        }
    }

    /// Whether a broker has the request, or may have it all the same: the other side may act on it.
    pub fn may_have_been_stored(&self) -> bool {
        self.request().map_or_else(SendError::may_have_been_stored, |_| true)
    }
}

impl fmt::Display for NoReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, topic) = (self.message_id(), self.topic());
        write!(f, "no reply to request {id} of topic `{topic}`")?;
        match self.0.kind {
            NoReplyErrorKind::SendFailed => {}
            NoReplyErrorKind::TimedOut => write!(f, " within {}", Rounded(self.took()))?,
            NoReplyErrorKind::ShutDown => f.write_str(", as the client shut down")?,
        }
        match self.request() {
            Ok(sent) => write!(f, "; it is stored in {} at offset {}", sent.queue, sent.queue_offset),
            Err(error) => write!(f, ": {error}"),
        }
    }
}

impl core::error::Error for NoReplyError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.request().err().map(|error| error as _)
    }
}
