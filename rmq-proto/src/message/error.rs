use alloc::string::String;
use core::fmt::{self, Write};

use crate::names::NameError;

/// Why a message cannot be sent. Each names the topic, as far as it is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The topic's name breaks a rule.
    #[error("topic {}: {error}", Shown(.topic))]
    Topic {
        /// The topic given.
        topic: String,
        /// The rule.
        error: NameError,
    },
    /// Brokers use the topic for themselves.
    #[error("topic {}: brokers keep it for themselves, choose another", Shown(.topic))]
    SystemTopic {
        /// The topic given.
        topic: String,
    },
    /// The name of the producer group that a half message is to be of breaks a rule.
    #[error("half message to topic {}: producer group {}: {error}", Shown(.topic), Shown(.group))]
    Group {
        /// Its topic.
        topic: String,
        /// The group given.
        group: String,
        /// The rule.
        error: NameError,
    },
    /// A message of a transaction has a delay. It is delivered when it is committed.
    #[error("half message to topic {}: it has a delay, which the messages of transactions cannot have; leave it out", Shown(.topic))]
    DelayedHalf {
        /// Its topic.
        topic: String,
    },
    /// There is nothing to send.
    #[error("message to topic {}: the body is empty, and brokers refuse that; send at least one byte", Shown(.topic))]
    EmptyBody {
        /// Its topic.
        topic: String,
    },
    /// The body is longer than [`MessageRules::max_body_len`](super::MessageRules::max_body_len).
    #[error(
        "message to topic {}: the body has {len} bytes, over the limit of {max}; split it, or raise the limit here and at \
         the brokers", Shown(.topic)
    )]
    BodyTooLong {
        /// Its topic.
        topic: String,
        /// Length of the body in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The tag has no visible character.
    #[error("message to topic {}: the tag is blank; leave it out", Shown(.topic))]
    BlankTag {
        /// Its topic.
        topic: String,
    },
    /// A key has no visible character.
    #[error("message to topic {}: a key is blank; leave it out", Shown(.topic))]
    BlankKey {
        /// Its topic.
        topic: String,
    },
    /// A space in a key would make two keys of it.
    #[error(
        "message to topic {}: key {} has a space in it, which separates keys; call `key` once for each key, or use \
         another character", Shown(.topic), Shown(.key)
    )]
    KeyWithBlank {
        /// Its topic.
        topic: String,
        /// The key.
        key: String,
    },
    /// A delay level and a timer are two ways to say the same thing.
    #[error("message to topic {}: it has both a delay level and a timer; leave one of them out", Shown(.topic))]
    TwoDelays {
        /// Its topic.
        topic: String,
    },
    /// A time that no broker can count with.
    #[error("message to topic {}: it is to be delivered in more than 100 million years; brokers allow 3 days, unless \
         configured otherwise", Shown(.topic))]
    DelayTooLong {
        /// Its topic.
        topic: String,
    },
    /// A property's name has no visible character.
    #[error("message to topic {}: a property has a blank name; give it one", Shown(.topic))]
    BlankPropertyName {
        /// Its topic.
        topic: String,
    },
    /// A property's value has no visible character.
    #[error("message to topic {}: property {} has a blank value; leave the property out", Shown(.topic), Shown(.name))]
    BlankPropertyValue {
        /// Its topic.
        topic: String,
        /// The property.
        name: String,
    },
    /// Clients and brokers keep the property's name to themselves.
    #[error(
        "message to topic {}: property {} is set by RocketMQ itself; {}", Shown(.topic), Shown(.name), Instead(*.instead)
    )]
    ReservedProperty {
        /// Its topic.
        topic: String,
        /// The property.
        name: String,
        /// The method of [`Message`](super::Message) that sets it.
        instead: Option<&'static str>,
    },
    /// The characters that separate properties stand in a tag, a key, or a property's name or value.
    #[error(
        "message to topic {}: property {} has the character U+0001 or U+0002 in its name or value, which cannot be sent; \
         encode it", Shown(.topic), Shown(.name)
    )]
    SeparatorInProperty {
        /// Its topic.
        topic: String,
        /// The property; `TAGS` for the tag, `KEYS` for a key.
        name: String,
    },
    /// The names of light queues cannot have a slash.
    #[error("message to topic {}: property `INNER_MULTI_DISPATCH` has a `/` in it; name queues without it", Shown(.topic))]
    SlashInDispatch {
        /// Its topic.
        topic: String,
    },
    /// Tag, keys and properties together are longer than a message can carry.
    #[error(
        "message to topic {}: its properties have {len} bytes with the message id, over the limit of {max}; move some of \
         them into the body", Shown(.topic)
    )]
    PropertiesTooLong {
        /// Its topic.
        topic: String,
        /// Length of the properties in bytes, with their separators and the message id.
        len: usize,
        /// The limit in bytes: [`properties::MAX_LEN`](crate::properties::MAX_LEN).
        max: usize,
    },
}

impl MessageError {
    /// The topic of the message, as it was given.
    pub fn topic(&self) -> &str {
        match self {
            Self::Topic { topic, .. }
            | Self::SystemTopic { topic }
            | Self::Group { topic, .. }
            | Self::DelayedHalf { topic }
            | Self::EmptyBody { topic }
            | Self::BodyTooLong { topic, .. }
            | Self::BlankTag { topic }
            | Self::BlankKey { topic }
            | Self::KeyWithBlank { topic, .. }
            | Self::TwoDelays { topic }
            | Self::DelayTooLong { topic }
            | Self::BlankPropertyName { topic }
            | Self::BlankPropertyValue { topic, .. }
            | Self::ReservedProperty { topic, .. }
            | Self::SeparatorInProperty { topic, .. }
            | Self::SlashInDispatch { topic }
            | Self::PropertiesTooLong { topic, .. } => topic,
        }
    }
}

/// What a user gave, between backticks: control characters made visible, a long text cut.
pub(super) struct Shown<'a>(pub(super) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_CHARS: usize = 160;
        f.write_char('`')?;
        for c in self.0.chars().take(MAX_CHARS) {
            if c.is_control() {
                write!(f, "{}", c.escape_default())?;
            } else {
                f.write_char(c)?;
            }
        }
        f.write_str(if self.0.chars().nth(MAX_CHARS).is_some() { "...`" } else { "`" })
    }
}

struct Instead(Option<&'static str>);

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(method) => write!(f, "use `Message::{method}`"),
            None => f.write_str("choose another name"),
        }
    }
}
