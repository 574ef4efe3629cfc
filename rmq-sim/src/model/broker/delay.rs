//! Delay levels: a message with one waits in a topic of the broker's own until its time (wire §6.4).

use std::time::Duration;

use rmq_proto::properties::{DELAY, REAL_QID, REAL_TOPIC};

use super::{Broker, properties};
use crate::model::profile::ProfileRules;
use crate::model::store::StoredMessage;

/// Where delayed messages wait, each level in the queue of its number less one.
pub(crate) const WAITING_TOPIC: &str = "SCHEDULE_TOPIC_XXXX";

/// The level of a message that is given back for the first time (producer §12.4).
pub(super) const FIRST_RETRY: i32 = 3;

/// Seconds of each level, from 1 (wire §6.4).
const SECONDS: [u64; 18] =
    [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1_200, 1_800, 3_600, 7_200];

/// Index of the level of a message with these properties; `None` when it is not to be delayed. Levels beyond the last
/// are the last.
pub(super) fn level(text: &str) -> Option<usize> {
    let number: i64 = rmq_proto::properties::value(text, DELAY)?.parse().ok()?;
    let index = usize::try_from(number.checked_sub(1)?).ok()?;
    Some(index.min(SECONDS.len() - 1))
}

/// Puts a message in the queue of its level.
fn waiting(rules: &ProfileRules, message: StoredMessage, level: usize) -> StoredMessage {
    let queue = message.queue_id.to_string();
    let real = [(REAL_TOPIC, Some(&*message.topic)), (REAL_QID, Some(&*queue))];
    let properties = properties::changed(rules, &message.properties, &real);
    StoredMessage {
        properties,
        topic: WAITING_TOPIC.into(),
        queue_id: i32::try_from(level).unwrap_or(i32::MAX),
        ..message
    }
}

/// The copy whose time has come. Its level, and where it was meant for, stay in its properties (wire §5.5), and so does
/// `WAIT` (seen on both).
fn due(unix_ms: u64, message: &StoredMessage) -> Option<StoredMessage> {
    Some(StoredMessage {
        topic: message.property(REAL_TOPIC)?.into(),
        queue_id: message.property(REAL_QID)?.parse().ok()?,
        store_timestamp: i64::try_from(unix_ms).unwrap_or(i64::MAX),
        ..message.clone()
    })
}

impl Broker {
    /// Stores a message, where it waits if it is to be delayed; gives queue offset and commit-log offset. Its sequence
    /// and offsets are yet to be given.
    pub(super) fn put(&mut self, unix_ms: u64, sequence: &mut u64, message: StoredMessage) -> (i64, i64) {
        let message = match level(&message.properties).filter(|_| &*message.topic != WAITING_TOPIC) {
            Some(level) => {
                let delay = Duration::from_secs(SECONDS[level]).as_millis() as u64;
                self.delayed.insert((unix_ms.saturating_add(delay), *sequence));
                waiting(self.rules, message, level)
            }
            None => message,
        };
        let offsets = self.append(sequence, message);
        if self.delayed.len() > self.store.retain() {
            let store = &self.store;
            self.delayed.retain(|&(_, sequence)| store.by_sequence(sequence).is_some());
        }
        offsets
    }

    fn append(&mut self, sequence: &mut u64, message: StoredMessage) -> (i64, i64) {
        let message = StoredMessage { sequence: *sequence, ..message };
        *sequence += 1;
        #[cfg(rmq_mutate)]
        return self.store.append_mutated(message, sequence);
        #[cfg(not(rmq_mutate))]
        self.store.append(message)
    }

    /// When the next delayed message is due, in milliseconds since the Unix epoch.
    pub(crate) fn next_delivery(&self) -> Option<u64> {
        self.delayed.first().map(|(at, _)| *at).filter(|_| self.up)
    }

    /// Moves the messages whose time has come to where they are meant for.
    pub(crate) fn deliver_delayed(&mut self, unix_ms: u64, sequence: &mut u64) {
        while self.next_delivery().is_some_and(|at| at <= unix_ms) {
            let Some((_, delayed)) = self.delayed.pop_first() else { return };
            let message = self.store.by_sequence(delayed).and_then(|message| due(unix_ms, message));
            if let Some(message) = message {
                self.append(sequence, message);
            }
        }
    }
}
