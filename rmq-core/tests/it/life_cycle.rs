//! Start, cancel, connections that go, shutdown.

use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::header::UnregisterHeader;
use rmq_core::proto::message::Message;
use rmq_core::proto::properties;
use rmq_core::{
    Address, CloseCause, CloseReason, ConfigError, Event, Input, ProducerConfig, RequestError, SendErrorKind,
    SendOptions,
};

use crate::support::{Accept, Act, NAME_SERVER, Net, address_of, after, at, config, ms, route};

fn shut_down_at(net: &Net) -> Option<rmq_core::Instant> {
    net.events.iter().find(|(_, event)| matches!(event, Event::ShutDown)).map(|(when, _)| *when)
}

#[test]
fn shutdown_lets_sends_finish_then_unregisters_then_closes() {
    let mut net = Net::new();
    net.client.add_producer(at(0), ProducerConfig::new("PG2")).unwrap();
    net.warm();
    net.broker("a").always = Some(after(500, Act::Stored(ResponseCode::SUCCESS)));
    net.broker("b").always = Some(after(500, Act::Stored(ResponseCode::SUCCESS)));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.client.shutdown(net.now, ms(3_000));
    net.client.shutdown(net.now, ms(1));
    net.run(ms(3_000));
    net.take_sent(op);
    assert_eq!(shut_down_at(&net), Some(at(500)), "no later than needed");
    let unregister = |seen: &&crate::support::Seen| {
        let header: UnregisterHeader<'_> = seen.command.header().unwrap();
        assert_eq!(header.client_id, net.client.client_id());
        (seen.address.clone(), header.producer_group.unwrap().into_owned())
    };
    let mut told: Vec<_> = net.requests(RequestCode::UNREGISTER_CLIENT).iter().map(unregister).collect();
    told.sort();
    let (a, b) = (address_of("a"), address_of("b"));
    let group = |address: &String, group: &str| (address.clone(), group.to_owned());
    assert_eq!(told, [group(&a, "PG"), group(&a, "PG2"), group(&b, "PG"), group(&b, "PG2")]);
    assert_eq!(net.closes.len(), 3, "two brokers, one name server: {:?}", net.closes);
    let stats = net.client.stats();
    assert_eq!((stats.links, stats.timers, stats.topics, stats.awaited), (0, 0, 0, 0));
}

#[test]
fn shutdown_fails_what_does_not_finish_in_time() {
    let mut net = Net::new();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
        net.broker(name).others.insert(RequestCode::UNREGISTER_CLIENT.0, Act::Silent);
    }
    let op = net.send("T", SendOptions::default().timeout(ms(60_000)));
    net.run(ms(0));
    net.client.shutdown(net.now, ms(1_000));
    net.run(ms(2_000));
    let (when, error) = net.take_error(op);
    assert_eq!((when, error.kind()), (at(750), &SendErrorKind::ShutDown));
    assert!(error.may_have_been_stored() && !error.is_retryable());
    assert_eq!(shut_down_at(&net), Some(at(1_000)));
    assert_eq!(net.client.add_producer(net.now, ProducerConfig::new("late")), Err(ConfigError::ShutDown));
}

#[test]
fn shutdown_at_once() {
    let mut net = Net::new();
    net.warm();
    let op = net.send("T", SendOptions::default());
    net.client.shutdown(net.now, ms(0));
    net.turn();
    assert_eq!(*net.take_error(op).1.kind(), SendErrorKind::ShutDown);
    assert!(net.sends().is_empty(), "what was not written is not");
    assert_eq!(shut_down_at(&net), Some(at(0)));
}

#[test]
fn cancel_before_the_write_writes_nothing() {
    let mut net = Net::new();
    net.warm();
    let op = net.send("T", SendOptions::default());
    net.client.cancel(net.now, op);
    net.run(ms(100));
    assert!(matches!(net.end(op).1, Event::Cancelled { .. }));
    assert!(net.sends().is_empty());
}

#[test]
fn cancel_while_the_route_is_asked_for() {
    let mut net = Net::new();
    net.peer(NAME_SERVER).accept = Some(Accept::Never);
    let op = net.send("T", SendOptions::default());
    net.run(ms(10));
    net.client.cancel(net.now, op);
    net.run(ms(5_000));
    assert!(matches!(net.end(op).1, Event::Cancelled { .. }));
}

/// After the write its opaque stays taken until the answer, which nobody is told of; no attempt follows.
#[test]
fn cancel_after_the_write_leaves_a_tombstone() {
    let mut net = Net::new();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(after(100, Act::Stored(ResponseCode::SUCCESS)));
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.client.cancel(net.now, op);
    assert_eq!(net.client.stats().awaited, 1);
    net.run(ms(5_000));
    assert!(matches!(net.end(op).1, Event::Cancelled { .. }));
    assert_eq!((net.sends().len(), net.client.stats().awaited), (1, 0));
    assert_eq!(net.client.stats().unknown_answers, 1);
}

