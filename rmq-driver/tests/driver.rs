//! The loop and the handles on a runtime whose every step is decided here.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

#[path = "driver/batches.rs"]
mod batches;
mod discovery;
#[path = "driver/dropped.rs"]
mod dropped;
mod requests;
#[path = "driver/resolving.rs"]
mod resolving;
#[path = "driver/socks5.rs"]
mod socks5;
mod transactions;
#[path = "driver/turns.rs"]
mod turns;
mod world;

use std::time::Duration;

use bytes::BytesMut;
use rmq_driver::rmq_core::proto::code::RequestCode;
use rmq_driver::rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_driver::rmq_core::{CloseCause, RequestError};
use rmq_driver::{
    ConfigError, Error, Limits, Message, Producer, ProducerConfig, Redelivery, RejectReason, ResponseCode,
    SendBack, SendBackErrorKind, SendErrorKind, SendOptions, SendStatus, SentBack, StartError, StoredMessage,
};
use world::{BROKER, Hand, NAME_SERVER, Peer, World};

fn message(body: &str) -> Message {
    Message::new("orders", body.to_owned())
}

/// A client whose connections are open, with one message sent.
fn warm() -> (World, Peer, rmq_driver::Client<World>, Producer) {
    let world = World::new();
    warm_in(world)
}

fn warm_in(world: World) -> (World, Peer, rmq_driver::Client<World>, Producer) {
    let mut peer = Peer::new(&world);
    let client = world.client();
    let producer = client.producer("group").unwrap();
    let mut first = Hand::begun(producer.send(message("warm")));
    peer.run();
    first.output().unwrap();
    peer.seen.clear();
    (world, peer, client, producer)
}

#[test]
fn a_message_goes_out_and_its_result_comes_back() {
    let world = World::new();
    let mut peer = Peer::new(&world);
    let client = world.client();
    let producer = client.producer("group").unwrap();
    let mut send = Hand::begun(producer.send(message("hello")));
    peer.run();
    let sent = send.output().unwrap();
    assert_eq!(sent.status, SendStatus::SendOk);
    assert_eq!(sent.queue.to_string(), "orders/broker/0");
    assert_eq!((sent.queue_offset, sent.attempts), (0, 1));
    assert_eq!(send.flag.wakes(), 1);
    assert_eq!(peer.bodies(), [b"hello"]);
}

#[test]
fn any_chunking_of_the_streams_will_do() {
    for chunk in [1, 2, 7, 100] {
        let world = World::new();
        world.pipes.chunk(chunk);
        let (_, mut peer, _client, producer) = warm_in(world);
        let large = "x".repeat(20_000);
        let bodies = ["a", large.as_str(), "b"];
        let mut sends = bodies.map(|body| Hand::begun(producer.send(message(body))));
        peer.run();
        sends.iter_mut().for_each(|send| assert!(send.output().is_ok()));
        assert_eq!(peer.bodies(), bodies.map(str::as_bytes), "{chunk} bytes at a time");
    }
}

#[test]
fn a_burst_costs_one_wake_and_shares_a_write() {
    let (world, mut peer, client, producer) = warm();
    let (before, broker) = (client.driver_stats(), peer.pipe(BROKER));
    let writes = world.pipes.with(broker, |end| end.writes);
    let mut sends: Vec<_> = (0..100).map(|i| Hand::begun(producer.send(message(&i.to_string())))).collect();
    peer.run();
    sends.iter_mut().for_each(|send| assert!(send.output().is_ok()));
    let cost = client.driver_stats().since(before);
    assert_eq!(cost.wakes, 1);
    assert_eq!(world.pipes.with(broker, |end| end.writes) - writes, 1);
}

/// The list of metrics has each field, in order, with its value.
#[test]
fn the_loops_metrics_are_all_fields() {
    let (_world, _peer, client, _producer) = warm();
    let stats = client.driver_stats();
    let text = format!("{stats:?}");
    let fields = text.trim_start_matches("DriverStats { ").trim_end_matches(" }");
    let listed: Vec<_> = stats.metrics().map(|metric| format!("{}: {}", metric.name, metric.value)).collect();
    assert_eq!(listed.join(", "), fields);
    assert!(stats.metrics().all(|metric| metric.help.ends_with('.') && !metric.help.starts_with(' ')));
}

