//! A service that loses what it acknowledged, the seed that shows it, and the same service mended.
//!
//! `cargo run -p rmq-sim --example lost_acknowledgement`: no broker, no port, and ten virtual minutes in no time.

#![expect(clippy::print_stdout, reason = "it is what an example is for")]

use std::time::Duration;

use rmq_driver::{Error, Message, Producer};
use rmq_sim::World;
use rmq_sim::world::{Outcome, Sim};

/// Takes orders of its callers and hands them on as messages.
struct OrderService {
    producer: Producer,
    sim: Sim,
}

impl OrderService {
    fn message(order: &str) -> Message {
        Message::new("orders", format!("order {order}")).key(order)
    }

    /// Says yes at once, and sends meanwhile. What then fails is in a log, and nowhere else.
    async fn accept_naively(&self, order: &str) -> Result<(), Error> {
        let send = self.producer.send(Self::message(order));
        drop(self.sim.spawn(async move {
            if let Err(error) = send.await {
                println!("  log: {error}");
            }
        }));
        Ok(())
    }

    /// Says yes when a broker has it. Callers that hear no ask again.
    async fn accept(&self, order: &str) -> Result<(), Error> {
        self.producer.send(Self::message(order)).await.map(drop)
    }
}

/// Ten minutes of orders, while the only broker hangs now and then. Returns how many of 60 were acknowledged.
pub(crate) fn run(seed: u64, naive: bool) -> Outcome<u32> {
    let world = World::builder(seed).topic("orders", 4).build();
    let mut rng = world.rng();
    for minute in 0..9 {
        let begin = Duration::from_millis(60_000 * minute + rng.below(50_000));
        world.broker("broker-a").hang(begin..begin + Duration::from_secs(8));
    }
    let sim = world.runtime();
    world.run(async |client| {
        let Ok(producer) = client.producer("order-service") else { return 0 };
        let service = OrderService { producer, sim: sim.clone() };
        let mut acknowledged = 0;
        for number in 0..60 {
            let order = format!("order-{number}");
            let reply =
                if naive { service.accept_naively(&order).await } else { service.accept(&order).await };
            if reply.is_ok() {
                // The caller has its answer: from here on, the message has to be there.
                world.acknowledge_key(order);
                acknowledged += 1;
            }
            sim.sleep(Duration::from_secs(10)).await;
        }
        acknowledged
    })
}

fn report(name: &str, outcome: &Outcome<u32>) {
    let Outcome { value, seed, time, .. } = outcome;
    println!("{name}: seed {seed}, {time:?} of virtual time, {value} of 60 orders acknowledged");
    println!("  stored: {}, missing: {}", outcome.stored().count(), outcome.missing().count());
    outcome.missing().for_each(|missing| println!("  {missing}"));
}

#[allow(dead_code, reason = "a test runs the rest")]
fn main() {
    report("naive", &run(7, true));
    report("mended", &run(7, false));
}
