//! Batches: what brokers make of them, and what clients are told, on both profiles.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test; its helpers too")]

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use rmq_driver::{AutoBatch, Error, Message, ProducerConfig, SendStatus};
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::{SendMessageV2Header, SendResponseHeader};
use rmq_proto::message::{BatchElement, encode_batch};
use rmq_proto::properties::{TAGS, WAIT};
use rmq_sim::World;
use rmq_sim::model::{Cluster, Profile, StoredMessage, TopicConfig};
use rmq_sim::run::{FaultKind, FaultRate};
use support::{ask, broker, config, send_header, with_opaque};

fn element(body: &'static str, properties: &str) -> BatchElement {
    BatchElement { flag: 3, body: body.into(), properties: properties.into() }
}

fn encoded(elements: &[BatchElement]) -> Bytes {
    let mut out = BytesMut::new();
    encode_batch(elements, &mut out).unwrap();
    out.freeze()
}

fn two() -> Bytes {
    let one = element("one", "UNIQ_KEY\u{1}M1\u{2}WAIT\u{1}true\u{2}TAGS\u{1}x\u{2}");
    encoded(&[one, element("two", "UNIQ_KEY\u{1}M2\u{2}WAIT\u{1}true")])
}

fn header() -> SendMessageV2Header<'static> {
    let properties = Some("UNIQ_KEY\u{1}BATCH\u{2}WAIT\u{1}true\u{2}".into());
    SendMessageV2Header { batch: Some(true), properties, flag: 9, ..send_header("TB") }
}

fn request(header: &SendMessageV2Header<'_>, body: Bytes) -> RemotingCommand {
    let request = RemotingCommand::request(RequestCode::SEND_BATCH_MESSAGE).with_ext(header).with_body(body);
    with_opaque(request, 11)
}

fn cluster(profile: Profile) -> Cluster {
    let mut cluster = Cluster::new(config(profile));
    cluster.create_topic(&TopicConfig::new("TB", 4));
    cluster
}

fn answer(cluster: &mut Cluster, header: &SendMessageV2Header<'_>, body: Bytes) -> RemotingCommand {
    let conn = broker(cluster, 0);
    ask(cluster, conn, &request(header, body)).only()
}

/// wire §5.1, §6.4, §6.6: the records have their message's properties, then the batch's and the broker's (seen on both).
#[test]
fn a_batch_is_stored_as_its_messages() {
    for profile in Profile::ALL {
        let mut cluster = cluster(profile);
        let answer = answer(&mut cluster, &header(), two());
        assert_eq!(answer.code, ResponseCode::SUCCESS.0, "{answer:?}");
        let told: SendResponseHeader<'_> = answer.header().unwrap();
        let stored: Vec<&StoredMessage> = cluster.stored().collect();
        let bodies: Vec<_> = stored.iter().map(|message| (&*message.body, message.queue_offset)).collect();
        assert_eq!(bodies, [(&b"one"[..], 0), (b"two", 1)]);
        let ids: Vec<_> = stored.iter().map(|message| message.offset_id().to_string()).collect();
        assert_eq!((&*told.message_id, told.queue_offset, told.queue_id), (&*ids.join(","), 0, 0));
        let has_transaction_id = profile == Profile::V5_3;
        assert_eq!(told.transaction_id.as_deref(), has_transaction_id.then_some("BATCH"));
        assert_eq!(told.batch_unique_id, None);
        for (message, own) in stored.iter().zip(["M1", "M2"]) {
            let text = &message.properties;
            assert_eq!(text.matches(WAIT).count(), 2, "{profile} keeps both: {text}");
            assert_eq!(
                (message.flag, message.own_unique_key(), message.unique_key()),
                (3, Some(own), Some("BATCH"))
            );
        }
        assert_eq!((stored[0].property(TAGS), stored[1].property(TAGS)), (Some("x"), None));
        // The same request, and records of the same length (seen on both).
        let real = if profile == Profile::V4_9 { [172, 165] } else { [212, 205] };
        let lengths: Vec<_> = stored.iter().map(|message| message.record_len()).collect();
        assert_eq!(lengths, real, "{profile}");
    }
}

