//! Clause 7: everything is bounded. One test for each field of [`Limits`], which hits it.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_core::proto::frame::FrameError;
use rmq_core::proto::message::Message;
use rmq_core::proto::trace::TRACE_TOPIC;
use rmq_core::{
    AddFieldError, CloseCause, ConfigError, Event, Input, Limits, OutgoingRequest, ProducerConfig,
    RejectReason, RequestError, RequestFields, RequestHook, SendErrorKind, SendOptions, Trace,
};

use crate::support::{Accept, Act, NAME_SERVER, Net, address_of, at, config, ms, route};

fn net(limits: Limits) -> Net {
    Net::with(config().limits(limits).build().unwrap(), ProducerConfig::new("PG"))
}

fn rejected(net: &mut Net, body: &str) -> (RejectReason, Message) {
    let message = Message::new("T", body.to_owned());
    let prepared = message.clone().prepare(net.client.message_rules()).unwrap();
    let rejected = net.client.send(net.now, net.producer, prepared.clone(), SendOptions::default());
    let rejected = rejected.expect_err("over the limit");
    assert_eq!(rejected.given, prepared, "the message comes back");
    (rejected.reason, message)
}

/// Operations count until their end was polled.
#[test]
fn clause_7_operations() {
    let mut net = net(Limits { operations: 2, ..Limits::default() });
    let first = net.send("T", SendOptions::default());
    net.send("T", SendOptions::default());
    assert_eq!(rejected(&mut net, "x").0, RejectReason::TooManyOperations { limit: 2 });
    net.client.cancel(net.now, first);
    assert_eq!(rejected(&mut net, "x").0, RejectReason::TooManyOperations { limit: 2 });
    net.drain();
    net.send("T", SendOptions::default());
    assert_eq!(net.client.stats().rejected, 2);
}

#[test]
fn clause_7_operation_bytes() {
    let mut net = net(Limits { operation_bytes: 1_000, ..Limits::default() });
    net.send("T", SendOptions::default());
    let held = net.client.stats().operation_bytes;
    let body = "x".repeat(1_000);
    let RejectReason::TooManyBytes { held: told, limit, .. } = rejected(&mut net, &body).0 else {
        panic!("bytes are the reason");
    };
    assert_eq!((told, limit), (held, 1_000));
    net.run(ms(10));
    assert_eq!(net.client.stats().operation_bytes, 0, "what ended gives its bytes back");
}

/// A recall counts with its handle, and comes back.
#[test]
fn clause_7_recalls() {
    let mut net = net(Limits { operations: 1, operation_bytes: 100, ..Limits::default() });
    let recall = crate::recall::recall("T", "a");
    let bytes = recall.bytes();
    assert_eq!(bytes, recall.handle().len());
    let op = net.client.recall(net.now, net.producer, recall.clone()).unwrap();
    assert_eq!(net.client.stats().operation_bytes, bytes);
    let rejected = net.client.recall(net.now, net.producer, recall.clone()).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::TooManyOperations { limit: 1 });
    assert_eq!(rejected.given, recall);
    net.client.cancel(net.now, op);
    net.drain();
    assert_eq!((net.client.stats().operation_bytes, net.client.stats().operations), (0, 0));

    let mut net = self::net(Limits { operation_bytes: 10, ..Limits::default() });
    let rejected = net.client.recall(net.now, net.producer, recall).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::TooManyBytes { held: 0, more: bytes, limit: 10 });
}

#[test]
fn clause_7_producers() {
    let mut net = net(Limits { producers: 1, ..Limits::default() });
    let error = net.client.add_producer(at(0), ProducerConfig::new("other"));
    assert_eq!(error, Err(ConfigError::TooManyProducers { limit: 1 }));
}

#[test]
fn clause_7_topics() {
    let mut net = net(Limits { topics: 3, ..Limits::default() });
    for i in 0..10 {
        let topic = format!("T{i}");
        net.routes.insert(topic.clone(), route(&[("a", 1)]));
        let op = net.send(&topic, SendOptions::default());
        net.run(ms(10));
        net.take_sent(op);
        assert!(net.client.stats().topics <= 3);
    }
    net.forget();
    for (topic, asked) in [("T9", false), ("T0", true)] {
        net.send(topic, SendOptions::default());
        net.run(ms(10));
        let asks = net.seen.iter().any(|seen| seen.address == NAME_SERVER);
        assert_eq!(asks, asked, "{topic}: the one used least recently is forgotten");
    }
}

