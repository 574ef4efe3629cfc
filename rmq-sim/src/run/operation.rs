//! What a client was asked to do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rmq_core::{Event, Instant};

/// One operation that a client accepted. Its `Debug` text tells the length of the body alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Operation {
    /// The client.
    pub client: u32,
    /// Counts the client's operations, from 0.
    pub number: u64,
    /// Which of the client's producers.
    pub producer: usize,
    /// Topic of the message.
    pub topic: Arc<str>,
    /// Its body. No other operation of the run has the same.
    pub body: Bytes,
    /// Whether no answer is asked for.
    pub oneway: bool,
    /// Whether it goes to a queue that was chosen for it.
    pub has_given_queue: bool,
    /// When it was accepted.
    pub accepted: Instant,
    /// The time it has.
    pub timeout: Duration,
    /// Attempts that it has.
    pub attempts: u32,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, number, topic, body, oneway, accepted, timeout, attempts, .. } = self;
        let kind = if *oneway { "one-way send" } else { "send" };
        let to = if self.has_given_queue { "a given queue of " } else { "" };
        write!(
            f,
            "c{client} op {number} ({kind} of {} bytes to {to}{topic}, accepted at {} us, {timeout:?}, at most {attempts} attempts)",
            body.len(),
            accepted.as_micros(),
        )
    }
}

/// The short name of an operation's end, for counts and traces.
pub fn end_name(event: &Event) -> &'static str {
    match event {
        Event::Sent { .. } => "sent",
        Event::OnewayWritten { .. } => "written",
        Event::QueuesFound { .. } => "found",
        Event::SendFailed { .. } => "failed",
        Event::Cancelled { .. } => "cancelled",
        _ => "other",
    }
}
