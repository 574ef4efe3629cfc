//! Batches to send: several messages of one topic in one request (producer §10.5).

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::{BufMut, Bytes, BytesMut};
use core::fmt;

use super::batch::ElementHead;
use super::error::Shown;
use super::{BodyCompression, ID_ROOM, Message, MessageError, MessageRules, Prepared};
use crate::code::RequestCode;
use crate::id::{self, UniqueKey};
use crate::names::RETRY_PREFIX;
use crate::properties;

/// Joins the ids of a batch's messages in one text (producer §6.2).
pub const ID_SEPARATOR: char = ',';

/// Most bytes in the properties of a message of a batch. Brokers append the batch's and their own to them, do not look at the
/// sum, and store a record without readable properties where it has more than 16 bits with a sign (seen on both).
const MAX_PROPERTIES: usize = properties::MAX_LEN - 512;

/// The names of properties that delay a message, sorted.
const DELAYS: [&str; 4] = [
    properties::DELAY,
    properties::TIMER_DELAY_MS,
    properties::TIMER_DELAY_SEC,
    properties::TIMER_DELIVER_MS,
];

/// Why messages cannot go out as one batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// There is no message.
    #[error("a batch without messages: give it at least one")]
    Empty,
    /// A message breaks a rule of its own.
    #[error("message {index} of the batch: {error}")]
    Message {
        /// Which, from 0.
        index: usize,
        /// The rule.
        error: MessageError,
    },
    /// A message is to be delivered later.
    #[error("message {index} of the batch to topic {} is delayed, which brokers ignore in a batch; send it by itself", Shown(.topic))]
    Delayed {
        /// Which, from 0.
        index: usize,
        /// Its topic.
        topic: String,
    },
    /// Its properties leave no room for those that the broker adds to each message of a batch: the batch's, and its own.
    #[error(
        "message {index} of the batch to topic {}: its properties have {len} bytes with the message id, over the limit of {max} \
         in a batch; send it by itself", Shown(.topic)
    )]
    PropertiesTooLong {
        /// Which, from 0.
        index: usize,
        /// Its topic.
        topic: String,
        /// Length of the properties in bytes, with their separators and the message id.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// Brokers take no batch for a retry topic.
    #[error("a batch to the retry topic {}, which brokers refuse; send its messages one by one", Shown(.topic))]
    RetryTopic {
        /// The topic.
        topic: String,
    },
    /// A batch goes to one topic.
    #[error(
        "message {index} of the batch is for topic {}, those before it are for {}; make a batch for each topic",
        Shown(.other), Shown(.first)
    )]
    SeveralTopics {
        /// The first message for another topic, from 0.
        index: usize,
        /// The topic of the messages before it.
        first: String,
        /// Its own.
        other: String,
    },
    /// A broker waits for all messages of a batch to be stored or for none.
    #[error(
        "message {index} of the batch to topic {} differs from those before it in `wait_store_ok`; make two batches",
        Shown(.topic)
    )]
    MixedWait {
        /// The first message that differs, from 0.
        index: usize,
        /// The topic.
        topic: String,
    },
    /// The messages together are longer than [`MessageRules::max_body_len`].
    #[error(
        "the batch to topic {} has {len} bytes, over the limit of {max}; split it, or raise the limit here and at the brokers",
        Shown(.topic)
    )]
    TooLong {
        /// The topic.
        topic: String,
        /// Length of the batch in bytes, each message with the longest id there is.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
}

/// Messages that can go out as one batch, as they are. It cannot be changed; a copy shares everything.
///
/// A broker stores the messages of a batch one behind the other in one queue, all or none. They are never compressed.
///
/// ```
/// use rmq_proto::message::{BatchError, Message, MessageRules, PreparedBatch};
///
/// let rules = MessageRules::default();
/// let batch = PreparedBatch::new(["one", "two"].map(|body| Message::new("orders", body)), &rules)?;
/// assert_eq!((batch.topic(), batch.messages().len()), ("orders", 2));
///
/// let mixed = [Message::new("orders", "one"), Message::new("bills", "two")];
/// assert!(matches!(PreparedBatch::new(mixed, &rules), Err(BatchError::SeveralTopics { index: 1, .. })));
/// # Ok::<(), BatchError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PreparedBatch {
    messages: Arc<[Prepared]>,
    topic: Arc<str>,
    wait_store_ok: bool,
    max_len: usize,
}

/// A batch as it goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedBatch {
    /// The body of the request (wire §6.6).
    pub body: Bytes,
    /// The properties of the batch itself: `WAIT` and its own id.
    pub properties: String,
    /// The ids of the messages, joined by `,`.
    pub message_ids: String,
    /// The batch's own id.
    pub id: String,
}

impl PreparedBatch {
    /// The request that carries a batch.
    pub const REQUEST_CODE: RequestCode = RequestCode::SEND_BATCH_MESSAGE;

