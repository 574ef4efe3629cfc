//! What a send-back came to.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use rmq_proto::code::ResponseCode;

use super::request::Rounded;
use super::send::{is_passing, list};
use super::{RequestError, SendError};
use crate::address::Address;

/// Words of brokers that answer an error though they have the message: the states of wire §4.4 that a send has codes of
/// its own for.
const STORED_ALL_THE_SAME: [&str; 3] = ["FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"];

/// One attempt to have a broker take a message back that failed: code 36, CONSUMER_SEND_MSG_BACK.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendBackAttempt {
    /// Name of the broker, where it was given.
    pub broker: Option<Arc<str>>,
    /// Its address; none when no route names a master.
    pub address: Option<Address>,
    /// When the attempt began, counted from the call.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
    /// Why it failed.
    pub error: RequestError,
}

impl SendBackAttempt {
    /// Whether the broker may have put the message back all the same.
    pub fn may_have_been_stored(&self) -> bool {
        let told = match &self.error {
            RequestError::Answered { code: ResponseCode::SYSTEM_ERROR, remark: Some(remark) } => {
                STORED_ALL_THE_SAME.iter().any(|words| remark.contains(words))
            }
            _ => false,
        };
        told || self.error.may_have_been_stored()
    }
}

impl fmt::Display for SendBackAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.broker, &self.address) {
            (Some(broker), Some(address)) => write!(f, "{broker} ({address}): {}", self.error),
            (Some(broker), None) => write!(f, "{broker}: {}", self.error),
            (None, Some(address)) => write!(f, "{address}: {}", self.error),
            (None, None) => write!(f, "{}", self.error),
        }
    }
}

/// How a send-back came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendBackErrorKind {
    /// The message that was to take its place could not be sent to the retry topic either.
    RetryFailed(SendError),
    /// The broker did not take the dead letter within the time. There is no other way to the dead letters.
    DeadLetterRefused,
    /// The client shut down before an answer came.
    ShutDown,
}

/// A send-back that was given up. The message is still the caller's: unless it
/// [may be there](Self::may_have_been_stored) all the same, nobody consumes it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendBackError(pub(crate) Box<SendBackFailure>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SendBackFailure {
    pub(crate) kind: SendBackErrorKind,
    pub(crate) group: String,
    pub(crate) topic: Arc<str>,
    pub(crate) message_id: String,
    pub(crate) attempts: Vec<SendBackAttempt>,
    pub(crate) tries: u32,
    pub(crate) may_be_stored: bool,
    pub(crate) took: Duration,
}

impl SendBackError {
    /// How it ended.
    pub fn kind(&self) -> &SendBackErrorKind {
        &self.0.kind
    }

    /// The consumers' group.
    pub fn group(&self) -> &str {
        &self.0.group
    }

    /// The topic that the message had at first.
    pub fn topic(&self) -> &str {
        &self.0.topic
    }

    /// The id that users know the message by.
    pub fn message_id(&self) -> &str {
        &self.0.message_id
    }

    /// The attempts with code 36, in order; the last 16 of more. Empty when there was no broker to ask.
    pub fn attempts(&self) -> &[SendBackAttempt] {
        &self.0.attempts
    }

    /// How often code 36 was tried.
    pub fn tries(&self) -> u32 {
        self.0.tries
    }

    /// What came of the message to the retry topic, if one was tried.
    pub fn retry(&self) -> Option<&SendError> {
        match &self.0.kind {
            SendBackErrorKind::RetryFailed(error) => Some(error),
            SendBackErrorKind::DeadLetterRefused | SendBackErrorKind::ShutDown => None,
        }
    }

    /// Time from the call to its end.
    pub fn took(&self) -> Duration {
        self.0.took
    }

    /// The code of the last attempt of all, when a broker answered it with one.
    pub fn code(&self) -> Option<ResponseCode> {
        match self.retry() {
            Some(error) => error.code(),
            None => self.0.attempts.last().and_then(|attempt| attempt.error.code()),
        }
    }

    /// Whether the same call may succeed later with nothing changed on the user's side.
    pub fn is_retryable(&self) -> bool {
        match &self.0.kind {
            SendBackErrorKind::RetryFailed(error) => error.is_retryable(),
            SendBackErrorKind::DeadLetterRefused => self.code().is_none_or(is_passing),
            SendBackErrorKind::ShutDown => false,
        }
    }

    /// Whether the message may have been put back all the same: some attempt, of either kind, was written and never
    /// answered. Giving it back again may then put it there twice.
    pub fn may_have_been_stored(&self) -> bool {
        self.0.may_be_stored || self.retry().is_some_and(SendError::may_have_been_stored)
    }
}

impl fmt::Display for SendBackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SendBackFailure { kind, group, topic, message_id, attempts, tries, took, .. } = &*self.0;
        write!(f, "message {message_id} of topic `{topic}` was not sent back for group `{group}`")?;
        match kind {
            SendBackErrorKind::RetryFailed(_) => {}
            SendBackErrorKind::DeadLetterRefused => {
                write!(f, " as a dead letter, in {tries} attempts within {}", Rounded(*took))?;
            }
            SendBackErrorKind::ShutDown => f.write_str(", as the client shut down")?,
        }
        f.write_str(", and is still the caller's")?;
        list(f, attempts)?;
        if let SendBackErrorKind::RetryFailed(error) = kind {
            write!(f, "{}{error}", if attempts.is_empty() { ": " } else { "; then " })?;
        }
        Ok(())
    }
}

impl core::error::Error for SendBackError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self.retry() {
            Some(error) => Some(error),
            None => self.0.attempts.last().map(|attempt| &attempt.error as _),
        }
    }
}
