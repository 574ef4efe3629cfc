//! The client on tokio, against scripted peers and the model, over real sockets.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod peer;

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::time::Duration;

use peer::{Peer, Then};
use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::memory::ModelNetwork;
use rmq_sim::model::{ClusterConfig, Fault};
use rmq_tokio::rmq_core::{CloseCause, RequestError};
use rmq_tokio::{
    Client, Error, Message, Producer, ProducerConfig, Runtime, SendErrorKind, SendOptions, SendStatus,
    StartError, Tokio,
};
use tokio::task::JoinSet;

const PATIENCE: Duration = Duration::from_secs(60);

fn message(body: impl Into<bytes::Bytes>) -> Message {
    Message::new("orders", body)
}

/// A client that waits long: machines that run tests are slow at times.
fn client(name_server: &str) -> (Client, Producer) {
    // Frames are as long as the bodies.
    let builder = Client::builder().name_server(name_server).write_stall(PATIENCE).compression(None);
    let client = builder.start().unwrap();
    let producer = client.producer_with(ProducerConfig::new("group").send_timeout(PATIENCE)).unwrap();
    (client, producer)
}

fn serve(config: ClusterConfig) -> Server {
    Server::start(ServerConfig { cluster: ClusterConfig { port: 0, ..config }, ..ServerConfig::default() })
        .unwrap()
}

/// Looks until it is so, for a minute at most.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, looking).await;
    assert!(found.is_ok(), "never so: {what}");
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn current_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn ten_thousand_at_once(client: &Client, producer: &Producer) {
    let mut sends = JoinSet::new();
    for i in 0..10_000 {
        sends.spawn(producer.send(message(format!("{i}"))));
    }
    let results = sends.join_all().await;
    let ids: BTreeSet<_> = results.into_iter().map(|sent| sent.unwrap().message_id).collect();
    assert_eq!(ids.len(), 10_000);
    client.shutdown().await.unwrap();
    let stats = client.stats();
    assert_eq!((stats.sends_succeeded, stats.operations, stats.awaited, stats.misuses), (10_000, 0, 0, 0));
}

