//! What brokers ask of clients (wire §4.2), but for the check of a transaction. Admin tools' requests come through brokers
//! with all their ext fields, so others may be among these.

use alloc::borrow::Cow;

headers! {
    /// Tells that the consumers of a group changed: NOTIFY_CONSUMER_IDS_CHANGED (40), wire §5.16. One-way.
    pub struct ConsumersChangedHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
    }

    /// Sets offsets of a group: RESET_CONSUMER_CLIENT_OFFSET (220), wire §5.21. One-way; the offsets stand in the body.
    pub struct ResetOffsetHeader<'a> {
        /// The consumers' group.
        group: Cow<'a, str> = "group",
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The time that offsets were searched by, in milliseconds of Unix time; negative if by none.
        timestamp: i64 = "timestamp",
        /// The one queue that is meant; -1, the default, is all. Brokers since 5.0.
        queue_id: Option<i32> = "queueId",
        /// Whether offsets go back and forth, or only back. The wire name has the `is`.
        is_force: bool = "isForce",
        /// The queue offset that the admin named, if any. Brokers since 5.0.
        offset: Option<i64> = "offset",
    }

    /// Asks a consumer for its offsets: GET_CONSUMER_STATUS_FROM_CLIENT (221), wire §5.24.
    pub struct GetConsumerStatusHeader<'a> {
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The consumers' group.
        group: Cow<'a, str> = "group",
        /// The client that the admin asked for.
        client_address: Option<Cow<'a, str>> = "clientAddr",
    }

    /// Asks a consumer how it is: GET_CONSUMER_RUNNING_INFO (307), wire §5.22.
    pub struct GetRunningInfoHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
        /// The client's id.
        client_id: Cow<'a, str> = "clientId",
        /// Whether stacks of threads are wanted as well; false by default.
        with_stacks: Option<bool> = "jstackEnable",
    }

    /// Has a consumer consume the message in the body at once: CONSUME_MESSAGE_DIRECTLY (309), wire §5.23.
    pub struct ConsumeDirectlyHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
        /// The client's id.
        client_id: Option<Cow<'a, str>> = "clientId",
        /// The message's id.
        message_id: Option<Cow<'a, str>> = "msgId",
        /// The name of the message's broker.
        broker_name: Option<Cow<'a, str>> = "brokerName",
        /// The topic.
        topic: Option<Cow<'a, str>> = "topic",
        /// Bits of the topic (wire §9.6).
        topic_sys_flag: Option<i32> = "topicSysFlag",
        /// Bits of the group.
        group_sys_flag: Option<i32> = "groupSysFlag",
    }

    /// Brings a reply to the client that asked: PUSH_REPLY_MESSAGE_TO_CLIENT (326), wire §5.17. All but the hosts and
    /// `store_timestamp` is what the replier sent. The body is the reply's.
    pub struct PushReplyHeader<'a> {
        /// The replier's group.
        producer_group: Cow<'a, str> = "producerGroup",
        /// The topic of replies.
        topic: Cow<'a, str> = "topic",
        /// The topic whose settings a new topic would get.
        default_topic: Cow<'a, str> = "defaultTopic",
        /// Queues of a topic that would be created so.
        default_topic_queue_nums: i32 = "defaultTopicQueueNums",
        /// The queue.
        queue_id: i32 = "queueId",
        /// Bits of wire §6.3: whether the body is compressed, and how.
        sys_flag: i32 = "sysFlag",
        /// When the reply was made, in milliseconds of Unix time.
        born_timestamp: i64 = "bornTimestamp",
        /// The user's own flag.
        flag: i32 = "flag",
        /// The properties, encoded (wire §6.4); CORRELATION_ID among them says what is replied to.
        properties: Option<Cow<'a, str>> = "properties",
        /// 0.
        reconsume_times: Option<i32> = "reconsumeTimes",
        /// Unit mode (wire §9.6).
        unit_mode: Option<bool> = "unitMode",
        /// The replier's address, `ip:port`.
        born_host: Cow<'a, str> = "bornHost",
        /// The broker's address, `ip:port`.
        store_host: Cow<'a, str> = "storeHost",
        /// When the reply came to the broker, in milliseconds of Unix time.
        store_timestamp: i64 = "storeTimestamp",
    }
}
