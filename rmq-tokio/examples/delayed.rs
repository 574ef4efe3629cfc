//! Messages that are delivered later: by a delay level, by a timer, and one that is recalled before its time.
//!
//! `cargo run -p rmq-tokio --example delayed` runs on a model; `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a cluster.
//! Timers need brokers since 5.0; recalls, those since 5.3.2 with `recallMessageEnable=true`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::{process::ExitCode, time::Duration};

use common::{Cluster, Failure, reader::Reader};
use rmq_tokio::{Client, DelayLevel, Message};

const TOPIC: &str = "ExampleReminders";
const DELAY: Duration = Duration::from_secs(3);

async fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let mut reader = Reader::open(cluster.name_server(), TOPIC).await?;
    let client = Client::builder().name_server(cluster.name_server()).start()?;
    let producer = client.producer("example-reminders")?;

    // Every broker has levels; unless it is told otherwise, the first one is a second.
    producer.send(Message::new(TOPIC, "by level").delay_level(DelayLevel::MIN)).await?;

    let sent = producer.send(Message::new(TOPIC, "paid after all").deliver_after(DELAY)).await?;
    let is_recalled = match sent.recall_handle {
        Some(handle) => {
            let id = producer.recall(TOPIC, handle).await.map_err(|error| {
                format!("{error}: if the broker does not recall, set recallMessageEnable=true there")
            })?;
            println!("recalled {id}");
            true
        }
        None => {
            println!("no recall handle: the broker is older than 5.3.2, and cannot recall");
            false
        }
    };
    producer.send(Message::new(TOPIC, "by timer").deliver_after(DELAY)).await?;

    let awaited = if is_recalled { 2 } else { 3 };
    for _ in 0..awaited {
        let message = reader.next().await?;
        let body = String::from_utf8_lossy(&message.body);
        println!("{body:?} came after {} ms", message.store_timestamp - message.born_timestamp);
        if is_recalled && message.unique_key() == Some(&*sent.message_id) {
            return Err("a recalled message was delivered: see the broker's log".into());
        }
    }
    client.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
