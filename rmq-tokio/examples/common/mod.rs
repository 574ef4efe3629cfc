//! What the examples share: a cluster to talk to, and how they end.

#![allow(dead_code, reason = "not every example needs all of it")]

pub(crate) mod reader;

use std::{env, error::Error, process::ExitCode, time::Duration};

use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::ClusterConfig;

/// Names the cluster: `host:port` of a name server, or several joined by `;`.
const VARIABLE: &str = "RMQ_NAME_SERVER";

/// Anything that can go wrong, in whichever task.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The cluster that `RMQ_NAME_SERVER` names, or a model of one that lives as long as this.
pub(crate) struct Cluster {
    name_server: String,
    _model: Option<Server>,
}

impl Cluster {
    pub(crate) fn open() -> Result<Self, Failure> {
        Self::open_or(ClusterConfig::default())
    }

    /// `model` is what it is if it is a model, but for its ports and the number of its brokers.
    pub(crate) fn open_or(model: ClusterConfig) -> Result<Self, Failure> {
        if let Ok(name_server) = env::var(VARIABLE) {
            return Ok(Self { name_server, _model: None });
        }
        println!("{VARIABLE} is not set: this uses a model on loopback, not a RocketMQ cluster");
        let cluster = ClusterConfig {
            port: 0,
            brokers: 2,
            // Real brokers ask about transactions after 6 s, once or twice a minute.
            transaction_timeout: Duration::from_secs(1),
            transaction_check_interval: Duration::from_secs(1),
            ..model
        };
        let model = Server::start(ServerConfig { cluster, watcher: None })?;
        Ok(Self { name_server: model.name_server().to_string(), _model: Some(model) })
    }

    pub(crate) fn name_server(&self) -> &str {
        &self.name_server
    }
}

/// How an example ends: with what went wrong on stderr, if anything did.
pub(crate) fn exit(outcome: Result<(), Failure>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    eprintln!("error: {error}");
    if let Ok(name_server) = env::var(VARIABLE) {
        eprintln!(
            "{VARIABLE} is {name_server}: the cluster's name server must listen there, and its brokers be up; \
             without the variable this runs on a model"
        );
    }
    ExitCode::FAILURE
}
