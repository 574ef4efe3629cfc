//! Requests and replies through the handles.

use std::time::Duration;

use rmq_driver::rmq_core::proto::code::RequestCode;
use rmq_driver::rmq_core::proto::properties::{self, CORRELATION_ID, MSG_TYPE, REPLY_TO_CLIENT, TTL};
use rmq_driver::{
    Error, InflateError, Message, NoReplyErrorKind, RejectReason, Reply, ResponseCode, StoredMessage,
};

use crate::warm;
use crate::world::Hand;

fn request() -> Message {
    Message::new("orders", "ping")
}

/// What a broker stores of a request.
pub(crate) fn stored(properties: &str) -> StoredMessage {
    StoredMessage {
        topic: "orders".into(),
        properties: format!("{properties}CLUSTER\u{1}cluster\u{2}"),
        ..StoredMessage::default()
    }
}

#[test]
fn a_request_goes_out_and_its_reply_comes_back() {
    let (_world, mut peer, client, producer) = warm();
    let mut asked = Hand::begun(producer.request(request()));
    peer.run();
    assert!(asked.poll().is_pending(), "acknowledged is not replied to");
    let seen = peer.seen[0].clone();
    assert_eq!((&*seen.body, seen.code), (&b"ping"[..], RequestCode::SEND_MESSAGE_V2));
    let property = |name| properties::value(&seen.properties, name);
    assert_eq!((property(REPLY_TO_CLIENT), property(TTL)), (Some(client.client_id()), Some("3000")));
    peer.push_reply(&seen, 0, "pong");
    peer.run();
    assert_eq!(&*asked.output().unwrap().body, b"pong");
    assert_eq!(peer.answered, [ResponseCode::SUCCESS]);
    let stats = client.stats();
    assert_eq!((stats.requests_succeeded, stats.operations, stats.operation_bytes), (1, 0, 0));
}

#[test]
fn a_request_ends_at_its_time_and_says_whether_it_is_stored() {
    let (world, mut peer, _client, producer) = warm();
    let mut stored = Hand::begun(producer.request_within(request(), Duration::from_secs(1)));
    peer.run();
    peer.holds = true;
    let mut unheard = Hand::begun(producer.request(request()));
    peer.run();
    world.pass(Duration::from_secs(1));
    peer.run();
    let error = stored.output().unwrap_err();
    assert!(error.is_retryable() && error.may_have_been_stored(), "{error}");
    let Error::NoReply(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), NoReplyErrorKind::TimedOut);
    assert!(error.request().is_ok(), "{error}");
    for _ in 0..20 {
        world.pass(Duration::from_millis(100));
        peer.run();
    }
    let Err(Error::NoReply(error)) = unheard.output() else { panic!("nobody replied") };
    assert_eq!(error.kind(), NoReplyErrorKind::TimedOut);
    assert!(error.request().is_err() && error.may_have_been_stored(), "{error}");
}

#[test]
fn a_dropped_request_is_cancelled_and_its_reply_is_nobodys() {
    let (_world, mut peer, client, producer) = warm();
    drop(producer.request(request()));
    let asked = Hand::begun(producer.request(request()));
    peer.run();
    drop(asked);
    let seen = peer.seen[0].clone();
    peer.push_reply(&seen, 0, "pong");
    peer.run();
    let stats = client.stats();
    assert_eq!((stats.requests, stats.cancelled, stats.unknown_replies), (1, 1, 1));
    assert_eq!((stats.operations, stats.requests_waiting, stats.operation_bytes), (0, 0, 0));
}

#[test]
fn a_body_that_cannot_be_inflated_is_said_so() {
    let (_world, mut peer, _client, producer) = warm();
    let mut asked = Hand::begun(producer.request(request()));
    peer.run();
    let seen = peer.seen[0].clone();
    peer.push_reply(&seen, 0x701, "pong");
    peer.run();
    let error = asked.output().unwrap_err();
    assert_eq!(error, Error::ReplyBody(InflateError::Unknown { bits: 7 }));
    assert!(!error.is_retryable() && error.may_have_been_stored());
}

#[test]
fn a_reply_carries_what_joins_it_to_its_request() {
    let (_world, mut peer, client, producer) = warm();
    let mut asked = Hand::begun(producer.request(request()));
    peer.run();
    let seen = peer.seen[0].clone();
    let request = stored(&seen.properties);
    let mut plain = Hand::begun(producer.reply(&request, "pong"));
    let more = Reply::new(&request, "more").unwrap().property("colour", "red");
    let mut rich = Hand::begun(producer.reply_with(more));
    producer.reply(&request, "detached").detach().unwrap();
    peer.run();
    assert_eq!(&*plain.output().unwrap().queue.topic, "cluster_REPLY_TOPIC");
    rich.output().unwrap();
    assert_eq!(peer.bodies(), [&b"ping"[..], b"pong", b"more", b"detached"]);
    for reply in &peer.seen[1..] {
        let property = |name| properties::value(&reply.properties, name);
        assert_eq!((reply.code, property(MSG_TYPE)), (RequestCode::SEND_REPLY_MESSAGE_V2, Some("reply")));
        assert_eq!(property(CORRELATION_ID), properties::value(&seen.properties, CORRELATION_ID));
        assert_eq!((property(REPLY_TO_CLIENT), property(TTL)), (Some(client.client_id()), Some("3000")));
    }
    assert_eq!(properties::value(&peer.seen[2].properties, "colour"), Some("red"));
    assert!(asked.poll().is_pending(), "this broker pushes nothing");
}

#[test]
fn what_cannot_begin_says_so_at_once() {
    let (_world, mut peer, client, producer) = warm();
    let error = Hand::new(producer.reply(&StoredMessage::default(), "pong")).output().unwrap_err();
    let Error::NotARequest(missing) = &error else { panic!("{error}") };
    assert_eq!(missing.missing, "CLUSTER");
    assert!(!error.is_retryable() && !error.may_have_been_stored());
    let error = Hand::new(producer.request(Message::new("orders", ""))).output().unwrap_err();
    assert!(matches!(error, Error::Message(_)), "{error}");
    let mut end = Hand::begun(client.shutdown());
    peer.run();
    end.output().unwrap();
    assert_eq!(Hand::new(producer.request(request())).output(), Err(Error::ShutDown));
    assert!(!Error::Rejected(RejectReason::OtherClient).is_retryable());
}
