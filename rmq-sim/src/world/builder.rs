//! What a world is made of.

use std::ops::Range;
use std::time::Duration;

use super::World;
use crate::model::{Profile, TopicConfig};
use crate::net::NetworkConfig;

/// Makes a [`World`]. One name server, one broker called `broker-a`, and topics that are created by sending, unless told
/// otherwise.
#[derive(Clone, Debug)]
#[must_use = "build() makes the world"]
pub struct WorldBuilder {
    pub(super) seed: u64,
    pub(super) config: NetworkConfig,
    pub(super) topics: Vec<TopicConfig>,
    pub(super) records: bool,
    pub(super) time_limit: Duration,
}

impl WorldBuilder {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            config: NetworkConfig::default(),
            topics: Vec::new(),
            records: false,
            time_limit: Duration::from_secs(3_600),
        }
    }

    /// The seed, for choices of the test's own; [`World::rng`] has them too.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// How many brokers: `broker-a`, `broker-b` and so on. Default: 1.
    pub const fn brokers(mut self, count: usize) -> Self {
        self.config.cluster.brokers = count;
        self
    }

    /// How many name servers; 0 counts as 1. Default: 1.
    pub const fn name_servers(mut self, count: usize) -> Self {
        self.config.cluster.name_servers = count;
        self
    }

    /// The release that all servers are of. Default: [`Profile::V5_3`].
    pub const fn profile(mut self, profile: Profile) -> Self {
        self.config.cluster.profile = profile;
        self
    }

    /// Whether sending to a topic creates it. Default: true.
    pub const fn auto_create(mut self, on: bool) -> Self {
        self.config.cluster.auto_create = on;
        self
    }

    /// How long bytes are on their way, one way. Default: 0.1 to 1 ms.
    pub fn latency(mut self, range: Range<Duration>) -> Self {
        self.config.latency = range;
        self
    }

    /// Adds a topic with so many queues to every broker.
    pub fn topic(mut self, name: impl Into<String>, queues: i32) -> Self {
        self.topics.push(TopicConfig::new(name, queues));
        self
    }

    /// Takes this network and these servers instead of all that was said of them before.
    pub fn network(mut self, config: NetworkConfig) -> Self {
        self.config = config;
        self
    }

    /// Keeps the trace, the newest million lines of it. It takes time and memory, and changes nothing else.
    pub const fn record(mut self) -> Self {
        self.records = true;
        self
    }

    /// Virtual time that a run may take. Default: one hour.
    pub const fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// The world, at its beginning.
    pub fn build(self) -> World {
        World::from_builder(self)
    }
}
