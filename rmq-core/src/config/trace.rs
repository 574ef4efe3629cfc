//! Settings of message trace.

use alloc::string::String;
use core::num::NonZeroU32;

use rmq_proto::message::MessageError;
use rmq_proto::names;
use rmq_proto::trace::TRACE_TOPIC;

use super::ConfigError;

/// Most records that one message carries.
const MAX_BATCH: u32 = 20;

/// How a producer tells what became of its messages (producer §10.4). Off unless it is given to
/// [`ProducerConfig::trace`](crate::ProducerConfig::trace). Java: `enableTrace`.
///
/// For each message that a broker stored, a [record](rmq_proto::trace::Pub) goes to a topic that consoles read: which message,
/// where, when, and how long it took. So does each [end of a transaction](rmq_proto::trace::EndTransaction) that a broker was
/// told. A send that fails leaves none, nor does a one-way one, nor one that its broker does not
/// want traced ([`SendResult::trace_on`](crate::SendResult::trace_on)), nor a message to the trace topic itself.
///
/// Records are sent several at a time by a producer of its own, within 5 s and three attempts, over the client's
/// connections. No event tells of it: what came of them is counted in [`Stats`](crate::Stats). They are told late rather than at
/// the cost of sends, and lost rather than kept: [`Limits::trace_records`](crate::Limits::trace_records) of them wait at most.
/// When the client shuts down, those that wait are sent within its time.
///
/// ```
/// use rmq_core::{ProducerConfig, Trace};
///
/// let config = ProducerConfig::new("order-service").trace(Trace::new());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    topic: String,
    batch: NonZeroU32,
}

impl Default for Trace {
    /// The same as [`Trace::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl Trace {
    /// The defaults that each method states.
    pub fn new() -> Self {
        Self { topic: TRACE_TOPIC.into(), batch: NonZeroU32::MIN.saturating_add(9) }
    }

    /// The topic that records go to; `RMQ_SYS_TRACE_TOPIC` by default. Messages to any topic whose name begins so are not
    /// traced. Java: `traceTopic`.
    #[must_use]
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = topic.into();
        self
    }

    /// How many records wait before they are sent, unless 5 s have passed since some were; 10 by default, and more than 20 count
    /// as 20. Java: `traceMsgBatchNum`.
    #[must_use]
    pub fn batch(mut self, records: NonZeroU32) -> Self {
        self.batch = records;
        self
    }

    pub(crate) fn topic_name(&self) -> &str {
        &self.topic
    }

    pub(crate) fn batch_len(&self) -> usize {
        self.batch.get().min(MAX_BATCH) as usize
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let topic = || self.topic.clone();
        if let Err(error) = names::validate_topic(&self.topic) {
            return Err(ConfigError::TraceTopic(MessageError::Topic { topic: topic(), error }));
        }
        if !names::is_for_sending(&self.topic) {
            return Err(ConfigError::TraceTopic(MessageError::SystemTopic { topic: topic() }));
        }
        Ok(())
    }
}
