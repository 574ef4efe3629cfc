//! Transactions: consumers see a message only if the local work that belongs to it succeeded.
//!
//! `cargo run -p rmq-tokio --example transaction` runs on a model; `RMQ_NAME_SERVER=127.0.0.1:9876` before it names a
//! cluster. Its brokers ask about what is undecided after `transactionTimeOut`, each `transactionCheckInterval`: with their
//! defaults this takes up to a minute and a half.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::{io, process::ExitCode, sync::Arc, sync::Mutex, sync::PoisonError, time::Duration};

use common::{Cluster, Failure, reader::Reader};
use rmq_tokio::{Client, Error, Message, Resolution, SendResult, TransactionChecks};

const TOPIC: &str = "ExampleBookings";
const PATIENCE: Duration = Duration::from_secs(120);

/// What stands for the service's database: what became of each booking, by the id of its message.
#[derive(Default)]
struct Bookings(Mutex<BTreeMap<String, Resolution>>);

impl Bookings {
    /// The local work. Of the third order the database says nothing any more, though it is booked.
    async fn book(&self, order: &str, sent: SendResult) -> Result<Resolution, io::Error> {
        let resolution = if order == "order-2" { Resolution::Rollback } else { Resolution::Commit };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(sent.message_id, resolution);
        if order == "order-3" { Err(io::Error::other("the database fell silent")) } else { Ok(resolution) }
    }

    /// What is not there may be on its way in another process: the broker asks again, and gives it up at last.
    fn outcome(&self, message_id: &str) -> Resolution {
        let bookings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bookings.get(message_id).copied().unwrap_or(Resolution::Unknown)
    }
}

/// Brokers ask about what was not decided, and now and then about what was: the answer is what the database says.
async fn answer(mut checks: TransactionChecks, bookings: Arc<Bookings>) -> Result<(), Error> {
    while let Some(check) = checks.next().await {
        let outcome = bookings.outcome(&check.message_id());
        println!("the broker asks about {}: {outcome:?}", String::from_utf8_lossy(&check.message().body));
        check.answer(outcome).await?;
    }
    Ok(())
}

async fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let mut reader = Reader::open(cluster.name_server(), TOPIC).await?;
    let client = Client::builder().name_server(cluster.name_server()).start()?;
    let producer = client.producer("example-bookings")?;
    let bookings = Arc::new(Bookings::default());
    let answering = tokio::spawn(answer(producer.transaction_checks(), Arc::clone(&bookings)));

    let (mut awaited, mut rolled_back) = (BTreeSet::new(), String::new());
    for order in ["order-1", "order-2", "order-3"] {
        let message = Message::new(TOPIC, order).key(order);
        let work = async |sent: SendResult| bookings.book(order, sent).await;
        let result = producer.send_transaction(message, work).await?;
        println!("{order}: {:?}, {:?}", result.resolution, result.failure);
        match result.resolution {
            Resolution::Rollback => rolled_back = result.sent.message_id,
            _ => drop(awaited.insert(result.sent.message_id)),
        }
    }

    while !awaited.is_empty() {
        let message = reader.next_within(PATIENCE).await?;
        println!("consumers see: {}", String::from_utf8_lossy(&message.body));
        if message.message_id() == rolled_back {
            return Err("a message that was rolled back is seen: see the broker's log".into());
        }
        awaited.remove(&*message.message_id());
    }
    client.shutdown().await?;
    answering.await??;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    common::exit(run().await)
}
