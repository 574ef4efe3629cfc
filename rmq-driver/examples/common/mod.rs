//! What the examples share: a cluster to talk to, and how they end.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::ClusterConfig;

const VARIABLE: &str = "RMQ_NAME_SERVER";

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The cluster that `--name-server` or `RMQ_NAME_SERVER` names, or a model of two brokers that lives as long as this.
pub(crate) struct Cluster {
    pub(crate) name_server: String,
    model: Option<Server>,
}

impl Cluster {
    pub(crate) fn open() -> Result<Self, Failure> {
        if let Some(name_server) = named()? {
            return Ok(Self { name_server, model: None });
        }
        println!("no --name-server and no {VARIABLE}: this uses a model on loopback, not a RocketMQ cluster");
        let cluster = ClusterConfig { port: 0, brokers: 2, ..ClusterConfig::default() };
        let model = Server::start(ServerConfig { cluster, watcher: None })?;
        Ok(Self { name_server: model.name_server().to_string(), model: Some(model) })
    }

    /// Takes the model's first broker down, or brings it back. True if there was something to do: a real cluster's brokers
    /// are its own.
    #[allow(dead_code, reason = "not every example needs it")]
    pub(crate) fn set_broker_up(&self, up: bool) -> bool {
        self.model.as_ref().is_some_and(|model| {
            model.cluster(|cluster| {
                let broker = cluster.broker_address(0).to_owned();
                if up { cluster.start(&broker) } else { cluster.stop(&broker) }
            })
        })
    }
}

fn named() -> Result<Option<String>, Failure> {
    let mut arguments = env::args().skip(1);
    match (arguments.next(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(env::var(VARIABLE).ok()),
        (Some(option), Some(name_server), None) if option == "--name-server" => Ok(Some(name_server)),
        _ => Err("usage: [--name-server HOST:PORT]".into()),
    }
}

/// How an example ends: with what went wrong on stderr, if anything did.
pub(crate) fn exit(outcome: Result<(), Failure>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    eprintln!("error: {error}");
    ExitCode::FAILURE
}
