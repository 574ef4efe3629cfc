//! What a consumer tells of its inside when it is asked (wire §5.22).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::queue::MessageQueue;
use super::subscription::SubscriptionData;

objects! {
    /// The answer to GET_CONSUMER_RUNNING_INFO (wire §5.22).
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ConsumerRunningInfo {
        /// What the client's threads do, if it was asked for.
        jstack: Option<String> = "jstack",
        /// The queues that it pops from.
        pop_queues: BTreeMap<MessageQueue, PopProcessQueueInfo> = "mqPopTable",
        /// The queues that it pulls from.
        queues: BTreeMap<MessageQueue, ProcessQueueInfo> = "mqTable",
        /// Its settings by name; tools read those that begin with `PROP_`.
        properties: BTreeMap<String, String> = "properties",
        /// What was done, by topic.
        statuses: BTreeMap<String, ConsumeStatus> = "statusTable",
        /// What it subscribes to.
        subscriptions: Vec<SubscriptionData> = "subscriptionSet",
        /// What the user's code tells.
        user_info: BTreeMap<String, String> = "userConsumerInfo",
    }

    /// A queue that a consumer pulls from. Times are in milliseconds since the Unix epoch.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ProcessQueueInfo {
        /// Messages pulled and not yet consumed.
        cached_msg_count: i32 = "cachedMsgCount",
        /// The last one's offset; 0 when there is none.
        cached_msg_max_offset: i64 = "cachedMsgMaxOffset",
        /// The first one's offset; 0 when there is none.
        cached_msg_min_offset: i64 = "cachedMsgMinOffset",
        /// The size of their bodies, in MiB.
        cached_msg_size_in_mib: i32 = "cachedMsgSizeInMiB",
        /// The offset that is committed; −1 when it is not known.
        commit_offset: i64 = "commitOffset",
        /// Whether the queue is the client's no longer. The wire has one p.
        dropped: bool = "droped",
        /// When messages were consumed last.
        last_consume_timestamp: i64 = "lastConsumeTimestamp",
        /// When the queue was locked last.
        last_lock_timestamp: i64 = "lastLockTimestamp",
        /// When messages were pulled last.
        last_pull_timestamp: i64 = "lastPullTimestamp",
        /// Whether it is locked for ordered consumption.
        locked: bool = "locked",
        /// Messages that an ordered listener has in hand.
        transaction_msg_count: i32 = "transactionMsgCount",
        /// The last one's offset; 0 when there is none.
        transaction_msg_max_offset: i64 = "transactionMsgMaxOffset",
        /// The first one's offset; 0 when there is none.
        transaction_msg_min_offset: i64 = "transactionMsgMinOffset",
        /// How often the lock could not be given back.
        try_unlock_times: i64 = "tryUnlockTimes",
    }

    /// A queue that a consumer pops from.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PopProcessQueueInfo {
        /// Whether the queue is the client's no longer. The wire has one p.
        dropped: bool = "droped",
        /// When messages were popped last, in milliseconds since the Unix epoch.
        last_pop_timestamp: i64 = "lastPopTimestamp",
        /// Messages popped and not yet acknowledged.
        wait_ack_count: i32 = "waitAckCount",
    }

    /// What was done with the messages of one topic. A number that is not finite is written as `null`, which reads as 0.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ConsumeStatus {
        /// Messages that could not be consumed, in the last hour.
        consume_failed_msgs: i64 = "consumeFailedMsgs",
        /// Messages that could not be consumed, per second.
        consume_failed_tps: f64 = "consumeFailedTPS",
        /// Messages consumed, per second.
        consume_ok_tps: f64 = "consumeOKTPS",
        /// How long the user's code took, in milliseconds.
        consume_rt: f64 = "consumeRT",
        /// How long pulls took, in milliseconds.
        pull_rt: f64 = "pullRT",
        /// Messages pulled, per second.
        pull_tps: f64 = "pullTPS",
    }
}
