//! Batches that a user makes: one operation, one request.

use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::names::DEFAULT_TOPIC;
use rmq_core::proto::properties::{UNIQ_KEY, value};
use rmq_core::{
    Event, Limits, MessageQueue, ProducerConfig, RejectReason, RequestError, SendErrorKind, SendOptions,
};

use crate::support::{Act, Net, batch, config, elements, ms, route};

fn warm() -> Net {
    let mut net = Net::new();
    net.warm();
    net
}

/// BUG-21, the good one: one request, an id per message, one queue.
#[test]
fn bug_21_a_good_batch_is_one_request() {
    let mut net = warm();
    let op = net.send_batch("T", &["one", "two", "three"]);
    net.run(ms(0));
    let (_, result) = net.take_sent(op);
    assert_eq!((net.batches().len(), net.sends().len()), (1, 0));
    let seen = net.batches()[0];
    assert_eq!((seen.send().batch, seen.send().sys_flag, &*seen.send().topic), (Some(true), 0, "T"));
    let elements = elements(&seen.command.body);
    let bodies: Vec<_> = elements.iter().map(|element| element.body.clone()).collect();
    assert_eq!(bodies, ["one", "two", "three"]);
    let ids: Vec<_> = elements.iter().map(|element| value(&element.properties, UNIQ_KEY).unwrap()).collect();
    assert_eq!(result.message_ids().collect::<Vec<_>>(), ids);
    assert_eq!(result.queue.queue_id, seen.send().queue_id);
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_bytes, stats.sends), (0, 0, 5));
}

/// A12: no bit says that the body is compressed, and it is not.
#[test]
fn a12_a_long_batch_is_not_compressed() {
    let mut net = warm();
    let body = "x".repeat(5 << 10);
    let op = net.send_batch("T", &[&body]);
    net.run(ms(0));
    net.take_sent(op);
    let seen = net.batches()[0];
    assert_eq!(seen.send().sys_flag & 1, 0);
    assert_eq!(elements(&seen.command.body)[0].body, body);
}

/// K9: a topic that is yet to be created has the default one's brokers, and as many queues as both sides allow.
#[test]
fn k9_a_new_topic_is_created_by_single_and_batch_alike() {
    for is_batch in [false, true] {
        let mut net = Net::new();
        net.routes.insert(DEFAULT_TOPIC.into(), route(&[("a", 8)]));
        let op = match is_batch {
            true => net.send_batch("new", &["one", "two"]),
            false => net.send("new", SendOptions::default()),
        };
        net.run(ms(10));
        let (_, result) = net.take_sent(op);
        assert_eq!((&*result.queue.topic, &*result.queue.broker), ("new", "a"));
        let code = if is_batch { RequestCode::SEND_BATCH_MESSAGE } else { RequestCode::SEND_MESSAGE_V2 };
        let seen = net.requests(code)[0];
        assert_eq!((&*seen.send().default_topic, seen.send().default_topic_queue_nums), (DEFAULT_TOPIC, 4));
        assert!((0..4).contains(&seen.send().queue_id));
        let queues = net.client.publish_queues(net.now, "new").unwrap();
        assert_eq!(queues.len(), 4, "of the default topic's 8, as many as the producer asks for");
    }
}

#[test]
fn every_attempt_has_the_same_bytes() {
    let mut net = warm();
    for name in ["a", "b"] {
        net.broker(name).sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "busy")].into();
    }
    let op = net.send_batch("T", &["one", "two"]);
    net.run(ms(0));
    assert_eq!(net.take_sent(op).1.attempts, 3);
    let seen = net.batches();
    assert_eq!(seen.len(), 3);
    for again in &seen[1..] {
        assert_eq!(again.command.body, seen[0].command.body);
        assert_eq!(again.send().properties, seen[0].send().properties);
        assert_eq!(again.send().born_timestamp, seen[0].send().born_timestamp);
    }
}

