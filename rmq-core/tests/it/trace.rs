//! Message trace: what is told, when, how it is sent, and what of it nobody notices (producer §10.4).

use std::num::NonZeroU32;

use rmq_core::proto::body::HeartbeatData;
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::compress::Compression;
use rmq_core::proto::header::UnregisterHeader;
use rmq_core::proto::message::Message;
use rmq_core::proto::properties::{self, KEYS};
use rmq_core::proto::trace::{self, Pub, TRACE_TOPIC, TraceRecord};
use rmq_core::{
    ConfigError, Event, Limits, OpId, ProducerConfig, ProducerId, Resolution, RetryPolicy, SendOptions,
    Stats, Trace,
};

use crate::support::{Act, Net, UNIX_MS, after, at, back, config, ms, route};
use crate::transactions::{check, half_sent, question};

const SUCCESS: Act = Act::Stored(ResponseCode::SUCCESS);

fn traced() -> ProducerConfig {
    ProducerConfig::new("PG").trace(Trace::new())
}

/// Topic `T` on broker `a`, the trace topic on broker `b`.
fn net_with(producer: ProducerConfig, limits: Limits) -> Net {
    let mut net = Net::with(config().limits(limits).build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.routes.insert(TRACE_TOPIC.into(), route(&[("b", 1)]));
    net
}

fn net() -> Net {
    net_with(traced(), Limits::default())
}

fn send_of(net: &mut Net, producer: ProducerId, message: Message) -> OpId {
    let message = message.prepare(net.client.message_rules()).unwrap();
    net.client.send(net.now, producer, message, SendOptions::default()).unwrap()
}

/// Sends a message and lets it be stored.
fn send(net: &mut Net, topic: &str) -> String {
    let op = net.send(topic, SendOptions::default());
    net.run(ms(0));
    net.take_sent(op).1.message_id
}

/// What arrived in a topic: the ids of the records in each message.
fn ids_in(net: &Net, topic: &str) -> Vec<Vec<String>> {
    let text = |seen: &crate::support::Seen| String::from_utf8(seen.command.body.to_vec()).unwrap();
    let told = net.sends().into_iter().filter(|seen| seen.send().topic == topic).map(text);
    told.map(|text| trace::records(&text).map(|record| record.unwrap().message_id().to_owned()).collect())
        .collect()
}

fn ids(net: &Net) -> Vec<Vec<String>> {
    ids_in(net, TRACE_TOPIC)
}

fn records(net: &Net) -> Vec<Pub> {
    let told: Vec<_> = net.sends().into_iter().filter(|seen| seen.send().topic == TRACE_TOPIC).collect();
    let texts = told.iter().map(|seen| core::str::from_utf8(&seen.command.body).unwrap());
    let records = texts.flat_map(trace::records).map(Result::unwrap);
    records
        .map(|record| match record {
            TraceRecord::Pub(record) => record,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn counts(stats: &Stats) -> [u64; 4] {
    [stats.traces, stats.traces_sent, stats.traces_failed, stats.traces_dropped]
}

/// J5: the record of a message, as the console reads it.
#[test]
fn j5_a_stored_message_leaves_its_record() {
    let mut net = net();
    net.run(ms(1_000));
    net.broker("a").sends = [after(17, SUCCESS)].into();
    let producer = net.producer;
    let op =
        send_of(&mut net, producer, Message::new("T", "Hello").tag("TagA").key("user-7").key("order-42"));
    net.run(ms(20));
    let id = net.take_sent(op).1.message_id;
    let told = net.sends()[1];
    let time = UNIX_MS + 1_000;
    let line = format!(
        "Pub|{time}|DefaultRegion|PG|T|{id}|TagA|user-7 order-42|a:10911|5|17|0|0A00000100002A9F0000000000000400|true\n"
    );
    let text = line.replace('|', "\u{1}").replace('\n', "\u{2}");
    assert_eq!(core::str::from_utf8(&told.command.body), Ok(text.as_str()));
    let header = told.send();
    assert_eq!(
        (&*header.topic, &*header.producer_group),
        (TRACE_TOPIC, "_INNER_TRACE_PRODUCER-PG-PRODUCE-1")
    );
    let keys = properties::value(header.properties.as_deref().unwrap(), KEYS);
    assert_eq!(keys, Some(format!("{id} order-42 user-7").as_str()));
    let stats = net.client.stats();
    assert_eq!(counts(&stats), [1, 1, 0, 0]);
    assert_eq!((stats.sends, stats.sends_succeeded, stats.operations, stats.trace_sends), (1, 1, 0, 0));
    let ends = net.events.iter().filter(|(_, event)| matches!(event, Event::Sent { .. }));
    assert_eq!(ends.count(), 1, "nobody hears of the message with the record");
}

#[test]
fn the_region_is_the_brokers() {
    let mut net = net();
    net.broker("a").region = Some("east");
    send(&mut net, "T");
    assert_eq!(records(&net)[0].region.as_deref(), Some("east"));
}

/// The record is that of the attempt, not of the call: its time, its broker, its cost.
#[test]
fn each_attempt_that_was_answered_leaves_one() {
    let policy = RetryPolicy::default().when_not_stored_ok(true);
    let trace = Trace::new().batch(NonZeroU32::MIN);
    let mut net = net_with(ProducerConfig::new("PG").retry(policy).trace(trace), Limits::default());
    let busy = Act::Code(ResponseCode::SYSTEM_BUSY, "busy");
    let unsafely = Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT);
    net.broker("a").sends = [after(5, busy), after(30, unsafely), after(40, SUCCESS)].into();
    let op = net.send("T", SendOptions::default());
    net.run(ms(1_000));
    assert_eq!(net.take_sent(op).1.attempts, 3);
    let told: Vec<_> =
        records(&net).iter().map(|r| (r.time - UNIX_MS as i64, r.cost_ms, r.success)).collect();
    assert_eq!(told, [(100, 30, false), (200, 40, true)], "attempts at one broker begin 100 ms apart");
}

#[test]
fn the_length_is_that_of_the_compressed_body() {
    let mut net = Net::with(config().compression(Compression::Zlib).build().unwrap(), traced());
    net.routes.insert(TRACE_TOPIC.into(), route(&[("b", 1)]));
    let producer = net.producer;
    send_of(&mut net, producer, Message::new("T", "x".repeat(10_000)));
    net.run(ms(0));
    let sent = net.sends()[0].command.body.len();
    assert!(sent < 1_000, "{sent}");
    assert_eq!(records(&net)[0].body_len as usize, sent);
}

#[test]
fn other_statuses_are_no_success() {
    for (code, success) in [
        (ResponseCode::SUCCESS, true),
        (ResponseCode::FLUSH_DISK_TIMEOUT, false),
        (ResponseCode::FLUSH_SLAVE_TIMEOUT, false),
        (ResponseCode::SLAVE_NOT_AVAILABLE, false),
    ] {
        let mut net = net();
        net.broker("a").sends = [Act::Stored(code)].into();
        send(&mut net, "T");
        assert_eq!(records(&net)[0].success, success, "{code}");
    }
}

#[test]
fn what_leaves_no_record() {
    let mut net = net();
    net.routes.insert("RMQ_SYS_TRACE_TOPIC_2".into(), route(&[("a", 1)]));
    net.broker("a").sends = [Act::Code(ResponseCode::MESSAGE_ILLEGAL, "no")].into();
    let failed = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_error(failed);
    let oneway = net.send("T", SendOptions::default().oneway());
    net.run(ms(0));
    assert!(matches!(net.end(oneway).1, Event::OnewayWritten { .. }));
    send(&mut net, TRACE_TOPIC);
    send(&mut net, "RMQ_SYS_TRACE_TOPIC_2");
    net.broker("a").trace_on = Some("false");
    send(&mut net, "T");
    net.broker("a").trace_on = None;
    let other = net.client.add_producer(net.now, ProducerConfig::new("untraced")).unwrap();
    send_of(&mut net, other, Message::new("T", "Hello"));
    // A message given back goes to the retry topic: that is the consumers' doing.
    net.routes.insert("%RETRY%g".into(), route(&[("a", 1)]));
    let no = Act::Code(ResponseCode::SYSTEM_ERROR, "no");
    net.broker("a").others.insert(RequestCode::CONSUMER_SEND_MSG_BACK.0, no);
    let given = net.send_back(back());
    let found = net.client.find_queues(net.now, net.producer, "T", None).unwrap();
    net.run(ms(10_000));
    net.take_sent_back(given);
    assert!(matches!(net.end(found).1, Event::QueuesFound { .. }));
    assert_eq!(counts(&net.client.stats()), [0; 4]);
    // Row 78: only this word switches it off.
    net.broker("a").trace_on = Some("FALSE");
    send(&mut net, "T");
    assert_eq!(counts(&net.client.stats()), [1, 1, 0, 0]);
}

/// J5: the first record goes at once, as nothing was sent for long; then so many together, or what there is after 5 s.
#[test]
fn j5_records_go_in_batches() {
    let mut net = net();
    let mut sent: Vec<String> = (0..10).map(|_| send(&mut net, "T")).collect();
    assert_eq!(ids(&net), [&sent[..1]]);
    assert_eq!(net.client.stats().traces_waiting, 9);
    sent.push(send(&mut net, "T"));
    assert_eq!(ids(&net), [&sent[..1], &sent[1..]], "ten are enough");
    assert_eq!(net.client.stats().traces_waiting, 0);
    net.run(ms(1_000));
    sent.push(send(&mut net, "T"));
    net.run(ms(3_999));
    assert_eq!(ids(&net).len(), 2, "one is not, for a while");
    net.run(ms(1));
    assert_eq!(ids(&net), [&sent[..1], &sent[1..11], &sent[11..]]);
    net.run(ms(60_000));
    sent.push(send(&mut net, "T"));
    assert_eq!(ids(&net)[3], sent[12..]);
    assert_eq!(counts(&net.client.stats()), [13, 13, 0, 0]);
}

#[test]
fn a_batch_has_as_many_records_as_was_said_and_at_most_twenty() {
    for (said, counts) in [(1, 1), (3, 3), (20, 20), (50, 20)] {
        let trace = Trace::new().batch(NonZeroU32::new(said).unwrap());
        let mut net = net_with(ProducerConfig::new("PG").trace(trace), Limits::default());
        send(&mut net, "T");
        net.forget();
        for _ in 0..60 {
            send(&mut net, "T");
        }
        let lens: Vec<_> = ids(&net).iter().map(Vec::len).collect();
        assert_eq!(lens, vec![counts; 60 / counts], "{said}");
    }
}

#[test]
fn a_batch_is_a_message_for_each_topic() {
    let mut net = net();
    net.routes.insert("U".into(), route(&[("a", 1)]));
    send(&mut net, "T");
    net.forget();
    let sent: Vec<_> = (0..10).map(|i| send(&mut net, if i % 2 == 0 { "U" } else { "T" })).collect();
    let of = |odd| sent.iter().skip(odd).step_by(2).cloned().collect::<Vec<_>>();
    assert_eq!(ids(&net), [of(1), of(0)]);
}

/// Names are users' names. The topic of traces is in no namespace, the group that sends them is its producer's.
#[test]
fn names_are_without_namespace() {
    for (namespace, group, topic) in [("INST", "INST%P%G", "INST%T%U"), ("", "P%G", "T%U")] {
        let config = config().namespace(namespace).build().unwrap();
        let mut net = Net::with(config, ProducerConfig::new("P%G").trace(Trace::new()));
        net.routes.insert(topic.into(), route(&[("a", 1)]));
        net.routes.insert(TRACE_TOPIC.into(), route(&[("b", 1)]));
        send(&mut net, "T%U");
        let record = &records(&net)[0];
        assert_eq!((&*record.group, &*record.topic), ("P%G", "T%U"));
        let inner = format!("_INNER_TRACE_PRODUCER-{group}-PRODUCE-1");
        assert_eq!(net.sends()[1].send().producer_group, inner);
    }
}

/// The records of transactions as the console reads them: the half message, its end, and the answer to a broker's question.
#[test]
fn ends_of_transactions_leave_records() {
    let trace = Trace::new().batch(NonZeroU32::MIN);
    let mut net = net_with(ProducerConfig::new("PG").trace(trace), Limits::default());
    let half = half_sent(&mut net);
    net.run(ms(250));
    net.client.end_transaction(net.now, net.producer, &half, Resolution::Commit, None).unwrap();
    net.run(ms(250));
    let (token, _) = check(&mut net, "a", &question(Some("PG"), Some("a"))).unwrap();
    net.client.answer_check(net.now, token, Resolution::Rollback, None).unwrap();
    net.run(ms(0));
    let id = &half.message_id;
    let [first, second, third] = [0, 250, 500].map(|millis| UNIX_MS + millis);
    let begin = format!("{first}|DefaultRegion|PG|T|{id}|null|null|a:10911|5|0");
    let lines = [
        format!("Pub|{begin}|1|0A00000100002A9F0000000000000400|true"),
        format!(
            "EndTransaction|{second}|DefaultRegion|PG|T|{id}|null|null|a:10911|2|{id}|COMMIT_MESSAGE|false"
        ),
        format!(
            "EndTransaction|{third}|DefaultRegion|PG|T|AC0A|TagA|order-42|a:10911|2|AC0A|ROLLBACK_MESSAGE|true"
        ),
    ];
    let told = net.sends().into_iter().filter(|seen| seen.send().topic == TRACE_TOPIC);
    let texts: Vec<_> = told.map(|seen| String::from_utf8(seen.command.body.to_vec()).unwrap()).collect();
    assert_eq!(texts, lines.map(|line| line.replace('|', "\u{1}") + "\u{2}"));
}

/// Neither is one told that its broker does not want traced, nor one that was not told to a broker.
#[test]
fn ends_of_transactions_that_leave_no_record() {
    let mut net = net();
    net.broker("a").trace_on = Some("false");
    let half = half_sent(&mut net);
    net.client.end_transaction(net.now, net.producer, &half, Resolution::Commit, None).unwrap();
    net.run(ms(10));
    net.broker("a").trace_on = None;
    let half = half_sent(&mut net);
    let before = counts(&net.client.stats());
    net.stalled = true;
    let op = net.client.end_transaction(net.now, net.producer, &half, Resolution::Commit, None).unwrap();
    net.run(ms(10_000));
    assert!(matches!(net.end(op).1, Event::EndTransactionFailed { .. }));
    assert_eq!((before, counts(&net.client.stats())[0]), ([1, 1, 0, 0], 1));
}

/// Each producer has its own settings, its own records and its own group for them. Brokers hear of users' groups alone, and only
/// these count.
#[test]
fn producers_tell_apart_and_inner_ones_are_not_registered() {
    let mut net = net_with(traced(), Limits { producers: 3, ..Limits::default() });
    net.routes.insert("own".into(), route(&[("b", 1)]));
    let own = ProducerConfig::new("PG2").trace(Trace::new().topic("own"));
    let second = net.client.add_producer(at(0), own).unwrap();
    let third = net.client.add_producer(at(0), ProducerConfig::new("PG3")).unwrap();
    let first = net.producer;
    for producer in [first, second, third] {
        send_of(&mut net, producer, Message::new("T", "Hello"));
        net.run(ms(100));
    }
    assert_eq!((ids(&net).len(), ids_in(&net, "own").len()), (1, 1));
    let groups: Vec<_> = net.sends().iter().map(|seen| seen.send().producer_group.into_owned()).collect();
    let inner = |group, number| format!("_INNER_TRACE_PRODUCER-{group}-PRODUCE-{number}");
    assert_eq!(groups, ["PG", &inner("PG", 1), "PG2", &inner("PG2", 2), "PG3"]);
    net.run(ms(31_000));
    let beats = net.requests(RequestCode::HEART_BEAT);
    let named = |seen: &&crate::support::Seen| HeartbeatData::decode(&seen.command.body).unwrap().producers;
    assert!(beats.len() >= 4 && beats.iter().map(named).all(|groups| groups == ["PG", "PG2", "PG3"]));
    assert_eq!(net.client.stats().producers, 3);
    let limit = ConfigError::TooManyProducers { limit: 3 };
    assert_eq!(net.client.add_producer(net.now, ProducerConfig::new("PG4")), Err(limit));
    net.client.shutdown(net.now, ms(3_000));
    net.run(ms(3_000));
    let told = net.requests(RequestCode::UNREGISTER_CLIENT);
    let group = |seen: &&crate::support::Seen| {
        seen.command.header::<UnregisterHeader<'_>>().unwrap().producer_group.unwrap().into_owned()
    };
    assert_eq!(told.iter().map(group).collect::<Vec<_>>(), ["PG", "PG2", "PG3", "PG", "PG2", "PG3"]);
}

/// A message with records that fails disturbs nobody: no end of an operation, no count but its own.
#[test]
fn failures_are_only_counted() {
    let mut net = net();
    net.broker("b").always = Some(Act::Code(ResponseCode::NO_PERMISSION, "no"));
    let untouched = net.client.stats();
    send(&mut net, "T");
    net.run(ms(5_000));
    let stats = net.client.stats();
    assert_eq!(counts(&stats), [1, 0, 1, 0]);
    assert_eq!((stats.sends, stats.sends_succeeded, stats.sends_failed), (1, 1, untouched.sends_failed));
    assert_eq!((stats.operations, stats.operation_bytes, stats.operation_timers), (0, 0, 0));
    let failures = net.events.iter().filter(|(_, event)| matches!(event, Event::SendFailed { .. }));
    assert_eq!(
        (failures.count(), net.requests(RequestCode::SEND_MESSAGE_V2).len()),
        (0, 4),
        "three attempts"
    );
}

/// It has 5 s, whatever the producer's own sends have.
#[test]
fn records_have_a_time_of_their_own() {
    let mut net = net_with(traced().send_timeout(ms(500)), Limits::default());
    net.broker("b").always = Some(Act::Silent);
    send(&mut net, "T");
    net.run(ms(4_999));
    let stats = net.client.stats();
    assert_eq!((stats.trace_sends, stats.traces_failed), (1, 0));
    assert_eq!((stats.operations, stats.operation_timers), (0, 1));
    net.run(ms(1));
    let stats = net.client.stats();
    assert_eq!((stats.trace_sends, stats.traces_failed, stats.operation_timers), (0, 1, 0));
}

/// While too many messages are under way records wait, though it is time; they go when there is room.
#[test]
fn records_wait_for_room() {
    let mut net = net_with(traced(), Limits { trace_sends: 1, ..Limits::default() });
    net.broker("b").sends = [after(1_000, SUCCESS)].into();
    let sent: Vec<_> = (0..30).map(|_| send(&mut net, "T")).collect();
    assert_eq!(ids(&net).len(), 1);
    net.run(ms(999));
    assert_eq!((ids(&net).len(), net.client.stats().trace_sends), (1, 1));
    net.run(ms(2));
    assert_eq!(ids(&net), [&sent[..1], &sent[1..11], &sent[11..21]], "the rest is no batch yet");
    net.run(ms(5_000));
    assert_eq!(ids(&net)[3..], [&sent[21..]]);
    assert_eq!(counts(&net.client.stats()), [30, 30, 0, 0]);
}

#[test]
fn a_shutdown_sends_what_waits_before_the_farewell() {
    let mut net = net_with(traced(), Limits { trace_sends: 1, ..Limits::default() });
    net.broker("b").always = Some(after(10, SUCCESS));
    let mut sent: Vec<_> = (0..35).map(|_| send(&mut net, "T")).collect();
    net.broker("a").always = Some(after(500, SUCCESS));
    let last = net.send("T", SendOptions::default());
    net.run(ms(100));
    net.forget();
    net.client.shutdown(net.now, ms(3_000));
    net.run(ms(3_000));
    sent.push(net.take_sent(last).1.message_id);
    let told: Vec<_> = ids(&net).concat();
    assert_eq!(told[..], sent[sent.len() - told.len()..], "in their order, with that of the last send");
    let codes: Vec<_> = net.seen.iter().map(|seen| seen.command.code).collect();
    let last_told = codes.iter().rposition(|code| *code == RequestCode::SEND_MESSAGE_V2.0);
    let farewell = codes.iter().position(|code| *code == RequestCode::UNREGISTER_CLIENT.0);
    assert!(last_told < farewell, "{codes:?}");
    assert_eq!(counts(&net.client.stats()), [36, 36, 0, 0]);
    let (when, event) = net.events.last().unwrap();
    assert!(matches!(event, Event::ShutDown) && *when < at(700), "{when:?}");
}

/// Row of §11.5: a broker that takes no records does not hold a shutdown up beyond its time.
#[test]
fn a_shutdown_gives_up_records_when_its_time_is_over() {
    let mut net = net_with(traced(), Limits { trace_sends: 2, ..Limits::default() });
    net.broker("b").always = Some(Act::Silent);
    (0..50).for_each(|_| drop(send(&mut net, "T")));
    let waiting = net.client.stats().traces_waiting;
    assert!(waiting > 20, "{waiting}");
    net.client.shutdown(net.now, ms(2_000));
    net.run(ms(2_000));
    let (when, event) = net.events.last().unwrap();
    assert!(matches!(event, Event::ShutDown) && *when == at(1_500), "{when:?}");
    let stats = net.client.stats();
    assert_eq!(counts(&stats), [50, 0, 50, 0]);
    assert_eq!((stats.traces_waiting, stats.trace_sends, stats.timers), (0, 0, 0));
}

#[test]
fn a_shutdown_at_once_sends_nothing() {
    let mut net = net();
    (0..5).for_each(|_| drop(send(&mut net, "T")));
    net.forget();
    net.client.shutdown(net.now, ms(0));
    net.run(ms(0));
    assert!(net.sends().is_empty());
    let stats = net.client.stats();
    assert_eq!((counts(&stats), stats.traces_waiting), ([5, 1, 4, 0], 0));
}

/// A text of the broker's that no record can carry costs that record alone.
#[test]
fn a_record_that_cannot_be_written_is_dropped() {
    let mut net = net();
    net.broker("a").region = Some("east\u{1}");
    send(&mut net, "T");
    assert_eq!(counts(&net.client.stats()), [1, 0, 0, 1]);
    net.broker("a").region = None;
    net.run(ms(5_000));
    let id = send(&mut net, "T");
    assert_eq!(ids(&net), [[id]]);
}

#[test]
fn topics_that_cannot_be_are_refused() {
    let mut net = net();
    for topic in ["", "a b", "SCHEDULE_TOPIC_XXXX"] {
        let config = ProducerConfig::new("other").trace(Trace::new().topic(topic));
        let error = net.client.add_producer(at(0), config).unwrap_err();
        assert!(matches!(error, ConfigError::TraceTopic(_)), "{topic}: {error}");
        assert!(error.to_string().contains(&format!("`{topic}`")), "{error}");
    }
}
