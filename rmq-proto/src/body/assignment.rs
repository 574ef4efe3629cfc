//! Queues assigned to consumers by the broker (wire §5.18, consumer §3.7).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::heartbeat::MessageModel;
use super::queue::MessageQueue;

constants! {
    /// How a consumer is to get the messages of a queue assigned to it.
    #[derive(Default)]
    pub enum MessageRequestMode in "mode" or Pull {
        /// By pulling; also what a mode that is absent or unknown means (consumer §3.7).
        #[default]
        Pull = "PULL",
        /// By popping.
        Pop = "POP",
    }
}

objects! {
    /// The body of QUERY_ASSIGNMENT (wire §5.18).
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct QueryAssignmentRequest {
        /// The client that asks.
        client_id: String = required "clientId",
        /// Its group.
        consumer_group: String = required "consumerGroup",
        /// Who of the group gets a message.
        message_model: MessageModel = required "messageModel",
        /// How to share the queues; brokers know `AVG` and `AVG_BY_CIRCLE` (consumer §3.7).
        strategy_name: String = required "strategyName",
        /// The topic.
        topic: String = required "topic",
    }

    /// The answer to QUERY_ASSIGNMENT (wire §5.18).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct QueryAssignmentResponse {
        /// The queues assigned to the client. None at all says that the broker could not tell, which is not the same as an
        /// empty list (consumer §3.7).
        assignments: Option<Vec<MessageQueueAssignment>> = "messageQueueAssignments",
    }

    /// One queue assigned to a client.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MessageQueueAssignment {
        /// Further details, of no use to clients.
        attachments: Option<BTreeMap<String, String>> = "attachments",
        /// The queue; number −1 stands for all queues of the broker.
        message_queue: MessageQueue = required "messageQueue",
        /// How to get its messages.
        mode: MessageRequestMode = "mode",
    }
}
