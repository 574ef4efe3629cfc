//! A message that a consumer could not handle is given back: it comes again after a delay, and at last is a dead letter.
//!
//! `cargo run -p rmq-tokio --example send_back` runs on a model; `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::process::ExitCode;

use common::{Cluster, Failure, reader::Reader};
use rmq_tokio::rmq_core::proto::names::{dead_letter_topic, retry_topic};
use rmq_tokio::{Client, DelayLevel, Message, Redelivery, SendBack};

const TOPIC: &str = "ExampleParcels";
/// The consumers, whose retries and dead letters have topics of their own.
const GROUP: &str = "example-couriers";

async fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let mut parcels = Reader::open(cluster.name_server(), TOPIC).await?;
    let mut retries = Reader::open(cluster.name_server(), &retry_topic(GROUP)).await?;
    let mut dead_letters = Reader::open(cluster.name_server(), &dead_letter_topic(GROUP)).await?;
    let client = Client::builder().name_server(cluster.name_server()).start()?;
    let producer = client.producer("example-parcels")?;
    let sent = producer.send(Message::new(TOPIC, "a parcel").key("parcel-1")).await?;

    let first = parcels.next().await?;
    println!("read {}, consumed {} times before", first.message_id(), first.reconsume_times);
    // Nobody was at home: again after the first delay level, a second unless the broker is told otherwise.
    let back = SendBack::new(GROUP, &first)?.broker(&sent.queue.broker);
    let how = producer.send_back(back.redelivery(Redelivery::After(DelayLevel::MIN))).await?;
    println!("given back: {how:?}");

    let again = retries.next().await?;
    println!("read {} again, consumed {} times before", again.message_id(), again.reconsume_times);
    if again.reconsume_times != 1 {
        return Err("the broker does not count: see its log".into());
    }
    // The address is wrong: never again. Somebody looks at the dead letters.
    let back = SendBack::new(GROUP, &again)?.broker(&sent.queue.broker);
    producer.send_back(back.redelivery(Redelivery::DeadLetter)).await?;
    let dead = dead_letters.next().await?;
    println!("{} is a dead letter in {}", dead.message_id(), dead.topic);

    client.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
