//! All timers, in order.

use alloc::collections::BTreeMap;

use crate::time::Instant;

/// Proof that a timer is armed; its owner keeps it to disarm it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Armed {
    pub(crate) at: Instant,
    rank: u32,
    serial: u64,
}

/// Which of equal deadlines fires first: the lower rank, and of one rank the one armed first. What may be armed by
/// polling has ranks of its own, so that the order does not depend on when that is done.
pub(crate) trait Rank {
    fn rank(&self) -> u32;

    /// Whether it ends or continues an operation.
    fn is_of_operation(&self) -> bool;
}

/// An ordered index of deadlines.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines<K> {
    entries: BTreeMap<Armed, K>,
    serial: u64,
    of_operations: usize,
}

impl<K: Copy + Rank> Deadlines<K> {
    pub(crate) const fn new() -> Self {
        Self { entries: BTreeMap::new(), serial: 0, of_operations: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many of them are of operations.
    pub(crate) fn of_operations(&self) -> usize {
        self.of_operations
    }

    /// Arms `key` at `at` instead of whatever `slot` holds.
    pub(crate) fn arm(&mut self, slot: &mut Option<Armed>, at: Instant, key: K) {
        if slot.is_some_and(|armed| armed.at == at && self.entries.contains_key(&armed)) {
            return;
        }
        self.disarm(slot);
        if at == Instant::NEVER {
            return;
        }
        let armed = Armed { at, rank: key.rank(), serial: self.serial };
        self.serial += 1;
        self.entries.insert(armed, key);
        self.of_operations += usize::from(key.is_of_operation());
        *slot = Some(armed);
    }

    pub(crate) fn disarm(&mut self, slot: &mut Option<Armed>) {
        if let Some(key) = slot.take().and_then(|armed| self.entries.remove(&armed)) {
            self.of_operations -= usize::from(key.is_of_operation());
        }
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.entries.first_key_value().map(|(armed, _)| armed.at)
    }

    /// Takes out the earliest timer that is due. Its owner's slot is stale from then on.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<K> {
        let entry = self.entries.first_entry()?;
        if entry.key().at > now {
            return None;
        }
        let key = entry.remove();
        self.of_operations -= usize::from(key.is_of_operation());
        Some(key)
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.of_operations = 0;
    }
}