/// Topics that operations wait for are not forgotten; but once their routes came, only so many are kept.
#[test]
fn clause_7_topics_asked_for_at_once() {
    let mut net = net(Limits { topics: 3, ..Limits::default() });
    for i in 0..10 {
        net.routes.insert(format!("T{i}"), route(&[("a", 1)]));
    }
    let ops: Vec<_> = (0..10).map(|i| net.send(&format!("T{i}"), SendOptions::default())).collect();
    assert_eq!(net.client.stats().topics, 10);
    net.run(ms(10));
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
    assert_eq!(net.client.stats().topics, 3);
}

#[test]
fn clause_7_links() {
    let mut net = net(Limits { links: 2, ..Limits::default() });
    net.routes.insert("A".into(), route(&[("a", 1)]));
    net.routes.insert("B".into(), route(&[("b", 1)]));
    let first = net.send("A", SendOptions::default());
    net.run(ms(10));
    net.take_sent(first);
    let second = net.send("B", SendOptions::default());
    net.run(ms(210));
    let error = net.take_error(second).1;
    assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
    assert_eq!(error.attempts()[0].error, RequestError::TooManyConnections { limit: 2 });
}

/// Of the connections that drain, the one longest at it makes room, and what waits there fails.
#[test]
fn clause_7_draining() {
    let mut net = net(Limits { draining: 1, ..Limits::default() });
    net.warm();
    let mut waiting = Vec::new();
    for name in ["a", "b"] {
        net.routes.insert(name.into(), route(&[(name, 1)]));
        let op = net.send(name, SendOptions::default());
        net.run(ms(0));
        net.take_sent(op);
        net.broker(name).sends = [Act::Silent].into();
        waiting.push(net.send(name, SendOptions::default()));
        net.run(ms(0));
        net.send_away(&address_of(name));
        let moved = net.send(name, SendOptions::default());
        net.run(ms(0));
        assert_eq!(net.take_sent(moved).1.attempts, 1);
        assert_eq!(net.client.stats().draining, 1);
    }
    net.run(ms(100));
    assert_eq!(net.take_sent(waiting[0]).1.attempts, 2, "its connection was closed");
    assert!(net.ends(waiting[1]).is_empty(), "its connection drains");
    let cause = |event: &Event| match event {
        Event::ConnectionClosed { cause, replaced: true, .. } => Some(cause.clone()),
        _ => None,
    };
    let causes: Vec<_> = net.events.iter().filter_map(|(_, event)| cause(event)).collect();
    assert_eq!(causes, [CloseCause::GoneAway]);
}

