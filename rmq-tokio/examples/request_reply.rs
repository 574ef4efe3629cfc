//! A request whose outcome is a reply, and the service that replies.
//!
//! `cargo run -p rmq-tokio --example request_reply` runs on a model; `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a
//! cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::{process::ExitCode, time::Duration};

use common::{Cluster, Failure, reader::Reader};
use rmq_tokio::{Client, Message};

const TOPIC: &str = "ExamplePrices";
const NOBODY: &str = "ExampleNobody";
const GOODS: [&str; 2] = ["shirt", "trousers"];

/// The service: reads as a consumer does, and replies to each request.
async fn reply(name_server: &str, mut requests: Reader) -> Result<(), Failure> {
    let client = Client::builder().name_server(name_server).start()?;
    let producer = client.producer("example-price-service")?;
    for _ in GOODS {
        let request = requests.next().await?;
        let what = String::from_utf8_lossy(&request.body);
        println!("the service is asked for: {what}");
        producer.reply(&request, format!("{what}: {} EUR", 10 * what.len())).await?;
    }
    client.shutdown().await?;
    Ok(())
}

async fn ask(name_server: &str) -> Result<(), Failure> {
    let client = Client::builder().name_server(name_server).start()?;
    let producer = client.producer("example-shop")?;
    for what in GOODS {
        let reply = producer.request_within(Message::new(TOPIC, what), Duration::from_secs(10)).await?;
        println!("the reply is: {}", String::from_utf8_lossy(&reply.body));
    }
    let unheard = Message::new(NOBODY, "is anybody there?");
    match producer.request_within(unheard, Duration::from_millis(500)).await {
        Ok(_) => return Err(format!("somebody replies to {NOBODY}: choose a topic that nobody reads").into()),
        Err(error) => println!("as it should, this failed: {error}"),
    }
    client.shutdown().await?;
    Ok(())
}

async fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let requests = Reader::open(cluster.name_server(), TOPIC).await?;
    tokio::try_join!(reply(cluster.name_server(), requests), ask(cluster.name_server()))?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
