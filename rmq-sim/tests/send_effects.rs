//! What sends leave behind: ext fields, offsets, properties, topics.

mod support;

use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::header::SendMessageHeader;
use rmq_sim::model::{Cluster, ClusterConfig, Profile, TopicConfig};
use support::{ask, ask_in, broker, config, ext_names, send_header, send_request};

fn cluster(profile: Profile) -> Cluster {
    let mut cluster = Cluster::new(config(profile));
    cluster.create_topic(&TopicConfig::new("Known", 4));
    cluster
}

/// wire §5.1: success has all fields, `transactionId` only from 5.3.3; refusals have region and trace switch;
/// exceptions nothing (wire §2.3).
#[test]
fn ext_fields_of_each_kind_of_answer() {
    let success = ["MSG_REGION", "TRACE_ON", "msgId", "queueId", "queueOffset", "transactionId"];
    for profile in Profile::ALL {
        let mut cluster = cluster(profile);
        let conn = broker(&mut cluster, 0);
        let answer = ask(&mut cluster, conn, &send_request(&send_header("Known"), "x")).only();
        let expected = if profile == Profile::V4_9 { &success[..5] } else { &success[..] };
        assert_eq!(ext_names(&answer), expected, "{profile}");
        let answer = ask(&mut cluster, conn, &send_request(&send_header("T$"), "x")).only();
        assert_eq!(ext_names(&answer), ["MSG_REGION", "TRACE_ON"], "{profile}");
        let mut broken = send_request(&send_header("Known"), "x");
        broken.ext.insert("e", "zz");
        let answer = ask(&mut cluster, conn, &broken).only();
        assert_eq!(answer.code, ResponseCode::SYSTEM_ERROR.0, "{profile}");
        assert!(answer.ext.is_absent(), "{profile}");
    }
}

/// wire §5.1: long and short names mean the same.
#[test]
fn both_headers_store_the_same() {
    let v2 = send_header("Known");
    let v1 = SendMessageHeader {
        producer_group: v2.producer_group.clone(),
        topic: v2.topic.clone(),
        default_topic: v2.default_topic.clone(),
        default_topic_queue_nums: v2.default_topic_queue_nums,
        queue_id: v2.queue_id,
        sys_flag: v2.sys_flag,
        born_timestamp: v2.born_timestamp,
        flag: v2.flag,
        properties: v2.properties.clone(),
        reconsume_times: v2.reconsume_times,
        unit_mode: v2.unit_mode,
        max_reconsume_times: v2.max_reconsume_times,
        batch: v2.batch,
        broker_name: v2.broker_name.clone(),
    };
    let long = RemotingCommand::request(RequestCode::SEND_MESSAGE).with_ext(&v1).with_body("x".into());
    let stored = [send_request(&v2, "x"), long].map(|request| {
        let mut cluster = cluster(Profile::V5_3);
        let conn = broker(&mut cluster, 0);
        assert_eq!(ask(&mut cluster, conn, &request).only().code, 0);
        cluster.stored().next().unwrap().clone()
    });
    assert_eq!(stored[0], stored[1]);
    assert_eq!(stored[0].born_timestamp, 1_699_999_999_999);
}

/// wire §6.1, §6.5: the commit log grows by whole records; queue offsets count within a queue. The lengths are those of
/// real records with the same properties (seen on both).
#[test]
fn offsets_advance_by_real_records() {
    let properties = "UNIQ_KEY\u{1}AA\u{2}";
    for (profile, len) in [(Profile::V4_9, 128), (Profile::V5_3, 168)] {
        let mut cluster = Cluster::new(config(profile));
        let conn = broker(&mut cluster, 0);
        for (queue_id, queue_offset, commit_log_offset) in [(0, 0, 0), (0, 1, len), (1, 0, 2 * len)] {
            let mut header = send_header("T1");
            (header.queue_id, header.properties) = (queue_id, Some(properties.into()));
            let answer = ask(&mut cluster, conn, &send_request(&header, "x")).only();
            let value = |name| answer.ext.value(name).unwrap().into_owned();
            assert_eq!(value("queueId"), queue_id.to_string(), "{profile}");
            assert_eq!(value("queueOffset"), queue_offset.to_string(), "{profile}");
            assert_eq!(value("msgId"), format!("7F00000100002695{commit_log_offset:016X}"), "{profile}");
            let stored = cluster.brokers()[0].store().at("T1", queue_id, queue_offset).unwrap();
            assert_eq!(stored.offset_id().to_string(), value("msgId"), "{profile}");
            assert_eq!(stored.record_len(), len, "{profile}");
        }
    }
}

