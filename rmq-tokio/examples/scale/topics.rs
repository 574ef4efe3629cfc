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
    println!(
        "{:>8} {:>8} {:>10} {:>14}   CPU time of a send",
        "topics", "brokers", "memory KiB", "CPU at rest"
    );
    let mut first: Option<Vec<f64>> = None;
    for (topics, brokers) in [(1, 1), (topics, 1), (1, brokers), (topics, brokers)] {
        let row = Row::measure(topics, brokers, seconds).await?;
        let base = &*first.get_or_insert_with(|| row.sends.clone());
        let sends = row.sends.iter().zip(base).zip(LOADS).map(|((us, base), (tasks, _))| {
            format!("{tasks} in flight {us:.2} us, {:.2} times the first", us / base)
        });
        println!(
            "{topics:>8} {brokers:>8} {:>10} {:>9.2} ms/s   {}",
            row.memory_kib,
            row.rest,
            sends.collect::<Vec<_>>().join("; ")
        );
    }
    Ok(())
}

struct Row {
    memory_kib: u64,
    /// Milliseconds of CPU time in a second.
    rest: f64,
    /// Microseconds of CPU time for a send.
    sends: Vec<f64>,
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
            let cpu = process::cpu_time();
            send_all(&producer, &names, tasks, count).await?;
            sends.push(spent(cpu).as_secs_f64() * 1e6 / count as f64);
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
