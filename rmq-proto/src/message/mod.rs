//! Messages (wire §6).
//!
//! To send: [`Message`] builds one, [`Message::prepare`] checks it against all rules, and what comes out, a [`Prepared`],
//! can be sent as it is; [`Message::prepare_half`] makes the half message of a transaction. [`PreparedBatch`] is several messages in
//! one request. [`encode_batch`] writes the body of a batch. A message that a reply is waited for is prepared by
//! [`Message::prepare_request`], and the [`Reply`] is made of it as it was stored.
//!
//! As received: [`Messages`] goes through the body of an answer to a pull, a pop or a query. Each message is a
//! [`StoredMessage`], which [inflates](StoredMessage::inflate) a compressed body when it is asked to.

mod batch;
mod body_compression;
mod delay;
mod error;
mod fields;
mod half;
mod prepare;
mod prepared_batch;
mod record_error;
mod reply;
mod request;
mod stored;
mod sys_flag;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;

pub use batch::{BatchElement, BatchElements, BatchEncodeError, ElementHead, encode_batch};
pub use body_compression::BodyCompression;
pub use delay::{DelayLevel, DelayLevelError, DeliveryTime};
pub use error::MessageError;
pub use prepare::{ID_ROOM, MessageRules, Prepared};
pub use prepared_batch::{BatchError, EncodedBatch, ID_SEPARATOR, PreparedBatch, batch_properties, join_ids};
pub use record_error::{RecordError, RecordErrorKind, RecordField};
pub use reply::{Reply, ReplyError};
pub use request::{CORRELATION_ROOM, PreparedRequest};
pub use stored::{
    InflateError, Messages, RecordEncodeError, RecordVersion, Records, StoredMessage, Unbatch, body_crc,
};
pub use sys_flag::{SysFlag, TransactionType};

/// A message to send.
///
/// Building it cannot fail; [`prepare`](Self::prepare) says what is wrong with it.
///
/// ```
/// use rmq_proto::message::{Message, MessageRules};
///
/// # fn main() -> Result<(), rmq_proto::message::MessageError> {
/// let message = Message::new("orders", "hello").tag("created").key("order-42").property("colour", "red");
/// let prepared = message.prepare(&MessageRules::default())?;
/// assert_eq!(prepared.topic(), "orders");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    topic: String,
    body: Bytes,
    tag: Option<String>,
    keys: Vec<String>,
    flag: i32,
    wait_store_ok: bool,
    delay: delay::Delay,
    properties: BTreeMap<String, String>,
}

impl Message {
    /// A message without tag, keys and properties. The body must not be empty.
    pub fn new(topic: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            topic: topic.into(),
            body: body.into(),
            tag: None,
            keys: Vec::new(),
            flag: 0,
            wait_store_ok: true,
            delay: delay::Delay::default(),
            properties: BTreeMap::new(),
        }
    }

    /// Sets the tag that consumers can select by. A message has one: the last call counts.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Adds a key that the message can be looked up by. Call it once for each key; a key has no space in it, because
    /// a space separates keys.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.keys.push(key.into());
        self
    }

    /// Sets a number that brokers hand to consumers as it is; 0 by default. It has no meaning to RocketMQ.
    #[must_use]
    pub fn flag(mut self, flag: i32) -> Self {
        self.flag = flag;
        self
    }

    /// Sets a property; of several with the same name the last counts. A property without a value does not exist:
    /// leave it out, a blank value is an error. The names in [`properties::RESERVED`](crate::properties::RESERVED) are
    /// refused.
    #[must_use]
    pub fn property(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.properties.insert(name.into(), value.into());
        self
    }

    /// Whether the broker stores the message as safely as it is configured to before it answers; true by default.
    /// Java: `waitStoreMsgOK`.
    #[must_use]
    pub fn wait_store_ok(mut self, wait: bool) -> Self {
        self.wait_store_ok = wait;
        self
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The tag set by [`tag`](Self::tag).
    pub fn tag_text(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The keys, in the order they were added.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.keys.iter().map(String::as_str)
    }

    /// The number set by [`flag`](Self::flag).
    pub fn flag_bits(&self) -> i32 {
        self.flag
    }

    /// Whether [`wait_store_ok`](Self::wait_store_ok) is set.
    pub fn waits_for_store(&self) -> bool {
        self.wait_store_ok
    }

    /// The properties set by [`property`](Self::property), by name.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = (&str, &str)> + Clone {
        self.properties.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("topic", &self.topic)
            .field("body", &BodyLen(&self.body))
            .field("tag", &self.tag)
            .field("keys", &self.keys)
            .field("flag", &self.flag)
            .field("wait_store_ok", &self.wait_store_ok)
            .field("delay", &self.delay)
            .field("properties", &self.properties)
            .finish()
    }
}

/// Errors hand messages back and get printed; four megabytes of body in a log help nobody.
struct BodyLen<'a>(&'a Bytes);

impl fmt::Debug for BodyLen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}
