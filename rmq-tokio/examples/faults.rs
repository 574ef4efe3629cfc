//! How a service is tested against a broker that misbehaves: the model in memory, told to hang and then to heal.
//!
//! `cargo run -p rmq-tokio --example faults`; in a test of yours, the same lines.

#![expect(clippy::print_stdout, reason = "it is what an example is for")]

use std::error::Error;
use std::time::Duration;

use rmq_sim::memory::ModelNetwork;
use rmq_sim::model::{ClusterConfig, Fault};
use rmq_tokio::{Client, Message, ProducerConfig, Runtime, Tokio};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // The model takes its wall clock from the runtime, and the client its connections from the model.
    let tokio = Tokio::default();
    let model = ModelNetwork::new(ClusterConfig::default(), move || tokio.unix_ms());
    let name_server = model.cluster(|cluster| cluster.name_server().to_owned());
    let broker = model.cluster(|cluster| cluster.broker_address(0).to_owned());
    let client = Client::builder().name_server(name_server).start_on(model.runtime(tokio))?;
    let config = ProducerConfig::new("order-service").send_timeout(Duration::from_millis(300));
    let producer = client.producer_with(config)?;
    producer.send(Message::new("orders", "first")).await?;

    assert!(model.cluster(|cluster| cluster.fault(&broker, Fault::Hang)));
    let error = producer.send(Message::new("orders", "second")).await.expect_err("the broker hangs");
    println!("{error}");
    assert!(error.is_retryable() && error.may_have_been_stored());

    model.cluster(|cluster| cluster.heal(&broker));
    let sent = producer.send(Message::new("orders", "third")).await?;
    println!("{} in {} after the broker healed", sent.status, sent.queue);
    let stored = model.cluster(|cluster| cluster.stored().count());
    assert_eq!(stored, 2, "what the broker swallowed while it hung was not stored");
    client.shutdown().await?;
    Ok(())
}