#[test]
fn inputs_of_connections_that_are_gone_are_ignored() {
    let mut net = Net::new();
    net.warm();
    let conn = net.conn(&address_of("a")).unwrap();
    net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
    net.run(ms(200));
    let stale = net.client.stats().stale_inputs;
    for input in [
        Input::Connected { conn },
        Input::Received { conn, data: bytes::Bytes::from_static(b"\xff\xff\xff\xff") },
        Input::Written { conn, bytes: 1 },
        Input::Closed { conn, reason: CloseReason::PeerClosed },
    ] {
        net.client.handle_input(net.now, input);
    }
    assert_eq!(net.client.stats().stale_inputs, stale + 4);
    let op = net.send("T", SendOptions::default());
    net.run(ms(200));
    net.take_sent(op);
}

/// B7: down for ten minutes, then up: reconnected within one back-off.
#[test]
fn a_broker_that_was_down_is_registered_again() {
    let config = config().route_refresh_interval(ms(60_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").accept = Some(Accept::Refuse);
    let conn = net.conn(&address_of("a")).unwrap();
    net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
    net.run(ms(590_000));
    let attempts = net.connects.iter().filter(|(_, address)| *address == address_of("a")).count();
    assert!((18..40).contains(&attempts), "{attempts} connects in ten minutes");
    net.forget();
    net.broker("a").accept = Some(Accept::Open);
    let back = net.now;
    net.run(ms(9_000));
    let op = net.send("T", SendOptions::default());
    net.run(ms(100));
    net.take_sent(op);
    net.run(ms(25_000));
    let beat = net.requests(RequestCode::HEART_BEAT)[0].at;
    assert!(beat.saturating_since(back) <= ms(33_000), "{beat:?}");
}

/// B12: a stream that takes no byte is given up, and the request with it.
#[test]
fn a_stalled_write_closes_the_connection() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.stalled = true;
    let op = net.send("T", SendOptions::default().timeout(ms(20_000)));
    net.run(ms(2_999));
    net.stalled = false;
    net.run(ms(20_000));
    let cause = net.events.iter().find_map(|(when, event)| match event {
        Event::ConnectionClosed { cause, .. } => Some((*when, cause.clone())),
        _ => None,
    });
    assert_eq!(cause, Some((at(3_000), CloseCause::WriteStall { after: ms(3_000) })));
    assert_eq!(net.take_sent(op).1.attempts, 2);
}

/// B6: a server that accepts and never answers is dropped after the second silent timeout in a row.
#[test]
fn a_silent_peer_is_dropped() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").always = Some(Act::Silent);
    let op = net.send("T", SendOptions::default().timeout(ms(3_000)));
    net.run(ms(4_000));
    net.take_error(op);
    assert_eq!(net.closes, [(at(2_000), address_of("a"))], "two attempts of a second each");
}

/// C8: the same broker name at a new address: the old connection goes, and what waited on it is tried again.
#[test]
fn a_broker_that_moved_is_followed() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    let mut moved = route(&[("a", 1)]);
    moved.broker_datas[0].addresses = [(0, "new:10911".into())].into();
    net.routes.insert("T".into(), moved);
    net.broker("a").always = Some(Act::Silent);
    let op = net.send("T", SendOptions::default().timeout(ms(120_000)));
    net.run(ms(40_000));
    let result = net.take_sent(op).1;
    assert_eq!(result.attempts, 2);
    assert!(net.closes.iter().any(|(_, address)| *address == address_of("a")));
}

#[test]
fn addresses() {
    let rows = [
        ("10.0.0.1:10911", Some(("10.0.0.1", 10911))),
        ("broker.example:1", Some(("broker.example", 1))),
        ("[fd00::1]:10911", Some(("fd00::1", 10911))),
        ("fd00::1:10911", Some(("fd00::1", 10911))),
        ("[fe80::1%eth0]:9876", Some(("fe80::1%eth0", 9876))),
        (" ns:9876 ", Some(("ns", 9876))),
        ("ns", None),
        (":9876", None),
        ("ns:", None),
        ("ns:0", None),
        ("ns:65536", None),
        ("[fd00::1:9876", None),
        ("http://ns:9876", None),
    ];
    for (text, expected) in rows {
        let parsed = text.parse::<Address>();
        let parts = parsed.as_ref().ok().map(|address| (address.host(), address.port()));
        assert_eq!(parts, expected, "{text}");
        if let Ok(address) = &parsed {
            assert_eq!(address.to_string().parse().as_ref(), Ok(address), "{text}");
        }
    }
}

