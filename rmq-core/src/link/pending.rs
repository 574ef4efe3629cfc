//! Requests written on one connection, by the opaque that their answers will carry.

use alloc::collections::BTreeSet;

use rmq_proto::code::RequestCode;

use super::Owner;
use crate::rising::RisingMap;
use crate::time::Instant;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// None once cancelled: the opaque stays taken until its answer or deadline.
    pub(crate) owner: Option<Owner>,
    /// Whether a peer that goes away has sent it here.
    pub(crate) again: bool,
    /// What was asked for.
    pub(crate) code: RequestCode,
    pub(crate) written_at: Instant,
    /// Bytes received on the connection when this was written.
    pub(crate) received: u64,
}

/// The correlator. Opaques of the broker's own requests are another number space and never looked up here
/// (wire §1.4).
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    entries: RisingMap<i32, Entry>,
    tombstones: BTreeSet<(Instant, i32)>,
}

impl Pending {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn contains(&self, opaque: i32) -> bool {
        self.entries.contains_key(&opaque)
    }

    pub(crate) fn insert(&mut self, opaque: i32, entry: Entry) {
        self.entries.insert(opaque, entry);
    }

    pub(crate) fn remove(&mut self, opaque: i32) -> Option<Entry> {
        self.entries.remove(&opaque)
    }

    /// The opaque of an owner that does not remember it.
    pub(crate) fn opaque_of(&self, owner: Owner) -> Option<i32> {
        self.entries.iter().find(|(_, entry)| entry.owner == Some(owner)).map(|(opaque, _)| *opaque)
    }

    /// Leaves the opaque taken, with nobody to tell, until `deadline`; of more than `limit` the first to die is let go.
    pub(crate) fn bury(&mut self, now: Instant, opaque: i32, deadline: Instant, limit: usize) {
        if let Some(entry) = self.entries.get_mut(&opaque) {
            entry.owner = None;
            self.tombstones.insert((deadline, opaque));
        }
        self.forget_dead(now);
        while self.tombstones.len() > limit {
            self.forget_first();
        }
    }

    /// Lets go of the opaques whose deadline is over.
    pub(crate) fn forget_dead(&mut self, now: Instant) {
        while self.next_death().is_some_and(|deadline| deadline <= now) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some((_, opaque)) = self.tombstones.pop_first()
            && self.entries.get(&opaque).is_some_and(|entry| entry.owner.is_none())
        {
            self.entries.remove(&opaque);
        }
    }

    /// When the next opaque is to be let go.
    pub(crate) fn next_death(&self) -> Option<Instant> {
        self.tombstones.first().map(|(deadline, _)| *deadline)
    }

    pub(crate) fn into_owners(self) -> impl Iterator<Item = Owner> {
        self.entries.into_values().filter_map(|entry| entry.owner)
    }
}