async fn ten_thousand_over_loopback() {
    let server = serve(ClusterConfig { retain: 20_000, ..ClusterConfig::default() });
    let (client, producer) = client(&server.name_server().to_string());
    ten_thousand_at_once(&client, &producer).await;
    assert_eq!(server.cluster(|cluster| cluster.stored().count()), 10_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_sends_at_once_on_many_threads() {
    ten_thousand_over_loopback().await;
}

#[tokio::test]
async fn ten_thousand_sends_at_once_on_one_thread() {
    ten_thousand_over_loopback().await;
}

#[tokio::test]
async fn ten_thousand_sends_at_once_in_memory() {
    let tokio = Tokio::default();
    let config = ClusterConfig { retain: 20_000, brokers: 3, ..ClusterConfig::default() };
    let model = ModelNetwork::new(config, move || tokio.unix_ms());
    let name_server = model.cluster(|cluster| cluster.name_server().to_owned());
    let client = Client::builder().name_server(&name_server).start_on(model.runtime(tokio)).unwrap();
    let producer = client.producer_with(ProducerConfig::new("group").send_timeout(PATIENCE)).unwrap();
    ten_thousand_at_once(&client, &producer).await;
    assert_eq!(model.cluster(|cluster| cluster.stored().count()), 10_000);
}

#[tokio::test]
async fn a_half_closed_connection_gives_its_answer_and_is_replaced() {
    let peer = Peer::new(|number, _| if number == 0 { Then::AnswerAndHalfClose } else { Then::Answer });
    let (client, producer) = client(&peer.address);
    let first = producer.send(message("first")).await.unwrap();
    until("the connection is closed", || client.stats().disconnects == 1).await;
    // An address is connected to once in 100 ms at most.
    until("the next connect may begin", {
        let began = tokio::time::Instant::now();
        move || began.elapsed() > Duration::from_millis(100)
    })
    .await;
    let second = producer.send(message("second")).await.unwrap();
    assert_eq!((first.queue_offset, first.attempts, second.queue_offset, second.attempts), (0, 1, 1, 1));
}

#[tokio::test]
async fn bytes_that_are_no_frame_close_that_connection_only() {
    let peer = Peer::new(|_, _| Then::Garbage(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    let (client, producer) = client(&peer.address);
    let error = producer.send(message("x")).await.unwrap_err();
    assert!(error.may_have_been_stored());
    let Error::Send(error) = error else { panic!("{error:?}") };
    let cause = match &error.attempts()[0].error {
        RequestError::Closed { cause: cause @ CloseCause::Frame(_), written: true } => cause.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(cause.contains("1213486160"), "the length that HTTP spells: {cause}");
    assert!(client.stats().protocol_errors >= 1);
    assert_eq!(client.stats().connections, 1, "the name server's connection lives on");
}

#[tokio::test]
async fn nothing_listens_or_the_host_is_unknown() {
    let refusing = free_address();
    for (address, reason) in [(refusing.as_str(), "refused"), ("no-such-host.invalid:9876", "cannot resolve")]
    {
        let (_client, producer) = client(address);
        let error = producer.send(message("x")).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(address) && text.contains(reason), "{text}");
        assert!(error.is_retryable() && !error.may_have_been_stored());
    }
}

/// An address whose connections never open: its listener takes no more, and does not say so.
fn black_hole() -> (tokio::net::TcpListener, SocketAddr, Vec<TcpStream>) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        waiting.push(stream);
    }
    (listener, address, waiting)
}

#[tokio::test]
async fn a_black_hole_is_given_up_after_the_connect_timeout() {
    let (_listener, address, _waiting) = black_hole();
    let timeout = Duration::from_millis(200);
    let client = Client::builder().name_server(address).connect_timeout(timeout).start().unwrap();
    let options = SendOptions::default().timeout(Duration::from_millis(500));
    let error = client.producer("group").unwrap().send_with(message("x"), options).await.unwrap_err();
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    let Error::Send(error) = error else { panic!("{error:?}") };
    let SendErrorKind::RouteUnavailable { servers } = error.kind() else { panic!("{error:?}") };
    let cause = CloseCause::ConnectTimeout { after: timeout };
    assert_eq!(servers[0].error, Some(RequestError::Connect(cause)));
    assert!(error.took() < Duration::from_secs(2), "{error:?}");
}

#[tokio::test]
async fn bug_09_sends_dropped_in_the_middle_of_a_write_leave_whole_frames() {
    let (peer, gate) = Peer::gated();
    let (client, producer) = client(&peer.address);
    // More than the sockets hold, so that some of it is written, some in part and some not at all.
    let body = bytes::Bytes::from(vec![b'x'; 4 << 20]);
    let mut sends = JoinSet::new();
    for _ in 0..8 {
        sends.spawn(producer.send(message(body.clone())));
    }
    until("a write is stuck", || client.driver_stats().blocked_writes > 0).await;
    sends.shutdown().await;
    assert_eq!(client.stats().cancelled, 8);
    drop(gate);
    let sent = producer.send(message("after")).await.unwrap();
    assert_eq!(sent.attempts, 1);
    let lens: Vec<_> = peer.sends.try_iter().map(|(_, len)| len).collect();
    let (last, large) = lens.split_last().unwrap();
    assert_eq!(*last, 5);
    assert!(!large.is_empty() && large.len() < 8, "{lens:?}");
    assert!(large.iter().all(|len| *len == body.len()));
    until("nothing is waited for", || client.stats().awaited == 0).await;
    assert_eq!(client.stats().misuses, 0);
}

#[tokio::test]
async fn a_send_that_is_dropped_at_once_is_not_written_and_a_detached_one_is() {
    let peer = Peer::new(|_, _| Then::Answer);
    let (client, producer) = client(&peer.address);
    producer.send(message("warm")).await.unwrap();
    drop(producer.send(message("never polled")));
    tokio::select! {
        biased;
        sent = producer.send(message("polled once")) => panic!("{sent:?}"),
        () = std::future::ready(()) => {}
    }
    producer.send(message("detached")).detach().unwrap();
    producer.send_oneway(message("oneway!")).await.unwrap();
    until("all is done", || client.stats().operations == 0).await;
    until("the last one arrived", {
        let mut lens = Vec::new();
        move || {
            lens.extend(peer.sends.try_iter().map(|(_, len)| len));
            lens == ["warm", "detached", "oneway!"].map(str::len)
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_suspended_for_5_s_loses_no_answer_that_waits() {
    let peer = Peer::new(|_, request| if &*request.body == b"warm" { Then::Answer } else { Then::Keep });
    let (client, producer) = client(&peer.address);
    producer.send(message("warm")).await.unwrap();
    assert_eq!(peer.sends.recv().unwrap(), (0, 4));
    let hurried =
        ProducerConfig::new("hurried").attempts(NonZeroU32::MIN).send_timeout(Duration::from_secs(4));
    let producer = client.producer_with(hurried).unwrap();
    let mut sends = JoinSet::new();
    for i in 0..100 {
        sends.spawn(producer.send(message(format!("{i}"))));
    }
    let mut seen = 0;
    until("all are with the broker", || {
        seen += peer.sends.try_iter().count();
        seen == 100
    })
    .await;
    // The test does not let go of the runtime's only thread: answers come, time passes, and nobody looks.
    assert_eq!(peer.release(), 100);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(5)).await;
    tokio::time::resume();
    for sent in sends.join_all().await {
        assert_eq!(sent.unwrap().attempts, 1);
    }
    assert_eq!(client.stats().retries, 0);
}

#[tokio::test]
async fn shutdown_with_work_in_flight_and_twice() {
    let server = serve(ClusterConfig::default());
    let name_server = server.name_server().to_string();
    let (client, producer) = client(&name_server);
    producer.send(message("warm")).await.unwrap();
    let broker = server.cluster(|cluster| cluster.broker_address(0).to_owned());
    assert_eq!(server.cluster(|cluster| cluster.registrations().count()), 1);

    assert!(server.cluster(|cluster| cluster.fault(&broker, Fault::Hang)));
    let stuck = tokio::spawn(producer.send(message("stuck")));
    until("it is under way", || client.stats().awaited > 0).await;
    let both = tokio::join!(client.shutdown_within(Duration::from_millis(300)), client.shutdown());
    assert_eq!(both, (Ok(()), Ok(())));
    let error = stuck.await.unwrap().unwrap_err();
    assert!(error.may_have_been_stored() && !error.is_retryable(), "{error}");
    assert_eq!(producer.send(message("late")).await.unwrap_err(), Error::ShutDown);
    client.shutdown().await.unwrap();
    until("all is closed", || server.cluster(|cluster| cluster.open_connections(&name_server)) == 0).await;
}

#[tokio::test]
async fn shutdown_tells_the_brokers() {
    let server = serve(ClusterConfig { brokers: 2, ..ClusterConfig::default() });
    let (client, producer) = client(&server.name_server().to_string());
    for _ in 0..16 {
        assert_eq!(producer.send(message("x")).await.unwrap().status, SendStatus::SendOk);
    }
    until("both brokers know the client", || server.cluster(|cluster| cluster.registrations().count()) == 2)
        .await;
    client.shutdown().await.unwrap();
    assert_eq!(server.cluster(|cluster| cluster.registrations().count()), 0);
}

#[test]
fn the_last_handle_may_be_dropped_outside_the_runtime() {
    let server = serve(ClusterConfig::default());
    let name_server = server.name_server().to_string();
    let open = || server.cluster(|cluster| cluster.open_connections(&name_server));
    let runtime = current_thread();
    let start = async {
        let (client, producer) = client(&name_server);
        producer.send(message("x")).await.unwrap();
        let never_polled = producer.send(message("never polled"));
        (client, producer, never_polled)
    };
    let handles = runtime.block_on(start);
    assert_eq!(open(), 1);
    drop(handles);
    runtime.block_on(until("the client has closed its connections", || open() == 0));
}

#[test]
fn a_client_outlives_its_runtime_in_peace() {
    let server = serve(ClusterConfig::default());
    let runtime = current_thread();
    let (client, producer) = runtime.block_on(async {
        let (client, producer) = client(&server.name_server().to_string());
        producer.send(message("x")).await.unwrap();
        (client, producer)
    });
    drop(runtime);
    let after = current_thread();
    let late = producer.send(message("late"));
    assert_eq!(after.block_on(late).unwrap_err(), Error::ShutDown);
    assert_eq!(after.block_on(client.shutdown()), Err(Error::TaskLost));
}

#[test]
fn starting_outside_a_runtime_is_an_error_that_says_what_to_do() {
    let error = Client::builder().name_server("127.0.0.1:9876").start().unwrap_err();
    assert!(matches!(error, StartError::Spawn(_)));
    assert!(error.to_string().contains("call start() within"), "{error}");
}
