//! Locks of queues, which ordered consumption needs (wire §5.9).

use alloc::string::String;
use alloc::vec::Vec;

use super::queue::MessageQueue;

objects! {
    /// The body of LOCK_BATCH_MQ and of UNLOCK_BATCH_MQ (wire §5.9).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct LockBatchRequest {
        /// The client that wants the locks or gives them back.
        client_id: String = required "clientId",
        /// Its group.
        consumer_group: String = required "consumerGroup",
        /// The queues.
        queues: Vec<MessageQueue> = "mqSet",
        /// Whether the broker may decide without the others of its name; false. Brokers before 5.0 do not know it.
        only_this_broker: bool = "onlyThisBroker",
    }

    /// The answer to LOCK_BATCH_MQ (wire §5.9).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct LockBatchResponse {
        /// The queues, of those asked for, that the client now holds.
        locked: Vec<MessageQueue> = "lockOKMQSet",
    }
}
