//! Choices of one send-back.

use core::time::Duration;

/// Choices of one [send-back](crate::Client::send_back).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendBackOptions {
    /// Time for the broker to take the message back; 5 s by default, as it always is in Java.
    pub timeout: Duration,
    /// Time of the message to the retry topic that follows when the broker does not; 3 s by default, for three attempts at
    /// most. Java: `sendMsgTimeout` of its inner producer.
    pub retry_timeout: Duration,
}

impl Default for SendBackOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(5), retry_timeout: Duration::from_secs(3) }
    }
}

impl SendBackOptions {
    /// Sets [`timeout`](Self::timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets [`retry_timeout`](Self::retry_timeout).
    #[must_use]
    pub fn retry_timeout(mut self, timeout: Duration) -> Self {
        self.retry_timeout = timeout;
        self
    }
}