    /// Checks each message, and whether they may go together.
    ///
    /// # Errors
    ///
    /// The first rule that is broken: of the first message that breaks one, in the order of [`BatchError`]; the length
    /// comes last.
    pub fn new(
        messages: impl IntoIterator<Item = Message>,
        rules: &MessageRules,
    ) -> Result<Self, BatchError> {
        let messages = messages.into_iter();
        let rules = &MessageRules { compression: BodyCompression::NONE, ..rules.clone() };
        let mut prepared: Vec<Prepared> = Vec::with_capacity(messages.size_hint().0.min(MOST_ROOM));
        let mut wait = None;
        for (index, message) in messages.enumerate() {
            let waits = message.waits_for_store();
            let message = message.prepare(rules).map_err(|error| BatchError::Message { index, error })?;
            check_member(index, &message, prepared.first())?;
            if *wait.get_or_insert(waits) != waits {
                return Err(BatchError::MixedWait { index, topic: message.topic().into() });
            }
            prepared.push(message);
        }
        let (Some(first), Some(wait_store_ok)) = (prepared.first(), wait) else {
            return Err(BatchError::Empty);
        };
        let topic = first.shared_topic();
        // Equal bodies may share their memory, so the sum can be more than there is memory.
        let max_len = prepared.iter().map(Prepared::max_element_len).fold(0, usize::saturating_add);
        let max = rules.max_body_len;
        if max_len > max {
            return Err(BatchError::TooLong { topic: (&*topic).into(), len: max_len, max });
        }
        Ok(Self { messages: prepared.into(), topic, wait_store_ok, max_len })
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The topic, shared.
    pub fn shared_topic(&self) -> Arc<str> {
        Arc::clone(&self.topic)
    }

    /// The messages, in their order; at least one.
    pub fn messages(&self) -> &[Prepared] {
        &self.messages
    }

    /// Most bytes that the batch has as it goes out, body and properties: with the longest ids there are.
    pub fn max_len(&self) -> usize {
        self.max_len + batch_properties(self.wait_store_ok, None).len() + ID_ROOM
    }

    /// The batch with ids: one for each message, then one for the batch itself (wire §6.6).
    pub fn encode(&self, mut next_id: impl FnMut() -> UniqueKey) -> EncodedBatch {
        let ids: Vec<UniqueKey> = self.messages.iter().map(|_| next_id()).collect();
        let own = next_id();
        let id_len = own.as_str().len();
        let mut body = BytesMut::with_capacity(self.max_len - self.messages.len() * (id::V6_DIGITS - id_len));
        for (message, id) in self.messages.iter().zip(&ids) {
            put_element(message, id, &mut body);
        }
        EncodedBatch {
            body: body.freeze(),
            properties: batch_properties(self.wait_store_ok, Some(&own)),
            message_ids: join_ids(ids.iter().map(UniqueKey::as_str)),
            id: own.to_string(),
        }
    }
}

/// Messages that room is made for before they are seen.
const MOST_ROOM: usize = 1_024;

/// The ids of a batch's messages as one text, as a send's result has them.
pub fn join_ids<'a>(ids: impl Iterator<Item = &'a str> + Clone) -> String {
    let mut text = String::with_capacity(ids.clone().map(|id| id.len() + 1).sum());
    for id in ids {
        if !text.is_empty() {
            text.push(ID_SEPARATOR);
        }
        text.push_str(id);
    }
    text
}

impl Prepared {
    /// Whether it is to be delivered later.
    fn is_delayed(&self) -> bool {
        properties::iter(self.properties()).any(|(name, _)| DELAYS.contains(&name))
    }

    fn properties_len(&self) -> usize {
        self.properties().len() + ID_ROOM
    }

    /// Whether it may be put into a batch with others of its topic, tag and `WAIT` that the user sent one by one (producer
    /// §10.6): not what is compressed, delayed, for a retry topic or part of a transaction.
    pub fn may_join_batch(&self) -> bool {
        self.request_code() == RequestCode::SEND_MESSAGE_V2
            && self.sys_flag() == 0
            && !self.topic().starts_with(RETRY_PREFIX)
            && self.properties_len() <= MAX_PROPERTIES
            && !self.is_delayed()
    }

    /// Bytes that it has in a batch, at most: with the longest id there is.
    pub fn max_element_len(&self) -> usize {
        let (body_len, properties_len) = (self.body().len(), self.properties_len());
        ElementHead { flag: 0, body_len, properties_len }.encoded_len()
    }
}

/// The rules that a message of a batch is under besides its own (wire §6.6).
fn check_member(index: usize, message: &Prepared, first: Option<&Prepared>) -> Result<(), BatchError> {
    let topic = || message.topic().into();
    if message.is_delayed() {
        return Err(BatchError::Delayed { index, topic: topic() });
    }
    let len = message.properties_len();
    if len > MAX_PROPERTIES {
        return Err(BatchError::PropertiesTooLong { index, topic: topic(), len, max: MAX_PROPERTIES });
    }
    if message.topic().starts_with(RETRY_PREFIX) {
        return Err(BatchError::RetryTopic { topic: topic() });
    }
    match first.filter(|first| first.topic() != message.topic()) {
        Some(first) => Err(BatchError::SeveralTopics { index, first: first.topic().into(), other: topic() }),
        None => Ok(()),
    }
}

fn put_element(message: &Prepared, id: &UniqueKey, out: &mut BytesMut) {
    let properties = message.properties_with_id(id);
    let head = ElementHead {
        flag: message.flag(),
        body_len: message.body().len(),
        properties_len: properties.len(),
    };
    head.put_before_body(out);
    out.put_slice(message.body());
    head.put_before_properties(out);
    out.put_slice(properties.as_bytes());
}

/// The properties of a batch itself (wire §6.6), with its id if it has one already.
pub fn batch_properties(wait_store_ok: bool, id: Option<&UniqueKey>) -> String {
    let wait = if wait_store_ok { "true" } else { "false" };
    let mut text = String::with_capacity(properties::WAIT.len() + wait.len() + 2 + ID_ROOM);
    properties::push_pair(properties::WAIT, wait, &mut text);
    if let Some(id) = id {
        properties::push_pair(properties::UNIQ_KEY, id.as_str(), &mut text);
    }
    text
}

impl fmt::Debug for PreparedBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedBatch")
            .field("topic", &self.topic)
            .field("messages", &self.messages.len())
            .field("wait_store_ok", &self.wait_store_ok)
            .field("max_len", &self.max_len)
            .finish()
    }
}
