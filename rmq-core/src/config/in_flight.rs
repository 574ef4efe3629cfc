//! How much a producer may have under way.

use super::ConfigError;

/// How many messages a producer may have under way at once, and of how many bytes (producer §5.8). Off unless it is given
/// to [`ProducerConfig::in_flight`](crate::ProducerConfig::in_flight).
///
/// A send beyond it waits in line until others end, as long as its own time allows; one with
/// [`SendOptions::no_wait`](crate::SendOptions::no_wait) is rejected at once. Whoever came first goes first. A message that alone
/// is over the limit of bytes goes when nothing else is under way. A batch is one message. A request counts until a broker
/// has it. Send-backs need no permit: they
/// give back what came from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    messages: usize,
    bytes: usize,
}

impl Default for InFlight {
    /// The same as [`InFlight::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl InFlight {
    /// 1,024 messages, 100 MiB. Java: `enableBackpressureForAsyncMode`.
    pub const fn new() -> Self {
        Self { messages: 1_024, bytes: 100 << 20 }
    }

    /// The most messages; 1,024 by default. Java: `backPressureForAsyncSendNum`, which is at least 10; here at least 1.
    #[must_use]
    pub const fn max_messages(mut self, messages: usize) -> Self {
        self.messages = messages;
        self
    }

    /// The most bytes of bodies and properties; 100 MiB by default. Java: `backPressureForAsyncSendSize`, which counts bodies
    /// and is at least 1 MiB; here at least 1 byte.
    #[must_use]
    pub const fn max_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The most messages.
    pub const fn messages(&self) -> usize {
        self.messages
    }

    /// The most bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (name, value) in [("in_flight.max_messages", self.messages), ("in_flight.max_bytes", self.bytes)]
        {
            if value == 0 {
                return Err(ConfigError::TooSmall { name, minimum: "1" });
            }
        }
        Ok(())
    }
}
