//! What a client tells in `tracing` events: which happening is which line, and what is in none.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod capture;
mod secrets;
#[path = "../world/mod.rs"]
#[allow(dead_code, unused_imports, reason = "other tests use the rest")]
mod world;

use std::time::Duration;

use capture::Capture;
use rmq_driver::rmq_core::proto::code::RequestCode;
use rmq_driver::{Client, FaultTolerance, Message, Producer, ProducerConfig, ResponseCode};
use tracing::Level;
use tracing::subscriber::DefaultGuard;
use world::{BROKER, Hand, NAME_SERVER, Peer, World, half_message};

const SECOND: Duration = Duration::from_secs(1);

/// A client with a producer, and what it tells.
struct Stage {
    world: World,
    peer: Peer,
    client: Client<World>,
    producer: Producer,
    capture: Capture,
    _guard: DefaultGuard,
}

impl Stage {
    fn new(level: Level) -> Self {
        let (capture, guard) = Capture::start(level);
        let world = World::new();
        let peer = Peer::new(&world);
        let client = world.client();
        let config = ProducerConfig::new("group").fault_tolerance(FaultTolerance::new());
        let producer = client.producer_with(config).unwrap();
        Self { world, peer, client, producer, capture, _guard: guard }
    }

    /// One that has sent a message.
    fn warm(level: Level) -> Self {
        let mut stage = Self::new(level);
        assert!(stage.send());
        stage.capture.take();
        stage
    }

    /// Sends a message; whether it was stored within its time.
    fn send(&mut self) -> bool {
        let mut send = Hand::begun(self.producer.send(Message::new("orders", "hello")));
        self.peer.run();
        matches!(send.poll(), std::task::Poll::Ready(Ok(_)))
    }

    fn sends(&mut self, count: usize) {
        for _ in 0..count {
            self.send();
        }
    }

    fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.world.pass(SECOND);
            self.peer.run();
        }
    }

    fn refuse(&mut self, code: RequestCode, with: ResponseCode) {
        self.peer.refuses.insert(code.0, (with, "in words of its own".into()));
    }

    /// The peer closes its connection.
    fn close(&mut self, address: &str) {
        let pipe = self.peer.pipe(address);
        self.world.pipes.with(pipe, |end| end.peer_closed = true);
        self.peer.run();
    }

    fn lines(&self) -> Vec<String> {
        self.capture.take()
    }
}

#[test]
fn from_start_to_end() {
    let mut stage = Stage::new(Level::INFO);
    assert_eq!(stage.lines(), ["INFO client client started"]);
    stage.send();
    assert_eq!(
        stage.lines(),
        [
            "INFO connection connected addr=names:9876",
            "INFO route route learned topic=orders brokers=1 queues=1",
            "INFO connection connected addr=broker:10911",
        ]
    );
    assert!(stage.client.set_name_servers("other:9876").unwrap());
    stage.peer.run();
    assert_eq!(
        stage.lines(),
        [
            "INFO client name servers changed name_servers=other:9876",
            "INFO connection connection closed addr=names:9876 cause=the name server is no longer in the list",
        ]
    );
    let mut shutdown = Hand::begun(stage.client.shutdown());
    stage.peer.run();
    shutdown.output().unwrap();
    drop(Hand::new(stage.client.shutdown()).poll());
    assert_eq!(
        stage.lines(),
        [
            "INFO client shutting down within_ms=3000",
            "INFO connection connection closed addr=broker:10911 cause=the client shut down",
            "INFO client client shut down",
        ]
    );
    let Stage { capture, _guard, .. } = stage;
    assert_eq!(capture.take(), <[&str; 0]>::default(), "handles may go after shutdown");
}

/// Decision: a client that is let go of says what should have been called.
#[test]
fn the_last_handle_dropped_without_shutdown_is_told_once() {
    let Stage { world, client, producer, capture, peer, _guard } = Stage::warm(Level::INFO);
    drop(client);
    assert_eq!(capture.take(), <[&str; 0]>::default(), "the producer is a handle, too");
    drop(producer);
    let lines = capture.take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("WARN client last handle dropped without shutdown(): "), "{lines:?}");
    world.run();
    world.drop_tasks();
    drop(peer);
    assert!(capture.take().iter().all(|line| line.starts_with("INFO")), "nothing worse follows");
}

