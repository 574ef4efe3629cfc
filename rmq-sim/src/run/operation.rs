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
    /// Its body. No other send of the run has the same.
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
    /// What is given back, if it is no send.
    pub back: Option<GivenBack>,
}

/// One delivery of a message that a group of consumers gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenBack {
    /// The group.
    pub group: String,
    /// The message's `UNIQ_KEY`.
    pub key: String,
    /// How often it was consumed again before.
    pub times: i32,
    /// Whether it is not to be consumed any more.
    pub dead_letter: bool,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, number, topic, body, oneway, accepted, timeout, attempts, back, .. } = self;
        let kind = match back {
            Some(GivenBack { dead_letter: true, .. }) => "dead letter",
            Some(_) => "send-back",
            None if *oneway => "one-way send",
            None => "send",
        };
        let to = if self.has_given_queue { "a given queue of " } else { "" };
        write!(
            f,
            "c{client} op {number} ({kind} of {} bytes to {to}{topic}, accepted at {} us, {timeout:?}, at most {attempts} attempts",
            body.len(),
            accepted.as_micros(),
        )?;
        match back {
            Some(GivenBack { group, key, times, .. }) => write!(f, ", {key} by {group} after {times} times)"),
            None => f.write_str(")"),
        }
    }
}

/// The short name of an operation's end, for counts and traces.
pub fn end_name(event: &Event) -> &'static str {
    match event {
        Event::Sent { .. } => "sent",
        Event::OnewayWritten { .. } => "written",
        Event::QueuesFound { .. } => "found",
        Event::SendFailed { .. } => "failed",
        Event::SentBack { .. } => "sent back",
        Event::SendBackFailed { .. } => "not sent back",
        Event::Recalled { .. } => "recalled",
        Event::RecallFailed { .. } => "not recalled",
        Event::Cancelled { .. } => "cancelled",
        _ => "other",
    }
}
