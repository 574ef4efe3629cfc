//! Names of topics and groups: which are allowed, which have a meaning, and how some are made from others.

mod derived;
pub mod namespace;
mod pop_retry;

use crate::trace::TRACE_TOPIC;
pub use derived::{dead_letter_topic, is_light_queue, light_queue_topic, reply_topic, retry_topic};
pub use pop_retry::{RetryMark, origin_of_pop_retry, pop_retry_topic_v1, pop_retry_topic_v2};

/// The topic whose route stands in for a topic that does not exist yet: a broker that creates topics by itself
/// announces it (wire §7.1, producer §3.2).
pub const DEFAULT_TOPIC: &str = "TBW102";

/// The producer group that every Java client registers besides its own (wire §5.6).
pub const INNER_PRODUCER_GROUP: &str = "CLIENT_INNER_PRODUCER";

/// Most UTF-16 units in a topic name (producer §7.1). Retry and dead-letter topics of a client count too.
pub const MAX_TOPIC_LEN: usize = 127;

/// Most UTF-16 units in the name of a retry or dead-letter topic that a broker made (wire §7.1).
pub const MAX_DERIVED_TOPIC_LEN: usize = 255;

/// Most UTF-16 units in a group name, so that `%RETRY%` and the group make a topic (producer §7.2).
pub const MAX_GROUP_LEN: usize = 120;

/// Most UTF-16 units in a group name for clients and brokers of version 4 (wire §10 row 26).
pub const MAX_GROUP_LEN_V4: usize = 255;

/// What the name of a retry topic begins with (wire §7.2).
pub const RETRY_PREFIX: &str = "%RETRY%";

/// What the name of a dead-letter topic begins with (wire §7.2).
pub const DEAD_LETTER_PREFIX: &str = "%DLQ%";

/// What the name of a light queue begins with (wire §7.2).
pub const LIGHT_QUEUE_PREFIX: &str = "%LMQ%";

const SYSTEM_TOPIC_PREFIX: &str = "rmq_sys_";
const SYSTEM_GROUP_PREFIX: &str = "CID_RMQ_SYS_";

/// Topics that belong to brokers alone, sorted (producer §7.3).
const NOT_FOR_SENDING: [&str; 6] = [
    "OFFSET_MOVED_EVENT",
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "SCHEDULE_TOPIC_XXXX",
    "SELF_TEST_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
];

/// The other system topics, sorted (wire §7.1).
const OTHER_SYSTEM_TOPICS: [&str; 4] = ["BenchmarkTest", "CHECKPOINT_TOPIC", TRACE_TOPIC, DEFAULT_TOPIC];

/// Groups with a meaning of their own, sorted (wire §7.1).
const SYSTEM_GROUPS: [&str; 7] = [
    "CID_ONS-HTTP-PROXY",
    INNER_PRODUCER_GROUP,
    "DEFAULT_CONSUMER",
    "DEFAULT_PRODUCER",
    "SELF_TEST_C_GROUP",
    "SELF_TEST_P_GROUP",
    "TOOLS_CONSUMER",
];

/// The rule that a name breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing, or white space only.
    #[error("the name is empty: give it at least one character")]
    Blank,
    /// More characters than a broker takes.
    #[error("the name has {len} characters, over the limit of {max}: shorten it")]
    TooLong {
        /// Its length in UTF-16 units.
        len: usize,
        /// The limit in UTF-16 units.
        max: usize,
    },
    /// A character that no name may have.
    #[error("the name has {found:?} at byte {at}: use only letters a-z and A-Z, digits and %|_-")]
    Character {
        /// Byte offset of the character.
        at: usize,
        /// The character.
        found: char,
    },
    /// A group name that stands for "none given".
    #[error("the name is the placeholder for a group without a name: choose one of your own")]
    Placeholder,
}

/// Checks the name of a topic (wire §7.1; rows 2 to 4 of producer §7.1).
///
/// # Errors
///
/// The first rule that `topic` breaks. Whether it is [for sending](is_for_sending) is not looked at.
pub fn validate_topic(topic: &str) -> Result<(), NameError> {
    validate(topic, MAX_TOPIC_LEN, is_name_char)
}

