//! The client inside a simulated world, under tokio's paused clock.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::num::NonZeroU32;
use std::time::Duration;

use rmq_tokio::rmq_core::{CloseCause, RequestError};
use rmq_tokio::sim::{self, SimTokio, World};
use rmq_tokio::{Error, Message, ProducerConfig};
use tokio::time::{Instant, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);

fn paused() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}

/// Sends each second for half a minute, with trouble of two kinds; the hash of it all.
fn busy_run(seed: u64, hangs: bool) -> u64 {
    let world = World::builder(seed).brokers(2).name_servers(2).topic("orders", 4).build();
    world.name_server(0).crash(3 * SECOND..20 * SECOND);
    if hangs {
        world.broker("broker-a").hang(5 * SECOND..9 * SECOND);
    }
    world.broker("broker-b").reset(7 * SECOND).half_open(11 * SECOND);
    let outcome = paused().block_on(sim::run(&world, async |client| {
        let producer = client.producer("group").unwrap();
        for number in 0..30 {
            let sent = producer.send(Message::new("orders", format!("order {number}"))).await.unwrap();
            world.acknowledge_id(sent.message_id);
            sleep(SECOND).await;
        }
        client.shutdown().await.unwrap();
    }));
    assert!(outcome.time >= 30 * SECOND && outcome.time < 40 * SECOND, "{:?}", outcome.time);
    assert_eq!(outcome.acknowledgements().len(), 30);
    outcome.assert_acknowledged_is_stored();
    outcome.hash
}

#[test]
fn the_same_seed_is_the_same_run() {
    let first = busy_run(5, true);
    assert_eq!(busy_run(5, true), first);
    assert_ne!(busy_run(6, true), first);
    assert_ne!(busy_run(5, false), first);
}

#[tokio::test(start_paused = true)]
async fn what_a_stall_holds_up_arrives_when_it_is_over() {
    let world = World::new(0);
    world.broker("broker-a").stall(SECOND..4 * SECOND);
    let outcome = sim::run(&world, async |client| {
        let begin = Instant::now();
        let producer = client.producer_with(ProducerConfig::new("group").send_timeout(10 * SECOND)).unwrap();
        producer.send(Message::new("orders", "before")).await.unwrap();
        sleep(SECOND).await;
        producer.send(Message::new("orders", "stalled")).await.unwrap();
        begin.elapsed()
    })
    .await;
    assert!((4 * SECOND..5 * SECOND).contains(&outcome.value), "{:?}", outcome.value);
    assert_eq!(outcome.time, outcome.value);
}

#[tokio::test(start_paused = true)]
async fn a_black_hole_is_left_by_the_clients_own_timeout() {
    let world = World::new(0);
    world.broker("broker-a").blackhole(Duration::ZERO..60 * SECOND);
    let sim = SimTokio::new(&world);
    let client = sim.builder().connect_timeout(2 * SECOND).start_on(sim.clone()).unwrap();
    let config = ProducerConfig::new("group").send_timeout(30 * SECOND).attempts(NonZeroU32::MIN);
    let producer = client.producer_with(config).unwrap();
    let error = producer.send(Message::new("orders", "hello")).await.unwrap_err();
    let Error::Send(error) = error else { panic!("{error}") };
    assert!(
        matches!(error.attempts()[0].error, RequestError::Connect(CloseCause::ConnectTimeout { .. })),
        "{error}"
    );
    assert!((2 * SECOND..3 * SECOND).contains(&world.elapsed()), "{:?}", world.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_send_leaves_a_client_that_works() {
    let world = World::new(0);
    world.broker("broker-a").hang(SECOND..3 * SECOND);
    let outcome = sim::run(&world, async |client| {
        let producer = client.producer("group").unwrap();
        producer.send(Message::new("orders", "before")).await.unwrap();
        sleep(SECOND).await;
        let cut = timeout(SECOND, producer.send(Message::new("orders", "dropped"))).await;
        assert!(cut.is_err());
        sleep(SECOND).await;
        producer.send(Message::new("orders", "after")).await.unwrap();
    })
    .await;
    let bodies: Vec<_> = outcome.stored().map(|message| &*message.body).collect();
    assert_eq!(bodies, [b"before" as &[u8], b"after"]);
}

#[tokio::test(start_paused = true)]
async fn two_worlds_share_one_runtime_and_nothing_else() {
    let (one, other) = (World::new(1), World::new(2));
    one.broker("broker-a").refuse(Duration::ZERO..60 * SECOND);
    let (first, second) = (SimTokio::new(&one), SimTokio::new(&other));
    for (sim, works) in [(&first, false), (&second, true)] {
        let producer = sim.client().producer("group").unwrap();
        let sent = producer.send(Message::new("orders", "hello")).await;
        assert_eq!(sent.is_ok(), works, "{sent:?}");
    }
    assert_eq!((one.outcome(()).stored().count(), other.outcome(()).stored().count()), (0, 1));
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "seed 9: not done within 100s")]
async fn a_service_that_hangs_meets_the_limit_of_time() {
    let world = World::builder(9).time_limit(100 * SECOND).build();
    sim::run(&world, async |_client| std::future::pending::<()>().await).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "this world has a clock already")]
async fn a_world_has_one_clock() {
    let world = World::new(0);
    SimTokio::new(&world);
    SimTokio::new(&world);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "under the clock of another runtime")]
async fn a_world_under_tokio_does_not_run_by_itself() {
    let world = World::new(0);
    SimTokio::new(&world);
    world.run(async |_| ());
}
