//! Against a real cluster: `RMQ_NAME_SERVER=127.0.0.1:9876 cargo test -p rmq-tokio --test real_broker`. Skipped without
//! the variable. It starts nothing itself.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing step fails the test; a skipped one says so"
)]

#[path = "real/requests.rs"]
mod requests;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::{SystemTime, UNIX_EPOCH};

use rmq_tokio::{Client, Error, Message, MessageError, Producer, SendResult, SendStatus};
use tokio::task::JoinSet;

/// The name servers; without them, says that the test is skipped.
fn name_server(test: &str) -> Option<String> {
    let name_server = std::env::var("RMQ_NAME_SERVER").ok();
    if name_server.is_none() {
        eprintln!("SKIPPED {test}: RMQ_NAME_SERVER is not set");
    }
    name_server
}

fn client(name_server: &str) -> (Client, Producer) {
    let client = Client::builder().name_server(name_server).start().unwrap();
    let producer = client.producer("rmq-real-broker-test").unwrap();
    (client, producer)
}

/// No earlier run used it.
fn new_topic() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("rmq-real-{}-{}", since.as_micros(), std::process::id())
}

fn check(results: &[SendResult], topic: &str, ids: &mut BTreeSet<String>) {
    for sent in results {
        assert_eq!(sent.status, SendStatus::SendOk, "{sent:?}");
        assert_eq!(&*sent.queue.topic, topic);
        assert!(sent.queue_offset >= 0 && sent.queue.queue_id >= 0, "{sent:?}");
        assert!(ids.insert(sent.message_id.clone()), "used twice: {}", sent.message_id);
        assert!(ids.insert(sent.offset_message_id.clone()), "used twice: {}", sent.offset_message_id);
    }
}

#[tokio::test]
async fn a_hundred_messages_to_a_new_topic_and_a_hundred_more() {
    let Some(name_server) = name_server("a hundred messages") else { return };
    let topic = new_topic();
    let mut ids = BTreeSet::new();

    let (client_of_new, producer) = client(&name_server);
    let mut results = Vec::new();
    for i in 0..100 {
        let message = Message::new(&*topic, format!("new {i}")).tag("new").key(format!("{i}"));
        results.push(producer.send(message).await.unwrap());
    }
    check(&results, &topic, &mut ids);
    client_of_new.shutdown().await.unwrap();

    // The topic exists now, for a client that never saw it before; this time all at once.
    let (client_of_known, producer) = client(&name_server);
    let mut sends = JoinSet::new();
    for i in 0..100 {
        sends.spawn(
            producer.send(Message::new(&*topic, format!("known {i}")).property("number", format!("{i}"))),
        );
    }
    let results: Vec<_> = sends.join_all().await.into_iter().map(Result::unwrap).collect();
    check(&results, &topic, &mut ids);
    producer.send_oneway(Message::new(&*topic, "oneway")).await.unwrap();
    let stats = client_of_known.stats();
    assert_eq!((stats.protocol_errors, stats.misuses, stats.unknown_answers), (0, 0, 0));
    client_of_known.shutdown().await.unwrap();
    assert_eq!(ids.len(), 400);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_before_it_is_sent() {
    let Some(name_server) = name_server("a message too large") else { return };
    let (client, producer) = client(&name_server);
    let error = producer.send(Message::new("TopicTest", vec![0; (4 << 20) + 1])).await.unwrap_err();
    let Error::Message(MessageError::BodyTooLong { len, max, .. }) = &error else { panic!("{error:?}") };
    assert_eq!((*len, *max), ((4 << 20) + 1, 4 << 20));
    assert!(!error.is_retryable() && !error.may_have_been_stored());
    let stats = client.stats();
    assert_eq!((stats.sends, stats.bytes_written), (0, 0));

    let largest = Message::new(new_topic(), vec![0; 4 << 20]);
    assert_eq!(producer.send(largest).await.unwrap().status, SendStatus::SendOk);
    client.shutdown().await.unwrap();
}

#[tokio::test]
async fn wrong_addresses_are_named() {
    if name_server("wrong addresses").is_none() {
        return;
    }
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for wrong in ["no-such-host.invalid:9876", &free] {
        let (_client, producer) = client(wrong);
        let error = producer.send(Message::new("TopicTest", "x")).await.unwrap_err();
        assert!(error.to_string().contains(wrong), "{error}");
        assert!(error.is_retryable() && !error.may_have_been_stored());
    }
}

#[tokio::test]
async fn a_dead_name_server_beside_a_live_one_does_no_harm() {
    let Some(name_server) = name_server("a dead name server") else { return };
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (client, producer) = client(&format!("{free};{name_server}"));
    let sent = producer.send(Message::new(new_topic(), "x")).await.unwrap();
    assert_eq!(sent.status, SendStatus::SendOk);
    client.shutdown().await.unwrap();
}
