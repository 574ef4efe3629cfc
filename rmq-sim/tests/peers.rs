//! Everything but sends: routes, heartbeats, unregistering, unknown codes, bad bytes and chunks.

mod support;

use bytes::Bytes;
use rmq_proto::body::TopicRouteData;
use rmq_proto::code::RequestCode;
use rmq_proto::command::{HeaderFormat, Language, RemotingCommand};
use rmq_proto::header::UnregisterHeader;
use rmq_sim::model::{Cluster, ClusterConfig, ModelEvent, Profile, Role, TopicConfig};
use support::{
    NOW, ask, broker, config, drain, encoded, ext_names, name_server, oneway, route_request, say,
    send_header, send_request,
};

const HEARTBEAT: &str = r#"{"clientID":"10.0.0.1@7","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"eaters","messageModel":"CLUSTERING","subscriptionDataSet":[],"unitMode":false}],"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"CLIENT_INNER_PRODUCER"},{"groupName":"makers"}],"withoutSub":false}"#;

fn heartbeat() -> RemotingCommand {
    RemotingCommand::request(RequestCode::HEART_BEAT).with_ext(&()).with_body(HEARTBEAT.into())
}

/// wire §5.2, §2.5: the two releases' routes, byte for byte as seen.
#[test]
fn route_of_the_default_topic() {
    let queues = r#""filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":7,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}"#;
    for (profile, acting) in [(Profile::V4_9, ""), (Profile::V5_3, r#","enableActingMaster":false"#)] {
        let mut cluster = Cluster::new(config(profile));
        let conn = name_server(&mut cluster);
        let answer = ask(&mut cluster, conn, &route_request("TBW102")).only();
        let broker =
            r#"{"brokerAddrs":{"0":"127.0.0.1:9877"},"brokerName":"broker-a","cluster":"DefaultCluster""#;
        assert_eq!(answer.body, format!(r#"{{"brokerDatas":[{broker}{acting}}}],{queues}"#), "{profile}");
        assert!(answer.ext.is_absent() && answer.remark.is_none(), "{profile}");
        let version = if profile == Profile::V4_9 { 407 } else { 479 };
        let head = (answer.code, answer.flag, answer.opaque, answer.language, answer.version);
        assert_eq!(head, (0, 1, 7, Some(Language::JAVA), version), "{profile}");
    }
}

/// wire §5.2: the words of "no route", with the line break; a request without topic (seen on both).
#[test]
fn no_route() {
    let faqs =
        ["http://rocketmq.apache.org/docs/faq/", "https://rocketmq.apache.org/docs/bestPractice/06FAQ"];
    let no_topic = RemotingCommand::request(RequestCode::GET_ROUTEINFO_BY_TOPIC);
    for (profile, faq) in Profile::ALL.into_iter().zip(faqs) {
        for (request, topic) in [(route_request("nix"), "nix"), (no_topic.clone(), "null")] {
            let mut cluster = Cluster::new(config(profile));
            let conn = name_server(&mut cluster);
            let answer = ask(&mut cluster, conn, &request).only();
            let remark = format!(
                "No topic route info in name server for the topic: {topic}\nSee {faq} for further details."
            );
            assert_eq!((answer.code, answer.remark), (17, Some(remark)), "{profile}");
            assert!(answer.ext.is_absent() && answer.body.is_empty(), "{profile}");
        }
    }
}

/// wire §5.1, §5.2: a topic is created on the broker that was sent to, and routed there at once.
#[test]
fn a_new_topic_is_on_one_broker() {
    let mut cluster = Cluster::new(ClusterConfig { brokers: 3, ..ClusterConfig::default() });
    let ns = name_server(&mut cluster);
    let conn = broker(&mut cluster, 1);
    ask(&mut cluster, conn, &send_request(&send_header("New"), "x")).only();
    let answer = ask(&mut cluster, ns, &route_request("New")).only();
    let route = TopicRouteData::decode(&answer.body).unwrap();
    let names: Vec<_> = route.queue_datas.iter().map(|queues| queues.broker_name.as_str()).collect();
    assert_eq!(names, ["broker-b"]);
    assert_eq!(route.broker_datas[0].addresses[&0], "127.0.0.1:9878");
    cluster.create_topic(&TopicConfig::new("Everywhere", 2));
    assert_eq!(cluster.routes().route("Everywhere").unwrap().queue_datas.len(), 3);
}

/// wire §1.4: unknown codes are refused; 4.9.7's name server stays silent (seen).
#[test]
fn unknown_codes() {
    for profile in Profile::ALL {
        for code in [999, 21, 22, -5] {
            let mut cluster = Cluster::new(config(profile));
            let (ns, conn) = (name_server(&mut cluster), broker(&mut cluster, 0));
            let request = RemotingCommand::request(code);
            let mut answers = ask(&mut cluster, conn, &request).answers;
            let of_name_server = ask(&mut cluster, ns, &request).answers;
            assert_eq!(of_name_server.len(), usize::from(profile == Profile::V5_3), "{code}, {profile}");
            answers.extend(of_name_server);
            for answer in answers {
                assert_eq!(answer.code, 3, "{code}, {profile}");
                assert_eq!(answer.remark, Some(format!(" request type {code} not supported")), "{profile}");
                assert!(answer.ext.is_absent(), "{code}, {profile}");
            }
            assert_eq!(ask(&mut cluster, conn, &oneway(request)).answers, [], "{code}, {profile}");
        }
    }
}

/// wire §1.4: an answer that nobody waits for is dropped.
#[test]
fn answers_are_dropped() {
    let mut cluster = Cluster::new(ClusterConfig::default());
    let conn = broker(&mut cluster, 0);
    let mut answer = heartbeat();
    answer.flag = 1;
    let talk = ask(&mut cluster, conn, &answer);
    assert_eq!((talk.answers.len(), talk.closed), (0, false));
    assert_eq!(cluster.registrations().count(), 0);
}

/// wire §5.6, §5.7: groups come with heartbeats and go one by one, or with their connection.
#[test]
fn groups_come_and_go() {
    for profile in Profile::ALL {
        let mut cluster = Cluster::new(config(profile));
        let conn = broker(&mut cluster, 0);
        let answer = ask(&mut cluster, conn, &heartbeat()).only();
        let v5 = profile == Profile::V5_3;
        let expected: &[&str] = if v5 { &["IS_SUB_CHANGE", "IS_SUPPORT_HEART_BEAT_V2"] } else { &[] };
        assert_eq!((answer.code, answer.ext.is_absent()), (0, !v5), "{profile}");
        assert_eq!(ext_names(&answer), expected, "{profile}");
        assert_eq!(ask(&mut cluster, conn, &heartbeat()).only().code, 0, "{profile}");
        let groups = |cluster: &Cluster| -> Vec<_> {
            cluster.registrations().map(|known| (known.role, known.group.to_owned())).collect()
        };
        let [inner, makers, eaters] = [
            (Role::Producer, "CLIENT_INNER_PRODUCER".to_owned()),
            (Role::Producer, "makers".to_owned()),
            (Role::Consumer, "eaters".to_owned()),
        ];
        assert_eq!(groups(&cluster), [inner.clone(), makers, eaters.clone()], "{profile}");
        assert!(cluster.registrations().all(|known| known.client_id == "10.0.0.1@7"), "{profile}");
        assert_eq!(cluster.brokers()[0].topic("%RETRY%eaters"), Some(&TopicConfig::new("%RETRY%eaters", 1)));

        let unregister = UnregisterHeader {
            client_id: "10.0.0.1@7".into(),
            producer_group: Some("makers".into()),
            consumer_group: None,
        };
        let request = RemotingCommand::request(RequestCode::UNREGISTER_CLIENT).with_ext(&unregister);
        for _ in 0..2 {
            let answer = ask(&mut cluster, conn, &request).only();
            assert_eq!(
                (answer.code, answer.ext.is_absent(), answer.ext.is_empty()),
                (0, false, true),
                "{profile}"
            );
            assert_eq!(groups(&cluster), [inner.clone(), eaters.clone()], "{profile}");
        }
        cluster.disconnect(conn);
        assert_eq!(groups(&cluster), [], "{profile}");
    }
}

/// wire §2.3: a heartbeat that cannot be read is answered with 1, without ext fields (seen on both).
#[test]
fn unreadable_heartbeats() {
    for profile in Profile::ALL {
        for body in ["", "junk", "[]"] {
            let mut cluster = Cluster::new(config(profile));
            let conn = broker(&mut cluster, 0);
            let answer = ask(&mut cluster, conn, &heartbeat().with_body(body.into())).only();
            assert_eq!((answer.code, answer.ext.is_absent()), (1, true), "{body}, {profile}");
            assert_eq!(cluster.registrations().count(), 0, "{body}, {profile}");
        }
    }
}

/// wire §1.3: bad bytes close their connection and no other; the answers to what came before are still given.
#[test]
fn bad_bytes_close_one_connection() {
    let rows: [(&str, Vec<u8>); 6] = [
        ("negative length", vec![0x80, 0, 0, 0]),
        ("length over the limit", vec![1, 0, 0, 0]),
        ("length too short", vec![0, 0, 0, 3]),
        ("header longer than the frame", vec![0, 0, 0, 5, 0, 0, 0, 2]),
        ("unknown header format", vec![0, 0, 0, 4, 2, 0, 0, 0]),
        ("a header that is no object", b"\0\0\0\x06\0\0\0\x02[]".to_vec()),
    ];
    for (case, bad) in rows {
        let mut cluster = Cluster::new(ClusterConfig::default());
        let (conn, other) = (broker(&mut cluster, 0), broker(&mut cluster, 0));
        for conn in [conn, other] {
            ask(&mut cluster, conn, &heartbeat()).only();
        }
        let mut bytes = encoded(&heartbeat(), HeaderFormat::Json).to_vec();
        bytes.extend(bad);
        let talk = say(&mut cluster, conn, bytes);
        assert_eq!((talk.answers.len(), talk.closed), (1, true), "{case}");
        assert!(cluster.registrations().all(|known| known.conn == other), "{case}");
        let talk = ask(&mut cluster, conn, &heartbeat());
        assert_eq!((talk.answers.len(), talk.closed), (0, false), "{case}");
        ask(&mut cluster, other, &heartbeat()).only();
        let told = std::iter::from_fn(|| cluster.poll_event()).any(
            |event| matches!(event, ModelEvent::Disconnected { conn: of, fault: Some(_), .. } if of == conn),
        );
        assert!(told, "{case}");
    }
}

/// Any pieces give the same answers as the whole, byte for byte.
#[test]
fn pieces_make_no_difference() {
    let mut input = Vec::new();
    for request in [
        heartbeat(),
        send_request(&send_header("New"), "first"),
        send_request(&send_header("T$"), "second"),
        oneway(send_request(&send_header("New"), "third")),
        RemotingCommand::request(999),
        send_request(&send_header("New"), vec![b'x'; 9_000]),
    ] {
        for format in [HeaderFormat::Json, HeaderFormat::RocketMq] {
            input.extend(encoded(&request, format));
        }
    }
    for profile in Profile::ALL {
        let run = |piece: usize| {
            let mut cluster = Cluster::new(config(profile));
            let conn = broker(&mut cluster, 0);
            for bytes in input.chunks(piece) {
                cluster.receive(NOW, conn, Bytes::copy_from_slice(bytes));
            }
            let talk = drain(&mut cluster, conn);
            (talk, cluster.stored().cloned().collect::<Vec<_>>())
        };
        let whole = run(input.len());
        assert_eq!((whole.0.answers.len(), whole.1.len()), (10, 6), "{profile}");
        for piece in [1, 2, 3, 7, 64, 1_000, 4_096] {
            assert_eq!(run(piece), whole, "{piece}, {profile}");
        }
    }
}
