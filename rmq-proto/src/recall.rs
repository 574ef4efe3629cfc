//! Recall handles: what a broker answers to the send of a timer message, and what takes the message back (wire §11.2).

use alloc::format;
use alloc::string::String;

use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_PAD_INDIFFERENT};
use thiserror::Error;

const VERSION: &str = "v1";

/// Where a timer message is to be found. Its text is base64; the request to recall goes to the broker named in it.
///
/// ```
/// use rmq_proto::recall::RecallHandle;
///
/// let handle = RecallHandle {
///     topic: "orders".into(),
///     broker_name: "broker-a".into(),
///     timestamp: 1_700_000_060_001,
///     unique_key: "0A00000904D201020304050607080001".into(),
/// };
/// assert_eq!(RecallHandle::decode(&handle.encode()?), Ok(handle));
/// # Ok::<(), rmq_proto::recall::RecallHandleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallHandle {
    /// The message's topic.
    pub topic: String,
    /// The broker that has the message.
    pub broker_name: String,
    /// When the message is to be delivered, in milliseconds of Unix time.
    pub timestamp: i64,
    /// The message's id, as its client made it (wire §6.5).
    pub unique_key: String,
}

/// A text that is no recall handle, or a handle that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecallHandleError {
    /// No base64 of the kind that is safe in URLs.
    #[error("a recall handle is base64 with `-` and `_`, and this text is not")]
    Base64,
    /// What is encoded is no text.
    #[error("the recall handle has no text in it: its byte {offset} is no UTF-8")]
    Utf8 {
        /// Byte offset in what is encoded.
        offset: usize,
    },
    /// A version that nobody knows.
    #[error("the recall handle is not of version `{VERSION}`")]
    Version,
    /// Too few parts.
    #[error("a recall handle has 5 parts, this one has {found}")]
    Parts {
        /// How many it has.
        found: usize,
    },
    /// The time is no number, or too large.
    #[error("the recall handle has no number where its time is to be")]
    Timestamp,
    /// A part that is empty or has a blank in it.
    #[error("the recall handle cannot have this {part}: it is empty, or has a blank in it")]
    Blank {
        /// The part.
        part: &'static str,
    },
}

impl RecallHandle {
    /// Reads a handle, with padding or without. Parts behind the fifth mean nothing.
    ///
    /// # Errors
    ///
    /// The text is no recall handle.
    pub fn decode(text: &str) -> Result<Self, RecallHandleError> {
        let bytes = URL_SAFE_PAD_INDIFFERENT.decode(text).map_err(|_| RecallHandleError::Base64)?;
        let text = core::str::from_utf8(&bytes)
            .map_err(|error| RecallHandleError::Utf8 { offset: error.valid_up_to() })?;
        let mut parts = text.split(' ');
        if parts.next() != Some(VERSION) {
            return Err(RecallHandleError::Version);
        }
        let (Some(topic), Some(broker_name), Some(timestamp), Some(unique_key)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(RecallHandleError::Parts { found: text.split(' ').count() });
        };
        let timestamp = timestamp.parse().map_err(|_| RecallHandleError::Timestamp)?;
        let handle = Self {
            topic: topic.into(),
            broker_name: broker_name.into(),
            timestamp,
            unique_key: unique_key.into(),
        };
        handle.check()?;
        Ok(handle)
    }

    /// The handle's text, with padding.
    ///
    /// # Errors
    ///
    /// A part is empty or has a blank in it, so that nobody could read the text.
    pub fn encode(&self) -> Result<String, RecallHandleError> {
        self.check()?;
        let Self { topic, broker_name, timestamp, unique_key } = self;
        Ok(URL_SAFE.encode(format!("{VERSION} {topic} {broker_name} {timestamp} {unique_key}")))
    }

    fn check(&self) -> Result<(), RecallHandleError> {
        let parts =
            [("topic", &self.topic), ("broker name", &self.broker_name), ("message id", &self.unique_key)];
        match parts.iter().find(|(_, text)| text.is_empty() || text.contains(' ')) {
            Some((part, _)) => Err(RecallHandleError::Blank { part }),
            None => Ok(()),
        }
    }
}
