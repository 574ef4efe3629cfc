//! Several messages in one request: as a batch that is put together by hand, and by the producer itself.
//!
//! `cargo run -p rmq-tokio --example batch` runs on a model; `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::{process::ExitCode, time::Duration};

use common::{Cluster, Failure};
use rmq_tokio::{AutoBatch, Client, Message, ProducerConfig};
use tokio::task::JoinSet;

const TOPIC: &str = "ExampleReadings";
const COUNT: u64 = 50;

async fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let client = Client::builder().name_server(cluster.name_server()).start()?;

    // By hand: all of them are stored, one behind the other in one queue, or none.
    let producer = client.producer("example-readings")?;
    let readings = ["21.5", "21.7", "22.0"].map(|celsius| Message::new(TOPIC, celsius).key("cellar"));
    let sent = producer.send_batch(readings).await?;
    for (place, id) in (0..).zip(sent.message_ids()) {
        println!("{id} in {} at offset {}", sent.queue, sent.queue_offset + place);
    }

    // By the producer: sends that come within 20 ms of the first, up to 32 KiB, share a request.
    let batches = AutoBatch::new().delay(Duration::from_millis(20)).bytes(32 * 1024);
    let producer = client.producer_with(ProducerConfig::new("example-auto").auto_batch(batches))?;
    let before = client.stats().frames_written;
    let mut sends = JoinSet::new();
    for number in 0..COUNT {
        sends.spawn(producer.send(Message::new(TOPIC, format!("reading {number}"))));
    }
    while let Some(sent) = sends.join_next().await {
        // Each send has an outcome of its own.
        sent??;
    }
    let frames = client.stats().frames_written - before;
    println!("{COUNT} single sends went out in {frames} frames");
    if frames >= COUNT {
        return Err("they were not batched: this is a bug, report it".into());
    }

    client.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
