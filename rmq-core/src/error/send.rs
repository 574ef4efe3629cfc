//! What a send came to.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use rmq_proto::code::ResponseCode;

use super::RequestError;
use super::request::Rounded;
use crate::address::Address;
use crate::config::RetryPolicy;

/// One attempt to send that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// Name of the broker chosen.
    pub broker: Arc<str>,
    /// Its address; none when no route names a master.
    pub address: Option<Address>,
    /// The queue chosen on it; -1 of a recall.
    pub queue_id: i32,
    /// When the attempt began, counted from the call.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
    /// Why it failed.
    pub error: RequestError,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.broker)?;
        if let Some(address) = &self.address {
            write!(f, " ({address})")?;
        }
        if self.queue_id >= 0 {
            write!(f, ", queue {}", self.queue_id)?;
        }
        write!(f, ": {}", self.error)
    }
}

/// What one name server said, or why it said nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerOutcome {
    /// The name server.
    pub address: Address,
    /// Why it gave no route; none while its answer is awaited.
    pub error: Option<RequestError>,
}

impl fmt::Display for ServerOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error {
            Some(error) if error.code() == Some(ResponseCode::REQUEST_CODE_NOT_SUPPORTED) => {
                write!(f, "{}: {error} (a broker? the address of a name server is wanted)", self.address)
            }
            Some(error) => write!(f, "{}: {error}", self.address),
            None => write!(f, "{}: no answer yet", self.address),
        }
    }
}

/// How a send came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendErrorKind {
    /// The client knows no name server.
    NoNameServer,
    /// No name server gave a route.
    RouteUnavailable {
        /// What each said. Nothing: a list of name servers was to come, and none did.
        servers: Vec<ServerOutcome>,
    },
    /// All name servers say that neither the topic nor the default topic exists.
    TopicNotFound {
        /// What each said.
        servers: Vec<ServerOutcome>,
    },
    /// The topic exists, but no broker with a master lets anybody write to it.
    NoWritableQueue,
    /// The producer's other messages took all permits until the time of the call was used up: see
    /// [`InFlight`](crate::InFlight). Nothing was sent.
    NoPermit,
    /// The time of the call was used up.
    TimedOut,
    /// Each attempt failed that the configuration allows and that there was time for.
    AttemptsExhausted,
    /// A broker's answer was final: another attempt would be answered the same.
    Refused,
    /// The client shut down before an answer came.
    ShutDown,
}

/// A send that was given up: its topic, the attempts made, and why each failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendError(pub(crate) Box<SendFailure>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SendFailure {
    pub(crate) kind: SendErrorKind,
    pub(crate) topic: Arc<str>,
    pub(crate) message_id: String,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) took: Duration,
}

impl SendError {
    /// How it ended.
    pub fn kind(&self) -> &SendErrorKind {
        &self.0.kind
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.0.topic
    }

    /// The id the message had in all attempts (of a batch those of all messages, joined by `,`), or nothing if no message was to
    /// be sent; look for it when
    /// [`may_have_been_stored`](Self::may_have_been_stored).
    pub fn message_id(&self) -> &str {
        &self.0.message_id
    }

    /// The attempts made, in order. Empty when there was no queue to send to.
    pub fn attempts(&self) -> &[Attempt] {
        &self.0.attempts
    }

    /// Time from the call to its end.
    pub fn took(&self) -> Duration {
        self.0.took
    }

    /// The code of the last attempt, when a broker answered it with one.
    pub fn code(&self) -> Option<ResponseCode> {
        self.0.attempts.last().and_then(|attempt| attempt.error.code())
    }

    /// Whether the same send may succeed later with nothing changed on the user's side.
    pub fn is_retryable(&self) -> bool {
        match self.0.kind {
            SendErrorKind::RouteUnavailable { .. } | SendErrorKind::NoPermit | SendErrorKind::TimedOut => {
                true
            }
            // A hook says the same of the same.
            SendErrorKind::AttemptsExhausted => {
                !self.attempts().iter().all(|attempt| matches!(attempt.error, RequestError::Forbidden { .. }))
            }
            SendErrorKind::Refused => self.code().is_some_and(is_passing),
            SendErrorKind::NoNameServer
            | SendErrorKind::TopicNotFound { .. }
            | SendErrorKind::NoWritableQueue
            | SendErrorKind::ShutDown => false,
        }
    }

    /// Whether a broker may have stored the message all the same: some attempt was written and never answered.
    pub fn may_have_been_stored(&self) -> bool {
        self.0.attempts.iter().any(|attempt| attempt.error.may_have_been_stored())
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.0.message_id.is_empty() { "question for the queues of" } else { "send to" };
        self.tell(f, format_args!("{what}"))
    }
}

impl SendError {
    /// Says what came of `what` the topic.
    pub(super) fn tell(&self, f: &mut fmt::Formatter<'_>, what: fmt::Arguments<'_>) -> fmt::Result {
        let SendFailure { kind, topic, attempts, took, .. } = &*self.0;
        write!(f, "{what} topic `{topic}` ")?;
        match kind {
            SendErrorKind::NoNameServer => f.write_str("failed: no name server is configured")?,
            SendErrorKind::RouteUnavailable { servers } if servers.is_empty() => {
                write!(f, "failed after {}: no list of name servers has come", Rounded(*took))?;
            }
            SendErrorKind::RouteUnavailable { servers } => {
                write!(f, "failed after {}: no name server gave its route", Rounded(*took))?;
                list(f, servers)?;
            }
            SendErrorKind::TopicNotFound { servers } => {
                f.write_str(
                    "failed: the topic does not exist and brokers do not create topics; create it first, as with mqadmin updateTopic",
                )?;
                list(f, servers)?;
            }
            SendErrorKind::NoWritableQueue => {
                f.write_str(
                    "failed: no broker with a master has a writable queue of it; check its permission",
                )?;
            }
            SendErrorKind::NoPermit => write!(
                f,
                "waited {} for others of its producer to end: as many are under way as it may have",
                Rounded(*took)
            )?,
            SendErrorKind::TimedOut => write!(f, "timed out after {}", Rounded(*took))?,
            SendErrorKind::AttemptsExhausted => {
                write!(f, "failed {} times in {}", attempts.len(), Rounded(*took))?;
            }
            SendErrorKind::Refused => f.write_str("was refused")?,
            SendErrorKind::ShutDown => f.write_str("failed: the client shut down")?,
        }
        list(f, attempts)
    }
}

/// Whether a broker that answers so may answer otherwise later.
pub(super) fn is_passing(code: ResponseCode) -> bool {
    code == ResponseCode::FLOW_CONTROL || RetryPolicy::default().retries(code)
}

pub(super) fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i == 0 { ": " } else { "; " })?;
    }
    Ok(())
}

impl core::error::Error for SendError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        let last = self.0.attempts.last()?;
        Some(&last.error)
    }
}
