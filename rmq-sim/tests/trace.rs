//! Message trace against the model: what a console would read (producer §10.4), and that nothing else changes by it.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use rmq_driver::{Error, Message, ProducerConfig, SendResult, Trace};
use rmq_proto::code::ResponseCode;
use rmq_proto::properties::KEYS;
use rmq_proto::trace::{self, MessageKind, Pub, TRACE_TOPIC, TraceRecord};
use rmq_sim::World;
use rmq_sim::model::{Profile, StoredMessage};
use rmq_sim::net::Fault;
use rmq_sim::run::{Run, RunOptions};

const SECOND: Duration = Duration::from_secs(1);

fn text(message: &StoredMessage) -> &str {
    core::str::from_utf8(&message.body).unwrap()
}

/// The records in a topic, in the order they were stored.
fn records<'a>(stored: impl Iterator<Item = &'a StoredMessage>, topic: &str) -> Vec<Pub> {
    let texts = stored.filter(|message| &*message.topic == topic).map(text);
    let records = texts.flat_map(trace::records).map(Result::unwrap);
    records
        .map(|record| match record {
            TraceRecord::Pub(record) => record,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// J5: one record for each message that was stored, which says of it what the broker says; a message of records is found by
/// each of their ids and keys.
#[test]
fn j5_records_are_in_the_trace_topic() {
    for profile in Profile::ALL {
        let world = World::builder(11).profile(profile).brokers(2).topic("orders", 4).build();
        let sim = world.runtime();
        let outcome = world.run(async |client| {
            let config = ProducerConfig::new("billing").trace(Trace::new());
            let producer = client.producer_with(config).unwrap();
            let mut sent: Vec<SendResult> = Vec::new();
            for number in 0..33 {
                let message = Message::new("orders", "x".repeat(number + 1)).key(format!("order-{number}"));
                let message = if number % 2 == 0 { message.tag("even") } else { message };
                sent.push(producer.send(message).await.unwrap());
                sim.sleep(SECOND / 10).await;
            }
            client.shutdown().await.unwrap();
            let stats = client.stats();
            assert_eq!((stats.traces, stats.traces_sent, stats.sends), (33, 33, 33), "{profile}");
            assert_eq!((stats.traces_waiting, stats.trace_sends, stats.timers), (0, 0, 0));
            sent
        });
        let told = records(outcome.stored(), TRACE_TOPIC);
        assert_eq!(told.len(), 33, "{profile}");
        let by_id: BTreeMap<_, _> = told.iter().map(|record| (record.message_id.as_str(), record)).collect();
        for (number, result) in outcome.value.iter().enumerate() {
            let record = by_id[result.message_id.as_str()];
            let message = outcome.stored().find(|m| m.unique_key() == Some(&result.message_id)).unwrap();
            assert_eq!((&*record.group, &*record.topic), ("billing", "orders"));
            assert_eq!(record.region.as_deref(), Some("DefaultRegion"));
            assert_eq!(record.offset_message_id.as_deref(), Some(&*message.offset_id().to_string()));
            assert_eq!(record.broker, message.store_host.to_string());
            assert_eq!(record.body_len as usize, message.body.len());
            assert_eq!(record.keys.as_deref(), Some(&*format!("order-{number}")));
            assert_eq!(record.tags.as_deref(), (number % 2 == 0).then_some("even"));
            assert_eq!((record.kind, record.success), (MessageKind::Normal, true));
            let took = message.store_timestamp - record.time;
            assert!((0..=i64::from(record.cost_ms) + 1).contains(&took), "{took} of {}", record.cost_ms);
        }
        for carrier in outcome.stored().filter(|message| &*message.topic == TRACE_TOPIC) {
            assert_eq!(carrier.producer_group, "_INNER_TRACE_PRODUCER-billing-PRODUCE-1");
            let keys: BTreeSet<_> = carrier.property(KEYS).unwrap().split(' ').collect();
            let of_records: Vec<_> = records([carrier].into_iter(), TRACE_TOPIC);
            let found = of_records.iter().flat_map(|r| [Some(&*r.message_id), r.keys.as_deref()]).flatten();
            assert_eq!(keys, found.collect(), "{profile}");
        }
    }
}

/// A status that says less than safe is told as such; what is refused is not told.
#[test]
fn what_is_stored_unsafely_is_no_success() {
    for profile in Profile::ALL {
        let world = World::builder(1).profile(profile).topic("orders", 1).build();
        let sim = world.runtime();
        let slave = Fault::AnswerSends(ResponseCode::SLAVE_NOT_AVAILABLE);
        world.broker("broker-a").fault(slave, SECOND..3 * SECOND);
        let refused = Fault::AnswerSends(ResponseCode::MESSAGE_ILLEGAL);
        world.broker("broker-a").fault(refused, 3 * SECOND..5 * SECOND);
        let outcome = world.run(async |client| {
            let trace = Trace::new().topic("own-traces").batch(NonZeroU32::MIN);
            let producer = client.producer_with(ProducerConfig::new("billing").trace(trace)).unwrap();
            producer.send(Message::new("orders", "safe")).await.unwrap();
            sim.sleep(2 * SECOND).await;
            producer.send(Message::new("orders", "unsafe")).await.unwrap();
            sim.sleep(2 * SECOND).await;
            let error = producer.send(Message::new("orders", "refused")).await.unwrap_err();
            assert!(matches!(error, Error::Send(_)));
            client.shutdown().await.unwrap();
        });
        assert!(records(outcome.stored(), TRACE_TOPIC).is_empty());
        let told: Vec<_> = records(outcome.stored(), "own-traces").iter().map(|r| r.success).collect();
        assert_eq!(told, [true, false], "{profile}");
    }
}

/// A trace topic that nobody has costs no send.
#[test]
fn sends_go_on_without_the_trace_topic() {
    let world = World::builder(3).auto_create(false).topic("orders", 4).build();
    let outcome = world.run(async |client| {
        let config = ProducerConfig::new("billing").trace(Trace::new());
        let producer = client.producer_with(config).unwrap();
        for number in 0..50 {
            producer.send(Message::new("orders", format!("order {number}"))).await.unwrap();
        }
        client.shutdown().await.unwrap();
        client.stats()
    });
    let stats = outcome.value;
    assert_eq!((stats.sends_succeeded, stats.sends_failed, outcome.stored().count()), (50, 0, 50));
    assert_eq!((stats.traces, stats.traces_sent, stats.traces_failed), (50, 0, 50));
}

/// Storms of faults: the contract and all oracles hold with trace on, and what is told is no more than what was stored.
#[test]
fn storms_with_trace_on() {
    let (mut told, mut made) = (0, 0);
    for seed in 0..6 {
        let mut options = RunOptions::draw(seed);
        options.settings.trace = Some(Trace::new());
        let mut run = Run::new(options);
        let report = run.finish();
        assert_eq!(report.violation, None, "seed {seed}");
        let cluster = run.network().cluster();
        let ids: BTreeSet<_> = cluster.stored().filter_map(StoredMessage::own_unique_key).collect();
        let records = records(cluster.stored(), TRACE_TOPIC);
        // A record of a batch names all its messages.
        let mut named = records.iter().flat_map(|record| record.message_id.split(','));
        assert!(named.all(|id| ids.contains(id)), "seed {seed}");
        told += records.len();
        made += cluster.stored().filter(|message| message.topic.starts_with("topic-")).count();
    }
    assert!(told > made / 2, "{told} records of {made} messages");
}
