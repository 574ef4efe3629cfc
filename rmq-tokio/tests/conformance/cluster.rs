//! What the steps run against.

use std::env;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::{Access, ClusterConfig, Profile, User};
use rmq_tokio::{Client, ClientBuilder, Credentials, Producer, ProducerConfig};

use crate::wire::Place;

/// Time of one send: a slow machine must not bring about a second attempt, and with it a second message.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);

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
    /// The real cluster that the environment names, if it is one of this kind; with no such name the model in both profiles.
    fn all(is_guarded: bool) -> Vec<Self> {
        let Ok(name_server) = env::var("RMQ_NAME_SERVER") else {
            return Profile::ALL.into_iter().map(|profile| Self::model(profile, is_guarded)).collect();
        };
        if env::var("RMQ_ACL").is_ok_and(|acl| acl == "on") == is_guarded {
            vec![Self::real(Self::place(name_server, is_guarded))]
        } else {
            Vec::new()
        }
    }

    /// The reader of a cluster with access control may do everything.
    fn place(name_server: String, is_guarded: bool) -> Place {
        let credentials = is_guarded.then(|| credentials("acl-admin", "admin-secret"));
        Place { name_server, credentials }
    }

    fn real(place: Place) -> Self {
        let version = env::var("RMQ_BROKER_VERSION").unwrap_or_else(|_| "5.3.3".to_owned());
        let profile = Profile::ALL.into_iter().find(|profile| version.starts_with(&profile.to_string()));
        let profile = profile.unwrap_or_else(|| panic!("RMQ_BROKER_VERSION: no profile is like {version}"));
        Self { place, profile, model: None }
    }

    fn model(profile: Profile, is_guarded: bool) -> Self {
        let users = if is_guarded { users() } else { Vec::new() };
        let cluster = ClusterConfig {
            profile,
            users,
            brokers: 2,
            port: 0,
            // As real-broker/cluster has them.
            transaction_timeout: Duration::from_secs(1),
            transaction_check_interval: Duration::from_secs(1),
            ..ClusterConfig::default()
        };
        let server = Server::start(ServerConfig { cluster, watcher: None }).unwrap();
        let place = Self::place(server.name_server().to_string(), is_guarded);
        Self { place, profile, model: Some(server) }
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
        self.client_of(Client::builder())
    }

    /// A client with settings of its own.
    pub(crate) fn client_of(&self, builder: ClientBuilder) -> (Client, Producer) {
        let client = builder.name_server(&self.place.name_server).start().unwrap();
        let producer = client.producer_with(producer("conformance")).unwrap();
        (client, producer)
    }
}

impl fmt::Display for UnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.model.is_some() { "the model of" } else { "a real cluster like" };
        write!(f, "{what} {} at {}", self.profile, self.place.name_server)
    }
}

/// A producer of a group.
pub(crate) fn producer(group: &str) -> ProducerConfig {
    ProducerConfig::new(group).send_timeout(SEND_TIMEOUT)
}

/// The accounts of real-broker/cluster.
fn users() -> Vec<User> {
    let user = User::new(credentials("acl-user", "user-secret"));
    let user = user.topic("AclBoth", Access::Both).topic("AclPub", Access::Publish);
    let user = user.topic("AclSub", Access::Subscribe).group("acl-group", Access::Subscribe);
    vec![User::admin(credentials("acl-admin", "admin-secret")), user]
}

pub(crate) fn credentials(access_key: &str, secret_key: &str) -> Credentials {
    Credentials::new(access_key, secret_key).unwrap()
}

/// Runs a step against each cluster without access control.
pub(crate) async fn open(step: impl AsyncFn(&UnderTest)) {
    each(UnderTest::all(false), step).await;
}

/// Runs a step against each cluster with access control.
pub(crate) async fn guarded(step: impl AsyncFn(&UnderTest)) {
    each(UnderTest::all(true), step).await;
}

async fn each(clusters: Vec<UnderTest>, step: impl AsyncFn(&UnderTest)) {
    for under_test in clusters {
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
