//! Clients of programs without async code, over real sockets.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::collections::BTreeSet;
use std::future::{pending, poll_fn};
use std::net::TcpListener;
use std::sync::{Barrier, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use rmq_asyncstd::blocking::{Client, Wait};
use rmq_asyncstd::{Error, Message, Producer, Resolution, SendErrorKind, SendResult};
use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::Fault;

/// How many of what a test does at the same time do it.
const THREADS: usize = 8;

fn model() -> (Server, Client, Producer) {
    let server = Server::start(ServerConfig::default()).unwrap();
    let client = Client::builder().name_server(server.name_server()).start().unwrap();
    let producer = client.producer("blocking").unwrap();
    (server, client, producer)
}

fn message() -> Message {
    Message::new("orders", "hello")
}

fn nothing_is_held(client: &Client) {
    let stats = client.stats();
    assert_eq!((stats.operations, stats.operation_bytes, stats.operation_timers), (0, 0, 0), "{stats:?}");
    assert_eq!((stats.permits, stats.queued, stats.awaited, stats.misuses), (0, 0, 0, 0), "{stats:?}");
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "{what}");
        thread::yield_now();
    }
}

#[test]
fn eight_threads_share_one_producer() {
    const EACH: usize = 50;
    let (server, client, producer) = model();
    let ids: BTreeSet<String> = thread::scope(|scope| {
        let send =
            || (0..EACH).map(|_| producer.send(message()).wait().unwrap().message_id).collect::<Vec<_>>();
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(send)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), THREADS * EACH);
    let stored = server
        .cluster(|cluster| cluster.stored().filter_map(|m| m.unique_key().map(str::to_owned)).collect());
    assert_eq!(ids, stored);
    nothing_is_held(&client);
    client.shutdown().wait().unwrap();
    assert_eq!(client.stats().connections, 0);
}

#[test]
fn all_that_a_producer_can_do_can_be_waited_for() {
    let (server, client, producer) = model();
    producer.send_oneway(message()).wait().unwrap();
    assert_eq!(producer.send_batch([message(), message()]).wait().unwrap().message_ids().count(), 2);
    let queues = producer.queues("orders").wait().unwrap();
    let queue = queues[1].clone();
    assert_eq!(producer.send_to(queue.clone(), message()).wait().unwrap().queue, queue);
    let by_key = || producer.send_by_key(message(), "order-42").wait().unwrap().queue;
    assert_eq!(by_key(), by_key());
    let here = thread::current().id();
    let book = async |_: SendResult| {
        assert_eq!(thread::current().id(), here, "local work runs where it is waited for");
        Resolution::Rollback
    };
    let result = producer.send_transaction(message(), book).wait().unwrap();
    assert_eq!((result.resolution, result.told), (Resolution::Rollback, Ok(())));
    let unheard = producer.request_within(message(), Duration::from_millis(20)).wait().unwrap_err();
    assert!(matches!(unheard, Error::NoReply(_)), "{unheard}");
    let recalled = producer.recall("orders", "no handle").wait().unwrap_err();
    assert!(matches!(recalled, Error::RecallInvalid(_)), "{recalled}");
    nothing_is_held(&client);
    client.shutdown().wait().unwrap();
    assert!(matches!(producer.send(message()).wait(), Err(Error::ShutDown)));
    assert!(server.cluster(|cluster| cluster.stored().count()) >= 7);
}

#[test]
fn a_failure_is_that_of_async_code() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let client = Client::builder().name_server(&free).start().unwrap();
    let error = client.producer("blocking").unwrap().send(message()).wait().unwrap_err();
    assert!(error.to_string().contains(&free) && error.to_string().contains("refused"), "{error}");
    assert!(error.is_retryable() && !error.may_have_been_stored());
    nothing_is_held(&client);
}