#[test]
fn a_lost_task_is_an_error() {
    let stage = Stage::warm(Level::ERROR);
    stage.world.drop_tasks();
    let lost = "ERROR client the client's task was lost: its runtime ended before shutdown() was done";
    assert_eq!(stage.lines(), [lost]);
    drop(stage);
    let stage = Stage::warm(Level::ERROR);
    let broker = stage.peer.pipe(BROKER);
    stage.world.pipes.with(broker, |end| end.cursed = true);
    let send = Hand::begun(stage.producer.send(Message::new("orders", "hello")));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| stage.world.run())).is_err());
    drop(send);
    let panicked = "ERROR client the client's task was lost: it panicked";
    assert_eq!(stage.lines(), [panicked]);
}

#[test]
fn a_connection_is_lost_cannot_be_opened_and_is_open_again() {
    let mut stage = Stage::warm(Level::INFO);
    stage.world.pipes.refuse(BROKER);
    stage.close(BROKER);
    assert_eq!(
        stage.lines(),
        ["WARN connection connection lost addr=broker:10911 cause=closed by the peer failures=1 lasted_ms=0"]
    );
    stage.pass(9);
    assert_eq!(stage.lines(), <[&str; 0]>::default(), "what follows is only counted");
    stage.pass(60);
    let lines = stage.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in &lines {
        let head = "WARN connection cannot connect addr=broker:10911 cause=connection refused failures=";
        assert!(line.starts_with(head), "{line}");
    }
    stage.world.pipes.accept(BROKER);
    stage.pass(35);
    let last = stage.lines().pop().unwrap();
    assert!(last.starts_with("INFO connection connected again addr=broker:10911 failures="), "{last}");
    stage.pass(100);
    assert_eq!(stage.lines(), <[&str; 0]>::default());
}

#[test]
fn a_refused_heartbeat() {
    let mut stage = Stage::warm(Level::INFO);
    stage.refuse(RequestCode::HEART_BEAT, ResponseCode::NO_PERMISSION);
    stage.pass(40);
    stage.peer.refuses.clear();
    stage.pass(35);
    let lines = stage.lines();
    let refused =
        "WARN broker heartbeat refused addr=broker:10911 cause=NO_PERMISSION (16) failures=1 lasted_ms=0";
    let again = "INFO broker heartbeat accepted again addr=broker:10911 failures=1 lasted_ms=31000";
    assert_eq!(lines, [refused, again]);
}

#[test]
fn a_server_that_goes_away() {
    let mut stage = Stage::warm(Level::INFO);
    stage.refuse(RequestCode::SEND_MESSAGE_V2, ResponseCode::GO_AWAY);
    let _send = Hand::begun(stage.producer.send(Message::new("orders", "hello")));
    stage.peer.run();
    stage.peer.refuses.clear();
    stage.pass(1);
    let lines = stage.lines();
    let expected = [
        "INFO connection server goes away, another connection takes its place addr=broker:10911",
        "INFO connection connection closed addr=broker:10911 cause=the peer had sent the client away",
        "INFO connection connected addr=broker:10911",
    ];
    assert!(expected.iter().all(|line| lines.iter().any(|told| told == line)), "{lines:#?}");
}

/// A topic's route, from the first to the last.
#[test]
fn a_route_that_changes_and_goes() {
    let mut stage = Stage::warm(Level::INFO);
    stage.refuse(RequestCode::GET_ROUTEINFO_BY_TOPIC, ResponseCode::TOPIC_NOT_EXIST);
    stage.pass(105);
    let lines = stage.lines();
    let lost = "WARN route route lost topic=orders cause=no name server knows the topic any more";
    assert!(lines.iter().any(|line| line == lost), "{lines:#?}");
}

/// A broker's question about a transaction that nobody listens to.
#[test]
fn a_question_with_no_listener() {
    let stage = &mut Stage::warm(Level::INFO);
    for _ in 0..5 {
        stage.peer.ask_about(&half_message("AC0A"));
        stage.peer.run();
    }
    let line = "WARN send nobody answers checks of transactions: see Producer::transaction_checks";
    assert_eq!(stage.lines(), [format!("{line} failures=1 lasted_ms=0")]);
    assert_eq!(stage.client.driver_stats().checks_unheard, 5);
}

