//! Reports about other clients, as cases for this one: routes, heartbeats, defaults.

use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::Language;
use rmq_core::{ClientConfig, ProducerConfig, SendErrorKind, SendOptions};

use crate::support::{Act, NAME_SERVER, Net, address_of, ms, route};

const ROUTE: i32 = RequestCode::GET_ROUTEINFO_BY_TOPIC.0;
const BEAT: i32 = RequestCode::HEART_BEAT.0;

/// C6, as far as a producer goes: nobody writes to a slave.
#[test]
fn c6_a_route_with_a_slave_alone_has_no_writable_queue() {
    let mut net = Net::new();
    let mut data = route(&[("a", 4)]);
    data.broker_datas[0].addresses = [(1, "slave:10911".into())].into();
    net.routes.insert("T".into(), data);
    let op = net.send("T", SendOptions::default());
    net.run(ms(3_000));
    assert_eq!(*net.take_error(op).1.kind(), SendErrorKind::NoWritableQueue);
    assert_eq!(net.client.publish_queues(net.now, "T"), None);
    assert!(net.connects.iter().all(|(_, address)| address == NAME_SERVER), "{:?}", net.connects);
}

/// C7: what may not be written to is passed over; if that is all, it is an error.
#[test]
fn c7_queues_that_cannot_be_written_to_are_passed_over() {
    let mut data = route(&[("a", 4), ("b", 4), ("c", 4), ("d", 1)]);
    data.queue_datas[0].perm = 4;
    data.queue_datas[1].write_queue_nums = 0;
    data.queue_datas[2].perm = 0;
    let mut net = Net::new();
    net.routes.insert("T".into(), data.clone());
    let ops: Vec<_> = (0..5).map(|_| net.send("T", SendOptions::default())).collect();
    net.run(ms(0));
    for op in ops {
        let queue = net.take_sent(op).1.queue;
        assert_eq!((&*queue.broker, queue.queue_id), ("d", 0));
    }
    data.queue_datas.pop();
    let mut net = Net::new();
    net.routes.insert("T".into(), data);
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    assert_eq!(*net.take_error(op).1.kind(), SendErrorKind::NoWritableQueue);
}

/// E9: a hundred looks at the route and a hundred heartbeats fail; the client works on, and hears of what is new once they
/// do not fail any more.
#[test]
fn e9_background_failures_cost_nothing_but_news() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    let failure = || Act::Code(ResponseCode::SYSTEM_ERROR, "not now");
    net.peer(NAME_SERVER).others.insert(ROUTE, failure());
    net.broker("a").others.insert(BEAT, failure());
    for _ in 0..12 {
        net.run(ms(300_000));
        let op = net.send("T", SendOptions::default());
        net.run(ms(0));
        net.take_sent(op);
    }
    let (asked, beats) = (net.requests(RequestCode(ROUTE)).len(), net.requests(RequestCode(BEAT)).len());
    assert!((100..300).contains(&asked) && (100..300).contains(&beats), "{asked} looks, {beats} heartbeats");
    net.peer(NAME_SERVER).others.clear();
    net.broker("a").others.clear();
    net.routes.insert("T".into(), route(&[("a", 1), ("b", 2)]));
    net.run(ms(70_000));
    assert_eq!(net.client.publish_queues(net.now, "T").map(|queues| queues.len()), Some(3));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
}

/// K5: a topic that nobody knows costs a send, and leaves nothing behind.
#[test]
fn k5_a_missing_topic_leaves_nothing_behind() {
    let mut net = Net::new();
    let op = net.send("nobody-knows", SendOptions::default());
    net.run(ms(3_000));
    assert!(matches!(net.take_error(op).1.kind(), SendErrorKind::TopicNotFound { .. }));
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_timers, stats.queued, stats.awaited), (0, 0, 0, 0));
    net.client.shutdown(net.now, ms(0));
    net.turn();
    let stats = net.client.stats();
    assert_eq!((stats.topics, stats.links, stats.connections, stats.timers), (0, 0, 0, 0));
}

/// K6: the defaults are what the documentation says.
#[test]
fn k6_defaults_are_those_that_are_documented() {
    let producer = ProducerConfig::new("PG");
    assert_eq!((producer.timeout(), producer.max_attempts().get()), (ms(3_000), 3));
    assert_eq!((producer.max_attempts_at_queue().get(), producer.backoff()), (1, ms(100)));
    assert!(producer.batches().is_none());
    let text = format!("{producer:?}");
    for part in
        ["attempt_timeout: Split", "in_flight: None", "fault_tolerance: None", "default_topic_queues: 4"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let config = ClientConfig::builder().build().unwrap();
    assert_eq!(config.message_rules().max_body_len, 4 << 20);
    assert_eq!(config.message_rules().compression.min_len, 4_096);
    let text = format!("{config:?}");
    for part in [
        "connect_timeout: 3s",
        "request_timeout: 3s",
        "heartbeat_interval: 30s",
        "route_refresh_interval: 30s",
        "idle_timeout: 120s",
        "write_stall: 3s",
        "close_on_timeout: Silent",
        "reconnect_on_go_away: true",
        "header_format: Json",
        "version: 479",
        "level: 5",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// K7: a broker is connected to where its route says, and nowhere else: its port less two is of no interest.
#[test]
fn k7_no_other_port_than_the_routes_is_connected_to() {
    let mut net = Net::new();
    for _ in 0..4 {
        net.send("T", SendOptions::default());
    }
    net.run(ms(60_000));
    let mut addresses: Vec<_> = net.connects.into_iter().map(|(_, address)| address).collect();
    addresses.sort();
    assert_eq!(addresses, [address_of("a"), address_of("b"), NAME_SERVER.to_owned()]);
}

/// X9: whatever the client writes says that it is of Rust, 12 on the wire.
#[test]
fn x9_every_request_names_the_language() {
    let mut net = Net::new();
    net.warm();
    let op = net.send("T", SendOptions::default());
    net.run(ms(40_000));
    net.take_sent(op);
    net.client.shutdown(net.now, ms(1_000));
    net.run(ms(1_000));
    let codes: std::collections::BTreeSet<_> = net.seen.iter().map(|seen| seen.command.code).collect();
    assert!(codes.len() >= 4, "sends, routes, heartbeats, farewells: {codes:?}");
    assert!(net.seen.iter().all(|seen| seen.command.language == Some(Language::RUST)));
    assert_eq!(Language::RUST.0, 12);
}
