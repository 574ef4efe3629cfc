//! Many topics and brokers in one client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmq_tokio::{Client, Message, Producer};

use crate::servers::{Servers, topic};
use crate::{Failure, process};

/// Tasks that send, each one message after the other, and how many messages.
const LOADS: [(usize, usize); 2] = [(1, 20_000), (256, 200_000)];

pub(crate) async fn measure(topics: usize, brokers: usize, seconds: u64) -> Result<(), Failure> {
    println!("The more brokers, the fewer messages share a read or a write, at the same number in flight.");
    let mut first: Option<Vec<Cost>> = None;
    for (topics, brokers) in [(1, 1), (topics, 1), (1, brokers), (topics, brokers)] {
        let row = Row::measure(topics, brokers, seconds).await?;
        println!(
            "\n{topics} topics on {brokers} brokers: {} KiB, and {:.2} ms of CPU time a second at rest",
            row.memory_kib, row.rest
        );
        let base = &*first.get_or_insert_with(|| row.sends.clone());
        for ((cost, base), (tasks, _)) in row.sends.iter().zip(base).zip(LOADS) {
            let Cost { cpu_us, turns, reads, writes } = cost;
            println!(
                "{tasks:>4} in flight: {cpu_us:6.2} us of CPU time for a send, {:.2} times the first; \
                 {turns:.3} turns, {reads:.3} reads, {writes:.3} writes",
                cpu_us / base.cpu_us
            );
        }
    }
    Ok(())
}

struct Row {
    memory_kib: u64,
    /// Milliseconds of CPU time in a second.
    rest: f64,
    sends: Vec<Cost>,
}

/// Of one send: microseconds of CPU time, and what the client's loop did.
#[derive(Clone)]
struct Cost {
    cpu_us: f64,
    turns: f64,
    reads: f64,
    writes: f64,
}

impl Row {
    async fn measure(topics: usize, brokers: usize, seconds: u64) -> Result<Self, Failure> {
        let servers = Servers::start(brokers, topics)?;
        let names: Arc<[String]> = (0..topics).map(topic).collect();
        let before = process::resident_kib().unwrap_or(0);
        let client = Client::builder().name_server(&servers.name_server).start()?;
        let producer = client.producer("scale")?;
        // Each topic once, each broker a few times.
        send_all(&producer, &names, 64, topics.max(8 * brokers)).await?;
        let memory_kib = process::resident_kib().unwrap_or(0).saturating_sub(before);
        let stats = client.stats();
        if stats.topics != topics || stats.connections <= brokers {
            return Err(
                format!("{} topics and {} connections are known", stats.topics, stats.connections).into()
            );
        }

        let cpu = process::cpu_time();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let rest = spent(cpu).as_secs_f64() * 1e3 / seconds.max(1) as f64;

        let mut sends = Vec::new();
        for (tasks, count) in LOADS {
            send_all(&producer, &names, tasks, count / 10).await?;
            let (cpu, looped) = (process::cpu_time(), client.driver_stats());
            send_all(&producer, &names, tasks, count).await?;
            let (spent, looped) = (spent(cpu), client.driver_stats().since(looped));
            let each = |value: u64| value as f64 / count as f64;
            sends.push(Cost {
                cpu_us: spent.as_secs_f64() * 1e6 / count as f64,
                turns: each(looped.turns),
                reads: each(looped.reads),
                writes: each(looped.writes),
            });
        }
        client.shutdown().await?;
        Ok(Self { memory_kib, rest, sends })
    }
}

fn spent(since: Option<Duration>) -> Duration {
    since.zip(process::cpu_time()).map_or(Duration::ZERO, |(from, to)| to - from)
}

/// To one topic after the other.
async fn send_all(
    producer: &Producer,
    names: &Arc<[String]>,
    tasks: usize,
    count: usize,
) -> Result<(), Failure> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut running = Vec::with_capacity(tasks);
    for _ in 0..tasks {
        let (producer, names, next) = (producer.clone(), Arc::clone(names), Arc::clone(&next));
        running.push(tokio::spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok::<(), rmq_tokio::Error>(());
                }
                let topic = names[number % names.len()].as_str();
                producer.send(Message::new(topic, &[b'x'; 128][..])).await?;
            }
        }));
    }
    for task in running {
        task.await??;
    }
    Ok(())
}
