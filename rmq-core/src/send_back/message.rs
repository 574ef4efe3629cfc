//! What is given back, and the message that takes its place when its broker will not have it.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;

use bytes::Bytes;
use rmq_proto::code::RequestCode;
use rmq_proto::id::UniqueKey;
use rmq_proto::message::{DelayLevel, StoredMessage, SysFlag};
use rmq_proto::names::{self, NameError, RETRY_PREFIX, namespace};
use rmq_proto::properties::{
    self, DELAY, INSTANCE_ID, MAX_RECONSUME_TIMES, NAME_SEPARATOR, ORIGIN_MESSAGE_ID, PROPERTY_SEPARATOR,
    RECONSUME_TIME, RETRY_TOPIC, TRAN_MSG, UNIQ_KEY,
};

use crate::address::Address;
use crate::producer::{MessageId, NewSend, Target};

/// What a name of a broker begins with that is none: queues of a static topic belong to it (producer §3.6).
const LOGICAL_BROKER: &str = "__syslo__";
/// The level of the first redelivery where the broker chooses: 10 s at real brokers.
const FIRST_LEVEL: i32 = 3;
/// More bytes than the properties that the message to the retry topic gets take, besides its id and its topic.
const RETRY_ROOM: usize = 192;
/// Redeliveries where the user does not say; Java: what its `maxReconsumeTimes` of -1 stands for.
const DEFAULT_MAX_RECONSUME_TIMES: u32 = 16;

/// When a message that is given back is to be consumed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Redelivery {
    /// After a delay that grows with the times it was consumed: level 3 + that number. Once they are all used up, never:
    /// it is then a dead letter. On the wire 0.
    #[default]
    ByBroker,
    /// After this delay; as with `ByBroker` there is an end to it. On the wire the level's number.
    After(DelayLevel),
    /// Never: it goes to the group's dead letters, `%DLQ%` and its name. On the wire -1.
    DeadLetter,
}

impl Redelivery {
    pub(crate) const fn on_the_wire(self) -> i32 {
        match self {
            Self::ByBroker => 0,
            Self::After(level) => level.number() as i32,
            Self::DeadLetter => -1,
        }
    }
}

/// A message that cannot be given back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendBackInvalid {
    /// The name of the consumers' group breaks a rule.
    #[error("consumer group `{group}`: {error}")]
    Group {
        /// The name given.
        group: String,
        /// The rule.
        error: NameError,
    },
    /// No broker has a topic of the message's name.
    #[error("topic `{topic}`: {error}")]
    Topic {
        /// The topic.
        topic: String,
        /// The rule.
        error: NameError,
    },
    /// No broker stores so many bytes of properties.
    #[error("the message's properties have {len} bytes, over the limit of {max}: no broker stored them")]
    PropertiesTooLong {
        /// Bytes of the encoded properties.
        len: usize,
        /// The limit.
        max: usize,
    },
}

/// A stored message that a group of consumers gives back. Made from the message as it was read.
///
/// ```
/// use rmq_core::SendBack;
/// use rmq_core::proto::message::StoredMessage;
///
/// # fn main() -> Result<(), rmq_core::SendBackInvalid> {
/// # let stored = StoredMessage { topic: "orders".into(), ..StoredMessage::default() };
/// let back = SendBack::new("order-readers", &stored)?.broker("broker-a").max_reconsume_times(5);
/// assert_eq!(back.topic(), "orders");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SendBack(pub(super) Box<Parts>);

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) group: String,
    pub(super) topic: Arc<str>,
    pub(super) broker: Option<Arc<str>>,
    pub(super) store_host: Address,
    pub(super) commit_log_offset: i64,
    pub(super) message_id: String,
    pub(super) redelivery: Redelivery,
    pub(super) max_reconsume_times: u32,
    /// The namespace that group and topic were put into.
    namespace: Option<Arc<str>>,
    reconsume_times: i32,
    flag: i32,
    sys_flag: SysFlag,
    body: Bytes,
    properties: String,
}

