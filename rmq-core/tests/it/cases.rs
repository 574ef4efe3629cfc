//! Reports about other clients, as cases for this one.

use std::num::NonZeroU32;

use bytes::Bytes;
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::RemotingCommand;
use rmq_core::{CloseCause, Event, ProducerConfig, RequestError, SendErrorKind, SendOptions};

use crate::support::{Accept, Act, NAME_SERVER, Net, address_of, after, at, config, ms, route, stored};

fn bytes(hex: &str) -> Bytes {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// BUG-01: each malformed frame closes its connection with its own error, which names the number; what waited on it
/// fails with that error, others go on.
#[test]
fn bug_01_malformed_frames() {
    let rows = [
        ("a", "000000020000", "2"),
        ("b", "0000000402000000", "2"),
        ("c", "000000190100ffff000000000000000001000000010000000000000000", "65535"),
        ("d", "000000190100001500000000000000000100000001ffffffff00000000", "-1"),
        ("e", "0000001901000015000000000000000001000000017fffffff00000000", "2147483647"),
        ("f", "0000001901000015000000000000000001000000010000000000000040", "64"),
        ("g", "0000001f0100001b000000000000000001000000010000000000000006ffff61626364", "-1"),
        ("h", "0100000100", "16777217"),
    ];
    for (row, hex, number) in rows {
        let producer = ProducerConfig::new("PG").attempts(NonZeroU32::MIN);
        let mut net = Net::with(config().build().unwrap(), producer);
        net.routes.insert("A".into(), route(&[("a", 1)]));
        net.routes.insert("B".into(), route(&[("b", 1)]));
        net.broker("a").sends = [Act::Silent, Act::Bytes(bytes(hex))].into();
        net.broker("b").always = Some(after(10, Act::Stored(ResponseCode::SUCCESS)));
        let waiting = net.send("A", SendOptions::default());
        net.run(ms(0));
        let other = net.send("B", SendOptions::default());
        let hit = net.send("A", SendOptions::default());
        net.run(ms(20));
        for op in [waiting, hit] {
            let error = net.take_error(op).1;
            let attempt = &error.attempts()[0].error;
            let typed = matches!(
                attempt,
                RequestError::Closed { cause: CloseCause::Frame(_) | CloseCause::Header(_), written: true }
            );
            assert!(typed && attempt.to_string().contains(number), "row {row}: {error}");
        }
        net.take_sent(other);
        assert_eq!(net.closes.len(), 1, "row {row}");
    }
}

/// BUG-03: late and unknown answers, and a request that looks like an answer, disturb nothing.
#[test]
fn bug_03_late_and_unknown_answers() {
    let producer = ProducerConfig::new("PG").attempts(NonZeroU32::MIN);
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").always = Some(Act::Silent);
    let ops: Vec<_> = (0..3).map(|_| net.send("T", SendOptions::default())).collect();
    net.run(ms(0));
    let seen: Vec<_> = net.sends().into_iter().cloned().collect();
    let mut opaques: Vec<_> = seen.iter().map(|seen| seen.command.opaque).collect();
    opaques.dedup();
    assert_eq!(opaques.len(), 3);
    let conn = seen[0].conn;
    net.answer(conn, &stored(&seen[1].command, 1, ResponseCode::SUCCESS));
    net.answer(conn, &stored(&seen[0].command, 0, ResponseCode::SUCCESS));
    net.run(ms(3_001));
    assert_eq!(net.take_sent(ops[0]).1.queue_offset, 0);
    assert_eq!(net.take_sent(ops[1]).1.queue_offset, 1);
    let (when, error) = net.take_error(ops[2]);
    assert_eq!(when, at(3_000));
    assert!(matches!(error.attempts()[0].error, RequestError::Timeout { written: true, .. }));
    let before = net.client.stats().unknown_answers;
    net.answer(conn, &stored(&seen[2].command, 2, ResponseCode::SUCCESS));
    let mut never = RemotingCommand::request(ResponseCode::SUCCESS.0);
    (never.opaque, never.flag) = (987_654, 1);
    net.answer(conn, &never);
    let mut request = RemotingCommand::request(40);
    (request.opaque, request.flag) = (opaques[2], 2);
    net.answer(conn, &request);
    net.run(ms(0));
    let stats = net.client.stats();
    assert_eq!((stats.unknown_answers - before, stats.inbound), (2, 1));
    assert_eq!((net.conn(&address_of("a")), stats.awaited), (Some(conn), 0));
}

/// A broker's request may carry the opaque of one of ours that still waits (wire §1.4): the flag decides.
#[test]
fn a_brokers_request_with_our_opaque_is_not_our_answer() {
    let mut net = Net::new();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(after(50, Act::Stored(ResponseCode::SUCCESS)));
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    let seen = net.sends()[0].clone();
    let mut request = RemotingCommand::request(307);
    request.opaque = seen.command.opaque;
    net.answer(seen.conn, &request);
    net.run(ms(100));
    net.take_sent(op);
    let answers: Vec<_> = net.seen.iter().filter(|seen| seen.command.is_response()).collect();
    assert_eq!((answers.len(), answers[0].command.opaque), (1, seen.command.opaque));
}

/// BUG-05, as far as the client goes: a route in the old dialect, with an IPv6 address, is used.
#[test]
fn bug_05_a_route_with_bare_keys_is_used() {
    let body = r#"{"brokerDatas":[{"brokerAddrs":{0:"[fd00::1]:10911",1:"10.0.0.2:10911"},"brokerName":"b{0:x}\"a","cluster":"c"}],"filterServerTable":{},"queueDatas":[{"brokerName":"b{0:x}\"a","perm":6,"readQueueNums":4,"topicSynFlag":0,"writeQueueNums":4}],"topicQueueMappingByBroker":{-1:{"k":1}}}"#;
    let mut net = Net::new();
    let code = RequestCode::GET_ROUTEINFO_BY_TOPIC.0;
    net.peer(NAME_SERVER).others.insert(code, Act::Route(Bytes::from_static(body.as_bytes())));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    assert_eq!(&*net.take_sent(op).1.queue.broker, "b{0:x}\"a");
    assert!(net.connects.iter().any(|(_, address)| address == "[fd00::1]:10911"));
}

/// BUG-07: a broker that accepts and never answers does not eat the time of the other.
#[test]
fn bug_07_a_hanging_broker_leaves_time_for_another() {
    let mut net = Net::new();
    net.warm();
    let hangs = net.next_broker("T");
    let healthy = if hangs == "a" { "b" } else { "a" };
    net.broker(&hangs).sends = [after(2_000, Act::Stored(ResponseCode::SUCCESS))].into();
    net.broker(healthy).always = Some(after(20, Act::Stored(ResponseCode::SUCCESS)));
    let op = net.send("T", SendOptions::default());
    net.run(ms(2_500));
    let (when, result) = net.take_sent(op);
    assert_eq!((when, &*result.queue.broker), (at(1_020), healthy));
    assert_eq!(net.brokers_asked(), [hangs, healthy.to_owned()]);
    let (first, second) = (net.sends()[0].clone(), net.sends()[1].clone());
    assert_eq!(first.send().properties, second.send().properties);
    assert_eq!(first.command.body, second.command.body);
    assert_eq!(net.client.stats().unknown_answers, 1, "the late answer is dropped");
}

#[test]
fn bug_07_both_hanging_ends_in_time_and_names_both() {
    let mut net = Net::new();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(4_000));
    let (when, error) = net.take_error(op);
    assert_eq!(when, at(3_000));
    let text = error.to_string();
    assert!(text.contains("a (a:10911)") && text.contains("b (b:10911)"), "{text}");
}