#[test]
fn an_idle_client_does_nothing() {
    let (world, mut peer, client, _producer) = warm();
    peer.run();
    let before = client.driver_stats();
    world.run();
    world.pass(Duration::from_millis(1));
    peer.run();
    assert_eq!(client.driver_stats().since(before).turns, 0);
}

#[test]
fn bug_09_a_dropped_send_leaves_whole_frames_behind() {
    let (world, mut peer, client, producer) = warm();
    let broker = peer.pipe(BROKER);
    world.pipes.with(broker, |end| end.room = 5);
    let first = Hand::begun(producer.send(message("first")));
    world.run();
    assert_eq!(world.pipes.with(broker, |end| (end.written.len(), end.room)), (5, 0));
    drop(first);
    let mut second = Hand::begun(producer.send(message("second")));
    world.pipes.with(broker, |end| end.room = usize::MAX);
    peer.run();
    assert!(second.output().is_ok());
    assert_eq!(peer.bodies(), [&b"first"[..], b"second"]);
    let stats = client.stats();
    assert_eq!((stats.operations, stats.awaited, stats.cancelled), (0, 0, 1));
    assert_eq!(stats.misuses, 0);
}

#[test]
fn a_send_dropped_before_its_bytes_are_made_is_never_written() {
    let (_world, mut peer, client, producer) = warm();
    drop(producer.send(message("never polled")));
    assert_eq!(client.stats().sends, 1);
    drop(Hand::begun(producer.send(message("polled"))));
    peer.run();
    assert_eq!(peer.bodies(), <[&[u8]; 0]>::default());
    let stats = client.stats();
    assert_eq!((stats.sends, stats.cancelled, stats.operations, stats.queued), (2, 1, 0, 0));
}

#[test]
fn a_detached_send_runs_on() {
    let (_world, mut peer, client, producer) = warm();
    producer.send(message("not polled")).detach().unwrap();
    Hand::begun(producer.send(message("polled"))).into_inner().detach().unwrap();
    producer.send_oneway(message("oneway")).detach().unwrap();
    peer.run();
    assert_eq!(peer.bodies(), [&b"not polled"[..], b"polled", b"oneway"]);
    assert_eq!((client.stats().sends_succeeded, client.stats().operations), (4, 0));
}

/// Row 51, the handle's part: the send of a handle that is let go of is tried again as any other.
#[test]
fn row_051() {
    let (world, mut peer, client, producer) = warm();
    peer.holds = true;
    Hand::begun(producer.send(message("hello"))).into_inner().detach().unwrap();
    peer.run();
    let broker = peer.pipe(BROKER);
    world.pipes.with(broker, |end| end.peer_closed = true);
    peer.holds = false;
    peer.run();
    world.pass(Duration::from_millis(100));
    peer.run();
    assert_eq!(peer.bodies(), [b"hello", b"hello"]);
    let stats = client.stats();
    assert_eq!((stats.sends_succeeded, stats.retries, stats.operations, stats.operation_bytes), (2, 1, 0, 0));
}

#[test]
fn a_oneway_send_ends_when_all_its_bytes_are_taken() {
    let (world, mut peer, _client, producer) = warm();
    let broker = peer.pipe(BROKER);
    world.pipes.with(broker, |end| end.room = 5);
    let mut send = Hand::begun(producer.send_oneway(message("oneway")));
    world.run();
    assert!(send.poll().is_pending());
    world.pipes.with(broker, |end| end.room = usize::MAX);
    world.run();
    send.output().unwrap();
    peer.run();
    assert_eq!(peer.bodies(), [b"oneway"]);
}

#[test]
fn a_client_suspended_for_5_s_loses_no_answer_that_waits() {
    let (world, mut peer, client, producer) = warm();
    peer.holds = true;
    let mut sends: Vec<_> = (0..1_000).map(|i| Hand::begun(producer.send(message(&i.to_string())))).collect();
    peer.run();
    // The answers arrive while the process stands still; then both the streams and the timer are ready at once.
    assert_eq!(peer.release(), 1_000);
    world.pass(Duration::from_secs(5));
    world.run();
    for send in &mut sends {
        assert_eq!(send.output().unwrap().attempts, 1);
    }
    assert_eq!(client.stats().retries, 0);
}

