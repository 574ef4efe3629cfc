//! Delay levels, timers and recalls: the model's rules, and what comes of them through the real client.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::time::Duration;

use rmq_driver::{DelayLevel, Error, Message, Producer, ResponseCode};
use rmq_proto::code::RequestCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::{RecallMessageHeader, RecallResponseHeader, SendResponseHeader};
use rmq_proto::properties::{DELAY, REAL_QID, REAL_TOPIC, TIMER_DELAY_MS, UNIQ_KEY};
use rmq_proto::recall::RecallHandle;
use rmq_sim::World;
use rmq_sim::model::{Cluster, PeerConn, Profile, StoredMessage, TopicConfig};
use rmq_sim::world::Sim;
use support::{NOW, ask, broker, config, send_header, send_request, with_opaque};

const LEVELS: &str = "SCHEDULE_TOPIC_XXXX";
const TIMERS: &str = "rmq_sys_wheel_timer";
const SECOND: Duration = Duration::from_secs(1);

/// A cluster of one broker with the topic `Known`.
fn cluster_of(profile: Profile) -> (Cluster, PeerConn) {
    let mut cluster = Cluster::new(config(profile));
    cluster.create_topic(&TopicConfig::new("Known", 4));
    let conn = broker(&mut cluster, 0);
    (cluster, conn)
}

/// The answer to a send to queue 3 with these properties besides its key.
fn send(cluster: &mut Cluster, conn: PeerConn, key: &str, properties: &str) -> RemotingCommand {
    let mut header = send_header("Known");
    header.queue_id = 3;
    header.properties = Some(format!("UNIQ_KEY\u{1}{key}\u{2}{properties}").into());
    ask(cluster, conn, &send_request(&header, "x")).only()
}

fn handle_of(answer: &RemotingCommand) -> Option<String> {
    let header: SendResponseHeader<'_> = answer.header().unwrap();
    header.recall_handle.map(|handle| handle.into_owned())
}

fn last(cluster: &Cluster) -> &StoredMessage {
    cluster.brokers()[0].store().iter().next_back().unwrap()
}

fn recall(cluster: &mut Cluster, conn: PeerConn, topic: &str, handle: &str) -> RemotingCommand {
    let header = RecallMessageHeader {
        producer_group: Some("g".into()),
        topic: topic.to_owned().into(),
        recall_handle: handle.to_owned().into(),
        broker_name: Some("broker-a".into()),
    };
    let request = RemotingCommand::request(RequestCode::RECALL_MESSAGE).with_ext(&header);
    ask(cluster, conn, &with_opaque(request, 21)).only()
}

/// wire §5.1, §6.4: where it waits, what the answer says, and where it is delivered.
#[test]
fn a_send_with_a_level_waits_and_is_delivered() {
    for profile in Profile::ALL {
        for (level, queue, seconds) in [("1", 0, 1), ("18", 17, 7_200), ("19", 17, 7_200), ("99", 17, 7_200)]
        {
            let (mut cluster, conn) = cluster_of(profile);
            let answer = send(&mut cluster, conn, "K", &format!("DELAY\u{1}{level}\u{2}"));
            let header: SendResponseHeader<'_> = answer.header().unwrap();
            assert_eq!((answer.code, header.queue_id, header.queue_offset), (0, 3, 0), "{profile}");
            assert_eq!(header.recall_handle, None, "levels cannot be recalled");
            let waiting = last(&cluster);
            assert!(waiting.is_waiting());
            assert_eq!((&*waiting.topic, waiting.queue_id), (LEVELS, queue), "{profile}: {level}");
            let due = NOW + seconds * 1_000;
            assert_eq!(cluster.next_delivery(), Some(due));
            cluster.advance(due - 1);
            assert!(last(&cluster).is_waiting());
            cluster.advance(due);
            let delivered = last(&cluster);
            assert_eq!((&*delivered.topic, delivered.queue_id, delivered.queue_offset), ("Known", 3, 0));
            for (name, value) in [(DELAY, level), (REAL_TOPIC, "Known"), (REAL_QID, "3"), (UNIQ_KEY, "K")] {
                assert_eq!(delivered.property(name), Some(value), "{profile}: {name}");
            }
        }
        let (mut cluster, conn) = cluster_of(profile);
        for level in ["0", "-1", "x"] {
            assert_eq!(send(&mut cluster, conn, "K", &format!("DELAY\u{1}{level}\u{2}")).code, 0);
            assert_eq!(&*last(&cluster).topic, "Known", "{profile}: {level}");
        }
    }
}

