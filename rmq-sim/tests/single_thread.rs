//! A world's tasks share one thread, as those of a runtime for one thread do.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::time::Duration;

use rmq_driver::{Message, MessageQueue, Producer, Resolution, SendBack, StoredMessage};
use rmq_proto::properties::{CLUSTER, CORRELATION_ID, REPLY_TO_CLIENT, TTL};
use rmq_proto::recall::RecallHandle;
use rmq_sim::World;
use rmq_sim::world::{Sim, SimClient};

const SECOND: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(10);

fn hello() -> Message {
    Message::new("orders", "hello")
}

/// A message of a broker's, which can be given back and replied to.
fn record() -> StoredMessage {
    let properties =
        [(CLUSTER, "DefaultCluster"), (CORRELATION_ID, "1"), (REPLY_TO_CLIENT, "someone"), (TTL, "3000")];
    let text = properties.iter().map(|(name, value)| format!("{name}\u{1}{value}\u{2}"));
    let store_host = "10.0.0.1:10911".parse().unwrap();
    StoredMessage {
        topic: "orders".into(),
        properties: text.collect(),
        store_host,
        ..StoredMessage::default()
    }
}

/// Begins whatever can be waited for, each in a task of its own.
fn begin_everything(sim: &Sim, client: &SimClient, producer: &Producer) {
    macro_rules! begin {
        ($($future:expr),* $(,)?) => {
            $(let future = $future; drop(sim.spawn(async move { drop(future.await) }));)*
        };
    }
    let queue = MessageQueue { topic: "orders".into(), broker: "broker-a".into(), queue_id: 0 };
    let (topic, broker_name, unique_key) = ("orders".into(), "broker-a".into(), "AC0A".into());
    let handle = RecallHandle { topic, broker_name, timestamp: 1, unique_key }.encode().unwrap();
    let mut checks = producer.transaction_checks();
    begin![
        producer.send(hello()),
        producer.send_to(queue, hello()),
        producer.send_oneway(hello()),
        producer.send_batch([hello(), hello()]),
        producer.send_by_key(hello(), "customer"),
        producer.queues("others"),
        producer.recall("orders", handle),
        producer.request(hello()),
        producer.reply(&record(), "pong"),
        producer.send_back(SendBack::new("readers", &record()).unwrap().broker("broker-a")),
        producer.send_transaction(hello(), async |_| Resolution::Commit),
        async move { checks.next().await },
        client.shutdown_within(30 * SECOND),
    ];
}

/// E5: a server takes everything and says nothing, and whatever can be waited for is waited for; a timer in the same thread
/// goes off each 10 ms all the while.
#[test]
fn e5_a_server_that_hangs_holds_up_no_timer() {
    for broker_hangs in [false, true] {
        let world = World::new(0);
        let server = if broker_hangs { world.broker("broker-a") } else { world.name_server(0) };
        let sim = world.runtime();
        world.run(async |client| {
            let producer = client.producer("group").unwrap();
            if broker_hangs {
                producer.send(hello()).await.unwrap();
            }
            server.hang(sim.elapsed()..600 * SECOND);
            begin_everything(&sim, &client, &producer);
            let began = sim.elapsed();
            for tick in 1..=1_000 {
                sim.sleep(TICK).await;
                assert_eq!(sim.elapsed() - began, tick * TICK);
                if tick == 1 {
                    let stats = client.stats();
                    assert!(stats.operations >= 8, "much is waited for: {stats:?}");
                }
            }
            assert_eq!(client.stats().operations, 0, "all of it had its time");
        });
    }
}
