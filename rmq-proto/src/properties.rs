//! The properties of a message: their names, and the text that carries them.
//!
//! A pair is `name \x01 value \x02`; nothing can be escaped (wire §6.4).

use alloc::string::String;

/// Ends a name.
pub const NAME_SEPARATOR: char = '\u{1}';

/// Ends a value.
pub const PROPERTY_SEPARATOR: char = '\u{2}';

/// Joins several keys in [`KEYS`].
pub const KEY_SEPARATOR: char = ' ';

/// Most bytes in the text of a message's properties (wire §6.4).
pub const MAX_LEN: usize = 32_767;

/// What the names of properties begin with that a client adds to a message it received; never stored.
pub const TRANSIENT_PREFIX: &str = "__RMQ.TRANSIENT.";

/// Each row is a constant, its name on the wire and what it is. The first table is of the names that a user cannot set
/// (wire §6.4, producer §7.4), in the order of the wire names, which `is_reserved` searches.
macro_rules! names {
    (
        reserved { $($(#[doc = $doc:literal])+ $name:ident = $wire:literal,)+ }
        free { $($(#[doc = $free_doc:literal])+ $free:ident = $free_wire:literal,)+ }
    ) => {
        $($(#[doc = $doc])+ pub const $name: &str = $wire;)+
        $($(#[doc = $free_doc])+ pub const $free: &str = $free_wire;)+

        /// The names that clients and brokers keep to themselves, sorted (wire §6.4, producer §7.4).
        pub const RESERVED: &[&str] = &[$($wire,)+];
    };
}

names! {
    reserved {
        /// When a message was first popped, in milliseconds.
        FIRST_POP_TIME = "1ST_POP_TIME",
        /// When a reply reached the client that asked, in milliseconds; of a client only.
        ARRIVE_TIME = "ARRIVE_TIME",
        /// When the message was born, in milliseconds.
        BORN_TIMESTAMP = "BORN_TIMESTAMP",
        /// Buyer.
        BUYER_ID = "BUYER_ID",
        /// The broker's cluster, written by the broker.
        CLUSTER = "CLUSTER",
        /// When consuming began, in milliseconds; of a client only.
        CONSUME_START_TIME = "CONSUME_START_TIME",
        /// Legacy.
        CORRECTION_FLAG = "CORRECTION_FLAG",
        /// Joins a reply to its request.
        CORRELATION_ID = "CORRELATION_ID",
        /// Delay level, `1` to `18`.
        DELAY = "DELAY",
        /// On a dead letter: the id of the message it was.
        DLQ_ORIGIN_MESSAGE_ID = "DLQ_ORIGIN_MESSAGE_ID",
        /// On a dead letter: the topic it came from.
        DLQ_ORIGIN_TOPIC = "DLQ_ORIGIN_TOPIC",
        /// What a broker knows of duplicates.
        DUP_INFO = "DUP_INFO",
        /// More about the client's message id.
        EXTEND_UNIQ_INFO = "EXTEND_UNIQ_INFO",
        /// Offsets of a message in its light queues, joined by commas.
        INNER_MULTI_QUEUE_OFFSET = "INNER_MULTI_QUEUE_OFFSET",
        /// Namespace.
        INSTANCE_ID = "INSTANCE_ID",
        /// Keys, joined by one space.
        KEYS = "KEYS",
        /// The queue's highest offset; of a client only.
        MAX_OFFSET = "MAX_OFFSET",
        /// How often the message may be consumed again.
        MAX_RECONSUME_TIMES = "MAX_RECONSUME_TIMES",
        /// The queue's lowest offset; of a client only.
        MIN_OFFSET = "MIN_OFFSET",
        /// Legacy.
        MQ2_FLAG = "MQ2_FLAG",
        /// The broker's region.
        MSG_REGION = "MSG_REGION",
        /// `reply` on replies.
        MSG_TYPE = "MSG_TYPE",
        /// On a message that comes again: the offset id of its first stored copy.
        ORIGIN_MESSAGE_ID = "ORIGIN_MESSAGE_ID",
        /// Producer group.
        PGROUP = "PGROUP",
        /// Receipt of a popped message.
        POP_CK = "POP_CK",
        /// Offset of the receipt of a popped message.
        POP_CK_OFFSET = "POP_CK_OFFSET",
        /// When a reply was pushed to the client, in milliseconds.
        PUSH_REPLY_TIME = "PUSH_REPLY_TIME",
        /// On delayed and half messages: the queue they are meant for.
        REAL_QID = "REAL_QID",
        /// On delayed and half messages: the topic they are meant for.
        REAL_TOPIC = "REAL_TOPIC",
        /// How often the message was consumed again. There is no S.
        RECONSUME_TIME = "RECONSUME_TIME",
        /// The client that waits for a reply.
        REPLY_TO_CLIENT = "REPLY_TO_CLIENT",
        /// On a message that comes again: its topic at first.
        RETRY_TOPIC = "RETRY_TOPIC",
        /// Tag; a message has one.
        TAGS = "TAGS",
        /// Of the broker's timer.
        TIMER_DELAY_LEVEL = "TIMER_DELAY_LEVEL",
        /// Delay of a timed message, in milliseconds.
        TIMER_DELAY_MS = "TIMER_DELAY_MS",
        /// Delay of a timed message, in seconds.
        TIMER_DELAY_SEC = "TIMER_DELAY_SEC",
        /// Delivery time of a timed message, in milliseconds since the epoch.
        TIMER_DELIVER_MS = "TIMER_DELIVER_MS",
        /// Of the broker's timer.
        TIMER_DEL_UNIQKEY = "TIMER_DEL_UNIQKEY",
        /// Of the broker's timer.
        TIMER_DEQUEUE_MS = "TIMER_DEQUEUE_MS",
        /// Of the broker's timer.
        TIMER_ENQUEUE_MS = "TIMER_ENQUEUE_MS",
        /// Of the broker's timer.
        TIMER_OUT_MS = "TIMER_OUT_MS",
        /// Of the broker's timer.
        TIMER_ROLL_TIMES = "TIMER_ROLL_TIMES",
        /// Whether the message is traced.
        TRACE_ON = "TRACE_ON",
        /// Legacy.
        TRANSFER_FLAG = "TRANSFER_FLAG",
        /// `true` on half messages.
        TRAN_MSG = "TRAN_MSG",
        /// Queue offset of the half message.
        TRAN_PREPARED_QUEUE_OFFSET = "TRAN_PREPARED_QUEUE_OFFSET",
        /// How long a request waits for its reply, in milliseconds.
        TTL = "TTL",
        /// The message id that the client made (wire §6.5).
        UNIQ_KEY = "UNIQ_KEY",
        /// Whether the broker is to store the message before it answers; `true` when absent.
        WAIT = "WAIT",
        /// Host the message was born at.
        BORN_HOST = "__BORNHOST",
        /// Checksum of the properties, written by the broker.
        CRC32 = "__CRC32#",
    }
    free {
        /// How many seconds a half message is not asked about.
        CHECK_IMMUNITY_TIME = "CHECK_IMMUNITY_TIME_IN_SECONDS",
        /// The queue to forward to.
        FORWARD_QUEUE_ID = "PROPERTY_FORWARD_QUEUE_ID",
        /// Offset of the first message of an inner batch.
        INNER_BASE = "INNER_BASE",
        /// Light queues to put the message into, joined by commas.
        INNER_MULTI_DISPATCH = "INNER_MULTI_DISPATCH",
        /// How many messages an inner batch has.
        INNER_NUM = "INNER_NUM",
        /// Redirection.
        REDIRECT = "REDIRECT",
        /// What orders messages of a FIFO topic.
        SHARDING_KEY = "__SHARDINGKEY",
        /// Delivery time of the OpenMessaging face, in milliseconds since the epoch.
        START_DELIVER_TIME = "__STARTDELIVERTIME",
        /// Context of a distributed trace.
        TRACE_CONTEXT = "TRACE_CONTEXT",
        /// How often a half message was asked about.
        TRANSACTION_CHECK_TIMES = "TRANSACTION_CHECK_TIMES",
        /// Transaction; the same as [`UNIQ_KEY`].
        TRANSACTION_ID = "__transactionId__",
        /// The group's flags; of a client only.
        TRANSIENT_GROUP_SYS_FLAG = "__RMQ.TRANSIENT.GROUP_SYS_FLAG",
        /// The topic's flags; of a client only.
        TRANSIENT_TOPIC_SYS_FLAG = "__RMQ.TRANSIENT.TOPIC_SYS_FLAG",
    }
}

/// Whether users cannot set a property of this name (producer §7.4).
pub fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

/// A property that the text cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PropertyError {
    /// A reader would drop the property.
    #[error("a property has an empty name")]
    EmptyName,
    /// A reader would drop the property.
    #[error("property `{name}` has an empty value: leave the property out")]
    EmptyValue {
        /// The property.
        name: String,
    },
    /// A reader would see other properties than were meant.
    #[error("property `{}` has the character U+0001 or U+0002 in its name or value: neither can be sent", .name.escape_debug())]
    Separator {
        /// The property.
        name: String,
    },
}

/// Appends the properties to `out`, each pair with its `\x02` (wire §6.4), in the order given.
///
/// # Errors
///
/// The first property that no reader could read back as it is; then `out` is as it was. The length of the text is not
/// looked at.
///
/// ```
/// # fn main() -> Result<(), rmq_proto::properties::PropertyError> {
/// use rmq_proto::properties;
///
/// let mut text = String::new();
/// properties::encode([(properties::TAGS, "created"), ("colour", "red")], &mut text)?;
/// assert_eq!(text, "TAGS\u{1}created\u{2}colour\u{1}red\u{2}");
/// assert_eq!(properties::value(&text, "colour"), Some("red"));
/// # Ok(())
/// # }
/// ```
pub fn encode<'a>(
    properties: impl IntoIterator<Item = (&'a str, &'a str)>,
    out: &mut String,
) -> Result<(), PropertyError> {
    let before = out.len();
    for (name, value) in properties {
        if let Err(error) = check(name, value) {
            out.truncate(before);
            return Err(error);
        }
        push_pair(name, value, out);
    }
    Ok(())
}

/// Appends one property that was checked before.
#[inline]
pub(crate) fn push_pair(name: &str, value: &str, out: &mut String) {
    out.push_str(name);
    out.push(NAME_SEPARATOR);
    out.push_str(value);
    out.push(PROPERTY_SEPARATOR);
}

fn check(name: &str, value: &str) -> Result<(), PropertyError> {
    if name.is_empty() {
        return Err(PropertyError::EmptyName);
    }
    if value.is_empty() {
        return Err(PropertyError::EmptyValue { name: name.into() });
    }
    if has_separator(name) || has_separator(value) {
        return Err(PropertyError::Separator { name: name.into() });
    }
    Ok(())
}

pub(crate) fn has_separator(text: &str) -> bool {
    text.contains([NAME_SEPARATOR, PROPERTY_SEPARATOR])
}

/// The properties in `text`, in its order and with its duplicates. The last `\x02` may be missing; pieces without a name
/// or a value are passed over (wire §6.4).
pub fn iter(text: &str) -> impl DoubleEndedIterator<Item = (&str, &str)> + Clone {
    text.split(PROPERTY_SEPARATOR)
        .filter_map(|piece| piece.split_once(NAME_SEPARATOR))
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
}

/// The value of the property `name`; of several the last (wire §6.4).
pub fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    iter(text).rev().find_map(|(found, value)| (found == name).then_some(value))
}

/// The value of the property `name`; of several the first. Brokers append the properties of a batch to those of each of
/// its messages, so the first value of [`UNIQ_KEY`] is the message's own (wire §6.4).
pub fn first_value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    iter(text).find_map(|(found, value)| (found == name).then_some(value))
}
