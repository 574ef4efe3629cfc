use alloc::borrow::Cow;

headers! {
    /// Creates or changes a topic on one broker: UPDATE_AND_CREATE_TOPIC (17), wire §5.12. The response has no fields.
    pub struct CreateTopicHeader<'a> {
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// A topic to take settings from: `TBW102`.
        default_topic: Cow<'a, str> = "defaultTopic",
        /// Queues to read from.
        read_queue_nums: i32 = "readQueueNums",
        /// Queues to write to.
        write_queue_nums: i32 = "writeQueueNums",
        /// Permission bits, 6 for reading and writing (wire §2.5).
        perm: i32 = "perm",
        /// How many tags a message may have: a name of [`TopicFilterType`](crate::body::TopicFilterType).
        filter_type: Cow<'a, str> = "topicFilterType",
        /// Bits of wire §9.6; 0 by default. Always send it.
        topic_sys_flag: Option<i32> = "topicSysFlag",
        /// Whether messages are ordered; false as a rule.
        order: bool = "order",
        /// Attributes to set and to remove, such as `+message.type=FIFO,-old`. Brokers since 5.0.
        attributes: Option<Cow<'a, str>> = "attributes",
        /// Whether rules against the change are put aside; false by default.
        force: Option<bool> = "force",
    }

    /// Asks a name server for the topics of a cluster: GET_TOPICS_BY_CLUSTER (224), wire §4.1. The names come in the
    /// response's body.
    pub struct GetClusterTopicsHeader<'a> {
        /// The cluster.
        cluster: Cow<'a, str> = "cluster",
    }
}