/// producer §10.2: whole seconds, and which of several counts.
#[test]
fn a_timer_on_5_3_waits_until_its_second() {
    let at = |millis: u64| format!("TIMER_DELIVER_MS\u{1}{}\u{2}", NOW + millis);
    let rows = [
        ("TIMER_DELAY_SEC\u{1}2\u{2}".to_owned(), Some(2_000)),
        ("TIMER_DELAY_MS\u{1}3000\u{2}".to_owned(), Some(3_000)),
        ("TIMER_DELAY_MS\u{1}3999\u{2}".to_owned(), Some(3_000)),
        (at(4_500), Some(4_000)),
        (at(0), None),
        ("TIMER_DELIVER_MS\u{1}1\u{2}".to_owned(), None),
        ("TIMER_DELAY_MS\u{1}0\u{2}".to_owned(), None),
        (at(9_000) + "TIMER_DELAY_MS\u{1}5000\u{2}", Some(5_000)),
        (at(9_000) + "TIMER_DELAY_MS\u{1}5000\u{2}TIMER_DELAY_SEC\u{1}7\u{2}", Some(7_000)),
    ];
    for (properties, delay) in rows {
        let (mut cluster, conn) = cluster_of(Profile::V5_3);
        let answer = send(&mut cluster, conn, "K", &properties);
        assert_eq!(answer.code, 0);
        let due = delay.map(|delay| NOW + delay);
        assert_eq!(cluster.next_delivery(), due, "{properties}");
        let handle = handle_of(&answer).map(|text| RecallHandle::decode(&text).unwrap());
        let expected = due.map(|due| RecallHandle {
            topic: "Known".into(),
            broker_name: "broker-a".into(),
            timestamp: due as i64,
            unique_key: "K".into(),
        });
        assert_eq!(handle, expected, "{properties}");
        let Some(due) = due else {
            assert_eq!(&*last(&cluster).topic, "Known", "at once");
            continue;
        };
        let waiting = last(&cluster);
        assert!(waiting.is_waiting());
        assert_eq!((&*waiting.topic, waiting.queue_id), (TIMERS, 0));
        cluster.advance(due - 1);
        assert!(last(&cluster).is_waiting());
        cluster.advance(due);
        let delivered = last(&cluster);
        assert_eq!((&*delivered.topic, delivered.queue_id), ("Known", 3));
        assert_eq!((delivered.property(REAL_TOPIC), delivered.unique_key()), (Some("Known"), Some("K")));
    }
}

/// Seen on 5.3: the most is three days.
#[test]
fn a_timer_on_5_3_is_refused_beyond_three_days() {
    const MOST: u64 = 259_200_000;
    for (millis, code) in [(MOST, 0), (MOST + 1, 13), (30 * 86_400_000, 13), (i64::MAX as u64, 13)] {
        let (mut cluster, conn) = cluster_of(Profile::V5_3);
        let answer = send(&mut cluster, conn, "K", &format!("TIMER_DELAY_MS\u{1}{millis}\u{2}"));
        assert_eq!(answer.code, code, "{millis}");
        assert_eq!(cluster.stored().count(), usize::from(code == 0));
        if code != 0 {
            let remark = answer.remark.unwrap();
            assert!(remark.starts_with(
                "timer message illegal, the delay time should not be bigger than the max delay 259200000ms"
            ));
        }
    }
    let (mut cluster, conn) = cluster_of(Profile::V5_3);
    assert_eq!(send(&mut cluster, conn, "K", "TIMER_DELAY_SEC\u{1}soon\u{2}").code, 13);
}

/// Seen on 4.9: it does not look at the properties, and keeps them.
#[test]
fn a_timer_on_4_9_is_delivered_at_once() {
    for millis in ["2000", "2592000000", "soon"] {
        let (mut cluster, conn) = cluster_of(Profile::V4_9);
        let answer = send(&mut cluster, conn, "K", &format!("TIMER_DELAY_MS\u{1}{millis}\u{2}"));
        assert_eq!((answer.code, handle_of(&answer)), (0, None));
        let stored = last(&cluster);
        assert_eq!((&*stored.topic, stored.property(TIMER_DELAY_MS)), ("Known", Some(millis)));
        assert_eq!(cluster.next_delivery(), None);
    }
}

