use alloc::borrow::Cow;

use crate::names::{DEFAULT_TOPIC, RETRY_PREFIX};
use crate::properties::{self, MAX_RECONSUME_TIMES, RECONSUME_TIME};

/// Queues of a topic that is created by sending to it, where nobody says otherwise (producer §1.2).
const DEFAULT_TOPIC_QUEUES: i32 = 4;
/// How often a message may be consumed, where neither it nor anybody else says so.
const DEFAULT_MAX_RECONSUME_TIMES: i32 = 16;

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

/// What both headers begin with.
macro_rules! with_all_that_is_always_sent {
    ($($header:ident)*) => {$(
        impl<'a> $header<'a> {
            /// The header of a message without properties, for the broker to pick a queue of `topic`. What older brokers
            /// fail without is there: how often the message was consumed (0), whether it is a batch or of a unit (neither),
            /// and, to a retry topic, how often it may be consumed (16). A topic that does not exist yet is made of
            /// `TBW102`, with 4 queues.
            ///
            /// Set the other fields before it is sent; brokers store the time of birth as it is here, 0.
            pub fn new(producer_group: impl Into<Cow<'a, str>>, topic: impl Into<Cow<'a, str>>) -> Self {
                let topic = topic.into();
                let max_reconsume_times =
                    topic.starts_with(RETRY_PREFIX).then_some(DEFAULT_MAX_RECONSUME_TIMES);
                Self {
                    producer_group: producer_group.into(),
                    topic,
                    default_topic: Cow::Borrowed(DEFAULT_TOPIC),
                    default_topic_queue_nums: DEFAULT_TOPIC_QUEUES,
                    queue_id: -1,
                    sys_flag: 0,
                    born_timestamp: 0,
                    flag: 0,
                    properties: None,
                    reconsume_times: Some(0),
                    unit_mode: Some(false),
                    max_reconsume_times,
                    batch: Some(false),
                    broker_name: None,
                }
            }

            /// The same header with these encoded properties. To a retry topic, what they say of how often the message was
            /// and may be consumed goes into fields of its own, too (producer §5.4, step 9).
            #[must_use]
            pub fn with_properties(mut self, encoded: impl Into<Cow<'a, str>>) -> Self {
                let encoded = encoded.into();
                if self.topic.starts_with(RETRY_PREFIX) {
                    let number = |name| properties::value(&encoded, name).and_then(|text| text.parse().ok());
                    self.reconsume_times = number(RECONSUME_TIME).or(self.reconsume_times);
                    self.max_reconsume_times = number(MAX_RECONSUME_TIMES).or(self.max_reconsume_times);
                }
                self.properties = Some(encoded);
                self
            }
        }
    )*};
}

with_all_that_is_always_sent! { SendMessageHeader SendMessageV2Header }
