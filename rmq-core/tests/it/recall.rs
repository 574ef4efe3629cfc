//! Recalls of timer messages (producer §10.3).

use bytes::BytesMut;
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_core::proto::header::{RecallMessageHeader, RecallResponseHeader, SendResponseHeader};
use rmq_core::proto::names::NameError;
use rmq_core::proto::recall::{RecallHandle, RecallHandleError};
use rmq_core::{
    CloseCause, Event, FaultTolerance, OpId, ProducerConfig, Recall, RecallError, RecallInvalid,
    RejectReason, RequestError, SendErrorKind, SendOptions,
};

use crate::support::{Accept, Act, Net, address_of, after, config, ms, route};

const RECALL: RequestCode = RequestCode::RECALL_MESSAGE;

fn handle(topic: &str, broker: &str) -> String {
    let (topic, broker_name, unique_key) = (topic.to_owned(), broker.to_owned(), "AC0A".to_owned());
    RecallHandle { topic, broker_name, timestamp: 1_700_000_060_000, unique_key }.encode().unwrap()
}

pub(crate) fn recall(topic: &str, broker: &str) -> Recall {
    Recall::new(topic, handle(topic, broker)).unwrap()
}

fn begin(net: &mut Net, broker: &str) -> OpId {
    net.client.recall(net.now, net.producer, recall("T", broker)).unwrap()
}

/// Its connections are open when nothing else is to be tested.
fn net() -> Net {
    let mut net = Net::new();
    net.warm();
    net
}

/// Answers the recall that waits, as a broker does that carried it out, with its header or without.
fn answer(net: &mut Net, header: bool) {
    let request = net.requests(RECALL).last().copied().unwrap().clone();
    let mut answer = RemotingCommand::response_to(&request.command, ResponseCode::SUCCESS);
    if header {
        answer = answer.with_ext(&RecallResponseHeader { message_id: "AC0A".into() });
    }
    net.answer(request.conn, &answer);
    net.run(ms(0));
}

fn error(net: &Net, op: OpId) -> RecallError {
    match net.end(op) {
        (_, Event::RecallFailed { error, .. }) => error.clone(),
        (_, event) => panic!("{event:?}"),
    }
}

/// Nothing of an operation is left.
fn assert_idle(net: &Net) {
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_bytes, stats.queued, stats.awaited), (0, 0, 0, 0));
}

#[test]
fn it_goes_to_the_broker_of_the_handle_and_ends_with_its_answer() {
    for broker in ["a", "b"] {
        let mut net = net();
        net.broker(broker).others.insert(RECALL.0, Act::Silent);
        let op = begin(&mut net, broker);
        net.run(ms(10));
        let seen = net.requests(RECALL);
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].address, address_of(broker));
        assert!(!seen[0].command.is_oneway() && seen[0].command.body.is_empty());
        let header: RecallMessageHeader<'_> = seen[0].command.header().unwrap();
        assert_eq!(
            header,
            RecallMessageHeader {
                producer_group: Some("PG".into()),
                topic: "T".into(),
                recall_handle: handle("T", broker).into(),
                broker_name: Some(broker.into()),
            }
        );
        assert_eq!(net.client.stats().awaited, 1);
        answer(&mut net, true);
        let (_, event) = net.end(op);
        assert!(matches!(event, Event::Recalled { message_id, .. } if message_id == "AC0A"), "{event:?}");
        let stats = net.client.stats();
        assert_eq!((stats.recalls, stats.recalls_succeeded, stats.recalls_failed), (1, 1, 0));
        assert_eq!(stats.sends_succeeded, 4, "those before it");
        assert_idle(&net);
    }
}

/// The handle of a send's answer is what a recall takes.
#[test]
fn a_sends_result_has_the_handle() {
    let mut net = Net::new();
    net.broker("a").always = Some(Act::Silent);
    net.broker("b").always = Some(Act::Silent);
    let op = net.send("T", SendOptions::default());
    net.run(ms(1));
    let seen = net.sends()[0].clone();
    let answer =
        RemotingCommand::response_to(&seen.command, ResponseCode::SUCCESS).with_ext(&SendResponseHeader {
            message_id: "0A00000100002A9F0000000000000400".into(),
            queue_id: 0,
            queue_offset: 0,
            transaction_id: None,
            batch_unique_id: None,
            recall_handle: Some(handle("T", "a").into()),
            region_id: None,
            trace_on: None,
        });
    net.answer(seen.conn, &answer);
    net.run(ms(0));
    assert_eq!(net.take_sent(op).1.recall_handle, Some(handle("T", "a")));
}

/// Without a master of that name in any route, any broker of the topic is asked.
#[test]
fn another_broker_of_the_topic_stands_in() {
    let mut net = net();
    let op = begin(&mut net, "gone");
    net.run(ms(0));
    let seen = net.requests(RECALL);
    assert_eq!((seen.len(), &*seen[0].address), (1, &*address_of("a")));
    let header: RecallMessageHeader<'_> = seen[0].command.header().unwrap();
    assert_eq!(header.broker_name.as_deref(), Some("a"), "the one that is asked");
    assert_eq!(net.ends(op).len(), 1);
}

