//! Message trace: what clients tell of the messages they sent and consumed, as text in messages of a topic of its own
//! (producer §10.4).
//!
//! A record is its fields, joined by `\x01`, and a `\x02`; one message carries several. [`TraceRecord::encode`] writes them as the
//! official client does, and [`records`] reads what any version of it wrote. Nothing can be escaped, so a text that has a
//! separator in it is refused when it is written. What is missing is written as `null`, and `null` is read as missing.

mod decode;
mod encode;
mod error;

use alloc::string::String;

pub use crate::header::TransactionState;
pub use decode::records;
pub use error::{TraceDecodeError, TraceEncodeError};

/// The topic of trace records where none is chosen. Java: `RMQ_SYS_TRACE_TOPIC`.
pub const TRACE_TOPIC: &str = "RMQ_SYS_TRACE_TOPIC";

/// Between the fields of a record.
const FIELD_SEPARATOR: char = '\u{1}';
/// After each record.
const RECORD_SEPARATOR: char = '\u{2}';
/// What is written for a text that is missing.
const NULL: &str = "null";

const PUB: &str = "Pub";
const SUB_BEFORE: &str = "SubBefore";
const SUB_AFTER: &str = "SubAfter";
const END_TRANSACTION: &str = "EndTransaction";
const RECALL: &str = "Recall";

/// One thing that happened to a message. Times are in milliseconds since the Unix epoch.
///
/// ```
/// use rmq_proto::trace::{self, Recall, TraceRecord};
///
/// let record = TraceRecord::Recall(Recall {
///     time: 1_700_000_000_000,
///     region: Some("DefaultRegion".into()),
///     group: "billing".into(),
///     topic: "orders".into(),
///     message_id: "0A00000904D201020304050607080001".into(),
///     success: true,
/// });
/// let mut text = String::new();
/// record.encode(&mut text)?;
/// assert_eq!(trace::records(&text).next(), Some(Ok(record)));
/// # Ok::<(), rmq_proto::trace::TraceEncodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceRecord {
    /// A broker stored a message that was sent.
    Pub(Pub),
    /// A message is about to be consumed.
    SubBefore(SubBefore),
    /// A message was consumed, or was not.
    SubAfter(SubAfter),
    /// A transaction was ended.
    EndTransaction(EndTransaction),
    /// A timer message was taken back.
    Recall(Recall),
}

/// A broker stored a message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pub {
    /// When the attempt began that a broker answered.
    pub time: i64,
    /// The broker's region.
    pub region: Option<String>,
    /// The producer group, without namespace.
    pub group: String,
    /// The topic, without namespace.
    pub topic: String,
    /// The id that the client gave the message.
    pub message_id: String,
    /// Its tag.
    pub tags: Option<String>,
    /// Its keys, joined by spaces.
    pub keys: Option<String>,
    /// The broker's address.
    pub broker: String,
    /// Bytes of the body as it was sent, compressed or not.
    pub body_len: i32,
    /// How long the attempt took, in milliseconds.
    pub cost_ms: i32,
    /// What kind of message it is.
    pub kind: MessageKind,
    /// The broker's own id of the message; older clients do not tell it.
    pub offset_message_id: Option<String>,
    /// Whether it was stored as safely as the broker's settings ask.
    pub success: bool,
    /// The host that sent it. It is never written; some clients do.
    pub client_host: Option<String>,
}

/// A message is about to be consumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubBefore {
    /// When.
    pub time: i64,
    /// Region of the broker that stored it.
    pub region: Option<String>,
    /// The consumer group, without namespace.
    pub group: String,
    /// Joins this record to the one after.
    pub request_id: String,
    /// The message's id.
    pub message_id: String,
    /// How often it was given back before.
    pub retry_times: i32,
    /// Its keys, joined by spaces.
    pub keys: Option<String>,
}