/// A peer that always has more to say keeps the loop busy; deadlines hold all the same.
#[test]
fn a_flood_does_not_keep_timers_from_firing() {
    let (world, mut peer, client, producer) = warm();
    // No timer of before is to help.
    world.pass(Duration::from_secs(5));
    peer.run();
    peer.holds = true;
    let broker = peer.pipe(BROKER);
    // Answers that nobody asked for.
    let answer = b"\0\0\0\x19\x01\0\0\x15\0\0\0\0\0\0\0\xff\xff\0\0\0\x01\0\0\0\0\0\0\0\0";
    world.pipes.with(broker, |end| {
        end.chunk = 1;
        end.unread.extend(answer.iter().cycle().take(answer.len() * 10_000));
    });
    let options = SendOptions::default().timeout(Duration::from_secs(1));
    // The loop runs in steps of 100 ms, or stands still for two seconds before it runs again.
    for pause in [100, 2_000] {
        world.pass(Duration::from_secs(3));
        world.run_once();
        let mut send = Hand::begun(producer.send_with(message("late"), options));
        for _ in 0..20 {
            world.pass(Duration::from_millis(pause));
            assert!(world.run_once(), "the loop has always something to read");
        }
        assert!(world.pipes.with(broker, |end| !end.unread.is_empty()));
        assert!(matches!(send.output(), Err(Error::Send(error)) if error.is_retryable()), "{pause}");
    }
    assert!(client.stats().unknown_answers > 0);
}

#[test]
fn answers_count_that_came_before_a_write_failed() {
    let (world, mut peer, _client, producer) = warm();
    peer.holds = true;
    let mut answered = Hand::begun(producer.send(message("answered")));
    peer.run();
    let broker = peer.pipe(BROKER);
    // An address is connected to once in 100 ms at most.
    world.pass(Duration::from_millis(100));
    peer.release();
    world.pipes.with(broker, |end| end.broken = true);
    let mut next = Hand::begun(producer.send(message("next")));
    peer.holds = false;
    peer.run();
    assert_eq!(answered.output().unwrap().attempts, 1);
    // It is the only broker: the next attempt waits a moment.
    world.pass(Duration::from_millis(100));
    peer.run();
    assert_eq!(next.output().unwrap().attempts, 2);
}

#[test]
fn a_half_closed_stream_gives_its_last_answers() {
    let (world, mut peer, _client, producer) = warm();
    peer.holds = true;
    let mut send = Hand::begun(producer.send(message("last")));
    peer.run();
    let broker = peer.pipe(BROKER);
    peer.release();
    world.pipes.with(broker, |end| end.peer_closed = true);
    peer.run();
    assert_eq!(send.output().unwrap().attempts, 1);
    assert!(world.pipes.with(broker, |end| end.dropped));
}

#[test]
fn a_connect_that_never_ends_is_given_up() {
    let world = World::new();
    world.pipes.swallow(NAME_SERVER);
    let client = world.builder().connect_timeout(Duration::from_millis(200)).start_on(world.clone()).unwrap();
    let producer = client.producer("group").unwrap();
    let options = SendOptions::default().timeout(Duration::from_millis(300));
    let mut send = Hand::begun(producer.send_with(message("x"), options));
    world.run();
    world.pass(Duration::from_millis(200));
    world.run();
    world.pass(Duration::from_millis(100));
    world.run();
    let error = send.output().unwrap_err();
    assert!(error.is_retryable() && !error.may_have_been_stored());
    assert!(error.to_string().contains(NAME_SERVER), "{error}");
    let Error::Send(error) = error else { panic!("{error:?}") };
    let SendErrorKind::RouteUnavailable { servers } = error.kind() else { panic!("{error:?}") };
    let after = Duration::from_millis(200);
    assert_eq!(servers[0].error, Some(RequestError::Connect(CloseCause::ConnectTimeout { after })));
}

#[test]
fn a_refused_connect_names_the_address_and_the_reason() {
    let world = World::new();
    world.pipes.refuse(NAME_SERVER);
    let client = world.client();
    let mut send = Hand::begun(client.producer("group").unwrap().send(message("x")));
    world.run();
    while send.flag.wakes() == 0 {
        world.pass(Duration::from_millis(100));
        world.run();
    }
    let text = send.output().unwrap_err().to_string();
    assert!(text.contains(NAME_SERVER) && text.contains("refused"), "{text}");
}

