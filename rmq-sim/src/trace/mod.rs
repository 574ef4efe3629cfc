//! What happened in a world, in order: a hash of all of it, and the lines themselves when somebody wants to read them.

mod happening;
mod lifelines;

use std::collections::VecDeque;
use std::hash::Hash;

use rmq_core::Instant;

use crate::hash::StableHasher;

pub use happening::{Direction, FrameInfo, Happening, LEGEND};
pub use lifelines::Picture;

/// Lines that a recording keeps; the first are lost first.
const KEPT: usize = 1_000_000;

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When, in the world's time.
    pub at: Instant,
    /// What.
    pub happening: Happening,
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let micros = self.at.as_micros();
        write!(f, "{:>6}.{:06} {}", micros / 1_000_000, micros % 1_000_000, self.happening)
    }
}

/// What happened in a world. Its hash covers everything, written down or not, and every byte that went over the network:
/// two runs with the same hash were the same.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    hash: StableHasher,
    recorded: Option<VecDeque<Entry>>,
    lost: u64,
}

impl Trace {
    /// From now on, entries are kept: the newest million of them.
    pub fn record(&mut self) {
        self.recorded.get_or_insert_default();
    }

    /// Whether entries are kept.
    pub const fn is_recorded(&self) -> bool {
        self.recorded.is_some()
    }

    /// The entries that were kept, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.recorded.iter().flatten()
    }

    /// How many entries were dropped because there were too many.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// The hash of all that happened so far.
    pub const fn hash(&self) -> u64 {
        self.hash.value()
    }

    /// Adds what happened.
    pub fn push(&mut self, at: Instant, happening: Happening) {
        at.hash(&mut self.hash);
        happening.hash(&mut self.hash);
        self.annotate(at, happening);
    }

    /// Adds bytes to the hash alone.
    pub(crate) fn hash_bytes(&mut self, bytes: &[u8]) {
        bytes.hash(&mut self.hash);
    }

    /// Keeps, if entries are kept, and leaves the hash as it is: for what is only looked at while recording.
    pub(crate) fn annotate(&mut self, at: Instant, happening: Happening) {
        let Some(recorded) = &mut self.recorded else { return };
        if recorded.len() == KEPT {
            recorded.pop_front();
            self.lost += 1;
        }
        recorded.push_back(Entry { at, happening });
    }
}