/// C4: one server that denies a topic does not make it vanish; three rounds of all of them do.
#[test]
fn c4_a_denied_topic_is_kept_for_three_rounds() {
    let config = config().route_refresh_interval(ms(10_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.warm();
    net.routes.clear();
    net.run(ms(23_000));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    net.run(ms(12_000));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    assert!(matches!(net.take_error(op).1.kind(), SendErrorKind::TopicNotFound { .. }));
}

/// C9: answers that are no route leave the old one in place, and say what they were to who waits.
#[test]
fn c9_answers_that_are_no_route() {
    for body in ["", "null", "[]", "{", r#"{"brokerDatas":"#] {
        let mut net = Net::new();
        let code = RequestCode::GET_ROUTEINFO_BY_TOPIC.0;
        net.peer(NAME_SERVER).others.insert(code, Act::Route(Bytes::from(body)));
        let op = net.send("T", SendOptions::default());
        net.run(ms(0));
        let error = net.take_error(op).1;
        let SendErrorKind::RouteUnavailable { servers } = error.kind() else { panic!("{body}: {error:?}") };
        assert!(matches!(servers[0].error, Some(RequestError::BadRoute(_))), "{body}: {error}");
        let mut net = Net::new();
        net.warm();
        net.peer(NAME_SERVER).others.insert(code, Act::Route(Bytes::from(body)));
        net.run(ms(120_000));
        let op = net.send("T", SendOptions::default());
        net.run(ms(10));
        net.take_sent(op);
    }
    for body in ["{}", r#"{"brokerDatas":null}"#] {
        let mut net = Net::new();
        let code = RequestCode::GET_ROUTEINFO_BY_TOPIC.0;
        net.peer(NAME_SERVER).others.insert(code, Act::Route(Bytes::from(body)));
        let op = net.send("T", SendOptions::default());
        net.run(ms(0));
        assert_eq!(*net.take_error(op).1.kind(), SendErrorKind::NoWritableQueue, "{body}");
    }
}

/// C10, X3: the error tells of each name server what it said.
#[test]
fn c10_each_name_server_is_named_with_its_own_outcome() {
    let config = config().name_server("ns2:9876;ns3:9876").build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.peer("ns:9876").accept = Some(Accept::Refuse);
    net.peer("ns2:9876").accept = Some(Accept::Never);
    let code = RequestCode::GET_ROUTEINFO_BY_TOPIC.0;
    net.peer("ns3:9876").others.insert(code, Act::Code(ResponseCode::SYSTEM_ERROR, "not ready"));
    let op = net.send("T", SendOptions::default());
    net.run(ms(4_000));
    let (when, error) = net.take_error(op);
    assert!(when <= at(3_000));
    let text = error.to_string();
    for part in [
        "ns:9876: cannot connect: connection refused",
        "ns2:9876: not written within",
        "ns3:9876: SYSTEM_ERROR (1): not ready",
    ] {
        assert!(text.contains(part), "{part} is missing in: {text}");
    }
}

/// A name server whose host is unknown: the error has the system's words and the address.
#[test]
fn an_unknown_host_is_named() {
    let mut net = Net::new();
    let op = net.send("T", SendOptions::default());
    net.client.handle_timeout(net.now);
    net.peer(NAME_SERVER).accept = Some(Accept::Refuse);
    net.run(ms(10));
    let error = net.take_error(op).1;
    assert!(error.to_string().contains("ns:9876: cannot connect: connection refused"), "{error}");
    assert!(error.is_retryable() && !error.may_have_been_stored());
    let closed = net.events.iter().any(|(_, event)| matches!(event, Event::ConnectionClosed { .. }));
    assert!(closed);
}