#[test]
fn each_waker_left_last_is_the_one_that_is_woken() {
    let (_world, mut peer, _client, producer) = warm();
    let mut send = Hand::begun(producer.send(message("x")));
    let first = std::mem::take(&mut send.flag);
    assert!(send.poll().is_pending());
    assert!(send.poll().is_pending());
    peer.run();
    assert_eq!((first.wakes(), send.flag.wakes()), (0, 1));
    send.output().unwrap();
}

#[test]
fn an_operation_that_ends_before_the_loop_runs_keeps_its_outcome() {
    let world = World::new();
    let mut peer = Peer::new(&world);
    world.pipes.refuse(BROKER);
    let client = world.client();
    let config = ProducerConfig::new("group").retry_backoff(Duration::ZERO);
    let producer = client.producer_with(config).unwrap();
    let mut first = Hand::begun(producer.send(message("x")));
    peer.run();
    first.output().unwrap_err();
    // So soon after, each send ends within the core at once, and the next one gets its index.
    let mut sends: Vec<_> = (0..10).map(|_| Hand::begun(producer.send(message("x")))).collect();
    world.run();
    for send in &mut sends {
        let error = send.output().unwrap_err();
        let Error::Send(error) = error else { panic!("{error:?}") };
        assert_eq!(error.kind(), &SendErrorKind::AttemptsExhausted);
    }
}

#[test]
fn a_client_without_a_name_server_is_not_started() {
    let world = World::new();
    for addresses in ["", " ; "] {
        let started = rmq_driver::Client::<World>::builder().name_server(addresses).start_on(world.clone());
        assert_eq!(started.err(), Some(StartError::Config(ConfigError::NoNameServer)));
    }
}

#[test]
fn too_much_is_refused_at_once() {
    let world = World::new();
    let limits = Limits { operations: 2, ..Limits::default() };
    let client = world.builder().limits(limits).start_on(world.clone()).unwrap();
    let producer = client.producer("group").unwrap();
    let _held = [(); 2].map(|()| Hand::begun(producer.send(message("x"))));
    let error = Hand::new(producer.send(message("x"))).output().unwrap_err();
    assert_eq!(error, Error::Rejected(RejectReason::TooManyOperations { limit: 2 }));
    assert!(error.is_retryable());
}

#[test]
fn a_message_that_breaks_a_rule_is_refused_before_anything_is_written() {
    let world = World::new();
    let client = world.builder().max_message_len(4).start_on(world.clone()).unwrap();
    let producer = client.producer("group").unwrap();
    for bad in [message("hello"), message(""), Message::new("no topic", "x"), message("x").tag("")] {
        let error = Hand::new(producer.send(bad)).output().unwrap_err();
        assert!(matches!(error, Error::Message(_)), "{error:?}");
        assert!(!error.is_retryable() && !error.may_have_been_stored());
    }
    world.run();
    assert_eq!((client.stats().sends, world.pipes.len()), (0, 0));
}

#[test]
fn shutdown_lets_work_finish_and_says_goodbye() {
    let (world, mut peer, client, producer) = warm();
    peer.holds = true;
    let mut send = Hand::begun(producer.send(message("last")));
    peer.run();
    let mut shutdown = Hand::begun(client.shutdown());
    peer.run();
    let late = Hand::new(producer.send(message("late"))).output().unwrap_err();
    assert_eq!(late, Error::ShutDown);
    assert!(shutdown.poll().is_pending());
    peer.release();
    peer.run();
    assert!(send.output().is_ok());
    shutdown.output().unwrap();
    assert_eq!((peer.unregistered, world.pipes.open(), world.tasks()), (1, 0, 0));
    Hand::new(client.shutdown()).output().unwrap();
    assert!(client.producer("other").is_err());
}

#[test]
fn shutdown_gives_up_what_is_not_done_in_time() {
    let (world, mut peer, client, producer) = warm();
    peer.holds = true;
    let mut send = Hand::begun(producer.send(message("stuck")));
    peer.run();
    let mut first = Hand::begun(client.shutdown_within(Duration::from_millis(500)));
    let mut second = Hand::begun(client.shutdown());
    world.pass(Duration::from_millis(500));
    peer.run();
    first.output().unwrap();
    second.output().unwrap();
    let error = send.output().unwrap_err();
    assert!(error.may_have_been_stored() && !error.is_retryable(), "{error}");
    assert_eq!(world.pipes.open(), 0);
}

