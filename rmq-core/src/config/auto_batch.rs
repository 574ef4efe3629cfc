//! Settings of automatic batches.

use core::time::Duration;

use super::ConfigError;

/// How a producer puts messages into batches that users send one by one (producer §10.6). Off unless it is given to
/// [`ProducerConfig::auto_batch`](crate::ProducerConfig::auto_batch). Java: `autoBatch`.
///
/// Messages with the same topic, queue (if one is given), tag and [`wait_store_ok`](rmq_proto::message::Message::wait_store_ok)
/// wait for one another. They go out as one batch when they are old or large enough; one that is alone by then goes out as
/// ever. Each is still an operation with its own time, cancel and result.
///
/// At once, and by themselves, go: one-way sends, sends with a timeout of their own, messages that are delayed, compressed or to
/// a retry topic, and messages for which there is no room or, with [`InFlight`](crate::InFlight), no
/// permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoBatch {
    pub(crate) delay: Duration,
    pub(crate) bytes: usize,
    pub(crate) total_bytes: usize,
}

impl Default for AutoBatch {
    /// The same as [`AutoBatch::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl AutoBatch {
    /// The longest [`delay`](Self::delay).
    pub const MAX_DELAY: Duration = Duration::from_secs(30);
    /// The most [`bytes`](Self::bytes).
    pub const MAX_BYTES: usize = 2 << 20;

    /// The defaults that each method states.
    pub fn new() -> Self {
        Self { delay: Duration::from_millis(10), bytes: 32 << 10, total_bytes: 32 << 20 }
    }

    /// How long the first message of a batch waits for others; 10 ms by default, from 1 ms to 30 s, and less than the
    /// producer's send timeout, which goes on meanwhile. Java: `batchMaxDelayMs`.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Bytes of bodies with more than which a batch waits for no others; 32 KiB by default, from 1 byte to 2 MiB. Java:
    /// `batchMaxBytes`.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Most bytes of bodies that wait in all batches of the producer; 32 MiB by default, at least 1. A message for which there
    /// is no room goes out by itself. Java: `totalBatchMaxBytes`.
    #[must_use]
    pub fn total_bytes(mut self, bytes: usize) -> Self {
        self.total_bytes = bytes;
        self
    }

    pub(crate) fn check(&self, send_timeout: Duration) -> Result<(), ConfigError> {
        super::at_least_a_millisecond("auto_batch.delay", self.delay)?;
        for (name, value) in [("auto_batch.bytes", self.bytes), ("auto_batch.total_bytes", self.total_bytes)]
        {
            if value == 0 {
                return Err(ConfigError::TooSmall { name, minimum: "1" });
            }
        }
        if self.delay > Self::MAX_DELAY {
            return Err(ConfigError::TooLarge { name: "auto_batch.delay", maximum: "30 s" });
        }
        if self.delay >= send_timeout {
            let maximum = "less than the send timeout";
            return Err(ConfigError::TooLarge { name: "auto_batch.delay", maximum });
        }
        if self.bytes > Self::MAX_BYTES {
            return Err(ConfigError::TooLarge { name: "auto_batch.bytes", maximum: "2 MiB" });
        }
        Ok(())
    }
}
