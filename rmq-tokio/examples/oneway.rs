//! One-way messages: no broker confirms them, so they are the fastest to send, and may be lost.
//!
//! `cargo run -p rmq-tokio --example oneway` runs on a model; `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::process::ExitCode;

use common::{Cluster, Failure, reader::Reader};
use rmq_tokio::{Client, Message};

const TOPIC: &str = "ExampleClicks";

async fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let mut reader = Reader::open(cluster.name_server(), TOPIC).await?;
    let client = Client::builder().name_server(cluster.name_server()).start()?;
    let producer = client.producer("example-clicks")?;

    for page in ["home", "shirts", "basket"] {
        // Ends when the bytes are in the stream to a broker. One that cannot be reached is an error here, too.
        producer.send_oneway(Message::new(TOPIC, page).tag("click")).await?;
        println!("written: {page}");
    }

    // Nobody but a reader can tell that they arrived.
    for _ in 0..3 {
        let message = reader.next().await?;
        println!("arrived: {}", String::from_utf8_lossy(&message.body));
    }
    client.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