#[test]
fn the_last_handle_takes_the_client_with_it() {
    let (world, mut peer, client, producer) = warm();
    let send = Hand::begun(producer.send(message("x")));
    drop(client);
    drop(producer);
    peer.run();
    assert_eq!((world.tasks(), peer.bodies().len()), (1, 1));
    drop(send);
    world.run();
    assert_eq!((world.tasks(), world.pipes.open()), (0, 0));
}

#[test]
fn a_runtime_that_ends_tells_all_who_wait() {
    let (world, mut peer, client, producer) = warm();
    peer.holds = true;
    let mut sends = [(); 3].map(|()| Hand::begun(producer.send(message("x"))));
    peer.run();
    let mut shutdown = Hand::begun(client.shutdown());
    world.drop_tasks();
    for send in &mut sends {
        assert_eq!(send.flag.wakes(), 1);
        let error = send.output().unwrap_err();
        assert!(error.may_have_been_stored(), "{error}");
    }
    assert_eq!(shutdown.output(), Err(Error::TaskLost));
    assert_eq!(Hand::new(client.shutdown()).output(), Err(Error::TaskLost));
    assert_eq!(
        Hand::new(producer.send(message("x"))).output(),
        Err(Error::ShutDown),
        "of this one nothing was sent"
    );
    assert_eq!((world.pipes.open(), client.stats().operation_bytes), (0, 0));
}

/// A body may belong to somebody who looks at the client when it is dropped.
#[test]
fn bodies_are_dropped_without_the_lock() {
    struct Body(Box<dyn Fn() + Send + Sync>, Vec<u8>);
    impl AsRef<[u8]> for Body {
        fn as_ref(&self) -> &[u8] {
            &self.1
        }
    }
    impl Drop for Body {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let (world, mut peer, client, producer) = warm();
    let dropped = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let body = || {
        let (client, dropped) = (client.clone(), dropped.clone());
        let look = move || {
            client.stats();
            dropped.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        Message::new("orders", bytes::Bytes::from_owner(Body(Box::new(look), vec![b'x'; 10_000])))
    };
    producer.send(body()).detach().unwrap();
    Hand::begun(producer.send(body())).into_inner().detach().unwrap();
    let mut answered = Hand::begun(producer.send(body()));
    peer.run();
    answered.output().unwrap();
    drop(answered);
    peer.holds = true;
    drop(Hand::begun(producer.send(body())));
    let cancelled = Hand::begun(producer.send(body()));
    peer.run();
    drop(cancelled);
    peer.run();
    producer.send(body()).detach().unwrap();
    world.drop_tasks();
    assert_eq!(dropped.load(std::sync::atomic::Ordering::Relaxed), 6);
}

/// A caller's waker that panics takes the task down, which nobody else may miss.
#[test]
fn a_panic_in_a_waker_tells_all_who_wait() {
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: std::sync::Arc<Self>) {
            panic!("a caller's waker");
        }
    }
    let (world, mut peer, _client, producer) = warm();
    peer.holds = true;
    let mut before = Hand::begun(producer.send(message("x")));
    let mut bad = Box::pin(producer.send(message("x")));
    let waker = std::task::Waker::from(std::sync::Arc::new(Panics));
    assert!(bad.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    let mut after = Hand::begun(producer.send(message("x")));
    peer.run();
    peer.release();
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.run()));
    assert!(run.is_err());
    for send in [&mut before, &mut after] {
        assert_eq!(send.flag.wakes(), 1);
        assert!(send.poll().is_ready());
    }
}

#[test]
fn a_panic_in_the_task_tells_all_who_wait() {
    let (world, peer, client, producer) = warm();
    let broker = peer.pipe(BROKER);
    world.pipes.with(broker, |end| end.cursed = true);
    let mut send = Hand::begun(producer.send(message("x")));
    let run = std::panic::AssertUnwindSafe(|| world.run());
    assert!(std::panic::catch_unwind(run).is_err());
    assert!(send.output().unwrap_err().may_have_been_stored());
    assert_eq!(Hand::new(client.shutdown()).output(), Err(Error::TaskLost));
    assert_eq!(world.pipes.open(), 0);
}

#[test]
fn a_task_that_cannot_be_started_is_an_error() {
    let world = World::new();
    world.refuse_tasks();
    let error = world.builder().start_on(world.clone()).unwrap_err();
    assert!(matches!(error, StartError::Spawn(_)), "{error:?}");
    assert_eq!(error.to_string(), "cannot start the client's task: no runtime here");
}

