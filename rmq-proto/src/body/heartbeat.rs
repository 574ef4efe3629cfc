//! What a client tells brokers of itself every 30 seconds: its producers, its consumers and their subscriptions
//! (wire §5.6).

use alloc::string::String;
use alloc::vec::Vec;
use bytes::{Bytes, BytesMut};

use super::{BodyError, enter, list, required, text};
use crate::json::{Reader, Writer};

/// A subscription by tags: `*`, or tags joined by ` || ` (wire §5.6).
pub const EXPRESSION_TAG: &str = "TAG";

/// A subscription by a condition on properties (wire §5.6).
pub const EXPRESSION_SQL92: &str = "SQL92";

/// Constants that go by their Java names.
macro_rules! named {
    ($(#[doc = $doc:literal])+ $type:ident in $member:literal { $($(#[doc = $row:literal])+ $name:ident = $wire:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[doc = $row])+ $name,)+
        }

        impl $type {
            /// Its name on the wire.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $wire,)+
                }
            }

            fn read(json: &mut Reader<'_>) -> Result<Option<Self>, BodyError> {
                match json.text()?.as_deref() {
                    None => Ok(None),
                    $(Some($wire) => Ok(Some(Self::$name)),)+
                    Some(_) => Err(BodyError::UnknownValue { member: $member, offset: json.offset() }),
                }
            }
        }
    };
}

named! {
    /// Where a group that never consumed a queue begins (wire §5.6).
    ConsumeFromWhere in "consumeFromWhere" {
        /// With what comes from now on.
        LastOffset = "CONSUME_FROM_LAST_OFFSET",
        /// With the oldest message there is.
        FirstOffset = "CONSUME_FROM_FIRST_OFFSET",
        /// With the first message after a point of time.
        Timestamp = "CONSUME_FROM_TIMESTAMP",
        /// Deprecated.
        LastOffsetAndFromMinWhenBootFirst = "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
        /// Deprecated.
        MinOffset = "CONSUME_FROM_MIN_OFFSET",
        /// Deprecated.
        MaxOffset = "CONSUME_FROM_MAX_OFFSET",
    }
}

named! {
    /// How a consumer gets its messages (wire §5.6).
    ConsumeType in "consumeType" {
        /// It pulls when its user asks.
        Actively = "CONSUME_ACTIVELY",
        /// It hands messages to its user.
        Passively = "CONSUME_PASSIVELY",
        /// It pops.
        Pop = "CONSUME_POP",
    }
}

named! {
    /// Who of a group gets a message (wire §5.6).
    MessageModel in "messageModel" {
        /// Every member.
        Broadcasting = "BROADCASTING",
        /// One member.
        Clustering = "CLUSTERING",
    }
}

/// The body of HEART_BEAT (wire §5.6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatData {
    /// The client's id; it is the same on all its connections.
    pub client_id: String,
    /// Producer groups.
    pub producers: Vec<String>,
    /// Consumers; none in most producers' clients.
    pub consumers: Vec<ConsumerData>,
    /// 0, or a number that changes with the subscriptions (wire §9.5).
    pub fingerprint: i32,
    /// Whether the subscriptions are left out because the broker knows them by the fingerprint (wire §9.5).
    pub without_sub: bool,
}

/// One group of consumers in a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerData {
    /// The group.
    pub group_name: String,
    /// How it gets its messages.
    pub consume_type: ConsumeType,
    /// Who of the group gets a message.
    pub message_model: MessageModel,
    /// Where it begins.
    pub consume_from_where: ConsumeFromWhere,
    /// What it subscribes to, its retry topic included.
    pub subscriptions: Vec<SubscriptionData>,
    /// Whether it belongs to a unit (wire §9.6).
    pub unit_mode: bool,
}

/// One topic that a consumer subscribes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionData {
    /// The topic.
    pub topic: String,
    /// The expression, of the kind that `expression_type` says.
    pub sub_string: String,
    /// [`EXPRESSION_TAG`] or [`EXPRESSION_SQL92`].
    pub expression_type: String,
    /// The tags in the expression; none for `*` and for a condition.
    pub tags_set: Vec<String>,
    /// Java's hash of each tag.
    pub code_set: Vec<i32>,
    /// When the subscription was made, in milliseconds since the Unix epoch. It has to grow with each change.
    pub sub_version: i64,
    /// Unused; false.
    pub class_filter_mode: bool,
}

impl HeartbeatData {
    /// Reads the body of a request.
    ///
    /// # Errors
    ///
    /// No body, `null`, a text that is cut or is no JSON, and objects without a name or with a constant that does not
    /// exist.
    pub fn decode(body: &[u8]) -> Result<Self, BodyError> {
        let mut json = enter(body)?;
        let mut heartbeat = Self::default();
        let mut client_id = None;
        while let Some(member) = json.key()? {
            match &*member {
                "clientID" => client_id = text(&mut json)?,
                "consumerDataSet" => {
                    heartbeat.consumers = list(&mut json, |json, _| ConsumerData::read(json))?;
                }
                "heartbeatFingerprint" => heartbeat.fingerprint = json.i32()?.unwrap_or_default(),
                "producerDataSet" => heartbeat.producers = list(&mut json, |json, _| read_producer(json))?,
                "withoutSub" | "isWithoutSub" => heartbeat.without_sub = json.boolean()?.unwrap_or_default(),
                _ => json.skip()?,
            }
        }
        json.finish()?;
        heartbeat.client_id = required(client_id, "clientID", &json)?;
        Ok(heartbeat)
    }

