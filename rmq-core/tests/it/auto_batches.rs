//! Automatic batches (producer §10.6): messages that are sent one by one go out together, and end one by one.

use std::num::NonZeroU32;
use std::time::Duration;

use rmq_core::proto::code::ResponseCode;
use rmq_core::proto::header::SendMessageV2Header;
use rmq_core::proto::message::{Message, MessageRules};
use rmq_core::proto::properties::{TAGS, UNIQ_KEY, value};
use rmq_core::{
    AttemptTimeout, AutoBatch, ClientConfigBuilder, ConfigError, DelayLevel, Event, InFlight, Limits,
    MessageQueue, OpId, ProducerConfig, RejectReason, RequestError, RetryPolicy, SendErrorKind, SendOptions,
    SendStatus,
};

use crate::support::{Act, Net, Seen, after, at, config, elements, ms, route, stored};

fn producer() -> ProducerConfig {
    ProducerConfig::new("PG").auto_batch(AutoBatch::new())
}

/// A network whose route and connections are there already.
fn net_of(config: ClientConfigBuilder, producer: ProducerConfig) -> Net {
    let mut net = Net::with(config.build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 2), ("b", 2)]));
    for _ in 0..4 {
        let op = net.send("T", SendOptions::default().timeout(ms(3_000)));
        net.run(ms(0));
        net.take_sent(op);
    }
    net.forget();
    net
}

fn net() -> Net {
    net_of(config(), producer())
}

fn send_as(net: &mut Net, message: Message) -> OpId {
    let prepared = message.prepare(net.client.message_rules()).unwrap();
    net.client.send(net.now, net.producer, prepared, SendOptions::default()).unwrap()
}

fn send(net: &mut Net, body: &str) -> OpId {
    send_as(net, Message::new("T", body.to_owned()))
}

fn both(net: &mut Net, act: &Act) {
    for name in ["a", "b"] {
        net.broker(name).always = Some(act.clone());
    }
}

fn bodies(seen: &Seen) -> Vec<String> {
    let text = |body: &[u8]| String::from_utf8(body.to_vec()).unwrap();
    elements(&seen.command.body).iter().map(|element| text(&element.body)).collect()
}

fn ids(seen: &Seen) -> Vec<String> {
    let id = |text: &str| value(text, UNIQ_KEY).unwrap().to_owned();
    elements(&seen.command.body).iter().map(|element| id(&element.properties)).collect()
}

/// Nothing is left of what was accepted, the memory least of all.
fn assert_nothing_left(net: &Net) {
    let stats = net.client.stats();
    let left = [
        stats.operations,
        stats.operation_bytes,
        stats.gathered,
        stats.gathered_bytes,
        stats.groups,
        stats.auto_batches,
        stats.queued,
    ];
    assert_eq!(left, [0; 7], "{stats:?}");
}

#[test]
fn what_is_old_enough_goes_out_together_and_each_has_its_part() {
    let mut net = net();
    let start = net.now;
    let first = send(&mut net, "one");
    net.run(ms(4));
    let others = [send(&mut net, "two"), send(&mut net, "three")];
    net.run(ms(5));
    let stats = net.client.stats();
    assert_eq!((stats.gathered, stats.gathered_bytes, stats.groups), (3, 11, 1));
    assert!(net.seen.is_empty(), "nothing goes out before its time");
    net.run(ms(1));
    assert_eq!((net.batches().len(), net.sends().len()), (1, 0));
    let seen = net.batches()[0].clone();
    assert_eq!(seen.at, start + ms(10));
    assert_eq!(bodies(&seen), ["one", "two", "three"]);
    let (ids, base) = (ids(&seen), net.take_sent(first).1);
    for (place, op) in [first, others[0], others[1]].into_iter().enumerate() {
        let (when, result) = net.take_sent(op);
        assert_eq!((when, &result.message_id), (start + ms(10), &ids[place]));
        assert_eq!(result.queue_offset, base.queue_offset + place as i64);
        assert!(result.offset_message_id.ends_with(&format!("040{place}")), "{}", result.offset_message_id);
        assert_eq!((result.status, result.attempts, &result.queue), (SendStatus::SendOk, 1, &base.queue));
    }
    // The messages' ids are drawn before that of the batch (wire §6.6), which is none of theirs.
    let own = value(seen.send().properties.as_ref().unwrap(), UNIQ_KEY).unwrap().to_owned();
    assert!(ids.iter().all(|id| *id < own), "{ids:?}, {own}");
    assert_nothing_left(&net);
    assert_eq!((net.client.stats().sends_succeeded, net.client.stats().timers > 0), (7, true));
}