/// wire §5.1, §6.4, §10 rows 8 and 37: what each release stores of these properties (lengths seen on both).
#[test]
fn stored_properties() {
    let rows = [
        ("none", "", ("CLUSTER", "DefaultCluster"), [22, 104]),
        ("WAIT", "UNIQ_KEY\u{1}AA\u{2}WAIT\u{1}true\u{2}", ("UNIQ_KEY", "AA"), [34, 84]),
        ("last wins", "UNIQ_KEY\u{1}AA\u{2}a\u{1}b\u{2}a\u{1}c\u{2}x\u{2}", ("a", "c"), [38, 78]),
        ("POP_CK", "UNIQ_KEY\u{1}AA\u{2}POP_CK\u{1}33\u{2}a\u{1}c", ("a", "c"), [48, 78]),
    ];
    for (case, text, (name, value), lens) in rows {
        for (profile, len) in Profile::ALL.into_iter().zip(lens) {
            let mut cluster = cluster(profile);
            let conn = broker(&mut cluster, 0);
            let mut header = send_header("Known");
            header.properties = Some(text.into());
            ask(&mut cluster, conn, &send_request(&header, "x")).only();
            let stored = cluster.stored().next().unwrap();
            assert_eq!(stored.properties.len(), len, "{case}, {profile}: {:?}", stored.properties);
            assert_eq!(stored.property(name), Some(value), "{case}, {profile}");
            let v5 = profile == Profile::V5_3;
            assert_eq!(stored.property("TRACE_ON"), v5.then_some("true"), "{case}, {profile}");
            assert_eq!(stored.properties.ends_with('\u{2}'), v5, "{case}, {profile}");
        }
    }
}

/// wire §5.1, §2.5: at most as many queues as asked for, and as TBW102 has; read and write, not inherit.
#[test]
fn created_topics() {
    for (asked, queues) in [(1, 1), (4, 4), (8, 8), (16, 8), (-3, 0)] {
        let mut cluster = Cluster::new(config(Profile::V5_3));
        let conn = broker(&mut cluster, 0);
        let mut header = send_header("New");
        header.default_topic_queue_nums = asked;
        ask(&mut cluster, conn, &send_request(&header, "x"));
        let expected = TopicConfig::new("New", queues);
        assert_eq!(cluster.brokers()[0].topic("New"), Some(&expected), "{asked}");
        let route = cluster.routes().route("New").unwrap();
        assert_eq!(
            (route.queue_datas[0].write_queue_nums, route.queue_datas[0].perm),
            (queues, 6),
            "{asked}"
        );
    }
}

/// wire §5.1: without auto-create, code 17, and no TBW102 (seen on both); retry topics have one queue (wire §7.2).
#[test]
fn without_auto_create() {
    for profile in Profile::ALL {
        let mut cluster = Cluster::new(ClusterConfig { auto_create: false, ..config(profile) });
        let conn = broker(&mut cluster, 0);
        for (topic, code) in [("New", 17), ("TBW102", 17), ("%DLQ%g", 17), ("%RETRY%g", 0)] {
            let answer = ask(&mut cluster, conn, &send_request(&send_header(topic), "x")).only();
            assert_eq!(answer.code, code, "{topic}, {profile}");
        }
        assert_eq!(cluster.brokers()[0].topic("%RETRY%g"), Some(&TopicConfig::new("%RETRY%g", 1)));
        assert!(cluster.routes().route("TBW102").is_none(), "{profile}");
    }
}

