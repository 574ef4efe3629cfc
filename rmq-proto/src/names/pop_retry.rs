use alloc::borrow::Cow;
use alloc::string::String;

use super::RETRY_PREFIX;

/// Joins group and topic in the names of version 1. Both may have it in them.
const V1_SEPARATOR: char = '_';

/// Joins group and topic in the names of version 2. Neither can have it in it.
pub(super) const V2_SEPARATOR: char = '+';

/// The topic that brings the popped messages of a topic back to a group: `%RETRY%group_topic` (wire §7.2).
pub fn pop_retry_topic_v1(group: &str, topic: &str) -> String {
    pop_retry_topic(group, V1_SEPARATOR, topic)
}

/// What takes the place of [`pop_retry_topic_v1`] at brokers that are set to it: `%RETRY%group+topic` (wire §7.2).
pub fn pop_retry_topic_v2(group: &str, topic: &str) -> String {
    pop_retry_topic(group, V2_SEPARATOR, topic)
}

fn pop_retry_topic(group: &str, separator: char, topic: &str) -> String {
    let mut name = String::with_capacity(RETRY_PREFIX.len() + group.len() + 1 + topic.len());
    name.push_str(RETRY_PREFIX);
    name.push_str(group);
    name.push(separator);
    name.push_str(topic);
    name
}

/// The topic whose popped messages `retry_topic` brings back to `group`; `None` if it is no pop retry topic of the group.
///
/// A name of version 1 does not say where the group ends and the topic begins, so only who knows the group can tell.
///
/// ```
/// use rmq_proto::names;
///
/// assert_eq!(names::origin_of_pop_retry("billing", "%RETRY%billing+orders"), Some("orders"));
/// assert_eq!(names::origin_of_pop_retry("billing", "%RETRY%billing"), None);
/// ```
pub fn origin_of_pop_retry<'a>(group: &str, retry_topic: &'a str) -> Option<&'a str> {
    let separator = match RetryMark::of_topic(retry_topic) {
        RetryMark::Normal => return None,
        RetryMark::RetryV1 => V1_SEPARATOR,
        RetryMark::RetryV2 => V2_SEPARATOR,
    };
    let topic = retry_topic.strip_prefix(RETRY_PREFIX)?.strip_prefix(group)?.strip_prefix(separator)?;
    (!topic.is_empty()).then_some(topic)
}

/// What kind of topic a popped message lies in. Pop strings have it as a digit (wire §11.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RetryMark {
    /// `0`: the topic itself.
    Normal,
    /// `1`: a pop retry topic of version 1.
    RetryV1,
    /// `2`: a pop retry topic of version 2.
    RetryV2,
}

impl RetryMark {
    /// The mark of messages that lie in `topic`. Any retry topic without a `+` counts as version 1.
    pub fn of_topic(topic: &str) -> Self {
        match topic.strip_prefix(RETRY_PREFIX) {
            None => Self::Normal,
            Some(rest) if rest.contains(V2_SEPARATOR) => Self::RetryV2,
            Some(_) => Self::RetryV1,
        }
    }

    /// The mark that stands as `text` in a pop string.
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "0" => Some(Self::Normal),
            "1" => Some(Self::RetryV1),
            "2" => Some(Self::RetryV2),
            _ => None,
        }
    }

    /// The mark as it stands in pop strings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "0",
            Self::RetryV1 => "1",
            Self::RetryV2 => "2",
        }
    }

    /// Where a message of this mark lies that `group` popped from `topic`: what acknowledgements name as their topic.
    pub fn topic<'a>(self, group: &str, topic: &'a str) -> Cow<'a, str> {
        match self {
            Self::Normal => Cow::Borrowed(topic),
            Self::RetryV1 => Cow::Owned(pop_retry_topic_v1(group, topic)),
            Self::RetryV2 => Cow::Owned(pop_retry_topic_v2(group, topic)),
        }
    }
}
