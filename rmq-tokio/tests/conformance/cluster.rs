//! What the steps run against.

use std::env;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::{ClusterConfig, Profile};
use rmq_tokio::{Client, Producer};

use crate::wire::Place;

/// Time of one step.
const PATIENCE: Duration = Duration::from_secs(120);

/// A cluster of two brokers.
pub(crate) struct UnderTest {
    pub(crate) place: Place,
    pub(crate) profile: Profile,
    /// `None`: it is a real one.
    model: Option<Server>,
}

impl UnderTest {
    /// The real cluster that the environment names; without it the model in both profiles.
    fn all() -> Vec<Self> {
        match env::var("RMQ_NAME_SERVER") {
            Ok(name_server) => vec![Self::real(name_server)],
            Err(_) => Profile::ALL.into_iter().map(Self::model).collect(),
        }
    }

    fn real(name_server: String) -> Self {
        let version = env::var("RMQ_BROKER_VERSION").unwrap_or_else(|_| "5.3.3".to_owned());
        let profile = Profile::ALL.into_iter().find(|profile| version.starts_with(&profile.to_string()));
        let profile = profile.unwrap_or_else(|| panic!("RMQ_BROKER_VERSION: no profile is like {version}"));
        Self { place: Place::new(name_server), profile, model: None }
    }

    fn model(profile: Profile) -> Self {
        let cluster = ClusterConfig { profile, brokers: 2, port: 0, ..ClusterConfig::default() };
        let server = Server::start(ServerConfig { cluster, watcher: None }).unwrap();
        Self { place: Place::new(server.name_server().to_string()), profile, model: Some(server) }
    }

    /// One of two values: 4.9's and 5.3's.
    pub(crate) fn by_profile<T>(&self, v4_9: T, v5_3: T) -> T {
        match self.profile {
            Profile::V4_9 => v4_9,
            Profile::V5_3 => v5_3,
        }
    }

    /// How long a delay level takes; the real clusters have levels of their own (real-broker/cluster).
    pub(crate) fn delay(&self, level: u8) -> Duration {
        let seconds: [u64; 4] = if self.model.is_some() { [1, 5, 10, 30] } else { [1, 2, 3, 4] };
        Duration::from_secs(seconds[usize::from(level) - 1])
    }

    /// All that waits for its time at the model is due at once. A real broker takes its time.
    pub(crate) fn hurry(&self) {
        let Some(model) = &self.model else { return };
        model.cluster(|cluster| {
            while let Some(at) = cluster.next_delivery() {
                cluster.advance(at);
            }
        });
    }

    pub(crate) fn client(&self) -> (Client, Producer) {
        let client = Client::builder().name_server(&self.place.name_server).start().unwrap();
        let producer = client.producer("conformance").unwrap();
        (client, producer)
    }
}

impl fmt::Display for UnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.model.is_some() { "the model of" } else { "a real cluster like" };
        write!(f, "{what} {} at {}", self.profile, self.place.name_server)
    }
}

/// Runs a step against each cluster.
pub(crate) async fn each(step: impl AsyncFn(&UnderTest)) {
    for under_test in UnderTest::all() {
        eprintln!("against {under_test}");
        let done = tokio::time::timeout(PATIENCE, step(&under_test)).await;
        assert!(done.is_ok(), "not done after {PATIENCE:?}");
    }
}

/// A name for a topic or a group that nobody used before.
pub(crate) fn new_name(what: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{what}-{}-{}-{count}", since.as_millis(), std::process::id())
}
