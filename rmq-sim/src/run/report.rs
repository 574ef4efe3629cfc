//! What a run came to.

use std::collections::BTreeMap;
use std::time::Duration;

use rmq_core::Instant;

use crate::oracle::Violation;

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunReport {
    /// The seed.
    pub seed: u64,
    /// The hash of everything that happened: the same for the same seed.
    pub hash: u64,
    /// Virtual time.
    pub time: Duration,
    /// Operations accepted.
    pub operations: u64,
    /// Operations rejected.
    pub rejected: u64,
    /// How they ended: sent, written, failed, cancelled; lost with a client that was killed.
    pub ends: BTreeMap<&'static str, u64>,
    /// Faults, by name.
    pub faults: BTreeMap<&'static str, u64>,
    /// Moments at which something happened; each gave the clients that had reason to it a turn.
    pub turns: u64,
    /// Requests that servers read.
    pub requests: u64,
    /// What an oracle found, and when.
    pub violation: Option<(Instant, Violation)>,
}

impl RunReport {
    /// All faults together.
    pub fn fault_count(&self) -> u64 {
        self.faults.values().sum()
    }
}