/// wire §5.1: `m` says what it is, whatever the code.
#[test]
fn the_header_says_what_is_a_batch() {
    for profile in Profile::ALL {
        let mut cluster = cluster(profile);
        let conn = broker(&mut cluster, 0);
        let mut by_single_code = request(&header(), two());
        by_single_code.code = RequestCode::SEND_MESSAGE_V2.0;
        ask(&mut cluster, conn, &by_single_code).only();
        assert_eq!(cluster.stored().count(), 2);
        let single = SendMessageV2Header { batch: Some(false), ..header() };
        ask(&mut cluster, conn, &request(&single, two())).only();
        assert_eq!(cluster.stored().last().unwrap().body, two());
    }
}

/// Bodies and properties are cut by their own lengths; what an element says of its whole length is not looked at. What
/// cannot be read is answered by an exception, and nothing is stored (seen on both).
#[test]
fn malformed_batches() {
    let put = |total: u32, body_len: u32, properties_len: u16, rest: &[u8]| {
        let mut out = BytesMut::from(&two()[..]);
        out.put_u32(total);
        out.put_bytes(0, 12);
        out.put_u32(body_len);
        out.put_slice(&rest[..rest.len().min(3)]);
        out.put_u16(properties_len);
        out.put_slice(rest.get(3..).unwrap_or_default());
        out.freeze()
    };
    let good = [
        put(25, 3, 0, b"abc"),
        put(5_000, 3, 0, b"abc"),
        put(5, 3, 0, b"abc"),
        put(30, 3, 4, b"abca\x01b\x02"),
    ];
    let bad = [
        put(25, 5_000, 0, b"abc"),
        put(25, u32::MAX, 0, b"abc"),
        put(25, 3, 500, b"abc"),
        put(25, 3, u16::MAX, b"abca\x01b\x02"),
        two().slice(..two().len() - 3),
        Bytes::from([&two()[..], b"\0\0"].concat()),
        Bytes::from_static(b"hello, this is no batch at all"),
        Bytes::new(),
    ];
    for profile in Profile::ALL {
        for body in &good {
            let mut cluster = cluster(profile);
            assert_eq!(answer(&mut cluster, &header(), body.clone()).code, 0, "{body:?}");
            assert_eq!(cluster.stored().count(), 3);
        }
        for body in &bad {
            let mut cluster = cluster(profile);
            let answer = answer(&mut cluster, &header(), body.clone());
            assert_eq!(answer.code, ResponseCode::SYSTEM_ERROR.0, "{body:?}");
            assert!(answer.remark.as_deref().unwrap_or_default().starts_with("java."), "{answer:?}");
            assert_eq!(cluster.stored().count(), 0, "all or nothing");
        }
    }
}

/// What is checked besides (seen on both).
#[test]
fn batches_that_are_refused() {
    const ILLEGAL: i32 = ResponseCode::MESSAGE_ILLEGAL.0;
    const EXCEPTION: i32 = ResponseCode::SYSTEM_ERROR.0;
    let delayed = Some("UNIQ_KEY\u{1}B\u{2}DELAY\u{1}3\u{2}".into());
    let with =
        |len: usize| encoded(&[BatchElement { body: vec![b'x'; len].into(), ..BatchElement::default() }]);
    let rows = [
        ("a retry topic", SendMessageV2Header { topic: "%RETRY%g".into(), ..header() }, two(), [0, ILLEGAL]),
        ("a delayed batch", SendMessageV2Header { properties: delayed, ..header() }, two(), [ILLEGAL; 2]),
        ("a transaction", SendMessageV2Header { sys_flag: 4, ..header() }, two(), [ILLEGAL; 2]),
        ("the largest", header(), with((4 << 20) - 22), [0; 2]),
        ("a larger one", header(), with((4 << 20) - 21), [ILLEGAL, EXCEPTION]),
        ("queue 4 of 4", SendMessageV2Header { queue_id: 4, ..header() }, two(), [EXCEPTION, 29]),
    ];
    for (what, header, body, codes) in rows {
        for (profile, code) in Profile::ALL.into_iter().zip(codes) {
            let mut cluster = cluster(profile);
            let answer = answer(&mut cluster, &header, body.clone());
            assert_eq!(answer.code, code, "{what} at {profile}: {answer:?}");
            assert_eq!(cluster.stored().count() > 0, code == 0, "{what} at {profile}");
        }
    }
}