#[test]
fn what_is_large_enough_goes_out_at_once() {
    let mut net = net_of(config(), producer().auto_batch(AutoBatch::new().bytes(10)));
    let ops = [send(&mut net, "12345"), send(&mut net, "67890")];
    net.run(ms(0));
    assert!(net.seen.is_empty(), "10 bytes are not more than 10");
    let last = send(&mut net, "x");
    net.run(ms(0));
    assert_eq!(bodies(net.batches()[0]), ["12345", "67890", "x"]);
    ops.into_iter().chain([last]).for_each(|op| drop(net.take_sent(op)));
    assert_nothing_left(&net);
}

#[test]
fn one_that_is_alone_goes_out_as_ever() {
    let mut net = net();
    let op = send(&mut net, "alone");
    net.run(ms(10));
    let (when, result) = net.take_sent(op);
    assert_eq!((net.sends().len(), net.batches().len()), (1, 0));
    let header: SendMessageV2Header<'_> = net.sends()[0].send();
    assert_eq!((header.batch, &*net.sends()[0].command.body), (Some(false), &b"alone"[..]));
    assert_eq!(when, net.now);
    assert_eq!(value(&header.properties.unwrap(), UNIQ_KEY), Some(&*result.message_id));
    assert_nothing_left(&net);
}

#[test]
fn only_what_belongs_together_goes_together() {
    let mut net = net();
    net.routes.insert("U".into(), route(&[("a", 1)]));
    let queue = MessageQueue { topic: "T".into(), broker: "b".into(), queue_id: 1 };
    let to_queue = |net: &mut Net| {
        let prepared = Message::new("T", "q").prepare(&MessageRules::default()).unwrap();
        net.client.send_to(net.now, net.producer, &queue, prepared, SendOptions::default()).unwrap()
    };
    let mut ops = Vec::new();
    for _ in 0..2 {
        ops.push(send(&mut net, "plain"));
        ops.push(send_as(&mut net, Message::new("T", "tag").tag("x")));
        ops.push(send_as(&mut net, Message::new("T", "nowait").wait_store_ok(false)));
        ops.push(send_as(&mut net, Message::new("U", "topic")));
        ops.push(to_queue(&mut net));
    }
    assert_eq!((net.client.stats().gathered, net.client.stats().groups), (10, 5));
    net.run(ms(20));
    let mut seen: Vec<_> = net.batches().into_iter().map(bodies).collect();
    seen.sort();
    assert_eq!(seen, [["nowait"; 2], ["plain"; 2], ["q"; 2], ["tag"; 2], ["topic"; 2]]);
    for op in ops {
        net.take_sent(op);
    }
    let of = |body: &str| *net.batches().iter().find(|seen| bodies(seen)[0] == body).unwrap();
    let wait = |body| value(&of(body).send().properties.unwrap(), "WAIT").map(str::to_owned);
    assert_eq!((wait("plain").as_deref(), wait("nowait").as_deref()), (Some("true"), Some("false")));
    assert_eq!((of("q").send().queue_id, of("q").send().broker_name.as_deref()), (1, Some("b")));
    let tagged = &elements(&of("tag").command.body)[1];
    assert_eq!(value(&tagged.properties, TAGS), Some("x"));
    assert_nothing_left(&net);
}

