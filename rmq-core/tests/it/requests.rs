//! Requests: how they begin and end, whatever happens meanwhile.

use bytes::Bytes;
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::RemotingCommand;
use rmq_core::proto::compress::Compression;
use rmq_core::proto::message::{Message, SysFlag};
use rmq_core::proto::properties::{self, CORRELATION_ID};
use rmq_core::{
    CloseReason, Event, InFlight, Input, Limits, NoReplyErrorKind, ProducerConfig, RejectReason,
    SendErrorKind, SendOptions,
};

use crate::support::{
    Accept, Act, NAME_SERVER, Net, Seen, address_of, after, at, config, ms, pushed, reply_to, route,
};

const HEART_BEAT: RequestCode = RequestCode::HEART_BEAT;

fn warm() -> Net {
    let mut net = Net::new();
    net.warm();
    net
}

/// Nothing is left of any request.
fn assert_nothing_left(net: &Net) {
    let stats = net.client.stats();
    let held = (stats.operations, stats.operation_bytes, stats.requests_waiting, stats.queued);
    assert_eq!(held, (0, 0, 0, 0));
}

fn correlation_id(seen: &Seen) -> String {
    let text = seen.send().properties.unwrap();
    properties::value(&text, CORRELATION_ID).unwrap().to_owned()
}

#[test]
fn a_reply_after_the_acknowledgement_says_where_the_request_is() {
    let mut net = warm();
    let op = net.request(ms(3_000));
    net.run(ms(100));
    assert_eq!(net.client.stats().requests_waiting, 1);
    let reply = reply_to(net.sends()[0]);
    net.push("b", &reply);
    net.run(ms(0));
    let (when, replied) = net.take_reply(op);
    assert_eq!((when, &*replied.message.body), (at(100), &b"pong"[..]));
    let sent = replied.sent.expect("a broker said so");
    assert_eq!((&*sent.queue.topic, sent.attempts, replied.attempts), ("T", 1, 1));
    assert_eq!(
        (&*replied.message.topic, replied.message.born_host.port()),
        ("DefaultCluster_REPLY_TOPIC", 40_001)
    );
    assert_nothing_left(&net);
    let stats = net.client.stats();
    assert_eq!((stats.requests, stats.requests_succeeded, stats.sends_succeeded), (1, 1, 4));
}

/// Each has an id of its own, and gets the reply to that one.
#[test]
fn replies_find_their_requests_in_any_order() {
    let mut net = warm();
    let ops: Vec<_> = (0..20).map(|_| net.request(ms(3_000))).collect();
    net.run(ms(0));
    let requests: Vec<_> = net.sends().into_iter().cloned().collect();
    let keys: Vec<_> = requests
        .iter()
        .map(|seen| {
            let text = seen.send().properties.unwrap();
            properties::value(&text, "UNIQ_KEY").unwrap().to_owned()
        })
        .collect();
    for seen in requests.iter().rev() {
        net.push("a", &reply_to(seen));
    }
    net.run(ms(0));
    let mut replied: Vec<_> = ops.iter().map(|op| net.take_reply(*op).1.message_id).collect();
    let by_op = replied.clone();
    replied.sort();
    let mut sorted = keys;
    sorted.sort();
    assert_eq!(replied, sorted);
    assert!(by_op.is_sorted(), "ids of messages grow: each operation has its own");
    let mut ids: Vec<_> = requests.iter().map(correlation_id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
    assert_nothing_left(&net);
}

/// All attempts are one request: the second reply is nobody's.
#[test]
fn e8_two_replies_end_it_once() {
    let mut net = warm();
    let first = net.next_broker("T");
    net.broker(&first).sends = [Act::Silent].into();
    let op = net.request(ms(3_000));
    net.run(ms(1_500));
    let [one, two] = net.sends()[..] else { panic!("{:?}", net.sends()) };
    assert_eq!(correlation_id(one), correlation_id(two));
    let reply = reply_to(one);
    net.push("a", &reply);
    net.push("b", &reply);
    net.run(ms(5_000));
    assert_eq!(net.take_reply(op).1.attempts, 2);
    assert_eq!((net.client.stats().unknown_replies, net.client.stats().retries), (1, 1));
    assert_nothing_left(&net);
}

/// A reply that is fed before time passes wins, even at its deadline.
#[test]
fn e8_reply_and_timeout_in_one_turn() {
    let mut net = warm();
    let op = net.request(ms(3_000));
    net.run(ms(2_999));
    let reply = reply_to(net.sends()[0]);
    net.now = at(3_000);
    net.push("a", &reply);
    net.run(ms(0));
    assert_eq!(net.take_reply(op).0, at(3_000));
    net.push("a", &reply);
    net.run(ms(1_000));
    assert_eq!((net.ends(op).len(), net.client.stats().unknown_replies), (1, 1));
}

#[test]
fn e8_a_send_that_fails_leaves_nothing_behind() {
    let mut net = Net::with(config().build().unwrap(), ProducerConfig::new("PG"));
    net.peer(NAME_SERVER).accept = Some(Accept::Refuse);
    let op = net.request(ms(3_000));
    net.run(ms(0));
    let (when, error) = net.take_no_reply(op);
    assert_eq!((when, error.kind()), (at(0), NoReplyErrorKind::SendFailed));
    let cause = error.request().unwrap_err();
    assert!(matches!(cause.kind(), SendErrorKind::RouteUnavailable { .. }), "{error}");
    assert!(!error.may_have_been_stored());
    assert_nothing_left(&net);
    assert_eq!(net.client.stats().requests_failed, 1);
}

#[test]
fn cancel_before_the_send_and_after_it() {
    let mut net = warm();
    let before = net.request(ms(3_000));
    net.client.cancel(net.now, before);
    net.run(ms(0));
    assert!(net.sends().is_empty(), "what was not written is not");
    both_after_100(&mut net);
    let unacknowledged = net.request(ms(3_000));
    net.run(ms(0));
    net.client.cancel(net.now, unacknowledged);
    let waiting = net.request(ms(3_000));
    net.run(ms(500));
    net.client.cancel(net.now, waiting);
    let replies: Vec<_> = net.sends().into_iter().map(reply_to).collect();
    replies.iter().for_each(|reply| net.push("a", reply));
    net.run(ms(5_000));
    for op in [before, unacknowledged, waiting] {
        assert!(matches!(net.end(op).1, Event::Cancelled { .. }));
    }
    assert_nothing_left(&net);
    let stats = net.client.stats();
    assert_eq!((stats.unknown_replies, stats.cancelled, stats.awaited), (2, 3, 0));
}

fn both_after_100(net: &mut Net) {
    for name in ["a", "b"] {
        net.broker(name).always = Some(after(100, Act::Stored(ResponseCode::SUCCESS)));
    }
}

/// What was acknowledged belongs to no connection: the reply comes on the next one.
#[test]
fn a_connection_lost_after_the_acknowledgement_changes_nothing() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    let op = net.request(ms(10_000));
    net.run(ms(0));
    let reply = reply_to(net.sends()[0]);
    let conn = net.conn(&address_of("a")).unwrap();
    net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
    net.run(ms(0));
    assert!(net.ends(op).is_empty());
    net.forget();
    net.run(ms(2_000));
    assert_eq!(net.requests(HEART_BEAT).len(), 1, "registered again, by itself");
    net.push("a", &reply);
    net.run(ms(0));
    assert_eq!(net.take_reply(op).0, at(2_000));
}

