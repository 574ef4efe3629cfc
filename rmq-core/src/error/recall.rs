//! What a recall came to.

use core::fmt;
use core::time::Duration;

use rmq_proto::code::ResponseCode;

use super::{Attempt, SendError, SendErrorKind};

/// A recall that was given up. Unless it [was carried out](Self::may_have_been_recalled) all the same, the message is delivered
/// in its time.
///
/// Brokers refuse one with ILLEGAL_OPERATION when they have no message for the handle to take back any more, and one older
/// than 5.3.2 with REQUEST_CODE_NOT_SUPPORTED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallError(pub(crate) SendError);

impl RecallError {
    /// How it ended, in the words of a send that has one attempt.
    pub fn kind(&self) -> &SendErrorKind {
        self.0.kind()
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        self.0.topic()
    }

    /// The message's id, as the handle has it.
    pub fn message_id(&self) -> &str {
        self.0.message_id()
    }

    /// The one attempt, if there was a broker to ask. It has no queue.
    pub fn attempt(&self) -> Option<&Attempt> {
        self.0.attempts().last()
    }

    /// Time from the call to its end.
    pub fn took(&self) -> Duration {
        self.0.took()
    }

    /// The broker's code, when it answered with one.
    pub fn code(&self) -> Option<ResponseCode> {
        self.0.code()
    }

    /// Whether the same recall may succeed later with nothing changed on the user's side, as long as the message is not
    /// delivered.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable()
    }

    /// Whether the message may have been recalled all the same: the request was written and never answered. To recall it once
    /// more does no harm.
    pub fn may_have_been_recalled(&self) -> bool {
        self.0.may_have_been_stored()
    }
}

impl fmt::Display for RecallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.tell(f, format_args!("recall of message {} from", self.message_id()))
    }
}

impl core::error::Error for RecallError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.source()
    }
}