/// Sends that are refused: one line for the first of a kind, its broker is left alone, and the end of it.
#[test]
fn sends_that_fail_are_told_by_topic_and_kind() {
    let mut stage = Stage::warm(Level::INFO);
    stage.refuse(RequestCode::SEND_MESSAGE_V2, ResponseCode::REQUEST_CODE_NOT_SUPPORTED);
    stage.sends(100);
    stage.refuse(RequestCode::SEND_MESSAGE_V2, ResponseCode::MESSAGE_ILLEGAL);
    stage.sends(100);
    let failed = |code, failures, lasted| {
        format!(
            "WARN send operation failed operation=send topic=orders kind=refused cause={code} broker=broker \
             addr=broker:10911 attempts=1 failures={failures} lasted_ms={lasted}"
        )
    };
    let isolated = "WARN broker broker left alone broker=broker span_ms=10000 failures=1 lasted_ms=0";
    let (first, second) = ("REQUEST_CODE_NOT_SUPPORTED (3)", "MESSAGE_ILLEGAL (13)");
    let lines = stage.lines();
    assert_eq!(lines, [isolated.to_owned(), failed(first, 1, 0), failed(second, 1, 0)]);
    stage.pass(61);
    assert_eq!(
        stage.lines(),
        [failed(first, 100, 0), failed(second, 100, 0)],
        "told in time, if nothing else comes"
    );
    stage.peer.refuses.clear();
    stage.send();
    let recovered = "INFO broker broker recovered broker=broker failures=1 lasted_ms=61000";
    assert_eq!(
        stage.lines(),
        [recovered, "INFO send sends succeed again topic=orders failures=200 lasted_ms=61000"]
    );
    stage.send();
    assert_eq!(stage.lines(), <[&str; 0]>::default());
}

/// Per operation there is a line only where somebody asked for it.
#[test]
fn each_operation_is_told_below_info() {
    let mut stage = Stage::warm(Level::DEBUG);
    stage.send();
    assert_eq!(stage.lines(), <[&str; 0]>::default());
    stage.refuse(RequestCode::SEND_MESSAGE_V2, ResponseCode::REQUEST_CODE_NOT_SUPPORTED);
    stage.send();
    let lines = stage.lines();
    let line = lines.iter().find(|line| line.starts_with("DEBUG")).unwrap();
    assert!(
        line.starts_with("DEBUG send operation ended in failure operation=send topic=orders message_id="),
        "{line}"
    );
    assert!(
        line.ends_with("took_ms=0 tried=broker (broker:10911), queue 0: REQUEST_CODE_NOT_SUPPORTED (3)"),
        "{line}"
    );
    let mut stage = Stage::warm(Level::TRACE);
    stage.send();
    let lines = stage.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let head = "TRACE send stored topic=orders broker=broker queue_id=0 queue_offset=1 message_id=";
    assert!(lines[0].starts_with(head) && lines[0].ends_with(" attempts=1"), "{lines:?}");
}

#[test]
fn a_send_that_is_not_accepted_is_told_to_those_who_ask() {
    let mut stage = Stage::warm(Level::DEBUG);
    let mut shutdown = Hand::begun(stage.client.shutdown());
    stage.peer.run();
    shutdown.output().unwrap();
    stage.lines();
    assert!(Hand::new(stage.producer.send(Message::new("orders", "hello"))).output().is_err());
    assert_eq!(stage.lines(), ["DEBUG send not accepted cause=the client is shut down: start another one"]);
}

/// BUG-19: an hour without the cluster, with a send each five seconds.
#[test]
fn bug_19_an_hour_of_outage_is_a_few_lines() {
    let mut stage = Stage::warm(Level::INFO);
    for address in [BROKER, NAME_SERVER] {
        stage.world.pipes.refuse(address);
        stage.close(address);
    }
    for _ in 0..720 {
        let _send = Hand::begun(stage.producer.send(Message::new("orders", "hello")));
        stage.world.pass(5 * SECOND);
        stage.world.run();
    }
    assert!(stage.client.stats().connect_failures > 720);
    let lines = stage.lines();
    assert!((20..=80).contains(&lines.len()), "{}: {lines:#?}", lines.len());
    assert!(lines.iter().all(|line| line.starts_with("WARN")), "{lines:#?}");
    for address in [BROKER, NAME_SERVER] {
        stage.world.pipes.accept(address);
    }
    stage.pass(70);
    stage.send();
    let mut lines = stage.lines();
    lines.retain(|line| line.contains("again") || line.contains("recovered"));
    lines.sort();
    let heads = [
        "INFO broker broker recovered broker=broker",
        "INFO connection connected again addr=broker:10911",
        "INFO connection connected again addr=names:9876",
        "INFO route name servers answer again",
        "INFO send sends succeed again topic=orders",
    ];
    assert_eq!(lines.len(), heads.len(), "{lines:#?}");
    assert!(lines.iter().zip(heads).all(|(line, head)| line.starts_with(head)), "{lines:#?}");
}

