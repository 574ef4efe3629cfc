//! Recalls through the handle.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

#[allow(dead_code, unused_imports, reason = "other tests use the rest")]
mod world;

use std::time::Duration;

use rmq_driver::rmq_core::proto::recall::RecallHandle;
use rmq_driver::{Client, Error, Producer, RecallInvalid, SendErrorKind};
use world::{Hand, Peer, World};

fn begin() -> (World, Peer, Client<World>, Producer) {
    let world = World::new();
    let peer = Peer::new(&world);
    let client = world.client();
    let producer = client.producer("group").unwrap();
    (world, peer, client, producer)
}

fn handle() -> String {
    let (topic, broker_name, unique_key) = ("orders".into(), "broker".into(), "AC0A".into());
    RecallHandle { topic, broker_name, timestamp: 1, unique_key }.encode().unwrap()
}

#[test]
fn a_recall_ends_with_the_brokers_answer() {
    let (_world, mut peer, client, producer) = begin();
    let mut recall = Hand::begun(producer.recall("orders", handle()));
    peer.run();
    assert_eq!(recall.output(), Ok("AC0A".to_owned()));
    assert_eq!(recall.flag.wakes(), 1);
    let stats = client.stats();
    assert_eq!((stats.recalls, stats.recalls_succeeded, stats.operations), (1, 1, 0));
}

#[test]
fn what_cannot_be_right_is_told_at_the_first_poll() {
    let (_world, mut peer, client, producer) = begin();
    let error = Hand::new(producer.recall("orders", "no handle")).output().unwrap_err();
    assert!(matches!(error, Error::RecallInvalid(RecallInvalid::Handle { .. })), "{error}");
    let error = Hand::new(producer.recall("%RETRY%g", handle())).output().unwrap_err();
    assert_eq!(error, Error::RecallInvalid(RecallInvalid::DerivedTopic { topic: "%RETRY%g".into() }));
    assert!(!error.is_retryable() && !error.may_have_been_stored());
    peer.run();
    assert_eq!((client.stats().recalls, client.stats().frames_written), (0, 0));
}

#[test]
fn a_broker_that_says_nothing() {
    let (world, mut peer, _client, producer) = begin();
    peer.recalls = false;
    let mut recall = Hand::begun(producer.recall("orders", handle()));
    for _ in 0..40 {
        peer.run();
        world.pass(Duration::from_millis(100));
    }
    peer.run();
    let error = recall.output().unwrap_err();
    assert!(error.is_retryable() && error.may_have_been_stored(), "{error}");
    let Error::Recall(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), &SendErrorKind::AttemptsExhausted);
}

#[test]
fn a_dropped_recall_is_cancelled_and_a_detached_one_runs_on() {
    let (world, mut peer, client, producer) = begin();
    drop(Hand::begun(producer.recall("orders", handle())));
    producer.recall("orders", handle()).detach().unwrap();
    drop(producer.recall("orders", handle()));
    world.run();
    peer.run();
    let stats = client.stats();
    assert_eq!((stats.recalls, stats.cancelled, stats.recalls_succeeded), (2, 1, 1));
    assert_eq!((stats.operations, stats.operation_bytes), (0, 0));
}