#[test]
fn a_shutdown_lets_replies_come_and_fails_the_others() {
    let mut net = warm();
    let replied = net.request(ms(60_000));
    net.run(ms(0));
    let reply = reply_to(net.sends()[0]);
    let waiting = net.request(ms(60_000));
    net.run(ms(0));
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
    }
    let unacknowledged = net.request(ms(60_000));
    net.run(ms(0));
    net.client.shutdown(net.now, ms(1_000));
    net.run(ms(100));
    net.push("a", &reply);
    net.run(ms(2_000));
    assert_eq!(net.take_reply(replied).0, at(100));
    let (when, error) = net.take_no_reply(waiting);
    assert_eq!((when, error.kind(), error.is_retryable()), (at(750), NoReplyErrorKind::ShutDown, false));
    assert!(error.request().is_ok() && error.may_have_been_stored());
    let error = net.take_no_reply(unacknowledged).1;
    assert_eq!(error.kind(), NoReplyErrorKind::ShutDown);
    assert!(error.request().is_err() && error.may_have_been_stored());
    assert!(net.events.iter().any(|(_, event)| matches!(event, Event::ShutDown)));
    assert_nothing_left(&net);
}

/// Clause 7: requests under way are operations, from the call until their end was polled, acknowledged or not.
#[test]
fn clause_7_requests() {
    let limits = Limits { operations: 2, operation_bytes: 2_000, ..Limits::default() };
    let mut net = Net::with(config().limits(limits).build().unwrap(), ProducerConfig::new("PG"));
    let first = net.request(ms(3_000));
    net.request(ms(3_000));
    net.run(ms(10));
    let request = net.prepare_request(ms(3_000));
    let rejected = net.client.send_request(net.now, net.producer, request.clone()).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::TooManyOperations { limit: 2 });
    assert_eq!(rejected.given, request, "the request comes back");
    net.client.cancel(net.now, first);
    net.run(ms(0));
    let large = Message::new("T", vec![b'x'; 2_000]);
    let large = large.prepare_request(net.client.message_rules(), net.client.client_id(), ms(1)).unwrap();
    let rejected = net.client.send_request(net.now, net.producer, large).unwrap_err();
    assert!(matches!(rejected.reason, RejectReason::TooManyBytes { .. }), "{rejected}");
    net.request(ms(3_000));
    assert_eq!((net.client.stats().requests_waiting, net.client.stats().rejected), (2, 2));
    net.run(ms(5_000));
    assert_nothing_left(&net);
}