/// wire §5.1: the model's choice for negative queues goes round, so it is the same each time.
#[test]
fn negative_queues_go_round() {
    let mut cluster = cluster(Profile::V5_3);
    let conn = broker(&mut cluster, 0);
    let mut header = send_header("Known");
    header.queue_id = -1;
    let mut next = || {
        ask(&mut cluster, conn, &send_request(&header, "x")).only().ext.value("queueId").unwrap().into_owned()
    };
    assert_eq!([next(), next(), next(), next(), next()], ["0", "1", "2", "3", "0"]);
}

/// wire §3.3: 4.9.7 answers in the request's format unless an exception made the answer, 5.3.3 always in JSON.
#[test]
fn header_format_of_answers() {
    let mut exception = send_request(&send_header("Known"), "x");
    exception.ext.insert("g", "?");
    for (request, formats) in [
        (send_request(&send_header("Known"), "x"), [HeaderFormat::RocketMq, HeaderFormat::Json]),
        (send_request(&send_header("T$"), "x"), [HeaderFormat::RocketMq, HeaderFormat::Json]),
        (RemotingCommand::request(999), [HeaderFormat::RocketMq, HeaderFormat::Json]),
        (exception, [HeaderFormat::Json, HeaderFormat::Json]),
    ] {
        for (profile, format) in Profile::ALL.into_iter().zip(formats) {
            let mut cluster = cluster(profile);
            let conn = broker(&mut cluster, 0);
            let talk = ask_in(&mut cluster, conn, HeaderFormat::RocketMq, &request);
            assert_eq!(talk.formats, [format], "{profile}: {request:?}");
        }
    }
}

/// Only the newest messages are kept, by number and by size; offsets go on.
#[test]
fn retention() {
    for limits in [(3, usize::MAX), (usize::MAX, 3 * 168)] {
        let (retain, retain_bytes) = limits;
        let mut cluster = Cluster::new(ClusterConfig { retain, retain_bytes, ..config(Profile::V5_3) });
        let conn = broker(&mut cluster, 0);
        for n in 0..5 {
            let mut header = send_header("T1");
            header.properties = Some(format!("UNIQ_KEY\u{1}K{n}\u{2}").into());
            ask(&mut cluster, conn, &send_request(&header, "x")).only();
        }
        let store = cluster.brokers()[0].store();
        assert_eq!((store.iter().len(), store.total()), (3, 5), "{limits:?}");
        let offsets: Vec<_> = store.iter().map(|message| message.queue_offset).collect();
        assert_eq!(offsets, [2, 3, 4], "{limits:?}");
        assert!(store.at("T1", 0, 1).is_none() && store.by_unique_key("K1").is_none(), "{limits:?}");
        assert_eq!(store.at("T1", 0, 2), store.by_unique_key("K2"), "{limits:?}");
        assert!(store.at("T1", 0, 5).is_none() && store.at("T1", 0, -1).is_none(), "{limits:?}");
    }
}