/// A timeout of its own, a one-way send, a retry topic, a delay, a compressed body,
/// properties that a batch has no room for: at once and alone.
#[test]
fn what_cannot_wait_goes_directly() {
    let mut net = net();
    net.routes.insert("%RETRY%g".into(), route(&[("a", 1)]));
    let hurried = net.send("T", SendOptions::default().timeout(ms(3_000)));
    let oneway = net.send("T", SendOptions::default().oneway());
    let retry = send_as(&mut net, Message::new("%RETRY%g", "x"));
    let wordy = send_as(&mut net, Message::new("T", "x").property("p", "v".repeat(32_400)));
    let delayed = send_as(&mut net, Message::new("T", "x").deliver_after(ms(5_000)));
    let level = DelayLevel::new(3).unwrap();
    let levelled = send_as(&mut net, Message::new("T", "x").delay_level(level));
    // The client's own rules compress nothing here.
    let compressed = Message::new("T", "x".repeat(5_000)).prepare(&MessageRules::default()).unwrap();
    let compressed = net.client.send(net.now, net.producer, compressed, SendOptions::default()).unwrap();
    assert_eq!((net.client.stats().gathered, net.client.stats().gathered_bytes), (0, 0));
    net.run(ms(0));
    assert!(matches!(net.end(oneway).1, Event::OnewayWritten { .. }));
    [hurried, retry, wordy, delayed, levelled, compressed].into_iter().for_each(|op| drop(net.take_sent(op)));
    assert_eq!(net.sends().len(), 7);
    assert_nothing_left(&net);
}

/// The bytes that wait are counted while they wait, and no longer, whatever becomes of the messages.
#[test]
fn what_there_is_no_room_for_goes_directly() {
    let mut net = net_of(config(), producer().auto_batch(AutoBatch::new().total_bytes(10)));
    let first = send(&mut net, "12345");
    let second = send(&mut net, "6789");
    let direct = send(&mut net, "ab");
    assert_eq!(net.client.stats().gathered_bytes, 9);
    net.run(ms(0));
    net.take_sent(direct);
    net.client.cancel(net.now, first);
    assert_eq!(net.client.stats().gathered_bytes, 4);
    let third = send(&mut net, "abcdef");
    assert_eq!(net.client.stats().gathered_bytes, 10, "there is room again");
    net.run(ms(10));
    [second, third].into_iter().for_each(|op| drop(net.take_sent(op)));
    assert_nothing_left(&net);
}

/// A batch is never longer than a body may be, however short the bodies are.
#[test]
fn a_batch_is_no_longer_than_a_body_may_be() {
    let mut net = net_of(config().max_message_len(1_000), producer());
    let message = |i: usize| Message::new("T", format!("{i}")).property("p", "v".repeat(300));
    let ops: Vec<_> = (0..7).map(|i| send_as(&mut net, message(i))).collect();
    net.run(ms(10));
    let seen: Vec<_> = net.batches().into_iter().map(|seen| seen.command.body.len()).collect();
    assert!(seen.len() == 3 && seen.iter().all(|len| *len <= 1_000), "{seen:?}");
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
    assert_eq!(net.sends().len(), 1, "the last one is alone");
    assert_nothing_left(&net);
}

#[test]
fn a_message_cancelled_before_it_went_out_is_not_written() {
    let mut net = net();
    let ops = [send(&mut net, "one"), send(&mut net, "two"), send(&mut net, "three")];
    net.client.cancel(net.now, ops[1]);
    assert_eq!(net.client.stats().gathered, 2);
    net.client.handle_timeout(net.now + ms(10));
    // It has left its group, and its bytes are not made yet.
    net.client.cancel(net.now, ops[0]);
    net.run(ms(10));
    assert_eq!((net.sends().len(), net.batches().len()), (1, 0), "one is left, which goes out as ever");
    assert_eq!(&*net.sends()[0].command.body, b"three");
    net.take_sent(ops[2]);
    for op in &ops[..2] {
        assert!(matches!(net.end(*op).1, Event::Cancelled { .. }));
    }
    assert_nothing_left(&net);
}