impl SendBack {
    /// `message`, given back by the consumers of `group`, to be consumed again when the broker thinks best, 16 times at
    /// most. A message that came out of the group's retry topic is known by the topic it had at first.
    ///
    /// The body counts only if the message has to be sent anew, and goes out as it is here: one that is compressed stays
    /// so. A broker gives back the whole record that it has: of an inner batch, all messages together.
    ///
    /// # Errors
    ///
    /// A group name that breaks a rule, and a message that no broker can have stored.
    pub fn new(group: impl Into<String>, message: &StoredMessage) -> Result<Self, SendBackInvalid> {
        let group = group.into();
        if let Err(error) = names::validate_group(&group) {
            return Err(SendBackInvalid::Group { group, error });
        }
        let original = message.property(RETRY_TOPIC).filter(|_| message.topic.starts_with(RETRY_PREFIX));
        let topic: Arc<str> = original.map_or_else(|| message.topic.clone(), Arc::from);
        if let Err(error) = names::validate_stored_topic(&topic) {
            return Err(SendBackInvalid::Topic { topic: topic.to_string(), error });
        }
        let (len, max) = (message.properties.len(), properties::MAX_LEN);
        if len > max {
            return Err(SendBackInvalid::PropertiesTooLong { len, max });
        }
        let compression = message.sys_flag.compression_bits();
        let sys_flag = if message.sys_flag.is_compressed() {
            SysFlag::COMPRESSED.with_compression_bits(compression)
        } else {
            SysFlag::default()
        };
        Ok(Self(Box::new(Parts {
            group,
            topic,
            broker: None,
            store_host: Address::new(&message.store_host.ip().to_string(), message.store_host.port()),
            commit_log_offset: message.commit_log_offset,
            message_id: message.message_id().into_owned(),
            redelivery: Redelivery::default(),
            max_reconsume_times: DEFAULT_MAX_RECONSUME_TIMES,
            namespace: None,
            reconsume_times: message.reconsume_times.max(0),
            flag: message.flag,
            sys_flag,
            body: message.body.clone(),
            properties: message.properties.clone(),
        })))
    }

    /// Names the broker that has the message, which is then asked at the address that routes in use give its master. One
    /// that they do not name is not asked at all. Without a name, the host that the message says it is stored at is asked.
    #[must_use]
    pub fn broker(mut self, name: &str) -> Self {
        self.0.broker = Some(name.into());
        self
    }

    /// When the message is to be consumed again; [`Redelivery::ByBroker`] by default.
    #[must_use]
    pub fn redelivery(mut self, redelivery: Redelivery) -> Self {
        self.0.redelivery = redelivery;
        self
    }

    /// How often the group consumes the message again before it is a dead letter; 16 by default. Java:
    /// `maxReconsumeTimes`.
    #[must_use]
    pub fn max_reconsume_times(mut self, times: u32) -> Self {
        self.0.max_reconsume_times = times;
        self
    }

    /// When it is to be consumed again.
    pub fn redelivers(&self) -> Redelivery {
        self.0.redelivery
    }

    /// The consumers' group.
    pub fn group(&self) -> &str {
        &self.0.group
    }

    /// The topic that the message had at first.
    pub fn topic(&self) -> &str {
        &self.0.topic
    }

    /// The id that users know the message by.
    pub fn message_id(&self) -> &str {
        &self.0.message_id
    }

    /// The body.
    pub fn body(&self) -> &Bytes {
        &self.0.body
    }

    /// Bytes that it counts for against [`Limits::operation_bytes`](crate::Limits::operation_bytes).
    pub fn bytes(&self) -> usize {
        self.0.body.len()
            + self.0.properties.len()
            + self.0.message_id.len()
            + self.0.topic.len()
            + self.0.namespace.as_ref().map_or(0, |namespace| INSTANCE_ID.len() + namespace.len() + 2)
            + RETRY_ROOM
    }

