//! What a client leaves running. A process of its own: its threads are all there are.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![cfg(target_os = "linux")]

use std::fs;
use std::future::pending;
use std::time::{Duration, Instant};

use rmq_asyncstd::Message;
use rmq_asyncstd::blocking::{Client, Wait};
use rmq_sim::loopback::{Server, ServerConfig};

/// What `/proc` says of each thread of a name, by file.
fn threads(name: &str, file: &str) -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let dirs = tasks.map(|task| task.unwrap().path());
    // A thread may end while it is looked at.
    let named = dirs.filter(|dir| fs::read_to_string(dir.join("comm")).is_ok_and(|comm| comm.trim() == name));
    named.filter_map(|dir| fs::read_to_string(dir.join(file)).ok()).collect()
}

/// How often the clients' threads went to sleep.
fn sleeps() -> u64 {
    let statuses = threads("rmq-client", "status");
    let lines = statuses.iter().flat_map(|status| status.lines());
    lines.filter_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse::<u64>().ok()).sum()
}

/// Clock ticks, of 10 ms, that the process took so far.
fn ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum()
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn one_thread_per_client_which_idles_and_ends_with_it() {
    let server = Server::start(ServerConfig::default()).unwrap();
    let start = || Client::builder().name_server(server.name_server()).start().unwrap();
    let (first, second) = (start(), start());
    for client in [&first, &second] {
        let producer = client.producer("threads").unwrap();
        producer.send(Message::new("orders", "hello")).wait().unwrap();
    }
    assert_eq!(threads("rmq-client", "comm").len(), 2);

    // Nothing to do, for a while: waiting costs nothing, here and there.
    let before = (sleeps(), ticks(), first.driver_stats().polls);
    assert!(pending::<()>().wait_timeout(Duration::from_millis(150)).is_err());
    let after = (sleeps(), ticks(), first.driver_stats().polls);
    assert!(
        after.0 - before.0 <= 20 && after.1 - before.1 <= 3 && after.2 - before.2 <= 3,
        "{before:?} {after:?}"
    );

    first.shutdown().wait().unwrap();
    wait_for("a client that is shut down leaves its thread", || threads("rmq-client", "comm").len() == 1);
    drop(second); // its last handle
    wait_for("a client that is dropped leaves its thread", || threads("rmq-client", "comm").is_empty());
    assert!(threads("rmq-resolve", "comm").is_empty());
}