/// A route is asked for first, also that of the default topic; a topic that cannot be written to will do.
#[test]
fn the_route_is_found_as_for_a_send() {
    let mut net = Net::new();
    net.routes.insert("T".into(), {
        let mut route = route(&[("a", 1)]);
        route.queue_datas[0].perm = 4;
        route
    });
    net.ns_latency = 20;
    begin(&mut net, "a");
    net.run(ms(30));
    assert_eq!(net.requests(RECALL).len(), 1);

    let mut net = Net::new();
    let op = net.client.recall(net.now, net.producer, recall("unknown", "a")).unwrap();
    net.run(ms(0));
    let error = error(&net, op);
    assert!(matches!(error.kind(), SendErrorKind::TopicNotFound { .. }), "{error}");
    assert_eq!((error.topic(), error.message_id(), error.attempt()), ("unknown", "AC0A", None));
    assert!(!error.may_have_been_recalled() && !error.is_retryable());
    assert_idle(&net);
}

#[test]
fn a_refusal_is_final() {
    for code in [ResponseCode::ILLEGAL_OPERATION, ResponseCode::SYSTEM_BUSY] {
        let mut net = net();
        net.broker("a").others.insert(RECALL.0, Act::Code(code, "time is over"));
        let op = begin(&mut net, "a");
        net.run(ms(5_000));
        assert_eq!(net.requests(RECALL).len(), 1, "there is no retry");
        let error = error(&net, op);
        assert_eq!((error.kind(), error.code()), (&SendErrorKind::Refused, Some(code)));
        assert_eq!(error.is_retryable(), code == ResponseCode::SYSTEM_BUSY);
        assert!(!error.may_have_been_recalled());
        let attempt = error.attempt().unwrap();
        assert_eq!((&*attempt.broker, attempt.queue_id), ("a", -1));
        assert_eq!(
            error.to_string(),
            format!("recall of message AC0A from topic `T` was refused: a (a:10911): {code}: time is over")
        );
        let stats = net.client.stats();
        assert_eq!((stats.recalls_failed, stats.sends_failed, stats.retries), (1, 0, 0));
        assert_idle(&net);
    }
}

#[test]
fn success_without_an_id_is_no_success() {
    let mut net = net();
    net.broker("a").others.insert(RECALL.0, Act::Silent);
    let op = begin(&mut net, "a");
    net.run(ms(1));
    answer(&mut net, false);
    let error = error(&net, op);
    assert!(matches!(error.attempt().unwrap().error, RequestError::BadHeader(_)), "{error}");
    assert!(error.may_have_been_recalled());
}

#[test]
fn no_answer_and_no_connection() {
    let mut net = net();
    net.broker("a").others.insert(RECALL.0, Act::Silent);
    let op = begin(&mut net, "a");
    net.run(ms(2_999));
    assert!(net.ends(op).is_empty(), "it has the time of a send");
    net.run(ms(1));
    let failed = error(&net, op);
    assert_eq!(failed.kind(), &SendErrorKind::AttemptsExhausted);
    assert!(matches!(failed.attempt().unwrap().error, RequestError::Timeout { written: true, .. }));
    assert!(failed.may_have_been_recalled() && failed.is_retryable());
    assert_idle(&net);

    let mut net = Net::new();
    net.broker("a").accept = Some(Accept::Refuse);
    let op = begin(&mut net, "a");
    net.run(ms(0));
    let failed = error(&net, op);
    assert!(matches!(failed.attempt().unwrap().error, RequestError::Connect(_)));
    assert!(!failed.may_have_been_recalled());

    let mut net = self::net();
    net.broker("a").others.insert(RECALL.0, Act::Close);
    let op = begin(&mut net, "a");
    net.run(ms(0));
    let failed = error(&net, op);
    assert!(matches!(failed.attempt().unwrap().error, RequestError::Closed { written: true, .. }));
    assert_idle(&net);
}

#[test]
fn cancelled_and_shut_down() {
    for written in [false, true] {
        let mut net = net();
        net.broker("a").others.insert(RECALL.0, after(50, Act::Code(ResponseCode::SYSTEM_ERROR, "late")));
        let op = begin(&mut net, "a");
        if written {
            net.run(ms(1));
        }
        net.client.cancel(net.now, op);
        net.run(ms(100));
        assert!(matches!(net.end(op).1, Event::Cancelled { .. }));
        assert_eq!(net.requests(RECALL).len(), usize::from(written));
        assert_idle(&net);
    }
    let mut net = net();
    net.broker("a").others.insert(RECALL.0, Act::Silent);
    let op = begin(&mut net, "a");
    net.run(ms(1));
    net.client.shutdown(net.now, ms(1_000));
    let late = net.client.recall(net.now, net.producer, recall("T", "a")).unwrap_err();
    assert_eq!(late.reason, RejectReason::ShutDown);
    net.run(ms(1_000));
    let error = error(&net, op);
    assert_eq!(error.kind(), &SendErrorKind::ShutDown);
    let closed = RequestError::Closed { cause: CloseCause::ShutDown, written: true };
    assert_eq!(error.attempt().unwrap().error, closed);
}

