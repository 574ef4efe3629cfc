//! A producer in a program without async code: one message, many threads, and what to do with an error.
//!
//! `RMQ_NAME_SERVER=127.0.0.1:9876 cargo run -p rmq-asyncstd --features blocking --example blocking` sends to a cluster. Without
//! the variable it runs on a model of one, on loopback.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

use std::{env, error::Error, process::ExitCode, thread};

use rmq_asyncstd::blocking::{Client, Wait};
use rmq_asyncstd::{Message, Resolution, SendResult};
use rmq_sim::loopback::{Server, ServerConfig};

const TOPIC: &str = "ExampleBlocking";
const THREADS: usize = 8;
const EACH: usize = 25;

fn run() -> Result<(), Box<dyn Error + Send + Sync>> {
    let model;
    let name_server = match env::var("RMQ_NAME_SERVER") {
        Ok(name_server) => name_server,
        Err(_) => {
            println!("RMQ_NAME_SERVER is not set: this uses a model on loopback, not a RocketMQ cluster");
            model = Server::start(ServerConfig::default())?;
            model.name_server().to_string()
        }
    };
    let client = Client::builder().name_server(name_server).start()?;
    let producer = client.producer("example-blocking")?;

    // Whatever a handle gives to await is waited for here.
    let sent = producer.send(Message::new(TOPIC, "one shirt").tag("created").key("order-42")).wait()?;
    println!("{}: {} in {} at offset {}", sent.status, sent.message_id, sent.queue, sent.queue_offset);

    // Threads share a producer. What they send at the same time goes out together.
    thread::scope(|scope| {
        let send = |thread| {
            let producer = &producer;
            move || {
                (0..EACH).try_for_each(|number| {
                    let order = Message::new(TOPIC, format!("order {number} of thread {thread}"));
                    producer.send(order).wait().map(drop)
                })
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(send(thread))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    println!("{} more are stored", THREADS * EACH);

    // Code that a call is given runs in this thread, and may block.
    let book = async |half: SendResult| {
        println!("booked while {} is in doubt", half.message_id);
        Resolution::Commit
    };
    let result = producer.send_transaction(Message::new(TOPIC, "two shirts"), book).wait()?;
    println!("the transaction ended with {:?}", result.resolution);

    let Err(error) = producer.send(Message::new("no topic has blanks", "lost")).wait() else {
        return Err("a topic with blanks in its name was accepted: this is a bug, report it".into());
    };
    println!("as it should, this failed: {error}");

    client.shutdown().wait()?;
    Ok(())
}

fn main() -> ExitCode {
    if let Err(error) = run() {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
