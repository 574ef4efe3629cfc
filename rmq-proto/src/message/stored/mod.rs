//! Messages as brokers store and deliver them (wire §6.1).

mod decode;
mod encode;
mod inflate;
mod messages;
mod records;

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use bytes::Bytes;
use core::fmt;
use core::net::{Ipv4Addr, SocketAddr};

use super::{BodyLen, SysFlag};
use crate::id::OffsetMessageId;
use crate::properties;

pub use encode::RecordEncodeError;
pub use inflate::InflateError;
pub use messages::{Messages, Unbatch};
pub use records::Records;

/// Longest topic of a record of version 1, in bytes: its length is a byte with a sign.
const MAX_TOPIC_LEN_V1: usize = i8::MAX as usize;

/// Longest topic of a record of version 2, in bytes: its length has 16 bits and a sign.
const MAX_TOPIC_LEN_V2: usize = i16::MAX as usize;

/// Where the body begins in a record whose hosts have IPv4 addresses, in bytes.
const BODY_AT: usize = 88;

/// What each host with an IPv6 address adds to that, in bytes.
const V6_EXTRA: usize = 12;

/// How the length of the topic is written in a record, as its magic number says (wire §6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordVersion {
    /// In one byte, for topics of up to 127 bytes.
    #[default]
    V1,
    /// In two bytes. Brokers since 5.0 write it for longer topics; older clients cannot read it.
    V2,
}

impl RecordVersion {
    /// The version that brokers choose for this topic.
    pub const fn for_topic(topic: &str) -> Self {
        if topic.len() <= MAX_TOPIC_LEN_V1 { Self::V1 } else { Self::V2 }
    }

    /// The magic number.
    pub const fn magic(self) -> u32 {
        match self {
            Self::V1 => 0xDAA3_20A7,
            Self::V2 => 0xDAA3_20AB,
        }
    }

    const fn of_magic(magic: u32) -> Option<Self> {
        match magic {
            0xDAA3_20A7 => Some(Self::V1),
            0xDAA3_20AB => Some(Self::V2),
            _ => None,
        }
    }

    const fn max_topic_len(self) -> usize {
        match self {
            Self::V1 => MAX_TOPIC_LEN_V1,
            Self::V2 => MAX_TOPIC_LEN_V2,
        }
    }

    /// Bytes of a record without body, topic and properties, whose hosts have IPv4 addresses.
    const fn fixed_len(self) -> usize {
        match self {
            Self::V1 => BODY_AT + 1 + 2,
            Self::V2 => BODY_AT + 2 + 2,
        }
    }
}

/// A message as a broker stored it: one record of the body of an answer to a pull, a pop or a query, or the whole body
/// of VIEW_MESSAGE_BY_ID (33), CHECK_TRANSACTION_STATE (39) and CONSUME_MESSAGE_DIRECTLY (309) (wire §6.1).
///
/// ```
/// use bytes::{Bytes, BytesMut};
/// use rmq_proto::message::{StoredMessage, body_crc};
///
/// let body = Bytes::from("hello");
/// let stored = StoredMessage {
///     body_crc: body_crc(&body),
///     queue_offset: 7,
///     topic: "orders".into(),
///     body,
///     properties: "TAGS\u{1}created\u{2}".into(),
///     ..StoredMessage::default()
/// };
/// let mut out = BytesMut::new();
/// stored.encode(&mut out)?;
///
/// let read = StoredMessage::decode(&out.freeze())?;
/// assert_eq!(read, stored);
/// assert_eq!(read.tags(), Some("created"));
/// assert!(read.crc_matches());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// How the record is laid out.
    pub version: RecordVersion,
    /// Checksum of the body as it is stored: [`body_crc`]. Nothing is refused for it; ask
    /// [`crc_matches`](Self::crc_matches).
    pub body_crc: u32,
    /// The queue.
    pub queue_id: i32,
    /// The user's own flag.
    pub flag: i32,
    /// Offset in the queue.
    pub queue_offset: i64,
    /// Offset in the broker's commit log, in bytes; `physicalOffset`.
    pub commit_log_offset: i64,
    /// Whether the body is compressed, the part in a transaction, and more.
    pub sys_flag: SysFlag,
    /// When the message was made, in milliseconds of Unix time.
    pub born_timestamp: i64,
    /// The host that sent it, as the broker saw it. Of an IPv6 address neither flow nor scope is stored.
    pub born_host: SocketAddr,
    /// When the message was stored, in milliseconds of Unix time.
    pub store_timestamp: i64,
    /// The broker that stored it. Of an IPv6 address neither flow nor scope is stored.
    pub store_host: SocketAddr,
    /// How often the message was consumed before.
    pub reconsume_times: i32,
    /// On a message of a transaction that has ended: the commit-log offset of its half message.
    pub prepared_transaction_offset: i64,
    /// The body as it is stored, which may be compressed. When read, it shares the memory of what was read.
    pub body: Bytes,
    /// The topic. The messages of an inner batch share it.
    pub topic: Arc<str>,
    /// The text of the properties (wire §6.4).
    pub properties: String,
}