#[test]
fn a_jump_of_the_wall_clock_is_seen_within_a_minute() {
    let (world, mut peer, _client, producer) = warm();
    world.set_wall_clock(1_800_000_000_000);
    world.pass(Duration::from_secs(61));
    peer.run();
    let mut send = Hand::begun(producer.send(message("x")));
    peer.run();
    send.output().unwrap();
    assert_eq!(peer.seen[0].born_ms, 1_800_000_061_000);
}

#[test]
fn a_clock_that_is_due_right_after_it_was_looked_at_does_not_keep_the_loop_busy() {
    let (world, mut peer, _client, producer) = warm();
    world.pass(Duration::from_millis(59_500));
    let mut send = Hand::begun(producer.send(message("just before the minute")));
    peer.run();
    send.output().unwrap();
    world.pass(Duration::from_millis(500));
    peer.run();
}

#[test]
fn large_bodies_are_written_without_gaps() {
    let (_world, mut peer, _client, producer) = warm();
    let bodies: Vec<String> =
        (0..200).map(|i| format!("{i}").repeat(if i % 3 == 0 { 3_000 } else { 3 })).collect();
    let mut sends: Vec<_> = bodies.iter().map(|body| Hand::begun(producer.send(message(body)))).collect();
    peer.run();
    sends.iter_mut().for_each(|send| assert!(send.output().is_ok()));
    assert_eq!(peer.bodies(), bodies.iter().map(String::as_bytes).collect::<Vec<_>>());
}

fn given_back() -> SendBack {
    let stored = StoredMessage { topic: "orders".into(), body: "again".into(), ..StoredMessage::default() };
    SendBack::new("readers", &stored).unwrap().broker("broker")
}

#[test]
fn a_message_is_given_back_by_its_broker_or_to_the_retry_topic() {
    let (_world, mut peer, client, producer) = warm();
    let mut back = Hand::begun(producer.send_back(given_back()));
    peer.run();
    assert_eq!(back.output().unwrap(), SentBack::ByBroker);
    assert!(peer.bodies().is_empty());
    peer.backs = [ResponseCode::SYSTEM_ERROR].into();
    let mut back = Hand::begun(producer.send_back(given_back()));
    peer.run();
    let SentBack::RetryTopic(result) = back.output().unwrap() else { panic!("the broker refused it") };
    assert_eq!(&*result.queue.topic, "%RETRY%readers");
    assert_eq!(peer.bodies(), [b"again"]);
    assert_eq!((client.stats().send_backs_succeeded, client.stats().operations), (2, 0));
}

#[test]
fn a_dead_letter_that_is_refused_stays_with_the_caller() {
    let (world, mut peer, _client, producer) = warm();
    peer.backs = [ResponseCode::SYSTEM_ERROR; 20].into();
    let mut back = Hand::begun(producer.send_back(given_back().redelivery(Redelivery::DeadLetter)));
    for _ in 0..60 {
        peer.run();
        world.pass(Duration::from_millis(100));
    }
    peer.run();
    let error = back.output().unwrap_err();
    assert!(error.is_retryable() && !error.may_have_been_stored(), "{error}");
    let Error::SendBack(error) = error else { panic!("{error}") };
    assert_eq!((error.kind(), error.tries()), (&SendBackErrorKind::DeadLetterRefused, 8));
    assert!(peer.bodies().is_empty());
}

#[test]
fn a_dropped_send_back_is_cancelled_and_a_detached_one_runs_on() {
    let (world, mut peer, client, producer) = warm();
    drop(Hand::begun(producer.send_back(given_back().broker("nobody"))));
    producer.send_back(given_back().broker("nobody")).detach().unwrap();
    drop(producer.send_back(given_back().broker("nobody")));
    world.run();
    peer.run();
    assert_eq!(peer.bodies(), [b"again"]);
    let stats = client.stats();
    assert_eq!((stats.send_backs, stats.cancelled, stats.send_backs_succeeded), (2, 1, 1));
    assert_eq!(stats.operation_bytes, 0);
}

