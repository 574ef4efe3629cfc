//! Delay levels: a message with one waits in a topic of the broker's own until its time (wire §6.4).

use std::time::Duration;

use rmq_proto::properties::{DELAY, REAL_QID, REAL_TOPIC, TIMER_OUT_MS};

use super::timer::{self, TIMER_TOPIC};
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

/// Until when a message waits, in milliseconds since the Unix epoch, and where: each level has a queue, timers share one.
#[derive(Clone, Copy)]
struct Wait {
    until: u64,
    topic: &'static str,
    queue_id: i32,
    timer: bool,
}

impl Wait {
    /// `None` when the message is to be delivered at once.
    fn of(rules: &ProfileRules, unix_ms: u64, text: &str) -> Option<Self> {
        if let Some(level) = level(text) {
            let delay = Duration::from_secs(SECONDS[level]).as_millis() as u64;
            let queue_id = i32::try_from(level).unwrap_or(i32::MAX);
            let until = unix_ms.saturating_add(delay);
            return Some(Self { until, topic: WAITING_TOPIC, queue_id, timer: false });
        }
        let until = timer::time(rules, unix_ms, text).ok().flatten()?;
        Some(Self { until, topic: TIMER_TOPIC, queue_id: 0, timer: true })
    }

    /// The message in the queue where it waits.
    fn put(self, rules: &ProfileRules, message: StoredMessage) -> StoredMessage {
        let Self { until, topic, queue_id, timer } = self;
        let (queue, until) = (message.queue_id.to_string(), until.to_string());
        let mut changes = vec![(REAL_TOPIC, Some(&*message.topic)), (REAL_QID, Some(&*queue))];
        if timer {
            changes.push((TIMER_OUT_MS, Some(&*until)));
        }
        let properties = properties::changed(rules, &message.properties, &changes);
        StoredMessage { properties, topic: topic.into(), queue_id, ..message }
    }
}

/// The copy whose time has come. Its level, and where it was meant for, stay in its properties (wire §5.5), and so does
/// `WAIT` (seen on both).
fn due(unix_ms: u64, message: &StoredMessage) -> Option<StoredMessage> {
    let (topic, queue_id) = message.meant_for()?;
    Some(StoredMessage {
        topic,
        queue_id,
        store_timestamp: i64::try_from(unix_ms).unwrap_or(i64::MAX),
        ..message.clone()
    })
}

impl Broker {
    /// Stores a message, where it waits if it is to be delayed; gives queue offset and commit-log offset. Its sequence
    /// and offsets are yet to be given.
    pub(super) fn put(&mut self, unix_ms: u64, sequence: &mut u64, message: StoredMessage) -> (i64, i64) {
        let message = match Wait::of(self.rules, unix_ms, &message.properties) {
            Some(wait) => {
                self.delayed.insert((wait.until, *sequence));
                wait.put(self.rules, message)
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

    pub(super) fn append(&mut self, sequence: &mut u64, message: StoredMessage) -> (i64, i64) {
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
