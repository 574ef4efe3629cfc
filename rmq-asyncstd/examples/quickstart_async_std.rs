//! One message, from start to end.
//!
//! `RMQ_NAME_SERVER=127.0.0.1:9876 cargo run -p rmq-asyncstd --features async-std --example quickstart_async_std` sends it to
//! a cluster. Without the variable it goes to a model of one in memory, through the same client.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

use std::{env, error::Error, process::ExitCode};

use rmq_asyncstd::async_std::{AsyncStd, Client};
use rmq_asyncstd::{Message, Runtime};
use rmq_sim::{memory::ModelNetwork, model::ClusterConfig};

fn start() -> Result<Client, Box<dyn Error>> {
    if let Ok(name_server) = env::var("RMQ_NAME_SERVER") {
        return Ok(Client::builder().name_server(&name_server).start()?);
    }
    println!("RMQ_NAME_SERVER is not set: this uses the in-memory model, not a RocketMQ cluster");
    let runtime = AsyncStd::default();
    let model = ModelNetwork::new(ClusterConfig::default(), move || runtime.unix_ms());
    let name_server = model.cluster(|cluster| cluster.name_server().to_owned());
    Ok(Client::builder().name_server(&name_server).start_on(model.runtime(runtime))?)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let client = start()?;
    let producer = client.producer("quickstart")?;
    let message = Message::new("QuickStart", "hello").tag("greeting").key("order-42");
    let sent = producer.send(message).await?;
    println!(
        "{}: message {} in queue {} at offset {}",
        sent.status, sent.message_id, sent.queue, sent.queue_offset
    );
    client.shutdown().await?;
    Ok(())
}

fn main() -> ExitCode {
    if let Err(error) = async_std::task::block_on(run()) {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
