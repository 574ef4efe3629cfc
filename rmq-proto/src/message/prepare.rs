use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::sync::Arc;
use bytes::Bytes;
use core::fmt;

use super::{BodyCompression, BodyLen, Message, MessageError};
use crate::code::RequestCode;
use crate::id::{self, UniqueKey};
use crate::{names, properties};

/// What messages are checked against, and what is done to their bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRules {
    /// Most bytes in a body, before it is compressed; 4 MiB by default, as at brokers. Java: `maxMessageSize`.
    pub max_body_len: usize,
    /// The namespace of version 1 that topics are put into when messages are sent (wire §7.3); none by default. A topic
    /// has to be short enough for it, and its messages get the property `INSTANCE_ID`. Java: `namespace`.
    pub namespace: Option<Arc<str>>,
    /// Which bodies are compressed, and how.
    pub compression: BodyCompression,
}

impl Default for MessageRules {
    fn default() -> Self {
        Self { max_body_len: 4 * 1024 * 1024, compression: BodyCompression::default(), namespace: None }
    }
}

/// A message that obeys all rules and can be sent as it is. It cannot be changed; a copy shares the body.
#[derive(Clone, PartialEq, Eq)]
pub struct Prepared {
    topic: Arc<str>,
    body: Bytes,
    flag: i32,
    sys_flag: i32,
    code: RequestCode,
    properties: String,
}

/// What becomes of a message besides an ordinary send.
pub(super) struct Purpose<'a> {
    /// The request that carries it.
    pub(super) code: RequestCode,
    /// Bits of its system flag.
    pub(super) sys_flag: i32,
    /// Properties that go before the user's own, in this order; they are not checked.
    pub(super) properties: &'a [(&'static str, &'a str)],
}

impl Purpose<'_> {
    pub(super) const ORDINARY: Self =
        Self { code: RequestCode::SEND_MESSAGE_V2, sys_flag: 0, properties: &[] };
}

impl Prepared {
    /// The topic, as its user names it: a client with a namespace puts it there when it sends.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The topic, shared.
    pub fn shared_topic(&self) -> Arc<str> {
        Arc::clone(&self.topic)
    }

    /// The body, as it is to be sent.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The number set by [`Message::flag`].
    pub fn flag(&self) -> i32 {
        self.flag
    }

    /// What was done to the body, and what kind of message it is (wire §6.3). No user can set it: a body that was not
    /// compressed is never called so.
    pub fn sys_flag(&self) -> i32 {
        self.sys_flag
    }

    /// The request that carries it: SEND_MESSAGE_V2.
    pub fn request_code(&self) -> RequestCode {
        self.code
    }

    /// Keys, tag, `WAIT`, delay and user properties as text, each with its `\x02` (wire §6.4). The message id is not among
    /// them: the sender appends it, to the elements of a batch too, and there is room for it. What goes out is
    /// [`properties_with_id`](Self::properties_with_id).
    pub fn properties(&self) -> &str {
        &self.properties
    }

    /// [`properties`](Self::properties) with the message id after them, as they go to the broker.
    pub fn properties_with_id(&self, id: &UniqueKey) -> String {
        let mut text = String::with_capacity(self.properties.len() + ID_ROOM);
        text.push_str(&self.properties);
        properties::push_pair(properties::UNIQ_KEY, id.as_str(), &mut text);
        text
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("topic", &self.topic)
            .field("body", &BodyLen(&self.body))
            .field("flag", &self.flag)
            .field("properties", &self.properties)
            .finish()
    }
}

/// Bytes kept free in the properties for the longest message id: `UNIQ_KEY \x01 <56 digits> \x02`.
pub const ID_ROOM: usize = properties::UNIQ_KEY.len() + 1 + id::V6_DIGITS + 1;

impl Message {
    /// Checks all rules, encodes the properties and compresses a long body (producer §5.4, §7.1, §7.4, wire §6.4). What
    /// comes out is the same in every attempt to send it.
    ///
    /// # Errors
    ///
    /// The first rule that is broken, in this order: topic, body, tag, keys, delay, properties by name, their total length.
    pub fn prepare(self, rules: &MessageRules) -> Result<Prepared, MessageError> {
        self.prepare_for(rules, &Purpose::ORDINARY)
    }

    pub(super) fn prepare_for(
        self,
        rules: &MessageRules,
        purpose: &Purpose<'_>,
    ) -> Result<Prepared, MessageError> {
        self.check_topic(rules)?;
        self.check_body(rules)?;
        self.check_tag_and_keys()?;
        self.check_delay()?;
        for (name, value) in self.properties() {
            self.check_property(name, value)?;
        }
        let properties = self.encode_properties(rules, purpose)?;
        let (body, compressed) = rules.compression.apply(self.body, rules.max_body_len);
        Ok(Prepared {
            topic: self.topic.into(),
            body,
            flag: self.flag,
            sys_flag: purpose.sys_flag | compressed.0,
            code: purpose.code,
            properties,
        })
    }