#[test]
fn a_group_whose_messages_are_all_cancelled_is_gone() {
    let mut net = net();
    let ops = [send(&mut net, "one"), send(&mut net, "two")];
    let timers = net.client.stats().timers;
    ops.iter().for_each(|op| net.client.cancel(net.now, *op));
    assert_eq!(net.client.stats().timers, timers - 3);
    net.run(ms(20));
    assert!(net.seen.is_empty());
    assert_nothing_left(&net);
}

/// Of what was written nobody knows whether the broker acts on it; the others have their results all the same.
#[test]
fn a_message_cancelled_after_it_went_out_leaves_the_others_theirs() {
    let mut net = net();
    both(&mut net, &after(50, Act::Stored(ResponseCode::SUCCESS)));
    let ops = [send(&mut net, "one"), send(&mut net, "two"), send(&mut net, "three")];
    net.run(ms(20));
    net.client.cancel(net.now, ops[1]);
    net.run(ms(50));
    assert!(matches!(net.end(ops[1]).1, Event::Cancelled { .. }));
    let seen = net.batches()[0].clone();
    assert_eq!(bodies(&seen).len(), 3);
    let (first, last) = (net.take_sent(ops[0]).1, net.take_sent(ops[2]).1);
    assert_eq!(last.queue_offset, first.queue_offset + 2, "places stay");
    assert!(last.offset_message_id.ends_with("0402"));
    assert_eq!((first.message_id, last.message_id), (ids(&seen)[0].clone(), ids(&seen)[2].clone()));
    assert_nothing_left(&net);
}

/// With the last message goes the batch, as any send: its answer is waited for, and nothing else is.
#[test]
fn a_batch_whose_messages_are_all_cancelled_is_taken_back() {
    let mut net = net();
    both(&mut net, &after(50, Act::Code(ResponseCode::SYSTEM_BUSY, "busy")));
    let ops = [send(&mut net, "one"), send(&mut net, "two")];
    net.run(ms(20));
    assert_eq!(net.client.stats().auto_batches, 1);
    ops.iter().for_each(|op| net.client.cancel(net.now, *op));
    assert_eq!((net.client.stats().auto_batches, net.client.stats().awaited), (0, 1));
    net.run(ms(100));
    assert_eq!(net.batches().len(), 1, "no further attempt is made");
    assert_eq!(net.client.stats().awaited, 0);
    assert_nothing_left(&net);
}

/// A cancelled message is in no further attempt; the others are, as they were.
#[test]
fn another_attempt_carries_whoever_is_left() {
    let mut net = net();
    both(&mut net, &after(50, Act::Stored(ResponseCode::SUCCESS)));
    for name in ["a", "b"] {
        net.broker(name).sends = [after(20, Act::Code(ResponseCode::SYSTEM_BUSY, "busy"))].into();
    }
    let ops = [send(&mut net, "one"), send(&mut net, "two"), send(&mut net, "three")];
    net.run(ms(15));
    net.client.cancel(net.now, ops[0]);
    net.run(ms(20));
    net.client.cancel(net.now, ops[1]);
    net.run(ms(100));
    let seen: Vec<_> = net.batches().into_iter().cloned().collect();
    assert_eq!(
        seen.iter().map(bodies).collect::<Vec<_>>(),
        [vec!["one", "two", "three"], vec!["two", "three"]]
    );
    assert_eq!(elements(&seen[0].command.body)[1..], elements(&seen[1].command.body)[..], "the same bytes");
    assert_eq!(seen[0].send().properties, seen[1].send().properties);
    let alone = net.sends()[0];
    assert_eq!((&*alone.command.body, alone.send().batch), (&b"three"[..], Some(false)));
    assert_eq!(alone.send().born_timestamp, seen[0].send().born_timestamp);
    let result = net.take_sent(ops[2]).1;
    assert_eq!((result.attempts, &result.message_id), (3, &ids(&seen[0])[2]));
    assert_nothing_left(&net);
}