    /// The same message with the names that a client with a namespace of version 1 writes (producer §12.1).
    pub(crate) fn in_namespace(&self, namespace: &Arc<str>) -> Self {
        let mut parts = self.0.clone();
        parts.group = namespace::wrap(namespace, &parts.group).into_owned();
        parts.topic = namespace::wrap(namespace, &parts.topic).into();
        parts.namespace = Some(namespace.clone());
        Self(parts)
    }

    pub(crate) fn is_dead_letter(&self) -> bool {
        self.0.redelivery == Redelivery::DeadLetter
    }

    /// Whether it is known beforehand that there is no broker to ask (producer §12.2).
    pub(crate) fn is_on_logical_broker(&self) -> bool {
        self.0.broker.as_deref().is_some_and(|name| name.starts_with(LOGICAL_BROKER))
    }

    /// The message to the group's retry topic (producer §12.3). `fresh_key` is asked for an id if there is none.
    pub(crate) fn retry(&self, fresh_key: impl FnOnce() -> UniqueKey) -> NewSend {
        let mut map: BTreeMap<&str, &str> = properties::iter(&self.0.properties).collect();
        let fresh = if map.contains_key(UNIQ_KEY) { None } else { Some(fresh_key()) };
        if let Some(fresh) = &fresh {
            map.insert(UNIQ_KEY, fresh.as_str());
        }
        let origin = map.get(ORIGIN_MESSAGE_ID).filter(|id| !id.trim().is_empty());
        let origin = origin.copied().unwrap_or(&self.0.message_id);
        map.insert(ORIGIN_MESSAGE_ID, origin);
        map.insert(RETRY_TOPIC, &self.0.topic);
        map.remove(TRAN_MSG);
        if let Some(namespace) = &self.0.namespace {
            map.insert(INSTANCE_ID, namespace);
        }
        let again = self.0.reconsume_times.saturating_add(1).to_string();
        let delay = self.0.reconsume_times.saturating_add(FIRST_LEVEL).to_string();
        let most = self.most_on_the_wire().to_string();
        map.insert(RECONSUME_TIME, &again);
        map.insert(MAX_RECONSUME_TIMES, &most);
        map.insert(DELAY, &delay);
        NewSend {
            topic: names::retry_topic(&self.0.group).into(),
            target: Target::Topic,
            code: RequestCode::SEND_MESSAGE_V2,
            body: self.0.body.clone(),
            flag: self.0.flag,
            sys_flag: self.0.sys_flag.0,
            message_id: MessageId::Own(map.get(UNIQ_KEY).map(ToString::to_string).unwrap_or_default()),
            properties: encode(&map),
        }
    }

    pub(super) fn most_on_the_wire(&self) -> i32 {
        i32::try_from(self.0.max_reconsume_times).unwrap_or(i32::MAX)
    }
}

fn encode(map: &BTreeMap<&str, &str>) -> String {
    let mut text = String::with_capacity(map.iter().map(|(name, value)| name.len() + value.len() + 2).sum());
    for (name, value) in map {
        text.push_str(name);
        text.push(NAME_SEPARATOR);
        text.push_str(value);
        text.push(PROPERTY_SEPARATOR);
    }
    text
}

impl fmt::Debug for SendBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendBack")
            .field("group", &self.0.group)
            .field("topic", &self.0.topic)
            .field("broker", &self.0.broker)
            .field("store_host", &self.0.store_host)
            .field("commit_log_offset", &self.0.commit_log_offset)
            .field("message_id", &self.0.message_id)
            .field("reconsume_times", &self.0.reconsume_times)
            .field("redelivery", &self.0.redelivery)
            .field("max_reconsume_times", &self.0.max_reconsume_times)
            .field("body", &format_args!("{} bytes", self.0.body.len()))
            .finish_non_exhaustive()
    }
}
