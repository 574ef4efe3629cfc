//! All timers, in order.

use alloc::collections::BTreeMap;

use crate::rising::RisingMap;
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
    /// Operations mostly have the same time, so that their deadlines rise.
    operations: RisingMap<Armed, K>,
    others: BTreeMap<Armed, K>,
    serial: u64,
}

impl<K: Copy + Rank> Deadlines<K> {
    pub(crate) const fn new() -> Self {
        Self { operations: RisingMap::new(), others: BTreeMap::new(), serial: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.operations.len() + self.others.len()
    }

    /// How many of them are of operations.
    pub(crate) fn of_operations(&self) -> usize {
        self.operations.len()
    }

    /// Arms `key` at `at` instead of whatever `slot` holds.
    pub(crate) fn arm(&mut self, slot: &mut Option<Armed>, at: Instant, key: K) {
        if slot.is_some_and(|armed| armed.at == at && self.is_armed(&armed)) {
            return;
        }
        self.disarm(slot);
        if at == Instant::NEVER {
            return;
        }
        let armed = Armed { at, rank: key.rank(), serial: self.serial };
        self.serial += 1;
        if key.is_of_operation() {
            self.operations.insert(armed, key);
        } else {
            self.others.insert(armed, key);
        }
        *slot = Some(armed);
    }

    fn is_armed(&self, armed: &Armed) -> bool {
        self.operations.contains_key(armed) || self.others.contains_key(armed)
    }

    pub(crate) fn disarm(&mut self, slot: &mut Option<Armed>) {
        if let Some(armed) = slot.take()
            && self.operations.remove(&armed).is_none()
        {
            self.others.remove(&armed);
        }
    }

    fn first(&self) -> Option<Armed> {
        let operation = self.operations.first_key_value().map(|(armed, _)| *armed);
        let other = self.others.first_key_value().map(|(armed, _)| *armed);
        operation.into_iter().chain(other).min()
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.first().map(|armed| armed.at)
    }

    /// Takes out the earliest timer that is due. Its owner's slot is stale from then on.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<K> {
        let armed = self.first().filter(|armed| armed.at <= now)?;
        self.operations.remove(&armed).or_else(|| self.others.remove(&armed))
    }

    pub(crate) fn clear(&mut self) {
        self.operations.clear();
        self.others.clear();
    }
}
