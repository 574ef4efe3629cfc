//! What goes wrong in a world, as its streams and its clients meet it.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::io;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use rmq_core::{CloseCause, RequestError};
use rmq_driver::{Error, Message, ProducerConfig, Runtime, SendOptions};
use rmq_proto::code::ResponseCode;
use rmq_sim::model::ClusterConfig;
use rmq_sim::net::NetworkConfig;
use rmq_sim::run::{FaultKind, FaultRate};
use rmq_sim::world::{Sim, SimStream};
use rmq_sim::{Rng, World};

const SECOND: Duration = Duration::from_secs(1);

async fn connect(sim: &Sim, address: &str) -> io::Result<SimStream> {
    sim.connect(&address.parse().unwrap()).await
}

async fn read(stream: &mut SimStream) -> io::Result<usize> {
    let mut buf = [0; 64];
    poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, &mut buf)).await
}

async fn write(stream: &mut SimStream, data: &[u8]) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, data)).await
}

#[test]
fn streams_fail_as_sockets_do() {
    let world = World::new(0);
    let broker = world.broker("broker-a");
    broker.refuse(SECOND..2 * SECOND).reset(3 * SECOND).crash(10 * SECOND..11 * SECOND);
    world.run_with(async |sim| {
        let nobody = connect(&sim, "127.0.0.1:1").await.unwrap_err();
        assert_eq!(nobody.kind(), io::ErrorKind::ConnectionRefused);
        let mut stream = connect(&sim, broker.address()).await.unwrap();
        sim.sleep(SECOND).await;
        let refused = connect(&sim, broker.address()).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let reset = read(&mut stream).await.unwrap_err();
        assert_eq!((reset.kind(), sim.elapsed()), (io::ErrorKind::ConnectionReset, 3 * SECOND));
        assert_eq!(write(&mut stream, b"x").await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_stream_that_the_server_closes_is_read_to_its_end() {
    World::new(0).run_with(async |sim| {
        let mut stream = connect(&sim, "127.0.0.1:9877").await.unwrap();
        let no_frame = [0xFF; 64];
        assert_eq!(write(&mut stream, &no_frame).await.unwrap(), 64);
        assert_eq!(read(&mut stream).await.unwrap(), 0);
        assert_eq!(write(&mut stream, b"x").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_black_hole_is_left_by_the_clients_own_timeout() {
    let world = World::new(0);
    world.broker("broker-a").blackhole(Duration::ZERO..600 * SECOND);
    let sim = world.runtime();
    let outcome = world.run(async |_| {
        let dialed = sim.timeout(60 * SECOND, connect(&sim, world.broker("broker-a").address())).await;
        assert!(dialed.is_err(), "nobody answers there");
        let begun = sim.elapsed();
        let client = sim.builder().connect_timeout(2 * SECOND).start_on(sim.clone()).unwrap();
        let config = ProducerConfig::new("group").send_timeout(30 * SECOND).attempts(NonZeroU32::MIN);
        let producer = client.producer_with(config).unwrap();
        let error = producer.send(Message::new("orders", "hello")).await.unwrap_err();
        let Error::Send(error) = error else { panic!("{error}") };
        assert!(
            matches!(error.attempts()[0].error, RequestError::Connect(CloseCause::ConnectTimeout { .. })),
            "{error}"
        );
        sim.elapsed() - begun
    });
    assert!((2 * SECOND..3 * SECOND).contains(&outcome.value), "{:?}", outcome.value);
    assert_eq!(outcome.network().streams_of(0).count(), 0);
}

#[test]
fn what_a_stall_holds_up_arrives_when_it_is_over() {
    let world = World::new(0);
    world.broker("broker-a").stall(SECOND..4 * SECOND);
    let sim = world.runtime();
    let outcome = world.run(async |client| {
        let config = ProducerConfig::new("group").send_timeout(10 * SECOND).attempts(NonZeroU32::MIN);
        let producer = client.producer_with(config).unwrap();
        producer.send(Message::new("orders", "before")).await.unwrap();
        sim.sleep(SECOND).await;
        let sent = producer.send(Message::new("orders", "stalled")).await.unwrap();
        assert_eq!(sent.attempts, 1);
        let healed = sim.elapsed();
        producer.send(Message::new("orders", "after")).await.unwrap();
        (healed, sim.elapsed() - healed)
    });
    let (healed, after) = outcome.value;
    assert!((4 * SECOND..5 * SECOND).contains(&healed), "{healed:?}");
    assert!(after < SECOND / 10, "{after:?}");
    assert_eq!(outcome.stored().count(), 3);
}

#[test]
fn large_messages_pass_a_small_buffer_in_pieces() {
    // Noise, which stays long when it is compressed.
    let mut noise = Rng::new(1);
    let body: Vec<u8> = (0..300_000).map(|_| noise.next_u64() as u8).collect();
    let config = NetworkConfig { send_buffer: 1_000, split_per_mille: 1_000, ..NetworkConfig::default() };
    let outcome = World::with_network(0, config).run(async |client| {
        let producer = client.producer("group").unwrap();
        let options = SendOptions::default().timeout(60 * SECOND);
        producer.send_with(Message::new("orders", body.clone()), options).await.unwrap();
    });
    let stored = outcome.stored().next().unwrap();
    assert!(stored.body.len() > 299_000 && stored.plain_body() == body);
}

#[test]
fn every_fault_has_a_method() {
    let world = World::builder(0).name_servers(2).build();
    let span = || SECOND..2 * SECOND;
    world.name_server(1).slow(SECOND, span());
    let broker = world.broker("broker-a");
    broker.refuse(span()).blackhole(span()).stall(span()).stall_requests(span()).stall_answers(span());
    broker.slow_answers(SECOND, span()).reset(SECOND).half_open(SECOND).crash(span()).vanish(span());
    broker.hang(span()).mute(span()).answer_sends(ResponseCode::SYSTEM_BUSY, span());
    broker.close_on_request(span()).close_after_request(span()).drain(span()).go_away(span());
    let outcome = world.run_with(async |sim| sim.sleep(3 * SECOND).await);
    let began: BTreeSet<_> = outcome.network().fault_counts().collect();
    let client_kinds = [FaultKind::Suspend, FaultKind::ClockStep, FaultKind::Kill];
    let kinds = FaultKind::ALL.iter().filter(|kind| !client_kinds.contains(kind));
    assert_eq!(began, kinds.map(|kind| (kind.name(), 1)).collect());
    assert!(!outcome.network().is_faulty(broker.address()));
}

#[test]
fn a_fault_that_would_have_begun_begins_now() {
    let world = World::new(0);
    let outcome = world.run(async |client| {
        let producer = client.producer("group").unwrap();
        let sim = world.runtime();
        sim.sleep(10 * SECOND).await;
        world.broker("broker-a").answer_sends(ResponseCode::SYSTEM_BUSY, SECOND..20 * SECOND);
        producer.send(Message::new("orders", "hello")).await
    });
    let Err(Error::Send(error)) = outcome.value else { panic!("{:?}", outcome.value) };
    assert_eq!(error.code(), Some(ResponseCode::SYSTEM_BUSY));
}

#[test]
#[should_panic(expected = "no broker is called \"broker-c\"; there are [\"broker-a\", \"broker-b\"]")]
fn a_broker_that_is_not_there_is_told() {
    let _ = World::builder(0).brokers(2).build().broker("broker-c");
}

#[test]
#[should_panic(expected = "there is no name server 1")]
fn a_name_server_that_is_not_there_is_told() {
    let _ = World::new(0).name_server(1);
}

fn rate(kind: FaultKind) -> FaultRate {
    FaultRate { kind, every: SECOND, lasts: 3 * SECOND }
}

#[test]
fn a_storm_is_drawn_from_the_seed() {
    let faults = |seed: u64| {
        let cluster = ClusterConfig { brokers: 3, ..ClusterConfig::default() };
        let world = World::with_network(seed, NetworkConfig { cluster, ..NetworkConfig::default() });
        world.storm(SECOND..61 * SECOND, &[rate(FaultKind::Reset), rate(FaultKind::AnswerSends)]);
        let outcome = world.run_with(async |sim| sim.sleep(100 * SECOND).await);
        let counts: Vec<_> = outcome.network().fault_counts().collect();
        assert!(counts.iter().all(|(_, count)| (30..120).contains(count)), "{counts:?}");
        assert_eq!(counts.len(), 2);
        outcome.hash
    };
    assert_eq!(faults(1), faults(1));
    assert_ne!(faults(1), faults(2));
}

#[test]
#[should_panic(expected = "kill happens to clients")]
fn a_storm_is_for_servers() {
    World::new(0).storm(Duration::ZERO..60 * SECOND, &[rate(FaultKind::Kill)]);
}

#[test]
#[should_panic(expected = "would happen without end")]
fn a_storm_has_time_between_faults() {
    let rate = FaultRate { every: Duration::ZERO, ..rate(FaultKind::Reset) };
    World::new(0).storm(Duration::ZERO..SECOND, &[rate]);
}