#[test]
fn a_request_names_its_own_client() {
    let mut net = warm();
    let message = Message::new("T", "Hello");
    let request = message.prepare_request(net.client.message_rules(), "10.0.0.9@1#2", ms(3_000)).unwrap();
    let rejected = net.client.send_request(net.now, net.producer, request).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::OtherClient);
    net.client.shutdown(net.now, ms(100));
    let request = net.prepare_request(ms(3_000));
    let rejected = net.client.send_request(net.now, net.producer, request).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::ShutDown);
}

/// Inflating is the caller's: what the broker pushed is handed out as it is, flag and all.
#[test]
fn a_compressed_reply_is_handed_out_as_it_is() {
    for len in [5, 5_000] {
        let mut net = warm();
        let op = net.request(ms(3_000));
        net.run(ms(0));
        let (body, id) = (Bytes::from(vec![0x78; len]), correlation_id(net.sends()[0]));
        let flag = SysFlag::default().with_compression(Compression::Zlib);
        net.push("a", &pushed(&format!("CORRELATION_ID\u{1}{id}\u{2}"), flag.0, body.clone()));
        net.run(ms(0));
        let message = net.take_reply(op).1.message;
        assert_eq!((message.body, message.sys_flag), (body, flag));
    }
}

/// A header without what it must have is answered, and what waits goes on waiting.
#[test]
fn an_unreadable_push_is_answered_with_an_error() {
    let mut net = warm();
    let op = net.request(ms(3_000));
    net.run(ms(0));
    net.forget();
    let mut push = RemotingCommand::request(RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT);
    push.opaque = 9;
    net.push("a", &push.with_body(Bytes::from_static(b"pong")));
    net.run(ms(0));
    let answer = &net.seen.iter().find(|seen| seen.command.is_response()).unwrap().command;
    assert_eq!((answer.opaque, answer.code), (9, ResponseCode::SYSTEM_ERROR.0));
    assert!(answer.remark.as_deref().unwrap().starts_with("the reply cannot be read: "), "{answer:?}");
    assert!(net.ends(op).is_empty());
}

/// §10.1: any broker may have to push the reply, so all of them have to know the client before the request goes out.
#[test]
fn the_first_request_waits_until_brokers_know_the_client() {
    let mut net = Net::new();
    for name in ["a", "b"] {
        net.broker(name).accept = Some(Accept::OpenAfter(20));
        net.broker(name).others.insert(HEART_BEAT.0, after(30, Act::Code(ResponseCode::SUCCESS, "")));
    }
    let op = net.request(ms(3_000));
    net.run(ms(49));
    let beats: Vec<_> = net.requests(HEART_BEAT).iter().map(|seen| seen.address.clone()).collect();
    assert_eq!(beats, [address_of("a"), address_of("b")]);
    assert!(net.sends().is_empty());
    net.run(ms(1));
    assert_eq!(net.sends()[0].at, at(50));
    net.run(ms(0));
    net.request(ms(3_000));
    net.run(ms(0));
    assert_eq!(net.sends()[1].at, at(50), "they know it by now");
    net.client.cancel(net.now, op);
}

/// One that cannot be reached is not waited for, and one that does not answer for a quarter of the time.
#[test]
fn a_request_does_not_wait_for_a_broker_that_is_down() {
    let mut net = Net::new();
    net.broker("a").accept = Some(Accept::Refuse);
    net.request(ms(3_000));
    net.run(ms(0));
    assert_eq!(net.brokers_asked(), ["b"]);
    let mut net = Net::new();
    net.broker("a").others.insert(HEART_BEAT.0, Act::Silent);
    net.request(ms(4_000));
    net.run(ms(999));
    assert!(net.sends().is_empty());
    net.run(ms(1));
    assert_eq!(net.sends().len(), 1);
    let op = net.request(ms(4_000));
    net.client.cancel(net.now, op);
    net.client.shutdown(net.now, ms(0));
    net.run(ms(0));
    assert_nothing_left(&net);
}

/// A request that a broker has takes no room of its producer's, however long its reply takes.
#[test]
fn a_request_counts_among_those_under_way_until_a_broker_has_it() {
    let producer = ProducerConfig::new("PG").in_flight(InFlight::new().max_messages(1));
    let mut net = Net::with(config().build().unwrap(), producer);
    net.warm();
    both_after_100(&mut net);
    net.request(ms(10_000));
    let second = net.send("T", SendOptions::default());
    net.run(ms(99));
    assert_eq!((net.client.stats().permits, net.client.stats().in_line), (1, 1));
    net.run(ms(101));
    assert_eq!(net.take_sent(second).0, at(200));
    assert_eq!((net.client.stats().permits, net.client.stats().requests_waiting), (0, 1));
}
