//! What a send costs, at 1 and at 256 in flight: `cargo run --release -p rmq-tokio --example cost`.
//!
//! The model broker runs as a process of its own, so that only the client is counted. `reads` and `writes` are the calls
//! of the socket that moved bytes or failed to; tokio knows most empty reads without asking the system, so those are no
//! calls. `waits` is how often the runtime's workers parked, which is when they wait for the system (`epoll_wait`).

#![expect(clippy::print_stdout, reason = "it is what an example is for")]

use std::alloc::System;
use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Instant;

use rmq_sim::loopback::{Server, ServerConfig};
use rmq_tokio::{Client, Message, Producer};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::runtime::{Builder, Handle};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes in each body.
const BODY: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    let mut broker = Command::new(std::env::current_exe()?)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut name_server = String::new();
    let stdout = broker.stdout.take().ok_or("no output")?;
    BufReader::new(stdout).read_line(&mut name_server)?;

    println!("per send, {BODY} bytes of body, one broker on loopback:");
    println!(
        "{:14} {:>9} {:>8} {:>7} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7} {:>7} {:>7}",
        "runtime",
        "in flight",
        "ns",
        "turns",
        "polls",
        "wakes",
        "allocs",
        "bytes",
        "reads",
        "writes",
        "waits",
        "timers"
    );
    let runtimes =
        [("current-thread", Builder::new_current_thread()), ("multi-thread", Builder::new_multi_thread())];
    for (name, mut builder) in runtimes {
        for (in_flight, sends) in [(1, 20_000), (256, 200_192)] {
            let runtime = builder.enable_all().build()?;
            let row = runtime.block_on(measure(name_server.trim(), in_flight, sends))?;
            println!("{name:14} {in_flight:>9} {row}");
        }
    }
    drop(broker.stdin.take());
    broker.wait()?;
    Ok(())
}

/// The child: the model, until the parent closes its input.
fn serve() -> Result<(), Box<dyn Error>> {
    let server = Server::start(ServerConfig::default())?;
    println!("{}", server.name_server());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// So many tasks send their share, each one message after the other.
async fn send_all(producer: &Producer, tasks: usize, sends: usize) -> Result<(), Box<dyn Error>> {
    let run = |sends: usize| {
        let producer = producer.clone();
        tokio::spawn(async move {
            for _ in 0..sends {
                producer.send(Message::new("cost", &[b'x'; BODY][..])).await?;
            }
            Ok::<(), rmq_tokio::Error>(())
        })
    };
    let tasks: Vec<_> = (0..tasks).map(|_| run(sends / tasks)).collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

fn parks() -> u64 {
    let metrics = Handle::current().metrics();
    (0..metrics.num_workers()).map(|worker| metrics.worker_park_count(worker)).sum()
}

async fn measure(name_server: &str, in_flight: usize, sends: usize) -> Result<String, Box<dyn Error>> {
    let client = Client::builder().name_server(name_server).start()?;
    let producer = client.producer("cost")?;
    send_all(&producer, in_flight, sends / 10).await?;

    let (before, parks_before, began) = (client.driver_stats(), parks(), Instant::now());
    let region = Region::new(ALLOCATOR);
    send_all(&producer, in_flight, sends).await?;
    let heap = region.change();
    let (took, waits) = (began.elapsed(), parks() - parks_before);
    let cost = client.driver_stats().since(before);
    client.shutdown().await?;

    let per_send = |count: u64| count as f64 / sends as f64;
    Ok(format!(
        "{:>8.0} {:>7.3} {:>7.3} {:>7.3} {:>7.2} {:>8.0} {:>7.3} {:>7.3} {:>7.3} {:>7.4}",
        took.as_nanos() as f64 / sends as f64,
        per_send(cost.turns),
        per_send(cost.polls),
        per_send(cost.wakes),
        per_send((heap.allocations + heap.reallocations) as u64),
        per_send((heap.bytes_allocated as i64 + heap.bytes_reallocated as i64) as u64),
        per_send(cost.reads),
        per_send(cost.writes + cost.blocked_writes),
        per_send(waits),
        per_send(cost.timers),
    ))
}