/// Each message has its own deadline; what is said of it is true of it alone.
#[test]
fn a_message_whose_time_is_over_fails_alone() {
    let once = producer().attempts(NonZeroU32::MIN);
    let mut net = net_of(config(), once);
    both(&mut net, &after(2_992, Act::Stored(ResponseCode::SUCCESS)));
    let start = net.now;
    let early = send(&mut net, "early");
    net.run(ms(5));
    let late = send(&mut net, "late");
    net.run(ms(4_000));
    let (when, error) = net.take_error(early);
    assert_eq!((when, error.took()), (start + ms(3_000), ms(3_000)));
    assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
    let [attempt] = error.attempts() else { panic!("{error}") };
    assert_eq!((attempt.began, attempt.took), (ms(10), ms(2_990)));
    assert!(
        matches!(attempt.error, RequestError::Timeout { written: true, .. }) && error.may_have_been_stored()
    );
    assert_eq!(error.message_id(), ids(net.batches()[0])[0]);
    let (when, result) = net.take_sent(late);
    assert_eq!((when, &result.message_id), (start + ms(3_002), &ids(net.batches()[0])[1]));
    assert!(result.offset_message_id.ends_with("0401"));
    assert_nothing_left(&net);
}

/// The last one's time is that of the batch: the connection and the attempts hear of it as of any send.
#[test]
fn a_batch_times_out_with_its_last_message() {
    let mut net = net();
    both(&mut net, &Act::Silent);
    let start = net.now;
    let first = send(&mut net, "one");
    net.run(ms(5));
    let last = send(&mut net, "two");
    net.run(ms(4_000));
    assert_eq!(net.batches().len(), 3);
    for (op, end) in [(first, 3_000), (last, 3_005)] {
        let (when, error) = net.take_error(op);
        assert_eq!(when, start + ms(end));
        assert_eq!((error.attempts().len(), error.kind()), (3, &SendErrorKind::AttemptsExhausted), "{error}");
        let mut ended = Duration::ZERO;
        for attempt in error.attempts() {
            assert!(attempt.began >= ended && attempt.began + attempt.took <= error.took(), "{error:?}");
            ended = attempt.began + attempt.took;
        }
    }
    assert_nothing_left(&net);
}

/// Nobody knows the route: each message says so.
#[test]
fn a_batch_without_a_route_fails_as_its_messages_would() {
    let mut net = net();
    let messages = ["one", "two"].map(|body| Message::new("unknown", body));
    let ops = messages.map(|message| send_as(&mut net, message));
    net.run(ms(3_000));
    for op in ops {
        let (_, error) = net.take_error(op);
        assert!(matches!(error.kind(), SendErrorKind::TopicNotFound { .. }), "{error}");
        assert!(!error.message_id().is_empty() && !error.message_id().contains(','));
    }
    assert_nothing_left(&net);
}

#[test]
fn a_refused_batch_refuses_each_message() {
    let mut net = net();
    both(&mut net, &Act::Code(ResponseCode::MESSAGE_ILLEGAL, "no"));
    let ops = [send(&mut net, "one"), send(&mut net, "two")];
    net.run(ms(100));
    for op in ops {
        let (_, error) = net.take_error(op);
        assert_eq!(
            (error.kind(), error.code()),
            (&SendErrorKind::Refused, Some(ResponseCode::MESSAGE_ILLEGAL))
        );
        assert_eq!((error.attempts()[0].began, error.attempts().len()), (ms(10), 1));
    }
    assert_eq!(net.client.stats().sends_failed, 2);
    assert_nothing_left(&net);
}

