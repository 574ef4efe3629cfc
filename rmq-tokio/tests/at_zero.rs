//! Whatever was asked of clients on tokio: when it has ended, nothing of it is held.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::time::Duration;

use rmq_tokio::sim::{SimTokio, World};
use rmq_tokio::{InFlight, Message, Producer, ProducerConfig, Stats, Trace};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);
const FOREVER: std::ops::Range<Duration> = SECOND..Duration::from_secs(3_000);

fn operations_are_at_zero(stats: &Stats) {
    let held = (stats.operations, stats.operation_bytes, stats.operation_timers);
    assert_eq!(held, (0, 0, 0), "{stats:?}");
    assert_eq!((stats.permits, stats.in_line), (0, 0), "{stats:?}");
    assert_eq!((stats.queued, stats.awaited, stats.misuses), (0, 0, 0), "{stats:?}");
    assert_eq!((stats.traces_waiting, stats.trace_sends), (0, 0), "{stats:?}");
}

fn all_is_at_zero(stats: &Stats) {
    operations_are_at_zero(stats);
    assert_eq!((stats.topics, stats.links, stats.connections, stats.timers), (0, 0, 0, 0), "{stats:?}");
}

fn config() -> ProducerConfig {
    ProducerConfig::new("group")
        .send_timeout(2 * SECOND)
        .in_flight(InFlight::new().max_messages(40))
        .trace(Trace::new())
}

/// Sends from a hundred tasks, ten messages each; how many were stored.
async fn thousand(producer: &Producer, limit: impl Fn(u64) -> Duration) -> usize {
    let mut tasks = JoinSet::new();
    for task in 0..100 {
        let producer = producer.clone();
        let limits: Vec<_> = (0..10).map(|number| limit(task * 10 + number)).collect();
        tasks.spawn(async move {
            let mut stored = 0;
            for limit in limits {
                let sent = timeout(limit, producer.send(Message::new("orders", "hello"))).await;
                stored += usize::from(sent.is_ok_and(|sent| sent.is_ok()));
            }
            stored
        });
    }
    tasks.join_all().await.into_iter().sum()
}

#[tokio::test(start_paused = true)]
async fn a_thousand_timeouts_and_a_thousand_dropped_sends_leave_nothing() {
    let world = World::builder(4).brokers(2).topic("orders", 4).build();
    world.broker("broker-a").hang(FOREVER);
    world.broker("broker-b").stall(FOREVER);
    let client = SimTokio::new(&world).client();
    let producer = client.producer_with(config()).unwrap();
    producer.send(Message::new("orders", "before")).await.unwrap();
    sleep(SECOND).await;
    assert_eq!(thousand(&producer, |_| Duration::from_secs(3_000)).await, 0);
    let stats = client.stats();
    assert_eq!((stats.sends_failed, stats.cancelled), (1_000, 0));
    sleep(10 * SECOND).await;
    operations_are_at_zero(&client.stats());

    assert_eq!(thousand(&producer, |number| Duration::from_micros(number * 977 % 1_500_000)).await, 0);
    let stats = client.stats();
    assert_eq!((stats.operations, stats.operation_bytes), (0, 0), "{stats:?}");
    assert!(stats.cancelled > 900, "{stats:?}");
    sleep(10 * SECOND).await;
    operations_are_at_zero(&client.stats());

    client.shutdown().await.unwrap();
    all_is_at_zero(&client.stats());
}

#[tokio::test(start_paused = true)]
async fn a_hundred_starts_and_stops_leave_nothing() {
    let world = World::builder(5).brokers(2).topic("orders", 4).build();
    world.broker("broker-a").hang(5 * SECOND..20 * SECOND);
    let sim = SimTokio::new(&world);
    for number in 0..100 {
        let client = sim.client();
        let producer = client.producer_with(config()).unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..10 {
            let producer = producer.clone();
            tasks.spawn(async move { producer.send(Message::new("orders", "hello")).await.is_ok() });
        }
        sleep(Duration::from_millis(number * 7 % 50)).await;
        client.shutdown_within(Duration::from_millis([0, 5, 3_000][number as usize % 3])).await.unwrap();
        assert_eq!(tasks.join_all().await.len(), 10);
        all_is_at_zero(&client.stats());
    }
    sleep(SECOND).await;
    world.network(|network| {
        let brokers: Vec<_> = (0..2).map(|i| network.cluster().broker_address(i).to_owned()).collect();
        let open: usize = brokers.iter().map(|address| network.cluster().open_connections(address)).sum();
        assert_eq!(open, 0, "connections are closed at the other end, too");
    });
}