/// A client that sends again stores again; each copy can be found while it is kept.
#[test]
fn copies_of_a_message() {
    let mut cluster = Cluster::new(ClusterConfig { retain: 4, brokers: 2, ..config(Profile::V5_3) });
    let (first, second) = (broker(&mut cluster, 0), broker(&mut cluster, 1));
    let mut send = |conn, key: &str, queue_id| {
        let mut header = send_header("T1");
        (header.queue_id, header.properties) = (queue_id, Some(format!("UNIQ_KEY\u{1}{key}\u{2}").into()));
        ask(&mut cluster, conn, &send_request(&header, "x")).only();
        let store = cluster.broker("broker-a").unwrap().store();
        let places = |key| -> Vec<_> {
            store.all_by_unique_key(key).map(|message| (message.queue_id, message.queue_offset)).collect()
        };
        for key in ["A", "B", "C", "none"] {
            assert_eq!(store.copies(key), places(key).len());
            let newest = store.by_unique_key(key).map(|newest| (newest.queue_id, newest.queue_offset));
            assert_eq!(newest, places(key).last().copied());
        }
        [places("A"), places("B")]
    };
    assert_eq!(send(first, "A", 0), [vec![(0, 0)], vec![]]);
    assert_eq!(send(first, "B", 0), [vec![(0, 0)], vec![(0, 1)]]);
    assert_eq!(send(first, "A", 1), [vec![(0, 0), (1, 0)], vec![(0, 1)]]);
    assert_eq!(send(first, "A", 1), [vec![(0, 0), (1, 0), (1, 1)], vec![(0, 1)]]);
    assert_eq!(send(second, "A", 1), [vec![(0, 0), (1, 0), (1, 1)], vec![(0, 1)]]);
    assert_eq!(send(first, "C", 0), [vec![(1, 0), (1, 1)], vec![(0, 1)]]);
    assert_eq!(send(first, "C", 0), [vec![(1, 0), (1, 1)], vec![]]);
    assert_eq!(send(first, "C", 0), [vec![(1, 1)], vec![]]);
    assert_eq!(send(first, "C", 0), [vec![], vec![]]);
    assert_eq!(cluster.broker("broker-b").unwrap().store().copies("A"), 1);
    assert!(cluster.broker("broker-c").is_none());
}

#[test]
fn sequences_find_messages() {
    let mut cluster = Cluster::new(ClusterConfig { retain: 2, brokers: 2, ..config(Profile::V5_3) });
    let conns = [broker(&mut cluster, 0), broker(&mut cluster, 1)];
    for place in [0, 1, 0, 1, 0] {
        ask(&mut cluster, conns[place], &send_request(&send_header("T1"), "x")).only();
    }
    let found = [0, 1].map(|broker| -> Vec<_> {
        let store = cluster.brokers()[broker].store();
        (0..6)
            .filter(|&sequence| store.by_sequence(sequence).is_some_and(|it| it.sequence == sequence))
            .collect()
    });
    assert_eq!(found, [vec![2, 4], vec![1, 3]]);
}

/// An administrator changes one broker's topic; the route has each broker's settings.
#[test]
fn topics_of_one_broker() {
    let mut cluster = Cluster::new(ClusterConfig { brokers: 2, ..config(Profile::V5_3) });
    cluster.create_topic(&TopicConfig::new("T1", 4));
    cluster.create_topic_on(1, &TopicConfig { perm: 4, ..TopicConfig::new("T1", 2) });
    cluster.create_topic_on(1, &TopicConfig::new("T2", 1));
    let queues = |topic| -> Vec<_> {
        let route = cluster.routes().route(topic).unwrap();
        let queues = route.queue_datas.into_iter();
        queues.map(|of| (of.broker_name, of.write_queue_nums, of.perm)).collect()
    };
    assert_eq!(queues("T1"), [("broker-a".to_owned(), 4, 6), ("broker-b".to_owned(), 2, 4)]);
    assert_eq!(queues("T2"), [("broker-b".to_owned(), 1, 6)]);
    let conn = broker(&mut cluster, 1);
    let mut header = send_header("T1");
    for (queue_id, code) in [(1, ResponseCode::SUCCESS), (2, ResponseCode::INVALID_PARAMETER)] {
        header.queue_id = queue_id;
        let answer = ask(&mut cluster, conn, &send_request(&header, "x")).only();
        assert_eq!(ResponseCode(answer.code), code);
    }
}

#[test]
#[should_panic(expected = "out of bounds")]
fn a_topic_on_a_broker_that_is_not_there() {
    Cluster::new(config(Profile::V5_3)).create_topic_on(1, &TopicConfig::new("T1", 1));
}