    /// The body as Java writes it.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::new();
        let mut json = Writer::new(&mut out);
        json.begin_object();
        json.key("clientID");
        json.text(&self.client_id);
        json.key("consumerDataSet");
        json.begin_array();
        self.consumers.iter().for_each(|consumer| consumer.write(&mut json));
        json.end_array();
        json.key("heartbeatFingerprint");
        json.integer(self.fingerprint.into());
        json.key("producerDataSet");
        json.begin_array();
        for group in &self.producers {
            json.begin_object();
            json.key("groupName");
            json.text(group);
            json.end_object();
        }
        json.end_array();
        json.key("withoutSub");
        json.boolean(self.without_sub);
        json.end_object();
        out.freeze()
    }
}

fn read_producer(json: &mut Reader<'_>) -> Result<String, BodyError> {
    let mut group = None;
    let is_object = json.object()?;
    while is_object && let Some(member) = json.key()? {
        match &*member {
            "groupName" => group = text(json)?,
            _ => json.skip()?,
        }
    }
    required(group, "groupName", json)
}

impl ConsumerData {
    fn read(json: &mut Reader<'_>) -> Result<Self, BodyError> {
        let (mut group_name, mut consume_type, mut message_model, mut consume_from_where) =
            (None, None, None, None);
        let (mut subscriptions, mut unit_mode) = (Vec::new(), false);
        let is_object = json.object()?;
        while is_object && let Some(member) = json.key()? {
            match &*member {
                "groupName" => group_name = text(json)?,
                "consumeType" => consume_type = ConsumeType::read(json)?,
                "messageModel" => message_model = MessageModel::read(json)?,
                "consumeFromWhere" => consume_from_where = ConsumeFromWhere::read(json)?,
                "subscriptionDataSet" => subscriptions = list(json, |json, _| SubscriptionData::read(json))?,
                "unitMode" => unit_mode = json.boolean()?.unwrap_or_default(),
                _ => json.skip()?,
            }
        }
        Ok(Self {
            group_name: required(group_name, "groupName", json)?,
            consume_type: required(consume_type, "consumeType", json)?,
            message_model: required(message_model, "messageModel", json)?,
            consume_from_where: required(consume_from_where, "consumeFromWhere", json)?,
            subscriptions,
            unit_mode,
        })
    }

    fn write(&self, json: &mut Writer<'_>) {
        json.begin_object();
        json.key("consumeFromWhere");
        json.text(self.consume_from_where.name());
        json.key("consumeType");
        json.text(self.consume_type.name());
        json.key("groupName");
        json.text(&self.group_name);
        json.key("messageModel");
        json.text(self.message_model.name());
        json.key("subscriptionDataSet");
        json.begin_array();
        self.subscriptions.iter().for_each(|subscription| subscription.write(json));
        json.end_array();
        json.key("unitMode");
        json.boolean(self.unit_mode);
        json.end_object();
    }
}

impl SubscriptionData {
    fn read(json: &mut Reader<'_>) -> Result<Self, BodyError> {
        let mut subscription = Self::default();
        let (mut topic, mut sub_string, mut expression_type) = (None, None, None);
        let is_object = json.object()?;
        while is_object && let Some(member) = json.key()? {
            match &*member {
                "topic" => topic = text(json)?,
                "subString" => sub_string = text(json)?,
                "expressionType" => expression_type = text(json)?,
                "tagsSet" => {
                    subscription.tags_set = list(json, |json, _| Ok(text(json)?.unwrap_or_default()))?;
                }
                "codeSet" => {
                    subscription.code_set = list(json, |json, _| Ok(json.i32()?.unwrap_or_default()))?;
                }
                "subVersion" => subscription.sub_version = json.i64()?.unwrap_or_default(),
                "classFilterMode" => subscription.class_filter_mode = json.boolean()?.unwrap_or_default(),
                _ => json.skip()?,
            }
        }
        subscription.topic = required(topic, "topic", json)?;
        subscription.sub_string = required(sub_string, "subString", json)?;
        subscription.expression_type = expression_type.unwrap_or_else(|| EXPRESSION_TAG.into());
        Ok(subscription)
    }

    fn write(&self, json: &mut Writer<'_>) {
        json.begin_object();
        json.key("classFilterMode");
        json.boolean(self.class_filter_mode);
        json.key("codeSet");
        json.begin_array();
        self.code_set.iter().for_each(|code| json.integer((*code).into()));
        json.end_array();
        json.key("expressionType");
        json.text(&self.expression_type);
        json.key("subString");
        json.text(&self.sub_string);
        json.key("subVersion");
        json.integer(self.sub_version);
        json.key("tagsSet");
        json.begin_array();
        self.tags_set.iter().for_each(|tag| json.text(tag));
        json.end_array();
        json.key("topic");
        json.text(&self.topic);
        json.end_object();
    }
}