/// What a broker answers to a recall says nothing of its sends.
#[test]
fn a_brokers_health_is_not_told_of_it() {
    let producer = ProducerConfig::new("PG").fault_tolerance(FaultTolerance::new());
    let mut net = Net::with(config().build().unwrap(), producer);
    net.broker("a").others.insert(RECALL.0, Act::Code(ResponseCode::SYSTEM_ERROR, ""));
    begin(&mut net, "a");
    net.run(ms(10));
    assert_eq!(net.client.stats().fault_items, 0);
}

/// On the wire the topic is that of the namespace, and so it is in the handle.
#[test]
fn a_recall_in_a_namespace() {
    let mut net = Net::with(config().namespace("INST").build().unwrap(), ProducerConfig::new("PG"));
    let known = net.routes.remove("T").unwrap();
    net.routes.insert("INST%T".into(), known);
    net.broker("a").others.insert(RECALL.0, Act::Code(ResponseCode::ILLEGAL_OPERATION, "no"));
    let text = handle("INST%T", "a");
    let op = net.client.recall(net.now, net.producer, Recall::new("T", &*text).unwrap()).unwrap();
    net.run(ms(10));
    let header: RecallMessageHeader<'_> = net.requests(RECALL)[0].command.header().unwrap();
    assert_eq!((&*header.topic, &*header.recall_handle), ("INST%T", &*text));
    assert_eq!(header.producer_group.as_deref(), Some("INST%PG"));
    let error = error(&net, op);
    assert_eq!(error.topic(), "T");
    let long = "t".repeat(127);
    let rejected = net.client.recall(net.now, net.producer, recall(&long, "a")).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::TopicName);
}

#[test]
fn what_cannot_be_recalled() {
    let topic = |topic: &str| topic.to_owned();
    let derived = |name: &str| RecallInvalid::DerivedTopic { topic: topic(name) };
    let of_handle = |error| RecallInvalid::Handle { topic: topic("T"), error };
    let good = handle("T", "a");
    let long = "x".repeat(4_097);
    let rows = [
        ("", &*good, RecallInvalid::Topic { topic: topic(""), error: NameError::Blank }),
        (
            "a b",
            &good,
            RecallInvalid::Topic { topic: topic("a b"), error: NameError::Character { at: 1, found: ' ' } },
        ),
        ("%RETRY%g", &good, derived("%RETRY%g")),
        ("%DLQ%g", &good, derived("%DLQ%g")),
        ("T", "no handle", of_handle(RecallHandleError::Base64)),
        // `v2 a b 5 k` and `v1 a b 5`
        ("T", "djIgYSBiIDUgaw==", of_handle(RecallHandleError::Version)),
        ("T", "djEgYSBiIDU=", of_handle(RecallHandleError::Parts { found: 4 })),
        ("T", &long, RecallInvalid::HandleTooLong { topic: topic("T"), len: 4_097, max: 4_096 }),
    ];
    for (topic, handle, error) in rows {
        assert_eq!(Recall::new(topic, handle), Err(error), "{topic} {handle}");
    }
    let recall = Recall::new("T", &*good).unwrap();
    assert_eq!((recall.topic(), recall.broker(), recall.message_id()), ("T", "a", "AC0A"));
    assert_eq!(recall.handle(), good);
}

/// Recalls, too, share a write of at most `write_batch` bytes.
#[test]
fn a_burst_keeps_to_the_size_of_a_write() {
    let limits = rmq_core::Limits { write_batch: 1_500, ..rmq_core::Limits::default() };
    let mut net = Net::with(config().limits(limits).build().unwrap(), ProducerConfig::new("PG"));
    net.warm();
    for _ in 0..20 {
        begin(&mut net, "a");
    }
    let mut sizes = Vec::new();
    while let Some(output) = net.client.poll_output() {
        if let rmq_core::Output::Write { conn, data } = output {
            sizes.push(data.len());
            net.client.handle_input(net.now, rmq_core::Input::Written { conn, bytes: data.len() });
        }
    }
    assert!(sizes.len() > 2 && sizes.iter().all(|size| *size <= 1_500), "{sizes:?}");
    let mut frame = BytesMut::new();
    RemotingCommand::request(RECALL)
        .with_ext(&RecallMessageHeader {
            producer_group: Some("PG".into()),
            topic: "T".into(),
            recall_handle: handle("T", "a").into(),
            broker_name: Some("a".into()),
        })
        .encode(HeaderFormat::Json, &mut frame)
        .unwrap();
    assert!(sizes[0] > frame.len(), "several share one");
}
