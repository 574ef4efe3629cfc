//! A broker of a real cluster goes down in the middle of 10,000 sends: none fails, and what was acknowledged is there.
//!
//! ```text
//! RMQ_CLUSTER_DIR=/tmp/c cargo test -p rmq-tokio --test fail_over -- --nocapture
//! ```
//!
//! Skipped without the variable, which names the directory of a cluster of two brokers that runs (real-broker/cluster).
//! All is up again afterwards.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing step fails the test; a skipped one says so"
)]

#[path = "conformance/reading.rs"]
mod reading;
#[path = "conformance/wire.rs"]
mod wire;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, fs};

use rmq_tokio::{Client, Error, FaultTolerance, Message, Producer, ProducerConfig, SendResult};
use tokio::sync::Mutex as OneAtATime;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use reading::{brokers, create_topic, read};
use wire::Place;

/// Sends of a run, at least. It goes on until the broker is down.
const SENDS: u32 = 10_000;

/// The send at which the broker begins to go down.
const MIDDLE: u32 = 2_500;

/// Tasks that send one message after the other.
const SENDERS: u32 = 16;

/// Time between two sends of a task: the slower stop takes 10 to 18 s, and all of it is to be seen.
const PACE: Duration = Duration::from_millis(20);

/// Time of a send, a third of it for each attempt: no broker of a slow machine is to fail by its slowness.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a broker that failed is left alone; an attempt that only took long isolates nobody here, so that a slow
/// machine changes nothing.
const ISOLATION: Duration = Duration::from_secs(10);

/// The broker that goes down.
const DOWN: usize = 1;

/// Both tests use the one cluster.
static CLUSTER: OneAtATime<()> = OneAtATime::const_new(());

/// What happened.
struct Log {
    /// In the order of their ends.
    entries: Vec<Entry>,
    /// When the broker began to go down.
    stopped: Instant,
}

/// How one send went.
struct Entry {
    began: Instant,
    ended: Instant,
    body: String,
    outcome: Result<SendResult, Error>,
}

impl Entry {
    fn attempts(&self) -> u32 {
        self.outcome.as_ref().map_or(0, |sent| sent.attempts)
    }

    fn broker(&self) -> &str {
        self.outcome.as_ref().map_or("", |sent| &sent.queue.broker)
    }
}

/// The cluster's directory; without it, says that the test is skipped.
fn cluster_dir(test: &str) -> Option<PathBuf> {
    let dir = env::var_os("RMQ_CLUSTER_DIR").map(PathBuf::from);
    if dir.is_none() {
        eprintln!("SKIPPED {test}: RMQ_CLUSTER_DIR is not set");
    }
    dir
}

fn cluster(command: &str, dir: &Path, environment: &[(&str, &str)]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../real-broker/cluster");
    let mut run = Command::new(&script);
    run.arg(command).arg(dir).arg(DOWN.to_string()).envs(environment.iter().copied());
    let output = run.output().unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {}, {said}", output.status);
}

/// One task of several that send until the broker is down and enough was sent.
async fn send(
    producer: Producer,
    topic: String,
    next: Arc<AtomicU32>,
    is_down: Arc<AtomicBool>,
    log: Arc<Mutex<Vec<Entry>>>,
) {
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        pace.tick().await;
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= SENDS && is_down.load(Ordering::Relaxed) {
            return;
        }
        let body = format!("message {number}");
        let began = Instant::now();
        let outcome = producer.send(Message::new(&*topic, body.clone())).await;
        log.lock().unwrap().push(Entry { began, ended: Instant::now(), body, outcome });
    }
}

/// Sends, takes the broker down with `stop` in the middle, and gives back what happened.
async fn send_while(client: &Client, topic: &str, stop: impl FnOnce() + Send + 'static) -> Log {
    let tolerance = FaultTolerance::new().latency_max([ISOLATION]).not_available_duration([ISOLATION]);
    let config = ProducerConfig::new("fail-over").fault_tolerance(tolerance).send_timeout(SEND_TIMEOUT);
    let producer = client.producer_with(config).unwrap();
    let (next, is_down) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let log = Arc::new(Mutex::new(Vec::new()));
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        let (next, is_down, log) = (Arc::clone(&next), Arc::clone(&is_down), Arc::clone(&log));
        senders.spawn(send(producer.clone(), topic.to_owned(), next, is_down, log));
    }
    let mut looks = interval(PACE);
    while next.load(Ordering::Relaxed) < MIDDLE {
        looks.tick().await;
    }
    let stopped = Instant::now();
    tokio::task::spawn_blocking(stop).await.unwrap();
    is_down.store(true, Ordering::Relaxed);
    senders.join_all().await;
    let mut entries = std::mem::take(&mut *log.lock().unwrap());
    entries.sort_by_key(|entry| entry.ended);
    Log { entries, stopped }
}

