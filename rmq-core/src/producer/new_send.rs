//! What a call brings to send.

use alloc::string::String;
use alloc::sync::Arc;

use bytes::Bytes;
use rmq_proto::code::RequestCode;
use rmq_proto::id::UniqueKey;
use rmq_proto::message::Prepared;

use super::MessageId;
use crate::event::MessageQueue;
use crate::recall::Recall;
use crate::route::Choice;

/// Where a send is to go.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// To whichever queue is chosen.
    Topic,
    /// To this queue (producer §5.1).
    Queue(Choice),
    /// Nowhere: the queues to choose from are what is wanted.
    Queues,
    /// To the broker that has the message to be taken back.
    Recall(Recall),
}

impl Target {
    pub(crate) fn queue(queue: &MessageQueue) -> Self {
        Self::Queue(Choice { broker: queue.broker.clone(), queue_id: queue.queue_id })
    }
}

/// The parts of a [`SendOp`](super::SendOp) that a call brings.
pub(crate) struct NewSend {
    pub(crate) topic: Arc<str>,
    pub(crate) target: Target,
    /// The request that carries it.
    pub(crate) code: RequestCode,
    pub(crate) body: Bytes,
    pub(crate) flag: i32,
    pub(crate) sys_flag: i32,
    pub(crate) properties: String,
    pub(crate) message_id: MessageId,
}

impl NewSend {
    /// Of a message that is to have the id `key`.
    pub(crate) fn of(message: &Prepared, target: Target, key: &UniqueKey) -> Self {
        Self::with(message, target, key, message.properties_with_id(key))
    }

    /// Of a message that goes out with these properties; the id `key` is the last of them.
    pub(crate) fn with(message: &Prepared, target: Target, key: &UniqueKey, properties: String) -> Self {
        Self {
            topic: message.shared_topic(),
            target,
            code: message.request_code(),
            body: message.body().clone(),
            flag: message.flag(),
            sys_flag: message.sys_flag(),
            properties,
            message_id: MessageId::LastProperty(key.as_str().len()),
        }
    }

    /// Of what carries no message.
    pub(crate) const fn nothing(topic: Arc<str>, target: Target, message_id: String) -> Self {
        Self {
            topic,
            target,
            code: RequestCode::SEND_MESSAGE_V2,
            body: Bytes::new(),
            flag: 0,
            sys_flag: 0,
            properties: String::new(),
            message_id: MessageId::Own(message_id),
        }
    }
}
