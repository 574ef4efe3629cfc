//! What must hold in every run.
//!
//! An [`Oracle`] watches a [run](crate::run) and says when something is as it must never be. [`all`] has those that
//! each run is watched by; what a client alone promises is watched by [`checked`](crate::checked).

mod connection;
mod health;
mod recovery;
mod send_back;
mod sending;

use std::fmt;

use rmq_core::{Event, Instant};

pub use connection::{ClosedIsTold, PeersAreUnderstood};
pub(crate) use health::ISOLATED_LEFT_ALONE;
pub use health::IsolatedLeftAlone;
pub(crate) use recovery::GRACE;
pub use recovery::{Heartbeats, Recovers};
pub use send_back::SentBackIsKept;
pub(crate) use sending::UNTRIED_FIRST;
pub use sending::{AcknowledgedIsStored, AttemptsWithinPolicy, StoredWasSent, UntriedFirst};

use crate::model::ModelEvent;
use crate::net::Network;
use crate::run::{FaultKind, Operation, RunOptions};

/// Every operation ends soon after the faults do.
pub(crate) const ALL_WORK_ENDS: &str = "all-work-ends";
/// A client with nothing to do holds nothing.
pub(crate) const NOTHING_IS_KEPT: &str = "nothing-is-kept";
/// A shutdown ends, and leaves no connection open.
pub(crate) const SHUTDOWN_ENDS: &str = "shutdown-ends";
/// A run ends.
pub(crate) const ENDLESS: &str = "endless";
/// A client has as many connections as it says.
pub(crate) const NO_LEAK: &str = "no-leaked-connection";

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Name of the promise.
    pub oracle: &'static str,
    /// How it was broken.
    pub detail: String,
}

impl Violation {
    /// That `oracle` found `detail`.
    pub fn new(oracle: &'static str, detail: impl Into<String>) -> Self {
        Self { oracle, detail: detail.into() }
    }

    /// An error unless `holds`; `detail` is only made then.
    ///
    /// # Errors
    ///
    /// When it does not hold.
    pub fn unless(holds: bool, oracle: &'static str, detail: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { oracle, detail: detail() }) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.oracle, self.detail)
    }
}

impl std::error::Error for Violation {}

/// Something that an oracle may look at, when it happens.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Seen<'a> {
    /// A client accepted an operation.
    Accepted(&'a Operation),
    /// An operation ended.
    Ended {
        /// The operation.
        operation: &'a Operation,
        /// Its one terminal event.
        event: &'a Event,
    },
    /// A client told something that ends no operation.
    Told {
        /// The client.
        client: u32,
        /// What it told.
        event: &'a Event,
    },
    /// An operation will never end, as its client was killed.
    Lost(&'a Operation),
    /// A server did something.
    Served(&'a ModelEvent),
    /// All faults are over and none follows.
    Healed,
}

/// Watches a run and says when something is as it must never be.
pub trait Oracle: fmt::Debug {
    /// What violations call it.
    fn name(&self) -> &'static str;

    /// Looks at what happened just now.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    fn see(&mut self, at: Instant, seen: Seen<'_>, network: &Network) -> Result<(), String>;

    /// Looks at the world when the faults are long over and every operation has ended; the clients live.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    fn rest(&mut self, network: &Network) -> Result<(), String> {
        let _ = network;
        Ok(())
    }

    /// Looks at the world after all clients have shut down.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    fn finish(&mut self, network: &Network) -> Result<(), String> {
        let _ = network;
        Ok(())
    }
}

/// The oracles that a run with these options is watched by.
pub fn all(options: &RunOptions) -> Vec<Box<dyn Oracle>> {
    let mut oracles: Vec<Box<dyn Oracle>> = vec![
        Box::new(AcknowledgedIsStored),
        Box::new(StoredWasSent::default()),
        Box::new(AttemptsWithinPolicy::default()),
        Box::new(SentBackIsKept::default()),
        Box::new(ClosedIsTold::default()),
        Box::new(PeersAreUnderstood),
        Box::new(Recovers::new(options.settings.close_on_timeout)),
        Box::new(Heartbeats::new(options.settings.heartbeat_interval)),
    ];
    // Where servers go, routes lose brokers, and nobody outside knows which ones a client knew.
    if !options.has(FaultKind::Crash) && !options.has(FaultKind::Vanish) {
        match &options.settings.fault_tolerance {
            // With it, one that was tried may be better than one that is left alone.
            None => oracles.push(Box::new(UntriedFirst { brokers: options.network.cluster.brokers })),
            Some(_) => oracles.push(Box::new(IsolatedLeftAlone::default())),
        }
    }
    oracles
}
