//! Replies to requests: made, and as brokers push them (producer §10.1, wire §5.17).

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use bytes::Bytes;
use core::net::{Ipv4Addr, SocketAddr};

use super::prepare::Purpose;
use super::{Message, MessageError, MessageRules, Prepared, RecordVersion, StoredMessage, SysFlag};
use crate::code::RequestCode;
use crate::header::PushReplyHeader;
use crate::names;
use crate::properties::{self, ARRIVE_TIME, CLUSTER, CORRELATION_ID, MSG_TYPE, REPLY_TO_CLIENT, TTL};

/// A message that cannot be replied to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "message {message_id} of topic `{topic}` cannot be replied to: it has no property {missing}, which requests have as \
     brokers store them"
)]
pub struct ReplyError {
    /// Its topic.
    pub topic: String,
    /// Its id.
    pub message_id: String,
    /// The property that is missing: `CLUSTER`, which brokers write, `CORRELATION_ID` or `REPLY_TO_CLIENT`.
    pub missing: &'static str,
}

/// A reply to a request.
///
/// It is a message to the topic of replies of the request's cluster. The broker that gets it pushes it to the client that
/// asked, and answers once that client has it.
///
/// ```
/// use rmq_proto::code::RequestCode;
/// use rmq_proto::message::{MessageRules, Reply, StoredMessage};
///
/// # fn example(request: &StoredMessage) -> Result<(), Box<dyn std::error::Error>> {
/// let reply = Reply::new(request, "pong")?.property("colour", "red").prepare(&MessageRules::default())?;
/// assert_eq!(reply.request_code(), RequestCode::SEND_REPLY_MESSAGE_V2);
/// # Ok(())
/// # }
/// # let request = StoredMessage {
/// #     properties: "CLUSTER\u{1}c\u{2}CORRELATION_ID\u{1}i\u{2}REPLY_TO_CLIENT\u{1}me\u{2}".into(),
/// #     ..StoredMessage::default()
/// # };
/// # example(&request).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    message: Message,
    correlation_id: String,
    client_id: String,
    ttl: Option<String>,
}

impl Reply {
    /// A reply to `request`, which is read as a consumer reads it. The body must not be empty.
    ///
    /// # Errors
    ///
    /// The message is no request, or was not stored by a broker.
    pub fn new(request: &StoredMessage, body: impl Into<Bytes>) -> Result<Self, ReplyError> {
        let copied = |name| request.property(name).filter(|value| !properties::has_separator(value));
        let wanted = |name| {
            copied(name).ok_or_else(|| ReplyError {
                topic: request.topic.to_string(),
                message_id: request.message_id().into_owned(),
                missing: name,
            })
        };
        Ok(Self {
            message: Message::new(names::reply_topic(wanted(CLUSTER)?), body),
            correlation_id: wanted(CORRELATION_ID)?.to_string(),
            client_id: wanted(REPLY_TO_CLIENT)?.to_string(),
            ttl: copied(TTL).map(ToString::to_string),
        })
    }

    /// Sets a tag, as [`Message::tag`].
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.message = self.message.tag(tag);
        self
    }

    /// Adds a key, as [`Message::key`].
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.message = self.message.key(key);
        self
    }

    /// Sets a property, as [`Message::property`].
    #[must_use]
    pub fn property(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.message = self.message.property(name, value);
        self
    }

    /// The message that it is, without what joins it to the request.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// The client that waits for it.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// Prepares it, as [`Message::prepare`]; it is carried by SEND_REPLY_MESSAGE_V2 (325).
    ///
    /// # Errors
    ///
    /// Those of [`Message::prepare`].
    pub fn prepare(self, rules: &MessageRules) -> Result<Prepared, MessageError> {
        let properties = [
            (MSG_TYPE, "reply"),
            (CORRELATION_ID, &*self.correlation_id),
            (REPLY_TO_CLIENT, &*self.client_id),
            (TTL, self.ttl.as_deref().unwrap_or_default()),
        ];
        // The last one is the one that may be missing.
        let present = properties.len() - usize::from(self.ttl.is_none());
        let purpose = Purpose {
            code: RequestCode::SEND_REPLY_MESSAGE_V2,
            properties: &properties[..present],
            ..Purpose::ORDINARY
        };
        self.message.prepare_for(rules, &purpose)
    }
}

impl StoredMessage {
    /// The reply that a broker pushes (wire §5.17). It is said nothing of where it is stored, nor of a checksum: both offsets
    /// and [`body_crc`](Self::body_crc) are 0. A host that cannot be read is `0.0.0.0:0`. Its properties have
    /// `ARRIVE_TIME` in addition, the time given here.
    pub fn pushed(header: &PushReplyHeader<'_>, body: Bytes, unix_ms: u64) -> Self {
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let host = |text: &Cow<'_, str>| text.parse().unwrap_or(nowhere);
        let (born_host, store_host) = (host(&header.born_host), host(&header.store_host));
        let mut properties = header.properties.as_deref().unwrap_or_default().to_string();
        if !properties.is_empty() && !properties.ends_with(properties::PROPERTY_SEPARATOR) {
            properties.push(properties::PROPERTY_SEPARATOR);
        }
        properties::push_pair(ARRIVE_TIME, &unix_ms.to_string(), &mut properties);
        Self {
            version: RecordVersion::for_topic(&header.topic),
            queue_id: header.queue_id,
            flag: header.flag,
            sys_flag: SysFlag(header.sys_flag).with_hosts(&born_host, &store_host),
            born_timestamp: header.born_timestamp,
            born_host,
            store_timestamp: header.store_timestamp,
            store_host,
            reconsume_times: header.reconsume_times.unwrap_or(0),
            body,
            topic: (&*header.topic).into(),
            properties,
            ..Self::default()
        }
    }
}