/// Seen on 5.3: what is recalled is never delivered, and can be recalled again. Others are.
#[test]
fn a_recalled_message_is_never_delivered() {
    let (mut cluster, conn) = cluster_of(Profile::V5_3);
    let timer = "TIMER_DELAY_SEC\u{1}5\u{2}";
    let handle = handle_of(&send(&mut cluster, conn, "K1", timer)).unwrap();
    send(&mut cluster, conn, "K2", timer);
    send(&mut cluster, conn, "K1", "DELAY\u{1}2\u{2}");
    for _ in 0..2 {
        let answer = recall(&mut cluster, conn, "Known", &handle);
        assert_eq!(answer.code, 0);
        assert_eq!(answer.header::<RecallResponseHeader<'_>>().unwrap().message_id, "K1");
    }
    cluster.advance(NOW + 60_000);
    assert_eq!(cluster.next_delivery(), None);
    let delivered = cluster.stored().filter(|message| &*message.topic == "Known");
    let delivered: Vec<_> =
        delivered.map(|message| (message.unique_key(), message.property(DELAY))).collect();
    assert_eq!(delivered, [(Some("K2"), None), (Some("K1"), Some("2"))]);
}

/// wire §5.19: codes 604 and 17; a release without recalls does not know the request.
#[test]
fn recalls_that_are_refused() {
    let handle = |topic: &str, broker: &str, timestamp: u64| {
        let (topic, broker_name, timestamp) = (topic.to_owned(), broker.to_owned(), timestamp as i64);
        RecallHandle { topic, broker_name, timestamp, unique_key: "K".into() }.encode().unwrap()
    };
    let good = handle("Known", "broker-a", NOW + 1);
    let rows = [
        ("Known", good.clone(), ResponseCode::SUCCESS),
        ("Unknown", good.clone(), ResponseCode::TOPIC_NOT_EXIST),
        ("Known", "no handle".to_owned(), ResponseCode::ILLEGAL_OPERATION),
        ("Known", handle("Other", "broker-a", NOW + 1), ResponseCode::ILLEGAL_OPERATION),
        ("Known", handle("Known", "broker-b", NOW + 1), ResponseCode::ILLEGAL_OPERATION),
        ("Known", handle("Known", "broker-a", NOW), ResponseCode::ILLEGAL_OPERATION),
    ];
    for (topic, handle, code) in rows {
        let (mut cluster, conn) = cluster_of(Profile::V5_3);
        let answer = recall(&mut cluster, conn, topic, &handle);
        assert_eq!(ResponseCode(answer.code), code, "{topic} {:?}", answer.remark);
    }
    let (mut cluster, conn) = cluster_of(Profile::V4_9);
    let answer = recall(&mut cluster, conn, "Known", &good);
    assert_eq!(ResponseCode(answer.code), ResponseCode::REQUEST_CODE_NOT_SUPPORTED);
}

/// A world of one broker with the topic `orders`, and what came of the user's code there: for each body that was delivered,
/// when it was, in milliseconds from the beginning.
async fn deliveries(world: &World, sim: &Sim, wait: Duration) -> Vec<(String, u64)> {
    sim.sleep(wait).await;
    world.network(|network| {
        let began = network.unix_ms() - network.now().as_micros() / 1_000;
        let stored = network.cluster().stored().filter(|message| &*message.topic == "orders");
        let when = |message: &StoredMessage| message.store_timestamp as u64 - began;
        stored.map(|m| (String::from_utf8(m.plain_body().to_vec()).unwrap(), when(m))).collect()
    })
}

fn world_of(profile: Profile) -> World {
    World::builder(3).profile(profile).topic("orders", 4).build()
}

async fn say(producer: &Producer, message: Message) -> Option<String> {
    producer.send(message).await.unwrap().recall_handle
}

#[test]
fn delays_through_the_client() {
    for profile in Profile::ALL {
        let world = world_of(profile);
        let sim = world.runtime();
        let began = world.unix_ms();
        let outcome = world.run(async |client| {
            let producer = client.producer("group").unwrap();
            let level = DelayLevel::try_from(3).unwrap();
            let by_level = say(&producer, Message::new("orders", "level").delay_level(level)).await;
            let after = say(&producer, Message::new("orders", "after").deliver_after(5 * SECOND)).await;
            let at = say(&producer, Message::new("orders", "at").deliver_at(began + 8_000)).await;
            assert_eq!(by_level, None);
            let has_handles = profile == Profile::V5_3;
            assert_eq!((after.is_some(), at.is_some()), (has_handles, has_handles), "{profile}");
            deliveries(&world, &sim, 30 * SECOND).await
        });
        let mut delivered = outcome.value;
        delivered.sort();
        let [(_, after), (_, at), (_, level)] = &*delivered else { panic!("{delivered:?}") };
        assert!((10_000..10_500).contains(level), "{profile}: {delivered:?}");
        let timers = match profile {
            Profile::V4_9 => [0..1_000, 0..1_000],
            Profile::V5_3 => [4_000..5_100, 7_000..8_100],
        };
        assert!(timers[0].contains(after) && timers[1].contains(at), "{profile}: {delivered:?}");
    }
}

#[test]
fn a_delay_that_is_too_long_is_refused_on_5_3_alone() {
    for profile in Profile::ALL {
        let outcome = world_of(profile).run(async |client| {
            let producer = client.producer("group").unwrap();
            producer.send(Message::new("orders", "x").deliver_after(30 * 86_400 * SECOND)).await
        });
        match (profile, outcome.value) {
            (Profile::V4_9, Ok(sent)) => assert_eq!(sent.recall_handle, None),
            (Profile::V5_3, Err(Error::Send(error))) => {
                assert_eq!(error.code(), Some(ResponseCode::MESSAGE_ILLEGAL));
                assert!(error.to_string().contains("max delay 259200000ms"), "{error}");
            }
            (profile, other) => panic!("{profile}: {other:?}"),
        }
    }
}

#[test]
fn recalls_through_the_client() {
    let world = world_of(Profile::V5_3);
    let sim = world.runtime();
    let outcome = world.run(async |client| {
        let producer = client.producer("group").unwrap();
        let kept = Message::new("orders", "kept").deliver_after(5 * SECOND);
        let sent = producer.send(Message::new("orders", "recalled").deliver_after(5 * SECOND)).await.unwrap();
        let late = producer.send(kept).await.unwrap().recall_handle.unwrap();
        let handle = sent.recall_handle.unwrap();
        for _ in 0..2 {
            assert_eq!(producer.recall("orders", &*handle).await, Ok(sent.message_id.clone()));
        }
        let delivered = deliveries(&world, &sim, 10 * SECOND).await;
        let Err(Error::Recall(error)) = producer.recall("orders", late).await else {
            panic!("it is delivered")
        };
        assert_eq!(error.code(), Some(ResponseCode::ILLEGAL_OPERATION));
        let invalid = producer.recall("orders", "no handle").await;
        assert!(matches!(invalid, Err(Error::RecallInvalid(_))), "{invalid:?}");
        client.shutdown().await.unwrap();
        delivered
    });
    let bodies: Vec<_> = outcome.value.into_iter().map(|(body, _)| body).collect();
    assert_eq!(bodies, ["kept"]);

    let outcome = world_of(Profile::V4_9).run(async |client| {
        let handle = RecallHandle {
            topic: "orders".into(),
            broker_name: "broker-a".into(),
            timestamp: i64::MAX,
            unique_key: "K".into(),
        };
        client.producer("group").unwrap().recall("orders", handle.encode().unwrap()).await
    });
    let Err(Error::Recall(error)) = outcome.value else { panic!("4.9 cannot recall") };
    assert_eq!(error.code(), Some(ResponseCode::REQUEST_CODE_NOT_SUPPORTED));
    assert!(!error.is_retryable());
}

/// What a consumer reads of a long body is what was sent, and what a user acknowledges by its body is found.
#[test]
fn a_compressed_message_is_stored_as_it_was_compressed() {
    for profile in Profile::ALL {
        let world = world_of(profile);
        let body = "all work and no play ".repeat(1_000);
        let outcome = world.run(async |client| {
            let producer = client.producer("group").unwrap();
            producer.send(Message::new("orders", body.clone())).await.unwrap();
            world.acknowledge_body(body.clone());
        });
        outcome.assert_acknowledged_is_stored();
        let stored = outcome.stored().next().unwrap();
        assert_eq!(stored.sys_flag & 0x701, 0x301, "{profile}");
        assert!(stored.body.len() < 2_000);
        let mut record = stored.record();
        assert!(record.crc_matches(), "of the compressed body");
        record.inflate(1 << 20).unwrap();
        assert_eq!(record.body, body);
        assert_eq!(stored.plain_body(), body);
    }
}