/// An answer with too few ids, or too many, is one that nobody can use.
#[test]
fn a_wrong_number_of_ids_is_an_error_for_all() {
    for told in ["0A00000100002A9F0000000000000400", "A,B,C"] {
        let mut net = net();
        both(&mut net, &Act::Silent);
        let ops = [send(&mut net, "one"), send(&mut net, "two")];
        net.run(ms(10));
        let seen = net.batches()[0].clone();
        let mut answer = stored(&seen.command, 7, ResponseCode::SUCCESS);
        answer.ext.insert("msgId", told);
        net.answer(seen.conn, &answer);
        net.run(ms(200));
        for op in ops {
            let (_, error) = net.take_error(op);
            let ids = told.split(',').count();
            assert_eq!(error.attempts()[0].error, RequestError::WrongIds { messages: 2, ids });
            assert!(error.may_have_been_stored() && !error.is_retryable());
        }
        assert_eq!(net.batches().len(), 1, "it is not sent again");
        assert_nothing_left(&net);
    }
}

/// A topic that keeps a batch as one message: all are told the same (producer §10.6).
#[test]
fn a_batch_that_the_broker_keeps_whole_has_one_result() {
    let mut net = net();
    both(&mut net, &Act::Silent);
    let ops = [send(&mut net, "one"), send(&mut net, "two")];
    net.run(ms(10));
    let seen = net.batches()[0].clone();
    let mut answer = stored(&seen.command, 7, ResponseCode::SUCCESS);
    answer.ext.insert("msgId", "0A00000100002A9F0000000000000400");
    answer.ext.insert("batchUniqId", "X");
    net.answer(seen.conn, &answer);
    net.run(ms(0));
    let results = ops.map(|op| net.take_sent(op).1);
    assert_eq!(results[0], results[1]);
    let own = value(seen.send().properties.as_ref().unwrap(), UNIQ_KEY).unwrap().to_owned();
    assert_eq!((&results[0].message_id, results[0].queue_offset), (&own, 7));
}

/// A stored batch that is tried again is stored whatever comes after, each message where it was.
#[test]
fn stored_is_stored_for_each_message() {
    let retry = RetryPolicy::default().when_not_stored_ok(true);
    let mut net = net_of(config(), producer().retry(retry).attempts(NonZeroU32::new(2).unwrap()));
    let scripts = [Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT), Act::Silent];
    let first = net.next_broker("T");
    let other = if first == "a" { "b" } else { "a" };
    for (name, act) in [(&*first, &scripts[0]), (other, &scripts[1])] {
        net.broker(name).always = Some(act.clone());
    }
    let ops = [send(&mut net, "one"), send(&mut net, "two")];
    net.run(ms(4_000));
    assert_eq!(net.batches().len(), 2);
    for (place, op) in ops.into_iter().enumerate() {
        let (_, result) = net.take_sent(op);
        assert_eq!((result.status, result.attempts), (SendStatus::FlushDiskTimeout, 2));
        assert!(result.offset_message_id.ends_with(&format!("040{place}")));
    }
    assert_nothing_left(&net);
}

#[test]
fn shutdown_sends_what_waits() {
    let mut net = net_of(config(), producer().auto_batch(AutoBatch::new().delay(ms(2_000))));
    let ops = [send(&mut net, "one"), send(&mut net, "two")];
    net.client.shutdown(net.now, ms(3_000));
    net.run(ms(10));
    assert_eq!(net.batches().len(), 1);
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
    assert!(net.client.is_shut_down());
    assert_nothing_left(&net);
}

#[test]
fn shutdown_at_once_fails_what_waits_and_what_is_under_way() {
    let mut net = net();
    both(&mut net, &Act::Silent);
    let gone = [send(&mut net, "one"), send(&mut net, "two")];
    net.run(ms(10));
    let waiting = [send(&mut net, "three"), send(&mut net, "four")];
    net.client.shutdown(net.now, ms(0));
    net.run(ms(0));
    for (ops, stored) in [(gone, true), (waiting, false)] {
        for op in ops {
            let (_, error) = net.take_error(op);
            assert_eq!((error.kind(), error.may_have_been_stored()), (&SendErrorKind::ShutDown, stored));
        }
    }
    assert_nothing_left(&net);
}

