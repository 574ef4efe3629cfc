use alloc::borrow::Cow;

headers! {
    /// Sends a message, with long field names: SEND_MESSAGE (10) and SEND_REPLY_MESSAGE (324), wire §5.1.
    pub struct SendMessageHeader<'a> {
        /// The producer's group.
        producer_group: Cow<'a, str> = "producerGroup",
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The topic whose settings a new topic gets, if the broker creates topics by itself.
        default_topic: Cow<'a, str> = "defaultTopic",
        /// Queues of a topic that is created so.
        default_topic_queue_nums: i32 = "defaultTopicQueueNums",
        /// The queue; if negative, the broker picks one.
        queue_id: i32 = "queueId",
        /// Bits of wire §6.3.
        sys_flag: i32 = "sysFlag",
        /// When the message was made, in milliseconds of Unix time.
        born_timestamp: i64 = "bornTimestamp",
        /// The user's own flag.
        flag: i32 = "flag",
        /// The properties, encoded (wire §6.4).
        properties: Option<Cow<'a, str>> = "properties",
        /// How often the message was consumed before, on its way to a retry topic; else 0. Always send it.
        reconsume_times: Option<i32> = "reconsumeTimes",
        /// Unit mode (wire §9.6); false by default. Always send it (wire §10 row 13).
        unit_mode: Option<bool> = "unitMode",
        /// How often the message may be consumed; to retry topics alone.
        max_reconsume_times: Option<i32> = "maxReconsumeTimes",
        /// Whether the body is a batch; false by default. The broker goes by this, not by the request's code. Always send it
        /// (wire §10 row 13).
        batch: Option<bool> = "batch",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// Sends a message, with names of one letter: SEND_MESSAGE_V2 (310), SEND_BATCH_MESSAGE (320) and
    /// SEND_REPLY_MESSAGE_V2 (325), wire §5.1.
    pub struct SendMessageV2Header<'a> {
        /// The producer's group.
        producer_group: Cow<'a, str> = "a",
        /// The topic.
        topic: Cow<'a, str> = "b",
        /// The topic whose settings a new topic gets, if the broker creates topics by itself.
        default_topic: Cow<'a, str> = "c",
        /// Queues of a topic that is created so.
        default_topic_queue_nums: i32 = "d",
        /// The queue; if negative, the broker picks one.
        queue_id: i32 = "e",
        /// Bits of wire §6.3.
        sys_flag: i32 = "f",
        /// When the message was made, in milliseconds of Unix time.
        born_timestamp: i64 = "g",
        /// The user's own flag.
        flag: i32 = "h",
        /// The properties, encoded (wire §6.4).
        properties: Option<Cow<'a, str>> = "i",
        /// How often the message was consumed before, on its way to a retry topic; else 0. Always send it.
        reconsume_times: Option<i32> = "j",
        /// Unit mode (wire §9.6); false by default. Always send it (wire §10 row 13).
        unit_mode: Option<bool> = "k",
        /// How often the message may be consumed; to retry topics alone.
        max_reconsume_times: Option<i32> = "l",
        /// Whether the body is a batch; false by default. The broker goes by this, not by the request's code. Always send it
        /// (wire §10 row 13).
        batch: Option<bool> = "m",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "n",
    }

    /// Where a message was stored: the answer to a send with code 0, 10, 11 or 12, wire §5.1.
    pub struct SendResponseHeader<'a> {
        /// The message's offset id (wire §6.5); for a batch, several with commas between.
        message_id: Cow<'a, str> = "msgId",
        /// The queue it was sent to.
        queue_id: i32 = "queueId",
        /// Its offset in the queue; for a batch, that of the first message.
        queue_offset: i64 = "queueOffset",
        /// The unique key. 5.3.3 always sends it but for a reply, 4.9.7 never.
        transaction_id: Option<Cow<'a, str>> = "transactionId",
        /// The unique key of a batch stored as one record. Brokers since 5.0.
        batch_unique_id: Option<Cow<'a, str>> = "batchUniqId",
        /// What a timer message can be recalled by (wire §11.2). Brokers since 5.3.2.
        recall_handle: Option<Cow<'a, str>> = "recallHandle",
        /// The broker's region.
        region_id: Option<Cow<'a, str>> = "MSG_REGION",
        /// `false` asks clients not to trace messages of this broker.
        trace_on: Option<Cow<'a, str>> = "TRACE_ON",
    }
}
