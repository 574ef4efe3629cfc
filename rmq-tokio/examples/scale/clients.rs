//! Many clients in one process.

use std::time::Duration;

use rmq_tokio::{Client, DriverStats, Message, Producer};

use crate::servers::{Servers, topic};
use crate::{Failure, process};

/// What the process has at a moment.
struct Held {
    memory_kib: u64,
    threads: u64,
    descriptors: usize,
}

impl Held {
    fn now() -> Self {
        Self {
            memory_kib: process::resident_kib().unwrap_or(0),
            threads: process::threads().unwrap_or(0),
            descriptors: process::descriptors().unwrap_or(0),
        }
    }

    fn tell(&self, when: &str, before: &Self, clients: usize) {
        let each = self.memory_kib.saturating_sub(before.memory_kib) as f64 / clients as f64;
        let descriptors = self.descriptors.saturating_sub(before.descriptors) as f64 / clients as f64;
        println!(
            "{when:20} {:>8} KiB, {each:.1} more a client; {} threads; {descriptors:.2} descriptors more a client",
            self.memory_kib, self.threads
        );
    }
}

pub(crate) async fn measure(clients: usize, seconds: u64) -> Result<(), Failure> {
    let servers = Servers::start(1, 1)?;
    let before = Held::now();
    println!("{:20} {:>8} KiB; {} threads", "no client", before.memory_kib, before.threads);
    let mut all: Vec<(Client, Producer)> = Vec::with_capacity(clients);
    for _ in 0..clients {
        let client = Client::builder().name_server(&servers.name_server).start()?;
        let producer = client.producer("scale")?;
        all.push((client, producer));
    }
    Held::now().tell("started", &before, clients);

    for (_, producer) in &all {
        producer.send(Message::new(topic(0), "hello")).await?;
    }
    Held::now().tell("sent a message", &before, clients);

    let (cpu, looped) = (process::cpu_time(), turns(&all));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let client_seconds = clients as f64 * seconds as f64;
    let spent = cpu.zip(process::cpu_time()).map(|(from, to)| to - from);
    let turns = (turns(&all).turns - looped.turns) as f64 / client_seconds;
    if let Some(spent) = spent {
        let each = spent.as_secs_f64() * 1e6 / client_seconds;
        println!(
            "at rest for {seconds} s: CPU {:.0} ms, {each:.2} us a client and second; {turns:.3} turns of the loop",
            spent.as_secs_f64() * 1e3
        );
    }
    Held::now().tell("after that", &before, clients);

    for (client, _) in &all {
        client.shutdown().await?;
    }
    drop(all);
    Held::now().tell("shut down", &before, clients);
    Ok(())
}

/// Of all their loops.
fn turns(all: &[(Client, Producer)]) -> DriverStats {
    let mut sum = DriverStats::default();
    for (client, _) in all {
        sum.turns += client.driver_stats().turns;
    }
    sum
}
