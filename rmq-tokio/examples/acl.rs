//! Access control: a client signs its requests, is refused with a wrong key, and gets another one while it runs.
//!
//! `cargo run -p rmq-tokio --example acl` runs on a model with a user. A cluster must have access control on:
//! `RMQ_NAME_SERVER=127.0.0.1:9876 RMQ_ACCESS_KEY=... RMQ_SECRET_KEY=... RMQ_TOPIC=...` before it, with a topic that the
//! user may send to.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::{env, process::ExitCode};

use common::{Cluster, Failure};
use rmq_sim::model::{Access, ClusterConfig, User};
use rmq_tokio::{Client, Credentials, Error, Message};

fn variable(name: &str, default: &str) -> String {
    env::var(name).unwrap_or_else(|_| default.to_owned())
}

async fn run() -> Result<(), Failure> {
    // Keys come from outside, never from the code; these defaults are for the model.
    let access_key = variable("RMQ_ACCESS_KEY", "acl-user");
    let right = Credentials::new(&*access_key, variable("RMQ_SECRET_KEY", "user-secret"))?;
    let topic = variable("RMQ_TOPIC", "AclPub");
    let user = User::new(right.clone()).topic(&*topic, Access::Publish);
    let cluster = Cluster::open_or(ClusterConfig { users: vec![user], ..ClusterConfig::default() })?;

    let builder = Client::builder().name_server(cluster.name_server());
    let client = builder.credentials(right.clone()).start()?;
    let producer = client.producer("example-signed")?;
    let sent = match producer.send(Message::new(&*topic, "signed")).await {
        Err(Error::Send(error)) if error.code().is_some() => {
            let advice = "are RMQ_ACCESS_KEY, RMQ_SECRET_KEY and RMQ_TOPIC those of a user who may send?";
            return Err(format!("{error}; {advice}").into());
        }
        sent => sent?,
    };
    println!("{access_key} may send: {} in {}", sent.message_id, sent.queue);

    client.set_credentials(Some(Credentials::new(&*access_key, "a wrong secret")?));
    match producer.send(Message::new(&*topic, "signed with a wrong key")).await {
        Ok(_) => return Err("a wrong key was accepted: switch access control on at the brokers".into()),
        // A refusal has the broker's code; without one, no broker answered.
        Err(Error::Send(error)) if error.code().is_some() => println!("as it should, this failed: {error}"),
        Err(error) => return Err(error.into()),
    }

    // As when keys are changed: what is sent from now on is signed with the new one.
    client.set_credentials(Some(right));
    producer.send(Message::new(&*topic, "signed again")).await?;
    println!("with the right key again it may");
    client.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