/// What befalls the connection befalls the batch: it goes to another broker, with what it carries.
#[test]
fn a_lost_connection_is_followed_by_another_attempt() {
    let mut net = net();
    let first = net.next_broker("T");
    net.broker(&first).sends = [Act::Close].into();
    let ops = [send(&mut net, "one"), send(&mut net, "two")];
    net.run(ms(200));
    ops.into_iter().for_each(|op| assert_eq!(net.take_sent(op).1.attempts, 2));
    assert_eq!(net.batches().len(), 2);
    assert_nothing_left(&net);
}

/// A batch is no operation: those that it carries are, and they alone count.
#[test]
fn batches_take_no_room_of_operations() {
    let limits = Limits { operations: 3, ..Limits::default() };
    let mut net = net_of(config().limits(limits), producer());
    both(&mut net, &after(50, Act::Stored(ResponseCode::SUCCESS)));
    let mut ops = vec![send(&mut net, "one"), send(&mut net, "two")];
    net.run(ms(10));
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.auto_batches, stats.gathered), (2, 1, 0));
    ops.push(send(&mut net, "three"));
    let prepared = Message::new("T", "x").prepare(net.client.message_rules()).unwrap();
    let rejected = net.client.send(net.now, net.producer, prepared, SendOptions::default()).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::TooManyOperations { limit: 3 });
    net.run(ms(100));
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
    assert_nothing_left(&net);
}

/// A message that waits for others has its permit; one that there is none for stands in line and goes out alone.
#[test]
fn messages_that_wait_have_permits() {
    let limit = InFlight::new().max_messages(2);
    let mut net = net_of(config(), producer().in_flight(limit));
    let ops = [send(&mut net, "one"), send(&mut net, "two"), send(&mut net, "three")];
    let stats = net.client.stats();
    assert_eq!((stats.permits, stats.in_line, stats.gathered), (2, 1, 2));
    net.run(ms(20));
    assert_eq!((net.batches().len(), net.sends().len()), (1, 1));
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
    let stats = net.client.stats();
    assert_eq!((stats.permits, stats.in_line), (0, 0));
    assert_nothing_left(&net);
}

/// The time of the whole batch is shared among its attempts.
#[test]
fn attempts_of_a_batch_share_its_time() {
    let mut net = net_of(config(), producer().attempt_timeout(AttemptTimeout::Cap(ms(500))));
    let first = net.next_broker("T");
    net.broker(&first).sends = [Act::Silent].into();
    let start = net.now;
    let ops = [send(&mut net, "one"), send(&mut net, "two")];
    net.run(ms(1_000));
    ops.into_iter().for_each(|op| assert_eq!(net.take_sent(op).0, start + ms(510)));
}

#[test]
fn settings_that_cannot_work_are_named() {
    let rows = [
        (AutoBatch::new().delay(ms(0)), "auto_batch.delay"),
        (AutoBatch::new().delay(ms(30_001)), "auto_batch.delay"),
        (AutoBatch::new().bytes(0), "auto_batch.bytes"),
        (AutoBatch::new().bytes(AutoBatch::MAX_BYTES + 1), "auto_batch.bytes"),
        (AutoBatch::new().total_bytes(0), "auto_batch.total_bytes"),
    ];
    let mut net = Net::new();
    for (batches, name) in rows {
        let config = ProducerConfig::new("other").send_timeout(ms(60_000)).auto_batch(batches);
        let error = net.client.add_producer(at(0), config).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    let waits_too_long = ProducerConfig::new("other").auto_batch(AutoBatch::new().delay(ms(3_000)));
    let error = net.client.add_producer(at(0), waits_too_long).unwrap_err();
    assert!(matches!(error, ConfigError::TooLarge { name: "auto_batch.delay", .. }), "{error}");
    let largest = AutoBatch::new().delay(AutoBatch::MAX_DELAY).bytes(AutoBatch::MAX_BYTES);
    let config = ProducerConfig::new("other").send_timeout(ms(60_000)).auto_batch(largest);
    assert!(net.client.add_producer(at(0), config).is_ok());
}