#[test]
fn a_selector_chooses_among_the_queues() {
    let world = World::new();
    let mut peer = Peer::new(&world);
    let client = world.client();
    let producer = client.producer("group").unwrap();
    let mut send = Hand::begun(producer.send_by(message("by"), |queues, message| {
        assert_eq!(message.topic(), "orders");
        queues.last()
    }));
    peer.run();
    assert!(send.poll().is_pending(), "found, chosen, and on its way");
    peer.run();
    assert_eq!(send.output().unwrap().queue.to_string(), "orders/broker/0");
    let queues = Hand::new(producer.queues("orders")).output().unwrap();
    assert_eq!(queues.len(), 1, "known by now: there at the first poll");
    let mut by_key = Hand::begun(producer.send_by_key(message("key"), "order-42"));
    let mut given = Hand::begun(producer.send_to(queues[0].clone(), message("to")));
    peer.run();
    assert_eq!((by_key.output().unwrap().attempts, given.output().unwrap().attempts), (1, 1));
    assert_eq!(peer.bodies(), [&b"by"[..], b"key", b"to"]);
}

/// Row 28: nothing is written.
#[test]
fn a_selector_may_choose_nothing() {
    let (_world, mut peer, _client, producer) = warm();
    let mut send = Hand::new(producer.send_by(message("x"), |_, _| None));
    assert_eq!(send.output(), Err(Error::NoQueueChosen));
    peer.run();
    assert!(peer.seen.is_empty());
    assert!(!Error::NoQueueChosen.is_retryable() && !Error::NoQueueChosen.may_have_been_stored());
}

/// Looking for the queues and sending have one time between them.
#[test]
fn a_choice_has_one_time() {
    let world = World::new();
    let mut peer = Peer::new(&world);
    let client = world.client();
    let producer = client.producer("group").unwrap();
    let mut send = Hand::begun(producer.send_by(message("x"), |queues, _| queues.first()));
    world.run();
    world.pass(Duration::from_secs(2));
    peer.holds = true;
    peer.run();
    assert!(send.poll().is_pending());
    peer.run();
    assert_eq!(peer.bodies(), [b"x"]);
    world.pass(Duration::from_millis(999));
    world.run();
    assert!(send.poll().is_pending());
    world.pass(Duration::from_millis(1));
    world.run();
    let Err(Error::Send(error)) = send.output() else { panic!("it has no time left") };
    assert_eq!(error.attempts().len(), 1);
}

#[test]
fn a_question_for_queues_that_is_dropped_is_taken_back() {
    let world = World::new();
    let client = world.client();
    let producer = client.producer("group").unwrap();
    let Err(Error::Message(error)) = Hand::new(producer.queues("no such name")).output() else {
        panic!("no topic has this name");
    };
    assert_eq!(error.topic(), "no such name");
    drop(Hand::begun(producer.queues("orders")));
    world.run();
    let stats = client.stats();
    assert_eq!((stats.operations, stats.cancelled), (0, 1));
}

/// A frame of 4 MiB, in whatever pieces it comes, leaves nothing behind; connections have no buffers of their own, but all of
/// them one, of 8 KiB at first and 64 KiB at most.
#[test]
fn l3_an_idle_connection_holds_next_to_nothing() {
    const KIB: i64 = 1_024;
    let mut idle = None;
    let opened = allocation_counter::measure(|| idle = Some(warm()));
    assert!(opened.bytes_current < (8 + 2 * 16) * KIB, "two connections hold {} bytes", opened.bytes_current);
    let (world, peer, client, _producer) = idle.unwrap();
    let answer = RemotingCommand { opaque: -1, flag: 1, ..RemotingCommand::request(RequestCode(0)) };
    let mut frame = BytesMut::new();
    answer.with_body(vec![b'x'; 4 * 1_024 * 1_024].into()).encode(HeaderFormat::Json, &mut frame).unwrap();
    for chunk in [16 * 1_024, 1_000_000] {
        let pipe = peer.pipe(BROKER);
        world.pipes.with(pipe, |end| {
            end.chunk = chunk;
            end.unread.extend(&frame);
        });
        let read = allocation_counter::measure(|| world.run());
        assert_eq!(world.pipes.with(pipe, |end| end.unread.len()), 0);
        assert!(read.bytes_max > 4 * 1_024 * 1_024, "the frame was there: {read:?}");
        assert!(read.bytes_current < (16 + 56) * KIB, "{} bytes are left of it", read.bytes_current);
    }
    assert_eq!((client.stats().unknown_answers, client.stats().connections), (2, 2));
}