#[test]
fn a_thousand_failing_connects_are_a_few_lines() {
    let mut stage = Stage::warm(Level::INFO);
    stage.world.pipes.refuse(BROKER);
    stage.close(BROKER);
    while stage.client.stats().connect_failures < 1_000 {
        let mut send = Hand::begun(stage.producer.send(Message::new("orders", "hello")));
        while send.poll().is_pending() {
            stage.world.pass(SECOND / 10);
            stage.world.run();
        }
    }
    let lines = stage.lines();
    let connects = lines.iter().filter(|line| line.starts_with("WARN connection")).count();
    assert!((3..=10).contains(&connects) && lines.len() <= 25, "{lines:#?}");
}

/// Whoever accepts and closes at once is told as rarely.
#[test]
fn a_connection_that_comes_and_goes_is_a_few_lines() {
    let mut stage = Stage::warm(Level::INFO);
    for _ in 0..150 {
        stage.close(BROKER);
        let _send = Hand::begun(stage.producer.send(Message::new("orders", "hello")));
        stage.peer.run();
        stage.world.pass(SECOND * 2 / 5);
        stage.peer.run();
    }
    let stats = stage.client.stats();
    assert!(stats.disconnects > 100, "{stats:?}");
    let lines = stage.lines();
    assert!(lines.len() <= 12, "{lines:#?}");
}

/// Lists of name servers that are looked up.
#[test]
fn a_source_that_fails_and_works_again() {
    use rmq_driver::{Fetched, NameServerSource, NameServerSourceError};
    use std::future::{Future, ready};
    use std::pin::Pin;
    struct Looks(u32);
    impl NameServerSource for Looks {
        fn fetch(&mut self) -> Pin<Box<dyn Future<Output = Fetched> + Send + '_>> {
            self.0 += 1;
            Box::pin(ready(match self.0 {
                ..4 => Err(NameServerSourceError::other("a secret of its own")),
                _ => Ok(vec!["names:9876".parse().unwrap()]),
            }))
        }
    }
    let (capture, _guard) = Capture::start(Level::INFO);
    let world = World::new();
    let client = Client::<World>::builder().name_server_source(Looks(0)).start_on(world.clone()).unwrap();
    for _ in 0..35 {
        world.run();
        world.pass(SECOND);
    }
    let none = "WARN client no list of name servers cause=the source gave none";
    assert_eq!(
        capture.take(),
        [
            "INFO client client started".to_owned(),
            format!("{none} failures=1 lasted_ms=0"),
            format!("{none} failures=2 lasted_ms=10000"),
            "INFO client name servers changed name_servers=names:9876".to_owned(),
            "INFO client a list of name servers again failures=3 lasted_ms=30000".to_owned(),
        ]
    );
    drop(client);
}

/// A subscriber may use the client that it is told of: nothing is told under its lock.
#[test]
fn nothing_is_told_under_the_lock() {
    use std::sync::{Arc, Mutex};
    type Slot = Arc<Mutex<Option<Client<World>>>>;
    struct Nosy(Slot);
    impl tracing::Subscriber for Nosy {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            self.look();
            true
        }
        fn register_callsite(&self, _: &'static tracing::Metadata<'static>) -> tracing::subscriber::Interest {
            tracing::subscriber::Interest::sometimes()
        }
        fn event(&self, _: &tracing::Event<'_>) {
            self.look();
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }
    impl Nosy {
        fn look(&self) {
            let client = self.0.lock().unwrap().clone();
            if let Some(client) = client {
                client.stats();
                client.set_credentials(None);
            }
        }
    }
    let slot = Slot::default();
    let _guard = tracing::subscriber::set_default(Nosy(Arc::clone(&slot)));
    let world = World::new();
    let mut peer = Peer::new(&world);
    let client = world.client();
    *slot.lock().unwrap() = Some(client.clone());
    let producer = client.producer("group").unwrap();
    let mut send = Hand::begun(producer.send(Message::new("orders", "hello")));
    peer.run();
    send.output().unwrap();
    peer.refuses.insert(RequestCode::SEND_MESSAGE_V2.0, (ResponseCode::MESSAGE_ILLEGAL, String::new()));
    let mut send = Hand::begun(producer.send(Message::new("orders", "hello")));
    peer.run();
    send.output().unwrap_err();
    let mut shutdown = Hand::begun(client.shutdown());
    peer.run();
    shutdown.output().unwrap();
    *slot.lock().unwrap() = None;
}

/// A send that succeeds allocates as much with somebody who listens at INFO as with nobody.
#[test]
fn a_send_that_succeeds_costs_nothing() {
    let count = |stage: &mut Stage| {
        stage.sends(100);
        allocation_counter::measure(|| stage.sends(100)).count_total
    };
    let listened = count(&mut Stage::warm(Level::INFO));
    let mut stage = Stage::warm(Level::INFO);
    let unheard =
        tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), || count(&mut stage));
    assert_eq!(listened, unheard);
}