    fn check_topic(&self, rules: &MessageRules) -> Result<(), MessageError> {
        let namespace = rules.namespace.as_deref().unwrap_or_default();
        let in_namespace = || match names::namespace::wrap(namespace, &self.topic) {
            Cow::Owned(topic) => names::validate_topic(&topic),
            Cow::Borrowed(_) => Ok(()),
        };
        let checked = names::validate_topic(&self.topic).and_then(|()| in_namespace());
        if let Err(error) = checked {
            return Err(MessageError::Topic { topic: self.topic.clone(), error });
        }
        if !names::is_for_sending(&self.topic) {
            return Err(MessageError::SystemTopic { topic: self.topic.clone() });
        }
        Ok(())
    }

    fn check_body(&self, rules: &MessageRules) -> Result<(), MessageError> {
        let (len, max) = (self.body.len(), rules.max_body_len);
        if len == 0 {
            return Err(MessageError::EmptyBody { topic: self.topic.clone() });
        }
        if len > max {
            return Err(MessageError::BodyTooLong { topic: self.topic.clone(), len, max });
        }
        Ok(())
    }

    fn check_tag_and_keys(&self) -> Result<(), MessageError> {
        if let Some(tag) = &self.tag {
            if is_blank(tag) {
                return Err(MessageError::BlankTag { topic: self.topic.clone() });
            }
            if properties::has_separator(tag) {
                return Err(self.separator_in(properties::TAGS));
            }
        }
        for key in &self.keys {
            if is_blank(key) {
                return Err(MessageError::BlankKey { topic: self.topic.clone() });
            }
            if key.contains(properties::KEY_SEPARATOR) {
                return Err(MessageError::KeyWithBlank { topic: self.topic.clone(), key: key.clone() });
            }
            if properties::has_separator(key) {
                return Err(self.separator_in(properties::KEYS));
            }
        }
        Ok(())
    }

    fn check_property(&self, name: &str, value: &str) -> Result<(), MessageError> {
        let topic = || self.topic.clone();
        if is_blank(name) {
            return Err(MessageError::BlankPropertyName { topic: topic() });
        }
        if properties::is_reserved(name) {
            let instead = builder_method(name);
            return Err(MessageError::ReservedProperty { topic: topic(), name: name.to_owned(), instead });
        }
        if is_blank(value) {
            return Err(MessageError::BlankPropertyValue { topic: topic(), name: name.to_owned() });
        }
        if properties::has_separator(name) || properties::has_separator(value) {
            return Err(self.separator_in(name));
        }
        if name == properties::INNER_MULTI_DISPATCH && value.contains('/') {
            return Err(MessageError::SlashInDispatch { topic: topic() });
        }
        Ok(())
    }

    fn separator_in(&self, name: &str) -> MessageError {
        MessageError::SeparatorInProperty { topic: self.topic.clone(), name: name.to_owned() }
    }

    fn encode_properties(&self, rules: &MessageRules, purpose: &Purpose<'_>) -> Result<String, MessageError> {
        let keys = self.keys.join(" ");
        let wait = if self.wait_store_ok { "true" } else { "false" };
        let delay = self.delay_property();
        let of_rocketmq = [
            (properties::KEYS, (!keys.is_empty()).then_some(keys.as_str())),
            (properties::TAGS, self.tag.as_deref()),
            (properties::WAIT, Some(wait)),
            (properties::INSTANCE_ID, rules.namespace.as_deref()),
        ];
        let of_rocketmq = of_rocketmq.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let of_rocketmq = of_rocketmq.chain(delay.as_ref().map(|(name, value)| (*name, value.as_str())));
        let all = of_rocketmq.chain(purpose.properties.iter().copied()).chain(self.properties());

        let len = all.clone().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>() + ID_ROOM;
        if len > properties::MAX_LEN {
            let max = properties::MAX_LEN;
            return Err(MessageError::PropertiesTooLong { topic: self.topic.clone(), len, max });
        }
        let mut text = String::with_capacity(len - ID_ROOM);
        for (name, value) in all {
            properties::push_pair(name, value, &mut text);
        }
        Ok(text)
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The method of [`Message`] that sets a reserved property.
fn builder_method(name: &str) -> Option<&'static str> {
    match name {
        properties::TAGS => Some("tag"),
        properties::KEYS => Some("key"),
        properties::WAIT => Some("wait_store_ok"),
        properties::DELAY => Some("delay_level"),
        properties::TIMER_DELAY_SEC | properties::TIMER_DELAY_MS => Some("deliver_after"),
        properties::TIMER_DELIVER_MS => Some("deliver_at"),
        _ => None,
    }
}
