//! What is sent, and what came of it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hdrhistogram::Histogram;
use rmq_tokio::{Error, Message, Producer};

use crate::Failure;
use crate::options::{Mode, Options};

/// Sends messages that are all alike.
pub(crate) struct Load {
    producer: Producer,
    topic: String,
    body: Bytes,
    mode: Mode,
    first_failure: OnceLock<String>,
}

impl Load {
    pub(crate) fn new(producer: Producer, options: &Options) -> Self {
        Self {
            producer,
            topic: options.topic.clone(),
            body: vec![b'a'; options.size].into(),
            mode: options.mode,
            first_failure: OnceLock::new(),
        }
    }

    pub(crate) async fn send(&self) -> Result<(), Error> {
        let message = Message::new(self.topic.as_str(), self.body.clone()).tag("T").key("k");
        match self.mode {
            Mode::Sync => self.producer.send(message).await.map(drop),
            Mode::Oneway => self.producer.send_oneway(message).await,
        }
    }

    pub(crate) fn first_failure(&self) -> Option<&str> {
        self.first_failure.get().map(String::as_str)
    }

    /// Whether that was one; the first is remembered.
    pub(crate) fn is_failure(&self, outcome: Result<(), Error>) -> bool {
        let Err(error) = outcome else { return false };
        self.first_failure.get_or_init(|| error.to_string());
        true
    }
}

/// When to stop.
#[derive(Clone, Copy)]
pub(crate) struct Until {
    pub(crate) count: u64,
    pub(crate) deadline: Option<Instant>,
}

impl Until {
    /// Whether the message with this number, from 0, is to be begun.
    pub(crate) fn wants(&self, number: u64, now: Instant) -> bool {
        number < self.count && self.deadline.is_none_or(|deadline| now < deadline)
    }
}

/// What one task saw, or all of them.
pub(crate) struct Tally {
    pub(crate) fails: u64,
    /// Nanoseconds from a message's beginning, or from the time at which it was to begin, to its end.
    pub(crate) latency: Histogram<u64>,
    /// Nanoseconds that messages began after their time, in an open loop.
    pub(crate) lateness: Histogram<u64>,
    /// CPU time that went into keeping time.
    pub(crate) pacing: Duration,
}

impl Tally {
    pub(crate) fn new() -> Result<Self, Failure> {
        // From a microsecond to five minutes, each within 1 %: 24 KiB for every task.
        let histogram = Histogram::new_with_bounds(1_000, 300_000_000_000, 2)?;
        Ok(Self { fails: 0, lateness: histogram.clone(), latency: histogram, pacing: Duration::ZERO })
    }

    pub(crate) fn count(&mut self, failed: bool, latency: Duration) {
        self.fails += u64::from(failed);
        self.latency.saturating_record(latency.as_nanos() as u64);
    }

    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), Failure> {
        self.fails += other.fails;
        self.latency.add(&other.latency)?;
        self.lateness.add(&other.lateness)?;
        Ok(())
    }
}