#[test]
fn a_send_that_is_waited_for_no_longer_is_cancelled() {
    let (server, client, producer) = model();
    producer.send(message()).wait().unwrap();
    let broker = server.cluster(|cluster| cluster.broker_address(0).to_owned());
    assert!(server.cluster(|cluster| cluster.fault(&broker, Fault::Hang)));
    let within = Duration::from_millis(20);
    let timed_out = producer.send(message()).wait_timeout(within).unwrap_err();
    assert_eq!(timed_out.to_string(), "not done within 20ms");
    assert_eq!(client.stats().cancelled, 1);
    wait_for("a cancelled send is held", || client.stats().operations == 0);

    // One that is lent is not: it is there for the next wait, whoever waits.
    let mut sending = producer.send(message());
    assert!((&mut sending).wait_timeout(Duration::ZERO).is_err());
    assert_eq!(client.stats().operations, 1);
    let failed = thread::scope(|scope| {
        let waiting = scope.spawn(|| sending.wait());
        client.shutdown_within(Duration::ZERO).wait().unwrap();
        waiting.join().unwrap()
    });
    let Err(Error::Send(error)) = failed else { panic!("{failed:?}") };
    assert_eq!(*error.kind(), SendErrorKind::ShutDown);
    nothing_is_held(&client);
}

#[test]
fn shutting_down_under_sends_of_other_threads() {
    let (server, client, producer) = model();
    let begun = Barrier::new(THREADS + 1);
    let (ids, ends): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        let send = || {
            let mut ids = vec![producer.send(message()).wait().unwrap().message_id];
            begun.wait();
            loop {
                match producer.send(message()).wait() {
                    Ok(sent) => ids.push(sent.message_id),
                    Err(error) => return (ids, error),
                }
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(send)).collect();
        begun.wait();
        client.shutdown().wait().unwrap();
        threads.into_iter().map(|thread| thread.join().unwrap()).unzip()
    });
    // What was under way was let finish; what came after was not taken.
    assert!(ends.iter().all(|error| *error == Error::ShutDown), "{ends:?}");
    let ids: BTreeSet<String> = ids.into_iter().flatten().collect();
    let stored = server
        .cluster(|cluster| cluster.stored().filter_map(|m| m.unique_key().map(str::to_owned)).collect());
    assert_eq!(ids, stored);
    nothing_is_held(&client);
}

#[test]
fn waiting_within_a_runtime_does_not_deadlock() {
    let (_server, client, producer) = model();
    smol::block_on(async { producer.send(message()).wait() }).unwrap();
    // All executors' threads at once, as smol has one unless it is told otherwise.
    let tasks: Vec<_> = (0..THREADS)
        .map(|_| {
            let producer = producer.clone();
            smol::spawn(async move { producer.send(message()).wait() })
        })
        .collect();
    tasks.into_iter().for_each(|task| drop(task.wait().unwrap()));
    // A wait within a wait.
    async { producer.send(message()).wait() }.wait().unwrap();
    smol::block_on(async { client.shutdown().wait() }).unwrap();
}

#[test]
fn a_wait_ends_when_it_is_woken_and_only_looks_with_no_time() {
    assert_eq!(async { 7 }.wait_timeout(Duration::ZERO), Ok(7));
    assert!(pending::<()>().wait_timeout(Duration::ZERO).is_err());
    assert_eq!(async { 7 }.wait_timeout(Duration::MAX), Ok(7));
    let (tell, told) = mpsc::channel::<Waker>();
    let waker = thread::spawn(move || told.iter().for_each(Waker::wake));
    let mut polls = 0;
    let counted = poll_fn(|cx| {
        polls += 1;
        tell.send(cx.waker().clone()).unwrap();
        if polls == 100 { Poll::Ready(()) } else { Poll::Pending }
    });
    let began = Instant::now();
    counted.wait_timeout(Duration::from_secs(60)).unwrap();
    assert!(began.elapsed() < Duration::from_secs(50));
    assert_eq!(polls, 100, "it was polled without being woken");
    drop(tell);
    waker.join().unwrap();
}
