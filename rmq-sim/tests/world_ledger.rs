//! What was acknowledged, and what is stored.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

#[path = "../examples/lost_acknowledgement.rs"]
mod example;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rmq_driver::{Message, SendOptions};
use rmq_proto::code::ResponseCode;
use rmq_sim::World;
use rmq_sim::world::Acknowledged;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_example_loses_what_it_says_and_its_mended_service_nothing() {
    for seed in 0..10 {
        let naive = example::run(seed, true);
        assert_eq!(naive.value, 60);
        let missing = naive.missing().count();
        assert!(missing > 0, "seed {seed}");
        assert_eq!(naive.stored().count() + missing, 60, "seed {seed}");
        let mended = example::run(seed, false);
        assert!(mended.value >= 45, "seed {seed}: {}", mended.value);
        mended.assert_acknowledged_is_stored();
    }
    assert_eq!(example::run(7, true).hash, example::run(7, true).hash);
}

#[test]
fn a_success_that_a_client_read_is_an_acknowledgement() {
    let outcome = World::new(0).run(async |client| {
        let producer = client.producer("group").unwrap();
        producer.send(Message::new("orders", "hello")).await.unwrap().message_id
    });
    let [only] = outcome.acknowledgements() else { panic!("{:?}", outcome.acknowledgements()) };
    assert_eq!(only.what, Acknowledged::MessageId(outcome.value.clone()));
    assert!(only.stored_at.unwrap() <= only.at && only.at <= outcome.time);
    outcome.assert_acknowledged_is_stored();
}

#[test]
fn an_answer_that_never_came_acknowledges_nothing() {
    let world = World::new(0);
    world.broker("broker-a").mute(Duration::ZERO..60 * SECOND);
    let outcome = world.run(async |client| {
        let producer = client.producer("group").unwrap();
        producer.send(Message::new("orders", "hello")).await.unwrap_err();
    });
    assert!(outcome.stored().count() > 0);
    assert_eq!(outcome.acknowledgements(), []);
}

#[test]
fn only_codes_that_mean_stored_acknowledge() {
    for (code, stored) in [(ResponseCode::FLUSH_DISK_TIMEOUT, true), (ResponseCode::SYSTEM_BUSY, false)] {
        let world = World::new(0);
        world.broker("broker-a").answer_sends(code, Duration::ZERO..60 * SECOND);
        let outcome = world.run(async |client| {
            let producer = client.producer("group").unwrap();
            let _ = producer.send(Message::new("orders", "hello")).await;
        });
        assert_eq!(!outcome.acknowledgements().is_empty(), stored, "{code}");
        assert!(outcome.every_acknowledged_message_is_stored(), "{code}");
    }
}

#[test]
fn key_body_and_id_each_name_a_message() {
    let world = World::new(0);
    let outcome = world.run(async |client| {
        let producer = client.producer("group").unwrap();
        let message = Message::new("orders", "hello").key("one").key("two");
        let sent = producer.send(message).await.unwrap();
        world.acknowledge_key("two");
        world.acknowledge_body("hello");
        world.acknowledge_id(sent.message_id);
        world.acknowledge_key("three");
        world.acknowledge_body("hell");
        world.acknowledge_id("0");
    });
    let mut missing: Vec<_> = outcome.missing().map(|missing| missing.what.to_string()).collect();
    missing.sort();
    assert_eq!(missing, ["body \"hell\"", "key three", "message 0"]);
    assert!(!outcome.every_acknowledged_message_is_stored());
    assert_eq!(outcome.early().count(), 3);
}

#[test]
fn what_is_acknowledged_before_it_is_stored_is_early() {
    let world = World::builder(5).build();
    let outcome = world.run(async |client| {
        let producer = client.producer("group").unwrap();
        world.acknowledge_key("order");
        producer.send(Message::new("orders", "hello").key("order")).await.unwrap();
        world.acknowledge_key("order");
    });
    assert!(outcome.every_acknowledged_message_is_stored());
    let early: Vec<_> = outcome.early().collect();
    assert_eq!((early.len(), early[0].at), (1, Duration::ZERO));
    let told = catch_unwind(AssertUnwindSafe(|| outcome.assert_acknowledged_is_stored())).unwrap_err();
    let told = told.downcast_ref::<String>().unwrap();
    assert!(
        told.contains("seed 5: 1 acknowledged") && told.contains("key order, acknowledged at 0ns"),
        "{told}"
    );
}

#[test]
fn messages_that_brokers_no_longer_keep_were_stored() {
    let mut config = rmq_sim::net::NetworkConfig::default();
    config.cluster.retain = 1;
    let outcome = World::with_network(0, config).run(async |client| {
        let producer = client.producer("group").unwrap();
        for body in ["one", "two", "three"] {
            let options = SendOptions::default();
            producer.send_with(Message::new("orders", body), options).await.unwrap();
        }
    });
    assert_eq!((outcome.stored().count(), outcome.acknowledgements().len()), (1, 3));
    outcome.assert_acknowledged_is_stored();
}
