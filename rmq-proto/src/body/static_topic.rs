//! Static topics of 5.x: a fixed number of logical queues, mapped to queues of brokers (wire §2.5).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

objects! {
    /// The logical queues of a static topic that one broker has now.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TopicQueueMappingInfo {
        /// The broker.
        broker_name: String = "bname",
        /// The broker's own queue numbers, by number of the logical queue.
        current_ids: BTreeMap<i32, i32> = "currIdMap",
        /// Whether the broker has still to save it.
        dirty: bool = "dirty",
        /// Grows with each change of the mapping.
        epoch: i64 = "epoch",
        /// Where it applies: `__global__`.
        scope: Option<String> = "scope",
        /// The topic.
        topic: Option<String> = "topic",
        /// How many logical queues the topic has, on all brokers.
        total_queues: i32 = "totalQueues",
    }

    /// What a broker tells name servers of a static topic (wire §5.25).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TopicQueueMappingDetail {
        /// The broker.
        broker_name: String = "bname",
        /// The broker's own queue numbers, by number of the logical queue.
        current_ids: BTreeMap<i32, i32> = "currIdMap",
        /// Whether the broker has still to save it.
        dirty: bool = "dirty",
        /// Grows with each change of the mapping.
        epoch: i64 = "epoch",
        /// Where each logical queue lay and lies, the oldest place first, by number of the logical queue.
        hosted_queues: BTreeMap<i32, Vec<LogicQueueMappingItem>> = "hostedQueues",
        /// Where it applies: `__global__`.
        scope: Option<String> = "scope",
        /// The topic.
        topic: Option<String> = "topic",
        /// How many logical queues the topic has, on all brokers.
        total_queues: i32 = "totalQueues",
    }

    /// A place that a logical queue has or had.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct LogicQueueMappingItem {
        /// The broker.
        broker_name: String = "bname",
        /// The offset in the broker's queue that this place ends before; −1 while it is in use.
        end_offset: i64 = "endOffset",
        /// Counts the places.
        generation: i32 = "gen",
        /// The logical queue's offset at `start_offset`; −1 when it is not settled yet.
        logic_offset: i64 = "logicOffset",
        /// The broker's own number of the queue.
        queue_id: i32 = "queueId",
        /// The offset in the broker's queue that this place begins at.
        start_offset: i64 = "startOffset",
        /// When the last message was stored here, in milliseconds since the Unix epoch; −1 when not known.
        time_of_end: i64 = "timeOfEnd",
        /// When the first message was stored here, in milliseconds since the Unix epoch; −1 when not known.
        time_of_start: i64 = "timeOfStart",
    }
}
