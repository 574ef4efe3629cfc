//! What went wrong, with what a user needs to act on it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use rmq_proto::code::ResponseCode;
use rmq_proto::command::DecodeError;
use rmq_proto::ext::HeaderError;
use rmq_proto::frame::FrameError;

use crate::address::Address;
use crate::config::RetryPolicy;
use crate::io::CloseReason;

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
    /// No such producer was added to this client.
    #[error("the producer belongs to another client")]
    UnknownProducer,
    /// The client is shutting down or has shut down.
    #[error("the client is shut down")]
    ShutDown,
}

/// Why a connection ended or could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseCause {
    /// The driver reported its end.
    #[error("{0}")]
    Stream(CloseReason),
    /// It was not open within [`connect_timeout`](crate::ClientConfig).
    #[error("no connection within {after:?}")]
    ConnectTimeout {
        /// How long was waited.
        after: Duration,
    },
    /// The peer sent a frame that breaks the rules.
    #[error("the peer broke the protocol: {0}")]
    Frame(FrameError),
    /// The peer sent a header that cannot be read.
    #[error("the peer broke the protocol: {0}")]
    Header(DecodeError),
    /// The stream took no byte for the time of `write_stall`.
    #[error("the peer took no byte for {after:?}")]
    WriteStall {
        /// How long was waited.
        after: Duration,
    },
    /// Requests timed out and nothing at all was received meanwhile.
    #[error("the peer fell silent")]
    Silent,
    /// Nothing was written or read for the idle time.
    #[error("nothing to do for {after:?}")]
    Idle {
        /// The idle time.
        after: Duration,
    },
    /// The route names another address for this broker now, or none.
    #[error("the broker is no longer at this address")]
    Moved,
    /// This client shut down.
    #[error("the client shut down")]
    ShutDown,
}

/// Why one request to one peer failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// No connection could be opened; nothing was written.
    #[error("cannot connect: {0}")]
    Connect(CloseCause),
    /// The connection ended before an answer came.
    #[error("connection lost {}: {cause}", if *.written { "while waiting for the answer" } else { "before the request was written" })]
    Closed {
        /// Why it ended.
        cause: CloseCause,
        /// Whether the request had been handed to the stream.
        written: bool,
    },
    /// No answer came in time.
    #[error("{} within {after:?}", if *.written { "no answer" } else { "not written" })]
    Timeout {
        /// How long was waited.
        after: Duration,
        /// Whether the request had been handed to the stream.
        written: bool,
    },
    /// The stream did not take all bytes of a one-way request in time.
    #[error("the stream took only a part within {after:?}")]
    WriteTimeout {
        /// How long was waited.
        after: Duration,
    },
    /// The peer answered with an error code.
    #[error("{code}{}", RemarkText(.remark))]
    Answered {
        /// Its code.
        code: ResponseCode,
        /// Its own words, cut at 4 KiB.
        remark: Option<Arc<str>>,
    },
    /// The peer answered success, but its header cannot be used.
    #[error("unusable answer: {0}")]
    BadHeader(HeaderError),
    /// A name server answered success, but its route cannot be read.
    #[error("unusable route: {0}")]
    BadRoute(Arc<str>),
    /// No route names a master of this broker.
    #[error("no route names a master of this broker")]
    NoMaster,
    /// As many connections as [`Limits::links`](crate::Limits::links) allows exist.
    #[error("{limit} connections exist, the limit")]
    TooManyConnections {
        /// The limit.
        limit: usize,
    },
}

struct RemarkText<'a>(&'a Option<Arc<str>>);

impl fmt::Display for RemarkText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_deref().map(str::trim) {
            None | Some("") => Ok(()),
            Some(remark) => write!(f, ": {remark}"),
        }
    }
}

impl RequestError {
    pub(crate) fn answered(code: ResponseCode, remark: Option<&str>) -> Self {
        const MAX_REMARK: usize = 4_096;
        let remark = remark.map(|text| text[..text.floor_char_boundary_at(MAX_REMARK)].into());
        Self::Answered { code, remark }
    }

    /// The peer's code, when it answered with one.
    pub fn code(&self) -> Option<ResponseCode> {
        match self {
            Self::Answered { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether the peer may have acted on the request all the same.
    pub fn may_have_been_stored(&self) -> bool {
        match self {
            Self::Closed { written, .. } | Self::Timeout { written, .. } => *written,
            Self::BadHeader(_) | Self::WriteTimeout { .. } => true,
            _ => false,
        }
    }
}

/// `str::floor_char_boundary` without its rust-version.
trait CharBoundary {
    fn floor_char_boundary_at(&self, max: usize) -> usize;
}

impl CharBoundary for str {
    fn floor_char_boundary_at(&self, max: usize) -> usize {
        if self.len() <= max {
            return self.len();
        }
        (0..=max).rev().find(|&at| self.is_char_boundary(at)).unwrap_or(0)
    }
}

/// One attempt to send that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// Name of the broker chosen.
    pub broker: Arc<str>,
    /// Its address; none when no route names a master.
    pub address: Option<Address>,
    /// The queue chosen on it.
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
        write!(f, ", queue {}: {}", self.queue_id, self.error)
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
        /// What each said.
        servers: Vec<ServerOutcome>,
    },
    /// All name servers say that neither the topic nor the default topic exists.
    TopicNotFound {
        /// What each said.
        servers: Vec<ServerOutcome>,
    },
    /// The topic exists, but no broker with a master lets anybody write to it.
    NoWritableQueue,
    /// The time of the call was used up.
    TimedOut,
    /// Each attempt that the configuration allows failed.
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

    /// The id the message had in all attempts; look for it when [`may_have_been_stored`](Self::may_have_been_stored).
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
            SendErrorKind::RouteUnavailable { .. }
            | SendErrorKind::TimedOut
            | SendErrorKind::AttemptsExhausted => true,
            SendErrorKind::Refused => {
                let passing =
                    |code| code == ResponseCode::FLOW_CONTROL || RetryPolicy::default().retries(code);
                self.code().is_some_and(passing)
            }
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
        let SendFailure { kind, topic, attempts, took, .. } = &*self.0;
        write!(f, "send to topic `{topic}` ")?;
        match kind {
            SendErrorKind::NoNameServer => f.write_str("failed: no name server is configured")?,
            SendErrorKind::RouteUnavailable { servers } => {
                f.write_str("failed: no name server gave its route")?;
                list(f, servers)?;
            }
            SendErrorKind::TopicNotFound { servers } => {
                f.write_str(
                    "failed: the topic does not exist and brokers do not create topics; create it first",
                )?;
                list(f, servers)?;
            }
            SendErrorKind::NoWritableQueue => {
                f.write_str(
                    "failed: no broker with a master has a writable queue of it; check its permission",
                )?;
            }
            SendErrorKind::TimedOut => write!(f, "timed out after {took:?}")?,
            SendErrorKind::AttemptsExhausted => write!(f, "failed {} times in {took:?}", attempts.len())?,
            SendErrorKind::Refused => f.write_str("was refused")?,
            SendErrorKind::ShutDown => f.write_str("failed: the client shut down")?,
        }
        list(f, attempts)
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
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