/// A message's own delay means nothing in a batch (seen on both).
#[test]
fn a_delayed_message_of_a_batch_is_there_at_once() {
    for profile in Profile::ALL {
        let mut cluster = cluster(profile);
        let late = element("late", "UNIQ_KEY\u{1}M1\u{2}DELAY\u{1}3\u{2}");
        assert_eq!(answer(&mut cluster, &header(), encoded(&[late])).code, 0);
        let stored = cluster.stored().next().unwrap();
        assert_eq!((&*stored.topic, stored.is_waiting()), ("TB", false));
    }
}

/// The real client: ids, offsets, one queue.
#[test]
fn a_batch_of_the_client_is_stored_as_it_was_told() {
    for profile in Profile::ALL {
        let world = World::builder(3).profile(profile).brokers(2).topic("orders", 4).build();
        let outcome = world.run(async |client| {
            let producer = client.producer("group").unwrap();
            let messages = ["one", "two", "three"].map(|body| Message::new("orders", body).tag(body));
            let sent = producer.send_batch(messages).await.unwrap();
            let to_new_topic = producer.send_batch([Message::new("new", "four")]).await.unwrap();
            assert_eq!(&*to_new_topic.queue.topic, "new");
            let long = Message::new("orders", vec![b'x'; 10_000]);
            producer.send_batch_to(sent.queue.clone(), [long]).await.unwrap();
            client.shutdown().await.unwrap();
            sent
        });
        let sent = &outcome.value;
        assert_eq!(sent.status, SendStatus::SendOk);
        let (broker, queue_id) = (&sent.queue.broker, sent.queue.queue_id);
        let store = outcome.network().cluster().broker(broker).unwrap().store();
        let (ids, offset_ids): (Vec<_>, Vec<_>) =
            (sent.message_ids().collect(), sent.offset_message_ids().collect());
        for (place, body) in ["one", "two", "three"].into_iter().enumerate() {
            let stored = store.at("orders", queue_id, sent.queue_offset + place as i64).unwrap();
            assert_eq!((&*stored.body, stored.property(TAGS)), (body.as_bytes(), Some(body)));
            assert_eq!(stored.own_unique_key(), Some(ids[place]));
            assert_eq!(stored.offset_id().to_string(), offset_ids[place]);
        }
        let long = outcome.stored().find(|message| message.body.len() == 10_000).unwrap();
        assert_eq!((long.sys_flag, long.queue_id), (0, queue_id), "as it was, where it was sent");
        outcome.assert_acknowledged_is_stored();
    }
}

