//! What came of a run.

use std::fmt;
use std::time::Duration;

use super::ledger::Acknowledgement;
use crate::model::StoredMessage;
use crate::net::Network;
use crate::trace::Trace;

/// What came of a run in a [`World`](super::World), as it was at its end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// What the user's code returned.
    pub value: T,
    /// The world's seed.
    pub seed: u64,
    /// Virtual time since the world's beginning.
    pub time: Duration,
    /// Hash of everything that happened, every byte on the network included: the same for the same seed and code.
    pub hash: u64,
    pub(super) network: Network,
    pub(super) acknowledgements: Vec<Acknowledgement>,
}

impl<T> Outcome<T> {
    /// What happened, line by line, if the world [records](super::WorldBuilder::record) it.
    pub const fn trace(&self) -> &Trace {
        self.network.trace()
    }

    /// The network and its servers.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// The messages that brokers keep, in the order of storing.
    pub fn stored(&self) -> impl Iterator<Item = &StoredMessage> {
        self.network.cluster().stored()
    }

    /// All acknowledgements, in the order of their times: those that the user's code [told the
    /// world](super::World::acknowledge_key), and each success that a client read from its connection.
    pub fn acknowledgements(&self) -> &[Acknowledgement] {
        &self.acknowledgements
    }

    /// What was acknowledged and is not stored. A run ends with its future: what it left under way is not stored.
    pub fn missing(&self) -> impl Iterator<Item = &Acknowledgement> {
        self.acknowledgements.iter().filter(|acknowledgement| acknowledgement.stored_at.is_none())
    }

    /// What was acknowledged before it was stored, or without: had the process died in between, it would be lost.
    pub fn early(&self) -> impl Iterator<Item = &Acknowledgement> {
        self.acknowledgements.iter().filter(|acknowledgement| acknowledgement.is_early())
    }

    /// Whether nothing is [missing](Self::missing).
    pub fn every_acknowledged_message_is_stored(&self) -> bool {
        self.missing().next().is_none()
    }

    /// Sees to it that nothing was acknowledged [before it was stored](Self::early), nor without.
    ///
    /// # Panics
    ///
    /// When something was; the text has the seed and the acknowledgements.
    #[track_caller]
    pub fn assert_acknowledged_is_stored(&self) {
        let early: Vec<_> = self.early().collect();
        assert!(early.is_empty(), "seed {}: {}", self.seed, Lines(&early));
    }
}

/// The first lines; of thousands nobody reads all.
struct Lines<'a>(&'a [&'a Acknowledgement]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
        write!(f, "{} acknowledged before they were stored, or without:", self.0.len())?;
        for acknowledgement in self.0.iter().take(SHOWN) {
            write!(f, "\n  {acknowledgement}")?;
        }
        match self.0.len().checked_sub(SHOWN) {
            Some(more) if more > 0 => write!(f, "\n  and {more} more"),
            _ => Ok(()),
        }
    }
}
