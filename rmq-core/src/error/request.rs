//! What one request, or the connection under it, came to.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use rmq_proto::code::ResponseCode;
use rmq_proto::command::DecodeError;
use rmq_proto::ext::HeaderError;
use rmq_proto::frame::FrameError;

use crate::io::CloseReason;

/// Why a connection ended or could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseCause {
    /// The driver reported its end.
    #[error("{0}")]
    Stream(CloseReason),
    /// It was not open within [`connect_timeout`](crate::ClientConfig).
    #[error("no connection within {}", Rounded(*.after))]
    ConnectTimeout {
        /// How long was waited.
        after: Duration,
    },
    /// The peer sent a frame that breaks the rules.
    #[error("what the peer sent is not RocketMQ's protocol: {0}")]
    Frame(FrameError),
    /// The peer sent a header that cannot be read.
    #[error("what the peer sent is not RocketMQ's protocol: {0}")]
    Header(DecodeError),
    /// The stream took no byte for the time of `write_stall`.
    #[error("the peer took no byte for {}", Rounded(*.after))]
    WriteStall {
        /// How long was waited.
        after: Duration,
    },
    /// Requests timed out and nothing at all was received meanwhile.
    #[error("the peer fell silent")]
    Silent,
    /// Nothing was written or read for the idle time.
    #[error("nothing to do for {}", Rounded(*.after))]
    Idle {
        /// The idle time.
        after: Duration,
    },
    /// The route names another address for this broker now, or none.
    #[error("the broker is no longer at this address")]
    Moved,
    /// It is no longer in the list of name servers.
    #[error("the name server is no longer in the list")]
    Unlisted,
    /// Its peer had sent this client away: nothing waits on the connection any more, or too many such connections are open.
    #[error("the peer had sent the client away")]
    GoneAway,
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
    /// A connection failed less than 100 ms ago, which is too soon to try again; nothing was written.
    #[error("not connected again so soon after: {0}")]
    HeldOff(CloseCause),
    /// The connection ended before an answer came.
    #[error("connection lost {}: {cause}", if *.written { "while waiting for the answer" } else { "before the request was written" })]
    Closed {
        /// Why it ended.
        cause: CloseCause,
        /// Whether the request had been handed to the stream.
        written: bool,
    },
    /// No answer came in time.
    #[error("{} within {}", if *.written { "no answer" } else { "not written" }, Rounded(*.after))]
    Timeout {
        /// How long was waited.
        after: Duration,
        /// Whether the request had been handed to the stream.
        written: bool,
    },
    /// The stream did not take all bytes of a one-way request in time.
    #[error("the stream took only a part within {}", Rounded(*.after))]
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
    /// The peer goes away and did not act on the request. It said so on a new connection, too, or none was opened: the last
    /// one was less than 100 ms old, or [`reconnect_on_go_away`](crate::ClientConfigBuilder::reconnect_on_go_away) is off.
    #[error("the peer goes away and did not act on the request")]
    GoneAway,
    /// The peer answered success, but its header cannot be used.
    #[error("unusable answer: {0}")]
    BadHeader(HeaderError),
    /// A broker answered success for a batch, but not with an id for each of its messages: nobody knows which it has.
    #[error("unusable answer: {ids} message ids for a batch of {messages}")]
    WrongIds {
        /// Messages in the batch.
        messages: usize,
        /// Ids in the answer.
        ids: usize,
    },
    /// A name server answered success, but its route cannot be read.
    #[error("unusable route: {0}")]
    BadRoute(Arc<str>),
    /// No route names a master of this broker.
    #[error("no route names a master of this broker")]
    NoMaster,
    /// A [hook](crate::RequestHook::before_attempt) forbade the attempt; nothing was written.
    #[error("forbidden by a hook: {reason}")]
    Forbidden {
        /// In its words.
        reason: Arc<str>,
    },
    /// As many connections as [`Limits::links`](crate::Limits::links) allows exist.
    #[error("{limit} connections exist, the limit")]
    TooManyConnections {
        /// The limit.
        limit: usize,
    },
}

/// A time as people read it.
pub(super) struct Rounded(pub(super) Duration);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            0 => f.write_str("less than 1 ms"),
            millis @ 1..1_000 => write!(f, "{millis} ms"),
            millis => write!(f, "{}.{} s", millis / 1_000, millis % 1_000 / 100),
        }
    }
}

struct RemarkText<'a>(&'a Option<Arc<str>>);

impl fmt::Display for RemarkText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_deref().map(str::trim) {
            None | Some("") => Ok(()),
            Some(remark) => {
                f.write_str(":")?;
                remark.split_whitespace().try_for_each(|word| write!(f, " {word}"))
            }
        }
    }
}

impl RequestError {
    pub(crate) fn answered(code: ResponseCode, remark: Option<&str>) -> Self {
        Self::Answered { code, remark: kept(remark) }
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
            Self::BadHeader(_) | Self::WrongIds { .. } | Self::WriteTimeout { .. } => true,
            _ => false,
        }
    }
}

/// A peer's remark, as far as it is kept.
pub(crate) fn kept(remark: Option<&str>) -> Option<Arc<str>> {
    remark.map(|text| cut(text, MAX_REMARK).into())
}

/// Bytes of a peer's remark that are kept.
const MAX_REMARK: usize = 4_096;

/// The characters of `text` that lie within `max` bytes.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}
