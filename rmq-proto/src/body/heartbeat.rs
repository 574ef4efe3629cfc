//! What a client tells brokers of itself every 30 seconds: its producers, its consumers and their subscriptions
//! (wire §5.6).

use alloc::string::String;
use alloc::vec::Vec;

use super::BodyError;
use super::subscription::SubscriptionData;
use super::value::{Sink, Source, Value};
use crate::hash::java_hash;

constants! {
    /// Where a group that never consumed a queue begins (wire §5.6).
    pub enum ConsumeFromWhere in "consumeFromWhere" {
        /// With what comes from now on.
        LastOffset = "CONSUME_FROM_LAST_OFFSET",
        /// Deprecated.
        LastOffsetAndFromMinWhenBootFirst = "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
        /// Deprecated.
        MinOffset = "CONSUME_FROM_MIN_OFFSET",
        /// Deprecated.
        MaxOffset = "CONSUME_FROM_MAX_OFFSET",
        /// With the oldest message there is.
        FirstOffset = "CONSUME_FROM_FIRST_OFFSET",
        /// With the first message after a point of time.
        Timestamp = "CONSUME_FROM_TIMESTAMP",
    }

    /// How a consumer gets its messages (wire §5.6).
    pub enum ConsumeType in "consumeType" {
        /// It pulls when its user asks.
        Actively = "CONSUME_ACTIVELY",
        /// It hands messages to its user.
        Passively = "CONSUME_PASSIVELY",
        /// It pops.
        Pop = "CONSUME_POP",
    }

    /// Who of a group gets a message (wire §5.6).
    pub enum MessageModel in "messageModel" {
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
    /// 0, or the [fingerprint](Self::compute_fingerprint) (wire §9.5).
    pub fingerprint: i32,
    /// Whether the subscriptions are left out because the broker knows them by the fingerprint (wire §9.5).
    pub without_sub: bool,
}

objects! {
    /// One group of consumers in a client.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ConsumerData {
        /// Where it begins.
        consume_from_where: ConsumeFromWhere = required "consumeFromWhere",
        /// How it gets its messages.
        consume_type: ConsumeType = required "consumeType",
        /// The group.
        group_name: String = required "groupName",
        /// Who of the group gets a message.
        message_model: MessageModel = required "messageModel",
        /// What it subscribes to, its retry topic included.
        subscriptions: Vec<SubscriptionData> = "subscriptionDataSet",
        /// Whether it belongs to a unit (wire §9.6).
        unit_mode: bool = "unitMode",
    }

    /// One group of producers in a client, as the wire has it.
    struct ProducerData {
        /// The group.
        group_name: String = required "groupName",
    }
}

impl Value for HeartbeatData {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        let mut heartbeat = Self::default();
        let (mut client_id, mut producers) = (None, Vec::<ProducerData>::new());
        source.members(&mut |source, member| {
            match member {
                "clientID" => client_id = Value::read(source)?,
                "consumerDataSet" => heartbeat.consumers = Value::read(source)?,
                "heartbeatFingerprint" => heartbeat.fingerprint = Value::read(source)?,
                "producerDataSet" => producers = Value::read(source)?,
                "withoutSub" | "isWithoutSub" => heartbeat.without_sub = Value::read(source)?,
                _ => source.json.skip()?,
            }
            Ok(())
        })?;
        let offset = source.json.offset();
        heartbeat.client_id = client_id.ok_or(BodyError::Missing { member: "clientID", offset })?;
        heartbeat.producers = producers.into_iter().map(|producer| producer.group_name).collect();
        Ok(heartbeat)
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.begin_object();
        sink.json.key("clientID");
        self.client_id.write(sink);
        sink.json.key("consumerDataSet");
        self.consumers.write(sink);
        sink.json.key("heartbeatFingerprint");
        self.fingerprint.write(sink);
        sink.json.key("producerDataSet");
        sink.json.begin_array();
        for group in &self.producers {
            sink.json.begin_object();
            sink.json.key("groupName");
            group.write(sink);
            sink.json.end_object();
        }
        sink.json.end_array();
        sink.json.key("withoutSub");
        self.without_sub.write(sink);
        sink.json.end_object();
    }
}

impl HeartbeatData {
    /// The fingerprint of these producers and consumers, by which a broker knows the subscriptions again when they are left
    /// out of later heartbeats (wire §9.5). It does not depend on the client's id, on when the subscriptions
    /// were made and on the heartbeat's own `fingerprint` and `without_sub`. It does depend on the order of all lists, so keep
    /// that; and on the subscriptions, so compute it while they are in, and give the heartbeats without them the same number.
    ///
    /// Java's hash of the heartbeat's text without these. As 0 means that there is no fingerprint, a hash of 0 gives 1.
    pub fn compute_fingerprint(&self) -> i32 {
        let mut content = self.clone();
        content.client_id.clear();
        content.fingerprint = 0;
        content.without_sub = false;
        let subscriptions = content.consumers.iter_mut().flat_map(|consumer| &mut consumer.subscriptions);
        subscriptions.for_each(|subscription| subscription.sub_version = 0);
        match java_hash(&String::from_utf8_lossy(&content.encode())) {
            0 => 1,
            hash => hash,
        }
    }
}
