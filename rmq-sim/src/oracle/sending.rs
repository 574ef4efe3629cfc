//! What must hold of sends.

use std::collections::BTreeMap;

use bytes::Bytes;
use rmq_core::{Event, Instant, SendError, SendResult};

use rmq_proto::code::ResponseCode;
use rmq_proto::names::RETRY_PREFIX;
use rmq_proto::properties::ORIGIN_MESSAGE_ID;
use rmq_proto::trace::TRACE_TOPIC;

use super::{Oracle, Seen};
use crate::model::{ModelEvent, StoredMessage};
use crate::net::Network;
use crate::run::Operation;

/// A message that a client was told is stored is where the client was told, with its body.
#[derive(Debug, Default)]
pub struct AcknowledgedIsStored;

/// Where a message is stored, and by which key.
fn described(stored: &StoredMessage) -> String {
    let StoredMessage { topic, broker, queue_id, queue_offset, .. } = stored;
    let key = stored.own_unique_key().unwrap_or_default();
    format!("stored in {topic}/{broker}/{queue_id} at offset {queue_offset} with the key {key}")
}

/// Looks for a message where a result says it is.
fn find_stored<'n>(network: &'n Network, result: &SendResult) -> Option<&'n StoredMessage> {
    let broker = network.cluster().broker(&result.queue.broker)?;
    broker.store().at(&result.queue.topic, result.queue.queue_id, result.queue_offset)
}

impl Oracle for AcknowledgedIsStored {
    fn name(&self) -> &'static str {
        "acknowledged-is-stored"
    }

    fn see(&mut self, _: Instant, seen: Seen<'_>, network: &Network) -> Result<(), String> {
        let Seen::Ended { operation, event: Event::Sent { result, .. } } = seen else { return Ok(()) };
        let place = format!("{} at offset {}", result.queue, result.queue_offset);
        match find_stored(network, result) {
            None => Err(format!("{operation:?} was told as stored in {place}, where nothing is")),
            Some(stored) if stored.body != operation.body => {
                Err(format!("{operation:?} was told as stored in {place}, where another body is"))
            }
            Some(stored) if stored.own_unique_key() != Some(&result.message_id) => {
                let id = &result.message_id;
                Err(format!("{operation:?} was told to have the id {id}, and is {}", described(stored)))
            }
            Some(_) => Ok(()),
        }
    }
}

/// The `UNIQ_KEY`s of a send that a broker read, unless it takes the place of a message that was given back, or the broker
/// sent its client away: then it did not act on it, and the same attempt comes to it once more.
fn requested_keys(event: &ModelEvent) -> impl Iterator<Item = &str> {
    let send = match event {
        ModelEvent::Requested { answered: Some(ResponseCode::GO_AWAY), .. } => None,
        ModelEvent::Requested { send: Some(send), .. } if !send.topic.starts_with(RETRY_PREFIX) => Some(send),
        _ => None,
    };
    send.into_iter().flat_map(|send| send.unique_keys())
}

/// What is stored was sent, with one `UNIQ_KEY` and no more often than it was asked for; a failure that says that nothing
/// was stored is right.
#[derive(Debug, Default)]
pub struct StoredWasSent {
    operations: BTreeMap<Bytes, Sent>,
    /// Requests that brokers got, by `UNIQ_KEY`.
    requests: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Sent {
    operation: Operation,
    /// Whether a copy may be there: not after a failure that says no.
    may_be_stored: bool,
    message_id: Option<String>,
}

impl StoredWasSent {
    fn ended(&mut self, operation: &Operation, event: &Event) {
        let Some(sent) = self.operations.get_mut(&operation.body) else { return };
        match event {
            Event::Sent { result, .. } => sent.message_id = Some(result.message_id.clone()),
            Event::SendFailed { error, .. } => {
                sent.message_id = Some(error.message_id().to_owned());
                sent.may_be_stored = error.may_have_been_stored();
            }
            _ => {}
        }
    }