/// Sends that come one by one are stored in few requests, each with the id and at the place that its sender was told.
#[test]
fn automatic_batches_of_the_client() {
    for profile in Profile::ALL {
        let world = World::builder(5).profile(profile).brokers(2).topic("orders", 2).build();
        let sim = world.runtime();
        let outcome = world.run(async |client| {
            let config = ProducerConfig::new("group").auto_batch(AutoBatch::new().bytes(200));
            let producer = client.producer_with(config).unwrap();
            let mut tasks = Vec::new();
            for number in 0..100 {
                let producer = producer.clone();
                let body = format!("order {number}");
                tasks.push(sim.spawn(async move {
                    (body.clone(), producer.send(Message::new("orders", body)).await.unwrap())
                }));
            }
            let mut sent = Vec::new();
            for task in tasks {
                sent.push(task.await);
            }
            let stats = client.stats();
            assert_eq!((stats.operations, stats.operation_bytes, stats.auto_batches), (0, 0, 0));
            client.shutdown().await.unwrap();
            (sent, stats.frames_written)
        });
        let (sent, frames) = &outcome.value;
        assert!(*frames < 20, "{frames} frames for 100 messages");
        for (body, sent) in sent {
            let broker = outcome.network().cluster().broker(&sent.queue.broker).unwrap();
            let stored = broker.store().at("orders", sent.queue.queue_id, sent.queue_offset).unwrap();
            assert_eq!(stored.body, body.as_bytes());
            assert_eq!(stored.own_unique_key(), Some(&*sent.message_id));
            assert_eq!(stored.offset_id().to_string(), sent.offset_message_id);
        }
        assert_eq!(outcome.stored().count(), 100);
        outcome.assert_acknowledged_is_stored();
    }
}

/// In a storm: what a sender was told is true, and what it was told as not stored is not.
#[test]
fn automatic_batches_in_a_storm() {
    const SECOND: Duration = Duration::from_secs(1);
    for seed in 0..20 {
        let profile = Profile::ALL[seed as usize % 2];
        let world = World::builder(seed).profile(profile).brokers(2).topic("orders", 2).build();
        let rates = [FaultKind::Reset, FaultKind::Hang, FaultKind::Crash, FaultKind::AnswerSends]
            .map(|kind| FaultRate { kind, every: 4 * SECOND, lasts: 2 * SECOND });
        world.storm(SECOND..20 * SECOND, &rates);
        let sim = world.runtime();
        let outcome = world.run(async |client| {
            let config = ProducerConfig::new("group").auto_batch(AutoBatch::new().delay(SECOND / 50));
            let producer = client.producer_with(config).unwrap();
            let mut tasks = Vec::new();
            for number in 0..300 {
                let (producer, timer) = (producer.clone(), sim.clone());
                let body = format!("order {number}");
                let patience = if number % 7 == 0 { SECOND / 40 } else { 60 * SECOND };
                tasks.push(sim.spawn(async move {
                    let send = producer.send(Message::new("orders", body.clone()));
                    (body, timer.timeout(patience, send).await)
                }));
                if number % 5 == 0 {
                    sim.sleep(SECOND / 3).await;
                }
            }
            let mut sent = Vec::new();
            for task in tasks {
                sent.push(task.await);
            }
            sim.sleep(10 * SECOND).await;
            let stats = client.stats();
            let left =
                [stats.operations, stats.operation_bytes, stats.gathered, stats.groups, stats.auto_batches];
            assert_eq!(left, [0; 5], "seed {seed}: {stats:?}");
            assert_eq!(stats.misuses, 0);
            sent
        });
        let mut copies: BTreeMap<&[u8], usize> = BTreeMap::new();
        outcome.stored().for_each(|message| *copies.entry(&message.body).or_default() += 1);
        for (body, sent) in &outcome.value {
            match sent {
                Ok(Ok(sent)) => {
                    let broker = outcome.network().cluster().broker(&sent.queue.broker).unwrap();
                    let stored = broker.store().at("orders", sent.queue.queue_id, sent.queue_offset).unwrap();
                    assert_eq!(
                        (&*stored.body, stored.own_unique_key()),
                        (body.as_bytes(), Some(&*sent.message_id))
                    );
                }
                Ok(Err(error)) if !error.may_have_been_stored() => {
                    assert!(!copies.contains_key(body.as_bytes()), "seed {seed}: {body} is stored: {error}");
                    assert!(!matches!(error, Error::Message(_)));
                }
                _ => {}
            }
        }
        outcome.assert_acknowledged_is_stored();
    }
}
