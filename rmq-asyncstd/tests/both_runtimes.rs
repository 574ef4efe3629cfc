//! The same exchange on both runtimes, over real sockets.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![cfg(any(feature = "smol", feature = "async-std"))]

use std::net::TcpListener;
use std::time::Duration;

use rmq_asyncstd::{Client, Message, Runtime, SendOptions, SendStatus};
use rmq_sim::loopback::{Server, ServerConfig};

/// Sends, one after the other and many at once, and shuts down.
async fn exchange<R: Runtime + Default>() {
    let server = Server::start(ServerConfig::default()).unwrap();
    let client = Client::<R>::builder().name_server(server.name_server()).start().unwrap();
    let producer = client.producer("exchange").unwrap();
    let first = producer.send(Message::new("orders", "first").tag("created").key("1")).await.unwrap();
    assert_eq!((first.status, first.attempts), (SendStatus::SendOk, 1));
    let sends: Vec<_> = (0..500).map(|i| producer.send(Message::new("orders", format!("{i}")))).collect();
    for send in sends {
        assert_eq!(send.await.unwrap().status, SendStatus::SendOk);
    }
    let large = vec![b'x'; 3 << 20];
    producer.send(Message::new("orders", large)).await.unwrap();
    producer.send_oneway(Message::new("orders", "oneway")).await.unwrap();
    client.shutdown().await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(client.stats().misuses, 0);
    let stored = server.cluster(|cluster| cluster.stored().count());
    assert!(stored >= 502, "{stored}");
}

/// Nothing listens, the host is unknown.
async fn failures<R: Runtime + Default>() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for (name_server, reason) in [(free.as_str(), "refused"), ("no-such-host.invalid:9876", "cannot resolve")]
    {
        let client = Client::<R>::builder().name_server(name_server).start().unwrap();
        let options = SendOptions::default().timeout(Duration::from_secs(2));
        let sent = client.producer("exchange").unwrap().send_with(Message::new("orders", "x"), options).await;
        let error = sent.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(name_server) && text.contains(reason), "{text}");
        assert!(error.is_retryable() && !error.may_have_been_stored());
    }
}

#[cfg(feature = "smol")]
#[test]
fn on_smol() {
    smol::block_on(exchange::<rmq_asyncstd::smol::Smol>());
}

#[cfg(feature = "smol")]
#[test]
fn smol_failures() {
    smol::block_on(failures::<rmq_asyncstd::smol::Smol>());
}

#[cfg(feature = "async-std")]
#[test]
fn on_async_std() {
    async_std::task::block_on(exchange::<rmq_asyncstd::async_std::AsyncStd>());
}

#[cfg(feature = "async-std")]
#[test]
fn async_std_failures() {
    async_std::task::block_on(failures::<rmq_asyncstd::async_std::AsyncStd>());
}