fn traced(limits: Limits) -> Net {
    let producer = ProducerConfig::new("PG").trace(Trace::new());
    let mut net = Net::with(config().limits(limits).build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.routes.insert(TRACE_TOPIC.into(), route(&[("b", 1)]));
    net.broker("b").always = Some(Act::Silent);
    for _ in 0..100 {
        net.send("T", SendOptions::default());
        net.run(ms(0));
    }
    net
}

/// Records beyond it are dropped and counted; sends go on.
#[test]
fn clause_7_trace_records() {
    let stats = traced(Limits { trace_records: 7, trace_sends: 1, ..Limits::default() }).client.stats();
    assert_eq!((stats.traces, stats.traces_waiting, stats.traces_dropped), (100, 7, 92));
    assert_eq!((stats.sends_succeeded, stats.operations), (100, 0));
}

/// Beyond it records wait.
#[test]
fn clause_7_trace_sends() {
    let stats = traced(Limits { trace_sends: 3, ..Limits::default() }).client.stats();
    assert_eq!((stats.trace_sends, stats.traces_waiting, stats.traces_dropped), (3, 100 - 1 - 10 - 10, 0));
    assert_eq!(stats.operations, 0, "they are no operations");
}

#[test]
fn clause_7_frame() {
    let mut net = net(Limits { frame: 4_096, ..Limits::default() });
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.broker("a").always = Some(Act::Bytes(Bytes::from_static(&[0, 0, 0x10, 0])));
    let op = net.send("T", SendOptions::default());
    net.run(ms(1_000));
    let error = net.take_error(op).1;
    let RequestError::Closed { cause, written: true } = &error.attempts()[0].error else { panic!("{error}") };
    assert_eq!(*cause, CloseCause::Frame(FrameError::TooLong { length: 4_096, max: 4_096 }));
}

#[test]
fn clause_7_inbound() {
    let mut net = net(Limits { inbound: 3, ..Limits::default() });
    net.warm();
    let conn = net.conn(&address_of("a")).unwrap();
    let mut flood = BytesMut::new();
    for opaque in 0..10 {
        let mut request = RemotingCommand::request(307);
        request.opaque = opaque;
        request.encode(HeaderFormat::Json, &mut flood).unwrap();
    }
    net.client.handle_input(net.now, Input::Received { conn, data: flood.freeze() });
    assert_eq!(net.client.stats().inbound_dropped, 7);
    net.run(ms(0));
    let answers: Vec<_> = net.seen.iter().filter(|seen| seen.command.is_response()).collect();
    let remark = answers[0].command.remark.as_deref();
    assert_eq!((answers.len(), answers[0].command.code), (3, 3));
    assert_eq!(remark, Some(" request type 307 not supported"));
}

#[test]
fn clause_7_tombstones() {
    let mut net = net(Limits { tombstones: 4, ..Limits::default() });
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").always = Some(Act::Silent);
    for _ in 0..10 {
        let op = net.send("T", SendOptions::default());
        net.run(ms(0));
        net.client.cancel(net.now, op);
    }
    assert_eq!(net.client.stats().awaited, 4);
}

#[test]
fn clause_7_notices() {
    let mut net = net(Limits { notices: 2, ..Limits::default() });
    net.broker("a").accept = Some(Accept::Refuse);
    net.broker("b").accept = Some(Accept::Refuse);
    for _ in 0..20 {
        net.send("T", SendOptions::default());
        for _ in 0..3 {
            // Inputs without a drain of events in between: what does not fit is counted.
            net.feed();
        }
        net.run(ms(150));
    }
    let stats = net.client.stats();
    let notices =
        net.events.iter().filter(|(_, event)| matches!(event, Event::ConnectionClosed { .. })).count() as u64;
    assert_eq!(notices + stats.notices_dropped, stats.connect_failures + stats.disconnects);
    let mut client = net.client.clone();
    while client.poll_output().is_some() {}
    for conn in [NAME_SERVER].iter().filter_map(|address| net.conn(address)) {
        client.handle_input(net.now, Input::Closed { conn, reason: rmq_core::CloseReason::PeerClosed });
    }
    client.shutdown(net.now, ms(0));
    let left = std::iter::from_fn(|| client.poll_output())
        .filter(|output| matches!(output, rmq_core::Output::Event(Event::ConnectionClosed { .. })));
    assert!(left.count() <= 2);
}

/// A field over the limit is refused, and what was added before stays.
#[test]
fn clause_7_hook_bytes() {
    struct Greedy;
    impl RequestHook for Greedy {
        fn before_request(&self, _: &OutgoingRequest<'_>, fields: &mut RequestFields) {
            // Each counts as eight more than its text.
            fields.add("first", "x".repeat(20)).unwrap();
            let refused = AddFieldError::TooManyBytes { limit: 50 };
            assert_eq!(fields.add("second", "1234"), Err(refused));
            fields.add("first", "x".repeat(37)).unwrap();
            assert_eq!(fields.add("first", "x".repeat(38)), Err(refused));
            fields.add("first", "short").unwrap();
            fields.add("second", "1234").unwrap();
        }
    }
    let limits = Limits { hook_bytes: 50, ..Limits::default() };
    let config = config().limits(limits).hook(Arc::new(Greedy)).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    let ext = &net.sends()[0].command.ext;
    assert_eq!(
        (ext.value("first").as_deref(), ext.value("second").as_deref()),
        (Some("short"), Some("1234"))
    );
}

/// Values that cannot work are refused by name.
#[test]
fn limits_are_checked() {
    let rows = [
        (Limits { operations: 0, ..Limits::default() }, "limits.operations"),
        (Limits { write_batch: 0, ..Limits::default() }, "limits.write_batch"),
        (Limits { hook_bytes: 1 << 15, ..Limits::default() }, "limits.hook_bytes"),
        (Limits { frame: 100, ..Limits::default() }, "limits.frame"),
        (Limits { frame: 352 << 20, ..Limits::default() }, "limits.frame"),
    ];
    for (limits, name) in rows {
        let error = config().limits(limits).build().unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}
