//! Where the scenarios of a cluster run: at the real one that `RMQ_NAME_SERVER` names, or else at a model of their own.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rmq_driver::Message;
use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::ClusterConfig;

/// Those that were found, so that no two have one topic.
static PLACES: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Place {
    pub(crate) name_server: String,
    /// No earlier run used it.
    pub(crate) topic: String,
    _model: Option<Server>,
}

impl Place {
    pub(crate) fn find(scenario: &str) -> Self {
        if let Ok(name_server) = env::var("RMQ_NAME_SERVER") {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let number = PLACES.fetch_add(1, Ordering::Relaxed);
            let topic = format!("runtimes-{}-{}-{number}", since.as_millis(), std::process::id());
            return Self { name_server, topic, _model: None };
        }
        eprintln!("{scenario} against the model");
        let server = model(ClusterConfig { brokers: 2, ..ClusterConfig::default() });
        let name_server = server.name_server().to_string();
        Self { name_server, topic: "orders".to_owned(), _model: Some(server) }
    }

    pub(crate) fn message(&self, body: impl Into<bytes::Bytes>) -> Message {
        Message::new(&*self.topic, body)
    }
}

/// A model that keeps all that the scenarios send.
pub(crate) fn model(config: ClusterConfig) -> Server {
    let cluster = ClusterConfig { port: 0, retain: 20_000, ..config };
    Server::start(ServerConfig { cluster, ..ServerConfig::default() }).unwrap()
}