/// That sends which began after the first failure was known, and while the broker was left alone, went to the other one
/// at once.
fn check_isolation(log: &Log, down: &str) {
    let mut repeated = log.entries.iter().filter(|entry| entry.attempts() > 1 && entry.ended > log.stopped);
    let first = repeated.next().expect("no attempt failed: was the broker down?");
    let repeated = repeated.count() + 1;
    let alone = first.ended..first.ended + ISOLATION - Duration::from_secs(1);
    let meanwhile: Vec<_> = log.entries.iter().filter(|entry| alone.contains(&entry.began)).collect();
    let asked = meanwhile.iter().filter(|entry| entry.attempts() > 1 || entry.broker() == down).count();
    assert!(meanwhile.len() > 100, "{} sends", meanwhile.len());
    assert_eq!(asked, 0, "of {} sends so many asked {down}, which was to be left alone", meanwhile.len());
    // Each time that it may be asked again, whoever sends at that moment may ask it.
    let spans = (log.entries.last().unwrap().ended - first.began).as_secs() / ISOLATION.as_secs() + 1;
    assert!(repeated as u64 <= u64::from(SENDERS) * spans, "{repeated} sends were repeated in {spans} spans");
    eprintln!(
        "{} sends; {repeated} of them in more than one attempt, {} in a row without asking {down}",
        log.entries.len(),
        meanwhile.len(),
    );
}

/// Everything that a broker acknowledged is there when all are up again.
async fn check_stored(place: &Place, topic: &str, log: &Log) {
    let stored = read(place, topic).await;
    let ids: BTreeSet<_> = stored.iter().filter_map(|read| read.message.unique_key()).collect();
    let bodies: BTreeSet<_> = stored.iter().map(|read| read.message.body.clone()).collect();
    let is_there = |entry: &Entry, sent: &SendResult| {
        ids.contains(&*sent.message_id) && bodies.contains(entry.body.as_bytes())
    };
    let sent = log.entries.iter().filter_map(|entry| Some((entry, entry.outcome.as_ref().ok()?)));
    let missing: Vec<_> = sent.filter(|(entry, sent)| !is_there(entry, sent)).map(|(_, sent)| sent).collect();
    let (count, shown) = (missing.len(), &missing[..missing.len().min(5)]);
    assert_eq!(count, 0, "so many were acknowledged and are not there, as {shown:#?}");
    eprintln!("{} messages are stored, {} of them twice or more", stored.len(), stored.len() - bodies.len());
}

async fn fail_over(dir: PathBuf, how: &'static str) {
    let port = fs::read_to_string(dir.join("port")).unwrap();
    let place = Place { name_server: format!("127.0.0.1:{}", port.trim()), credentials: None };
    let down = brokers(&place).await.into_iter().nth(DOWN).expect("two brokers").0;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let topic = format!("fail-over-{how}-{}", since.as_millis());
    create_topic(&place, &topic, 4).await;
    let client = Client::builder().name_server(&place.name_server).start().unwrap();
    let at = dir.clone();
    let log = send_while(&client, &topic, move || cluster("stop-broker", &at, &[("STOP", how)])).await;
    cluster("start-broker", &dir, &[]);
    let failed: Vec<_> = log.entries.iter().filter_map(|entry| entry.outcome.as_ref().err()).collect();
    assert!(failed.is_empty(), "{} of {} sends failed, as {}", failed.len(), log.entries.len(), failed[0]);
    check_stored(&place, &topic, &log).await;
    check_isolation(&log, &down);
    let stats = client.stats();
    let more: u32 = log.entries.iter().map(|entry| entry.attempts() - 1).sum();
    assert_eq!((stats.retries, stats.sends_failed), (u64::from(more), 0));
    assert_eq!((stats.protocol_errors, stats.misuses), (0, 0));
    client.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_broker_that_is_stopped_in_order_costs_nothing() {
    let Some(dir) = cluster_dir("a broker stopped in order") else { return };
    let _alone = CLUSTER.lock().await;
    fail_over(dir, "clean").await;
}

/// What it acknowledged was on its disk.
#[tokio::test]
async fn a_broker_that_is_killed_costs_nothing() {
    let Some(dir) = cluster_dir("a broker killed") else { return };
    let _alone = CLUSTER.lock().await;
    cluster("stop-broker", &dir, &[("STOP", "kill")]);
    cluster("start-broker", &dir, &[("BROKER_CONF", "flushDiskType=SYNC_FLUSH")]);
    fail_over(dir, "kill").await;
}