/// A message was consumed, or was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAfter {
    /// Joins this record to the one before.
    pub request_id: String,
    /// The message's id.
    pub message_id: String,
    /// How long consuming took, in milliseconds: the time of a batch divided by its messages.
    pub cost_ms: i32,
    /// Whether it succeeded.
    pub success: bool,
    /// Its keys, joined by spaces.
    pub keys: Option<String>,
    /// What came of it; [`ContextCode::SUCCESS`] where an older client does not tell.
    pub context: ContextCode,
    /// By whom and when. Left out by older clients, and for one cloud's own trace topics.
    pub consumer: Option<Consumer>,
}

/// Who consumed, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// When.
    pub time: i64,
    /// The consumer group, without namespace.
    pub group: String,
}

/// A transaction was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndTransaction {
    /// When.
    pub time: i64,
    /// The broker's region.
    pub region: Option<String>,
    /// The producer group, without namespace.
    pub group: String,
    /// The topic, without namespace.
    pub topic: String,
    /// The id of the half message.
    pub message_id: String,
    /// Its tag.
    pub tags: Option<String>,
    /// Its keys, joined by spaces.
    pub keys: Option<String>,
    /// The broker's address.
    pub broker: String,
    /// The transaction.
    pub transaction_id: Option<String>,
    /// What was decided.
    pub state: TransactionState,
    /// Whether a broker had asked.
    pub from_check: bool,
}

/// A timer message was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recall {
    /// When.
    pub time: i64,
    /// The broker's region.
    pub region: Option<String>,
    /// The producer group, without namespace.
    pub group: String,
    /// The topic, without namespace.
    pub topic: String,
    /// The message's id.
    pub message_id: String,
    /// Whether it succeeded.
    pub success: bool,
}

/// What kind of message was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// An ordinary one.
    #[default]
    Normal,
    /// The first half of a transaction.
    TransactionHalf,
    /// The end of a transaction.
    TransactionCommit,
    /// One that is delivered later.
    Delay,
    /// One that keeps its order.
    Order,
}

impl MessageKind {
    const ALL: [Self; 5] =
        [Self::Normal, Self::TransactionHalf, Self::TransactionCommit, Self::Delay, Self::Order];

    /// Its number in a record.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The kind of this number.
    pub fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

impl TransactionState {
    const ALL: [Self; 3] = [Self::Commit, Self::Rollback, Self::Unknown];

    /// Its name in a trace record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commit => "COMMIT_MESSAGE",
            Self::Rollback => "ROLLBACK_MESSAGE",
            Self::Unknown => "UNKNOW",
        }
    }

    /// The state of this name in a trace record.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// What came of consuming, as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextCode(pub i32);

impl ContextCode {
    /// It was consumed.
    pub const SUCCESS: Self = Self(0);
    /// It took too long.
    pub const TIME_OUT: Self = Self(1);
    /// The user's code failed.
    pub const EXCEPTION: Self = Self(2);
    /// The user's code gave no answer.
    pub const RETURN_NULL: Self = Self(3);
    /// The user's code said so.
    pub const FAILED: Self = Self(4);
}

impl TraceRecord {
    /// The topic of the message, where the record tells it.
    pub fn topic(&self) -> Option<&str> {
        match self {
            Self::Pub(record) => Some(&record.topic),
            Self::EndTransaction(record) => Some(&record.topic),
            Self::Recall(record) => Some(&record.topic),
            Self::SubBefore(_) | Self::SubAfter(_) => None,
        }
    }

    /// The id of the message.
    pub fn message_id(&self) -> &str {
        match self {
            Self::Pub(record) => &record.message_id,
            Self::SubBefore(record) => &record.message_id,
            Self::SubAfter(record) => &record.message_id,
            Self::EndTransaction(record) => &record.message_id,
            Self::Recall(record) => &record.message_id,
        }
    }

    /// The message's keys, joined by spaces.
    pub fn keys(&self) -> Option<&str> {
        match self {
            Self::Pub(record) => record.keys.as_deref(),
            Self::SubBefore(record) => record.keys.as_deref(),
            Self::SubAfter(record) => record.keys.as_deref(),
            Self::EndTransaction(record) => record.keys.as_deref(),
            Self::Recall(_) => None,
        }
    }
}