    fn check(&self, copies: &[&StoredMessage]) -> Result<(), String> {
        let [first, ..] = copies else { return Ok(()) };
        let Some(sent) = self.operations.get(&first.body) else {
            return Err(format!("nobody sent what is {}", described(first)));
        };
        let operation = &sent.operation;
        if !sent.may_be_stored {
            let place = described(first);
            return Err(format!("{operation:?} failed as certainly not stored, and is {place}"));
        }
        let key = first.own_unique_key().unwrap_or_default();
        if copies.iter().any(|copy| copy.own_unique_key() != Some(key)) {
            let places: Vec<_> = copies.iter().map(|copy| described(copy)).collect();
            return Err(format!("{operation:?} has different keys: {}", places.join("; ")));
        }
        if sent.message_id.as_ref().is_some_and(|id| id != key) {
            return Err(format!(
                "{operation:?} has the id {:?}, and is {}",
                sent.message_id,
                described(first)
            ));
        }
        let requests = self.requests.get(key).copied().unwrap_or(0);
        if copies.len() as u64 > requests {
            return Err(format!("{operation:?} is stored {} times, after {requests} requests", copies.len()));
        }
        Ok(())
    }
}

impl Oracle for StoredWasSent {
    fn name(&self) -> &'static str {
        "stored-was-sent"
    }

    fn see(&mut self, _: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
        match seen {
            Seen::Accepted(operation) if operation.back.is_none() => {
                let sent = Sent { operation: operation.clone(), may_be_stored: true, message_id: None };
                self.operations.insert(operation.body.clone(), sent);
            }
            Seen::Ended { operation, event } => self.ended(operation, event),
            Seen::Served(event) => {
                for key in requested_keys(event) {
                    *self.requests.entry(key.to_owned()).or_default() += 1;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, network: &Network) -> Result<(), String> {
        let mut copies: BTreeMap<&[u8], Vec<&StoredMessage>> = BTreeMap::new();
        // What was given back is a message of its own, with the body and the key of the one it was.
        // Trace records are nobody's operation.
        let is_first = |message: &&StoredMessage| {
            message.property(ORIGIN_MESSAGE_ID).is_none() && &*message.topic != TRACE_TOPIC
        };
        for message in network.cluster().stored().filter(is_first) {
            copies.entry(&message.body).or_default().push(message);
        }
        copies.values().try_for_each(|copies| self.check(copies))
    }
}

/// Brokers get no more requests for a message than its attempts, and the attempts are no more than the policy allows.
#[derive(Debug, Default)]
pub struct AttemptsWithinPolicy {
    requests: BTreeMap<String, u32>,
}

impl Oracle for AttemptsWithinPolicy {
    fn name(&self) -> &'static str {
        "attempts-within-policy"
    }

    fn see(&mut self, _: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
        match seen {
            Seen::Served(event) => {
                for key in requested_keys(event) {
                    *self.requests.entry(key.to_owned()).or_default() += 1;
                }
                Ok(())
            }
            Seen::Ended { operation, event: Event::Sent { result, .. } } => {
                self.check(operation, &result.message_id, result.attempts)
            }
            Seen::Ended { operation, event: Event::SendFailed { error, .. } } => {
                self.check(operation, error.message_id(), error.attempts().len() as u32)
            }
            _ => Ok(()),
        }
    }
}

impl AttemptsWithinPolicy {
    fn check(&mut self, operation: &Operation, key: &str, attempts: u32) -> Result<(), String> {
        let requests = self.requests.remove(key).unwrap_or(0);
        if attempts > operation.attempts || requests > attempts {
            return Err(format!(
                "{operation:?} took {attempts} attempts, and brokers got {requests} requests"
            ));
        }
        Ok(())
    }
}

/// Name of [`UntriedFirst`], which holds where routes keep their brokers alone.
pub(crate) const UNTRIED_FIRST: &str = "untried-first";

/// No attempt goes to a broker that was tried while another was not, where each broker has the topic.
#[derive(Debug)]
pub struct UntriedFirst {
    pub(crate) brokers: usize,
}

impl UntriedFirst {
    fn check(&self, error: &SendError) -> Result<(), String> {
        let brokers: Vec<_> = error.attempts().iter().map(|attempt| &attempt.broker).collect();
        let first = &brokers[..brokers.len().min(self.brokers)];
        let repeats = (1..first.len()).any(|at| first[..at].contains(&first[at]));
        if repeats {
            return Err(format!(
                "of {} brokers, these were tried in turn: {brokers:?} ({error})",
                self.brokers
            ));
        }
        Ok(())
    }
}

impl Oracle for UntriedFirst {
    fn name(&self) -> &'static str {
        UNTRIED_FIRST
    }

    fn see(&mut self, _: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
        match seen {
            Seen::Ended { operation, event: Event::SendFailed { error, .. } }
                if operation.topic.starts_with("topic-") && !operation.has_given_queue =>
            {
                self.check(error)
            }
            _ => Ok(()),
        }
    }
}
