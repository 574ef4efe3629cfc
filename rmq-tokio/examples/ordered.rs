//! Messages in order: those of one key go to one queue, or a selector picks the queue.
//!
//! `cargo run -p rmq-tokio --example ordered` runs on a model; `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::{collections::BTreeMap, process::ExitCode};

use common::{Cluster, Failure};
use rmq_tokio::{Client, Message, MessageQueue};

/// Where order matters, create the topic before with as many queues as it is to have: a key's queue depends on their number.
const TOPIC: &str = "ExampleOrderSteps";

async fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let client = Client::builder().name_server(cluster.name_server()).start()?;
    let producer = client.producer("example-order-steps")?;

    // Within a queue messages stay in the order they were stored in, so each step is awaited before the next.
    let mut last: BTreeMap<&str, (MessageQueue, i64)> = BTreeMap::new();
    for step in ["created", "paid", "shipped"] {
        for order in ["order-1", "order-2"] {
            let message = Message::new(TOPIC, format!("{order} {step}")).tag(step).key(order);
            let sent = producer.send_by_key(message, order).await?;
            println!("{order} {step}: {} at offset {}", sent.queue, sent.queue_offset);
            let place = (sent.queue, sent.queue_offset);
            if let Some(before) = last.insert(order, place.clone())
                && (before.0 != place.0 || before.1 >= place.1)
            {
                return Err(format!("{order} is out of order: did {TOPIC} get more queues meanwhile?").into());
            }
        }
    }

    // A selector sees the queues that can be written to, and the message.
    let customer = 7;
    let message = Message::new(TOPIC, "a new address").tag("customer");
    let by_customer = |queues: &[MessageQueue]| customer % queues.len();
    let sent = producer.send_by(message, |queues, _| queues.get(by_customer(queues))).await?;
    println!("customer {customer}: {} at offset {}", sent.queue, sent.queue_offset);

    // Or a queue is named outright.
    let queues = producer.queues(TOPIC).await?;
    let Some(first) = queues.first() else {
        return Err(format!("{TOPIC} has no queues: create it anew").into());
    };
    let sent = producer.send_to(first.clone(), Message::new(TOPIC, "to the first queue")).await?;
    println!("the first of {} queues: {} at offset {}", queues.len(), sent.queue, sent.queue_offset);

    client.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