impl Default for StoredMessage {
    /// A record of version 1 without topic, body and properties, all numbers 0, both hosts `0.0.0.0:0`.
    fn default() -> Self {
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        Self {
            version: RecordVersion::V1,
            body_crc: 0,
            queue_id: 0,
            flag: 0,
            queue_offset: 0,
            commit_log_offset: 0,
            sys_flag: SysFlag::default(),
            born_timestamp: 0,
            born_host: nowhere,
            store_timestamp: 0,
            store_host: nowhere,
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: Bytes::new(),
            topic: Arc::default(),
            properties: String::new(),
        }
    }
}

impl StoredMessage {
    /// The value of the property `name`; of several the last (wire §6.4).
    pub fn property(&self, name: &str) -> Option<&str> {
        properties::value(&self.properties, name)
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        let keys = self.property(properties::KEYS).unwrap_or_default();
        keys.split(properties::KEY_SEPARATOR).filter(|key| !key.is_empty())
    }

    /// The tag; a message has one at most, the property's name notwithstanding.
    pub fn tags(&self) -> Option<&str> {
        self.property(properties::TAGS)
    }

    /// The message id that the client made. On a message of a client's batch it is the one of the batch, and the
    /// message's own is the [first value](properties::first_value) of the property (wire §6.4, §6.6).
    pub fn unique_key(&self) -> Option<&str> {
        self.property(properties::UNIQ_KEY)
    }

    /// The message id that the producer of this very message made: of a message of a client's batch its own, too.
    pub fn own_unique_key(&self) -> Option<&str> {
        properties::first_value(&self.properties, properties::UNIQ_KEY)
    }

    /// The id that users know the message by: the [unique key](Self::unique_key), or where there is none the
    /// [offset id](Self::offset_message_id). All messages of a client's batch have the same, as in the official client; to
    /// tell them apart use [`own_unique_key`](Self::own_unique_key).
    pub fn message_id(&self) -> Cow<'_, str> {
        match self.unique_key() {
            Some(key) => key.into(),
            None => self.offset_message_id().to_string().into(),
        }
    }

    /// Where the broker stored the message. The messages of an inner batch share it.
    pub fn offset_message_id(&self) -> OffsetMessageId {
        OffsetMessageId { host: self.store_host, offset: self.commit_log_offset }
    }

    /// Whether the body has the checksum that the record says. Ask it before a compressed body is inflated.
    ///
    /// 0 is a checksum like any other; but where batches are stored as one record, nobody computes it, so there 0 is
    /// taken for none, and matches (wire §6.1).
    pub fn crc_matches(&self) -> bool {
        self.body_crc == body_crc(&self.body)
            || (self.body_crc == 0 && self.sys_flag.contains(SysFlag::INNER_BATCH))
    }
}

impl fmt::Debug for StoredMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredMessage")
            .field("topic", &self.topic)
            .field("queue_id", &self.queue_id)
            .field("queue_offset", &self.queue_offset)
            .field("body", &BodyLen(&self.body))
            .field("properties", &self.properties)
            .field("sys_flag", &self.sys_flag)
            .field("flag", &self.flag)
            .field("reconsume_times", &self.reconsume_times)
            .field("born_timestamp", &self.born_timestamp)
            .field("born_host", &self.born_host)
            .field("store_timestamp", &self.store_timestamp)
            .field("store_host", &self.store_host)
            .field("commit_log_offset", &self.commit_log_offset)
            .field("prepared_transaction_offset", &self.prepared_transaction_offset)
            .field("body_crc", &self.body_crc)
            .field("version", &self.version)
            .finish()
    }
}

/// The checksum that a record states of its body: CRC-32 without the highest bit, because Java keeps it in a number with
/// a sign (wire §6.1).
pub fn body_crc(body: &[u8]) -> u32 {
    crc32fast::hash(body) & 0x7FFF_FFFF
}

/// Where the body begins in a record with these flags, in bytes.
const fn body_at(flag: SysFlag) -> usize {
    let mut at = BODY_AT;
    if flag.contains(SysFlag::BORN_HOST_V6) {
        at += V6_EXTRA;
    }
    if flag.contains(SysFlag::STORE_HOST_V6) {
        at += V6_EXTRA;
    }
    at
}
