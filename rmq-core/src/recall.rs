//! A timer message to be taken back before it is delivered (producer §10.3).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use rmq_proto::names::{DEAD_LETTER_PREFIX, NameError, RETRY_PREFIX, validate_topic};
use rmq_proto::recall::{RecallHandle, RecallHandleError};

/// Longest handle, in bytes: more than any topic, broker and message id make.
const MAX_HANDLE_LEN: usize = 4_096;

/// Why a message cannot be recalled. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecallInvalid {
    /// No topic can have this name.
    #[error("topic `{topic}`: {error}")]
    Topic {
        /// The name given.
        topic: String,
        /// The rule.
        error: NameError,
    },
    /// Messages of retry topics and of dead letters cannot be recalled.
    #[error("topic `{topic}`: messages of retry topics and dead letters cannot be recalled")]
    DerivedTopic {
        /// The topic.
        topic: String,
    },
    /// The text is no recall handle.
    #[error("recall of a message of topic `{topic}`: {error}")]
    Handle {
        /// The topic.
        topic: String,
        /// What is wrong with it.
        error: RecallHandleError,
    },
    /// The text is longer than any recall handle.
    #[error("recall of a message of topic `{topic}`: a handle has at most {max} bytes, this one has {len}")]
    HandleTooLong {
        /// The topic.
        topic: String,
        /// Its length in bytes.
        len: usize,
        /// The limit.
        max: usize,
    },
}

/// A message to be recalled by [`Client::recall`](crate::Client::recall): its topic, and the handle that the broker gave for it,
/// [`SendResult::recall_handle`](crate::SendResult::recall_handle).
#[derive(Clone, PartialEq, Eq)]
pub struct Recall(Box<Parts>);

#[derive(Clone, PartialEq, Eq)]
struct Parts {
    topic: Arc<str>,
    handle: String,
    broker: Arc<str>,
    message_id: String,
}

impl Recall {
    /// Looks into the handle: the request goes to the broker that it names.
    ///
    /// # Errors
    ///
    /// A name that no topic can have, a retry topic or one of dead letters, and a text that is no handle. That the handle is
    /// of this topic is for the broker to say.
    pub fn new(topic: &str, handle: impl Into<String>) -> Result<Self, RecallInvalid> {
        let name = || topic.into();
        validate_topic(topic).map_err(|error| RecallInvalid::Topic { topic: name(), error })?;
        if [RETRY_PREFIX, DEAD_LETTER_PREFIX].iter().any(|prefix| topic.starts_with(prefix)) {
            return Err(RecallInvalid::DerivedTopic { topic: name() });
        }
        let text = handle.into();
        let (len, max) = (text.len(), MAX_HANDLE_LEN);
        if len > max {
            return Err(RecallInvalid::HandleTooLong { topic: name(), len, max });
        }
        let RecallHandle { broker_name, unique_key, .. } =
            RecallHandle::decode(&text).map_err(|error| RecallInvalid::Handle { topic: name(), error })?;
        Ok(Self(Box::new(Parts {
            topic: topic.into(),
            handle: text,
            broker: broker_name.into(),
            message_id: unique_key,
        })))
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.0.topic
    }

    /// The handle, as it was given.
    pub fn handle(&self) -> &str {
        &self.0.handle
    }

    /// The broker that the handle names.
    pub fn broker(&self) -> &str {
        &self.0.broker
    }

    /// The message's id, as the handle has it.
    pub fn message_id(&self) -> &str {
        &self.0.message_id
    }

    /// Bytes that it counts for against [`Limits::operation_bytes`](crate::Limits::operation_bytes).
    pub fn bytes(&self) -> usize {
        self.0.handle.len()
    }

    pub(crate) fn shared_topic(&self) -> Arc<str> {
        self.0.topic.clone()
    }

    pub(crate) fn shared_broker(&self) -> &Arc<str> {
        &self.0.broker
    }
}

impl fmt::Debug for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { topic, handle: _, broker, message_id } = &*self.0;
        f.debug_struct("Recall")
            .field("topic", topic)
            .field("broker", broker)
            .field("message_id", message_id)
            .finish_non_exhaustive()
    }
}
