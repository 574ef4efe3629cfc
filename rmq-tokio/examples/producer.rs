//! A producer with settings of its own: one message, many at once, and what to do with an error.
//!
//! `cargo run -p rmq-tokio --example producer` runs on a model; `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::{num::NonZeroU32, process::ExitCode, time::Duration};

use common::{Cluster, Failure};
use rmq_tokio::{Client, Message, ProducerConfig};
use tokio::task::JoinSet;

const TOPIC: &str = "ExampleOrders";

async fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let client = Client::builder().name_server(cluster.name_server()).start()?;
    // All attempts of one send together have 5 s, and each goes to another broker if there is one.
    let config = ProducerConfig::new("example-orders").send_timeout(Duration::from_secs(5));
    let config = config.attempts(NonZeroU32::new(5).unwrap_or(NonZeroU32::MIN));
    let producer = client.producer_with(config)?;

    let order = Message::new(TOPIC, "one shirt").tag("created").key("order-42").property("currency", "EUR");
    let sent = producer.send(order).await?;
    println!("{}: {} in {} at offset {}", sent.status, sent.message_id, sent.queue, sent.queue_offset);

    // A send is a future, and a producer may have many under way. They go round the queues.
    let mut sends = JoinSet::new();
    for number in 0..100 {
        sends.spawn(producer.send(Message::new(TOPIC, format!("order {number}"))));
    }
    let mut stored = 0;
    while let Some(sent) = sends.join_next().await {
        sent??;
        stored += 1;
    }
    println!("{stored} more are stored");

    // An error says what was wrong, whether to try again, and whether a broker may have the message all the same.
    let Err(error) = producer.send(Message::new("no topic has blanks", "lost")).await else {
        return Err("a topic with blanks in its name was accepted: this is a bug, report it".into());
    };
    println!("as it should, this failed: {error}");
    println!("try again: {}; may be stored: {}", error.is_retryable(), error.may_have_been_stored());

    client.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
