//! What must hold of messages that are given back.

use rmq_core::{Event, Instant, SentBack};
use rmq_proto::names::{dead_letter_topic, retry_topic};
use rmq_proto::properties::REAL_TOPIC;

use super::{Oracle, Seen};
use crate::model::StoredMessage;
use crate::net::Network;
use crate::run::{GivenBack, Operation};

/// A message that was given back is in its group's retry topic, waits for it, or is a dead letter; one that surely could
/// not be given back is in none of them; and what was to be a dead letter never comes again.
#[derive(Debug, Default)]
pub struct SentBackIsKept {
    /// Those of which there may never be a copy.
    nowhere: Vec<Operation>,
    dead_letters: Vec<Operation>,
}

/// Where a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the retry topic, or on its way there.
    Retry,
    /// A dead letter, or on its way there.
    DeadLetters,
}

/// Where the copies of a message are that came of giving it back this time.
fn copies(network: &Network, operation: &Operation) -> Vec<Place> {
    let Some(GivenBack { group, key, times, .. }) = &operation.back else { return Vec::new() };
    let (retries, dead_letters) = (retry_topic(group), dead_letter_topic(group));
    let place = |copy: &StoredMessage| {
        let real_topic = copy.property(REAL_TOPIC).filter(|_| copy.is_waiting());
        match real_topic.unwrap_or(&copy.topic) {
            topic if topic == retries => Some(Place::Retry),
            topic => (topic == dead_letters).then_some(Place::DeadLetters),
        }
    };
    let brokers = network.cluster().brokers().iter();
    let all = brokers.flat_map(|broker| broker.store().all_by_unique_key(key));
    all.filter(|copy| copy.reconsume_times == times + 1).filter_map(place).collect()
}

fn check_nowhere(network: &Network, operation: &Operation) -> Result<(), String> {
    let copies = copies(network, operation);
    if copies.is_empty() {
        return Ok(());
    }
    Err(format!("{operation:?} failed as certainly not given back, and there is: {copies:?}"))
}

impl Oracle for SentBackIsKept {
    fn name(&self) -> &'static str {
        "sent-back-is-kept"
    }

    fn see(&mut self, _: Instant, seen: Seen<'_>, network: &Network) -> Result<(), String> {
        let (operation, event) = match seen {
            Seen::Accepted(operation) => {
                if operation.back.as_ref().is_some_and(|given| given.dead_letter) {
                    self.dead_letters.push(operation.clone());
                }
                return Ok(());
            }
            Seen::Ended { operation, event } => (operation, event),
            _ => return Ok(()),
        };
        match event {
            Event::SentBack { how, .. } => {
                let is_dead = operation.back.as_ref().is_some_and(|given| given.dead_letter);
                let copies = copies(network, operation);
                let is_kept = if is_dead { copies.contains(&Place::DeadLetters) } else { !copies.is_empty() };
                if is_kept && !(is_dead && matches!(how, SentBack::RetryTopic(_))) {
                    return Ok(());
                }
                Err(format!("{operation:?} was told as sent back ({how:?}), and there is: {copies:?}"))
            }
            Event::SendBackFailed { error, .. } if !error.may_have_been_stored() => {
                self.nowhere.push(operation.clone());
                check_nowhere(network, operation)
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, network: &Network) -> Result<(), String> {
        self.nowhere.iter().try_for_each(|operation| check_nowhere(network, operation))?;
        let comes_again = |operation: &&Operation| copies(network, operation).contains(&Place::Retry);
        match self.dead_letters.iter().find(comes_again) {
            Some(operation) => Err(format!("{operation:?} was to be a dead letter, and comes again")),
            None => Ok(()),
        }
    }
}