#[test]
fn a_failure_names_all_messages() {
    let mut net = warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
    }
    let op = net.send_batch("T", &["one", "two"]);
    net.run(ms(3_000));
    let (_, error) = net.take_error(op);
    let elements = elements(&net.batches()[0].command.body);
    let ids: Vec<_> = elements.iter().map(|element| value(&element.properties, UNIQ_KEY).unwrap()).collect();
    assert_eq!(error.message_id(), ids.join(","));
    assert!(error.may_have_been_stored());
    assert!(matches!(error.attempts()[0].error, RequestError::Timeout { written: true, .. }));
}

#[test]
fn a_batch_to_a_given_queue_has_one_attempt() {
    let mut net = warm();
    net.broker("b").always = Some(Act::Code(ResponseCode::SYSTEM_BUSY, "busy"));
    let queue = MessageQueue { topic: "T".into(), broker: "b".into(), queue_id: 1 };
    let batch = batch("T", &["one", "two"]);
    let op = net.client.send_batch_to(net.now, net.producer, &queue, batch.clone(), SendOptions::default());
    net.run(ms(3_000));
    assert_eq!(*net.take_error(op.unwrap()).1.kind(), SendErrorKind::Refused);
    let seen = net.batches();
    assert_eq!((seen.len(), seen[0].send().queue_id), (1, 1));

    let other = MessageQueue { topic: "U".into(), ..queue };
    let rejected = net
        .client
        .send_batch_to(net.now, net.producer, &other, batch.clone(), SendOptions::default())
        .expect_err("another topic's queue");
    assert_eq!((rejected.reason, rejected.given), (RejectReason::OtherTopic, batch));
}

#[test]
fn a_oneway_batch_ends_when_it_is_written() {
    let mut net = warm();
    let options = SendOptions::default().oneway();
    let op = net.client.send_batch(net.now, net.producer, batch("T", &["one", "two"]), options).unwrap();
    net.run(ms(0));
    assert!(matches!(net.end(op).1, Event::OnewayWritten { .. }));
    assert!(net.batches()[0].command.is_oneway());
}

#[test]
fn a_batch_counts_with_all_its_bytes() {
    let limits = Limits { operation_bytes: 3_000, ..Limits::default() };
    let mut net = Net::with(config().limits(limits).build().unwrap(), ProducerConfig::new("PG"));
    let body = "x".repeat(700);
    let large = batch("T", &[&body, &body, &body, &body]);
    let options = SendOptions::default();
    let rejected =
        net.client.send_batch(net.now, net.producer, large.clone(), options).expect_err("too large");
    assert!(matches!(rejected.reason, RejectReason::TooManyBytes { held: 0, limit: 3_000, .. }));
    assert_eq!(rejected.given, large);
    let op = net.client.send_batch(net.now, net.producer, batch("T", &[&body, &body]), options).unwrap();
    let held = net.client.stats().operation_bytes;
    assert!((1_400..3_000).contains(&held), "{held}");
    net.client.cancel(net.now, op);
    net.run(ms(10));
    assert!(matches!(net.end(op).1, Event::Cancelled { .. }));
    assert_eq!((net.client.stats().operation_bytes, net.batches().len()), (0, 0));
}

/// A write is one frame or within its limit, batches included.
#[test]
fn batches_share_writes_within_the_limit() {
    let limits = Limits { write_batch: 2_000, ..Limits::default() };
    let mut net = Net::with(config().limits(limits).build().unwrap(), ProducerConfig::new("PG"));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    let body = "x".repeat(600);
    let ops: Vec<_> = (0..4).map(|_| net.send_batch("T", &[&body])).collect();
    let mut sizes = Vec::new();
    while let Some(output) = net.client.poll_output() {
        if let rmq_core::Output::Write { conn, data } = output {
            sizes.push(data.len());
            net.client.handle_input(net.now, rmq_core::Input::Written { conn, bytes: data.len() });
        }
    }
    assert_eq!((sizes.len(), ops.len()), (4, 4), "{sizes:?}");
}