/// A peer that opens and closes at once is not connected to more than once per 100 ms.
#[test]
fn users_connects_are_held_off_for_a_moment() {
    let producer = ProducerConfig::new("PG").retry_backoff(ms(0));
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.broker("a").accept = Some(Accept::Refuse);
    for _ in 0..50 {
        let op = net.send("T", SendOptions::default());
        net.run(ms(10));
        let error = net.take_error(op).1;
        let (RequestError::Connect(cause) | RequestError::HeldOff(cause)) = &error.attempts()[0].error else {
            panic!("{error}");
        };
        assert!(matches!(cause, CloseCause::Stream(_)));
    }
    let connects = net.connects.iter().filter(|(_, address)| *address == address_of("a")).count();
    assert!(connects <= 5, "{connects} connects in half a second");
}

#[test]
fn what_is_wrong_with_a_configuration_is_said_by_name() {
    let error = config().name_server("no-port").build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "name server: `no-port` is not an address: the port is missing; write host:port, for IPv6 [host]:port"
    );
    let error = config().connect_timeout(ms(0)).build().unwrap_err();
    assert_eq!(error.to_string(), "`connect_timeout` must be at least 1 ms");
}

/// D8: the message of a retry is the same, to the byte.
#[test]
fn attempts_carry_the_same_message() {
    let mut net = Net::new();
    for name in ["a", "b"] {
        net.broker(name).sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "")].into();
    }
    let message = Message::new("T", vec![7; 5_000]).key("k1").key("k2").property("p", "v");
    let prepared = message.prepare(net.client.message_rules()).unwrap();
    let op = net.client.send(net.now, net.producer, prepared, SendOptions::default()).unwrap();
    net.run(ms(0));
    assert_eq!(net.take_sent(op).1.attempts, 3);
    let sends = net.sends();
    for seen in &sends[1..] {
        assert_eq!(seen.command.body, sends[0].command.body);
        let (one, other) = (seen.send(), sends[0].send());
        assert_eq!(
            (&one.properties, one.sys_flag, one.born_timestamp),
            (&other.properties, other.sys_flag, other.born_timestamp)
        );
    }
}

/// A broker that failed a moment ago and is then named by no route is forgotten, a moment later.
#[test]
fn a_link_of_no_use_is_forgotten() {
    let config = config().route_refresh_interval(ms(1)).heartbeat_interval(ms(60_000)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.run(ms(1_000));
    let links = net.client.stats().links;
    let conn = net.conn(&address_of("a")).unwrap();
    net.broker("a").accept = Some(Accept::Refuse);
    net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
    net.turn();
    net.send("T", SendOptions::default());
    net.turn();
    net.routes.insert("T".into(), route(&[("b", 1)]));
    net.run(ms(50));
    assert_eq!(net.client.stats().links, links + 1, "a is remembered for a moment, b is new");
    net.run(ms(100));
    assert_eq!(net.client.stats().links, links);
}

/// What is failed by a shutdown leaves nothing behind on its connections while the brokers are told.
#[test]
fn shutdown_abandons_what_waits() {
    let mut net = Net::new();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
        net.broker(name).others.insert(RequestCode::UNREGISTER_CLIENT.0, Act::Silent);
    }
    net.send("T", SendOptions::default().timeout(ms(60_000)));
    net.run(ms(0));
    net.stalled = true;
    net.send("T", SendOptions::default().timeout(ms(60_000)));
    net.send("T", SendOptions::default().timeout(ms(60_000)));
    net.client.shutdown(net.now, ms(1_000));
    net.run(ms(800));
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_bytes), (0, 0));
    net.run(ms(300));
    assert!(shut_down_at(&net).is_some());
}

/// Stored, refused and cancelled, with short properties and with long ones.
#[test]
fn every_end_has_the_id_that_went_out_and_keeps_little_more() {
    for len in [1, 1_000] {
        let mut net = Net::new();
        net.warm();
        net.forget();
        let send = |net: &mut Net, act: Act| {
            for name in ["a", "b"] {
                net.broker(name).always = Some(act.clone());
            }
            let message = Message::new("T", "Hello").property("k", "v".repeat(len));
            let prepared = message.prepare(net.client.message_rules()).unwrap();
            net.client.send(net.now, net.producer, prepared, SendOptions::default()).unwrap()
        };
        let stored = send(&mut net, Act::Stored(ResponseCode::SUCCESS));
        net.run(ms(0));
        let refused = send(&mut net, Act::Code(ResponseCode::NO_PERMISSION, "no"));
        net.run(ms(0));
        let went_out = |place: usize| {
            let text = net.sends()[place].send().properties.unwrap().into_owned();
            properties::value(&text, properties::UNIQ_KEY).unwrap().to_owned()
        };
        let result = net.take_sent(stored).1;
        assert_eq!(result.message_id, went_out(0));
        assert!(result.message_id.capacity() <= 128, "{}", result.message_id.capacity());
        assert_eq!(net.take_error(refused).1.message_id(), went_out(1));
        let cancelled = send(&mut net, Act::Silent);
        net.client.cancel(net.now, cancelled);
        net.run(ms(0));
        assert_eq!(net.client.stats().operation_bytes, 0);
    }
}