/// Checks the name of a topic that brokers may have messages in (wire §7.1). It is wider than [`validate_topic`]: the
/// names of retry and dead-letter topics may have [`MAX_DERIVED_TOPIC_LEN`] characters, and a `+` in them joins the
/// group and the topic of a [pop retry](pop_retry_topic_v2). A client reads such topics and names them when it
/// acknowledges; a send to one of more than [`MAX_TOPIC_LEN`] characters is refused by brokers (wire §13).
///
/// # Errors
///
/// The first rule that `topic` breaks.
pub fn validate_stored_topic(topic: &str) -> Result<(), NameError> {
    if topic.starts_with(RETRY_PREFIX) {
        validate(topic, MAX_DERIVED_TOPIC_LEN, |c| is_name_char(c) || c == pop_retry::V2_SEPARATOR)
    } else if topic.starts_with(DEAD_LETTER_PREFIX) {
        validate(topic, MAX_DERIVED_TOPIC_LEN, is_name_char)
    } else {
        validate_topic(topic)
    }
}

/// Checks the name of a group of producers or consumers (producer §7.2).
///
/// # Errors
///
/// The first rule that `group` breaks. `DEFAULT_PRODUCER` and `DEFAULT_CONSUMER` are refused.
pub fn validate_group(group: &str) -> Result<(), NameError> {
    validate_group_up_to(group, MAX_GROUP_LEN)
}

/// Checks the name of a group as [`validate_group`] does, but for its length: it may have `max_len` UTF-16 units. A group
/// of version 4 may have [`MAX_GROUP_LEN_V4`] (wire §10 row 26).
///
/// # Errors
///
/// The first rule that `group` breaks. `DEFAULT_PRODUCER` and `DEFAULT_CONSUMER` are refused.
pub fn validate_group_up_to(group: &str, max_len: usize) -> Result<(), NameError> {
    validate(group, max_len, is_name_char)?;
    if matches!(group, "DEFAULT_PRODUCER" | "DEFAULT_CONSUMER") {
        return Err(NameError::Placeholder);
    }
    Ok(())
}

fn validate(name: &str, max: usize, is_allowed: impl Fn(char) -> bool) -> Result<(), NameError> {
    // As all names are but those that are refused.
    if (1..=max).contains(&name.len()) && name.bytes().all(|byte| is_allowed(byte.into())) {
        return Ok(());
    }
    if name.trim().is_empty() {
        return Err(NameError::Blank);
    }
    let len = name.encode_utf16().count();
    if len > max {
        return Err(NameError::TooLong { len, max });
    }
    match name.char_indices().find(|&(_, c)| !is_allowed(c)) {
        Some((at, found)) => Err(NameError::Character { at, found }),
        None => Ok(()),
    }
}

const fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '%' | '|' | '-' | '_')
}

/// Whether the topic has a meaning of its own to brokers (wire §7.1). Such topics are never created by a client and
/// never wrapped in a namespace.
pub fn is_system_topic(topic: &str) -> bool {
    !is_for_sending(topic)
        || OTHER_SYSTEM_TOPICS.binary_search(&topic).is_ok()
        || topic.starts_with(SYSTEM_TOPIC_PREFIX)
}

/// Whether clients may send to the topic. Six system topics belong to brokers alone; `TBW102` and the topic of message
/// traces are not among them (producer §7.3).
pub fn is_for_sending(topic: &str) -> bool {
    NOT_FOR_SENDING.binary_search(&topic).is_err()
}

/// Whether the group has a meaning of its own (wire §7.1). Those that begin with `CID_RMQ_SYS_` are never wrapped in a
/// [namespace]; the others are, if a user takes one.
pub fn is_system_group(group: &str) -> bool {
    SYSTEM_GROUPS.binary_search(&group).is_ok() || group.starts_with(SYSTEM_GROUP_PREFIX)
}
