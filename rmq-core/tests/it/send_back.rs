//! Send-backs beyond their rows: dead letters, addresses, and one end whatever happens.

use std::time::Duration;

use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::compress::Compression;
use rmq_core::proto::header::SendBackHeader;
use rmq_core::proto::message::{StoredMessage, SysFlag};
use rmq_core::proto::properties;
use rmq_core::{
    CloseCause, CloseReason, DelayLevel, Event, FaultTolerance, Input, Limits, ProducerConfig, Redelivery,
    RejectReason, RequestError, SendBack, SendBackErrorKind, SendBackInvalid, SendBackOptions, SendErrorKind,
    SendOptions, SentBack,
};

use crate::support::{
    Accept, Act, NAME_SERVER, Net, address_of, after, at, back, config, ms, route, stored_message,
};

const BACK: RequestCode = RequestCode::CONSUMER_SEND_MSG_BACK;
const STORE_HOST: &str = "10.0.0.1:10911";

fn net() -> Net {
    let mut net = Net::new();
    net.routes.insert("%RETRY%g".into(), route(&[("a", 1), ("b", 1)]));
    net.warm();
    net
}

fn dead_letter() -> SendBack {
    back().redelivery(Redelivery::DeadLetter)
}

fn answers(net: &mut Net, act: Act) {
    net.broker("a").others.insert(BACK.0, act);
}

fn no(code: ResponseCode) -> Act {
    Act::Code(code, "no")
}

#[test]
fn a_dead_letter_is_tried_again_with_pauses_and_never_sent_as_a_retry() {
    let mut net = net();
    answers(&mut net, no(ResponseCode::SYSTEM_ERROR));
    let op = net.send_back(dead_letter());
    net.run(ms(20_000));
    let asked: Vec<_> = net.requests(BACK).iter().map(|seen| seen.at).collect();
    assert_eq!(asked, [0, 100, 300, 700, 1_500, 2_500, 3_500, 4_500].map(at));
    assert!(net.sends().is_empty());
    let (when, error) = net.take_back_error(op);
    assert!(when <= at(5_000), "{when:?}");
    assert_eq!(*error.kind(), SendBackErrorKind::DeadLetterRefused);
    assert_eq!((error.tries(), error.attempts().len(), error.retry()), (8, 8, None));
    assert!(error.is_retryable() && !error.may_have_been_stored());
    for seen in net.requests(BACK) {
        assert_eq!(seen.command.header::<SendBackHeader<'_>>().unwrap().delay_level, -1);
    }
}

#[test]
fn a_dead_letter_gets_through_when_its_broker_comes_back() {
    let mut net = net();
    let conn = net.conn(&address_of("a")).unwrap();
    net.peer(&address_of("a")).accept = Some(Accept::Refuse);
    net.client.handle_input(net.now, Input::Closed { conn, reason: CloseReason::PeerClosed });
    let op = net.send_back(dead_letter());
    net.run(ms(1_000));
    assert!(net.ends(op).is_empty());
    net.peer(&address_of("a")).accept = None;
    net.run(ms(2_000));
    assert_eq!(net.take_sent_back(op).1, SentBack::ByBroker);
    assert!(net.sends().is_empty());
}

#[test]
fn a_dead_letter_of_a_broker_that_nobody_knows_fails_in_its_time() {
    for name in ["gone", "__syslo__x"] {
        let mut net = net();
        let op = net.send_back(dead_letter().broker(name));
        net.run(ms(5_000));
        let (_, error) = net.take_back_error(op);
        assert!(error.attempts().iter().all(|attempt| attempt.error == RequestError::NoMaster), "{error:?}");
        assert!(net.sends().is_empty() && net.requests(BACK).is_empty());
    }
}

#[test]
fn of_many_attempts_the_last_are_listed_and_none_is_forgotten() {
    let mut net = net();
    answers(&mut net, Act::Close);
    let options = SendBackOptions::default().timeout(Duration::from_secs(60));
    let op = net.client.send_back(net.now, net.producer, dead_letter(), options).unwrap();
    net.run(ms(2_000));
    answers(&mut net, no(ResponseCode::NO_PERMISSION));
    net.run(ms(60_000));
    let (_, error) = net.take_back_error(op);
    assert_eq!(error.attempts().len(), 16);
    assert!(error.tries() > 40, "{}", error.tries());
    assert!(error.attempts().iter().all(|attempt| !attempt.may_have_been_stored()));
    assert!(error.may_have_been_stored(), "the first ones were cut off when written");
}

#[test]
fn without_a_name_the_host_that_stores_it_is_asked() {
    let mut net = net();
    let op = net.send_back(SendBack::new("g", &stored_message()).unwrap());
    net.run(ms(0));
    assert_eq!(net.take_sent_back(op).1, SentBack::ByBroker);
    let seen = net.requests(BACK)[0];
    assert_eq!(seen.address, STORE_HOST);
    assert_eq!(seen.command.header::<SendBackHeader<'_>>().unwrap().broker_name, None);
}

/// producer §12.2.
#[test]
fn nobody_is_asked_about_a_queue_of_a_static_topic() {
    let mut net = net();
    let op = net.send_back(back().broker("__syslo__queues"));
    net.run(ms(0));
    assert!(net.requests(BACK).is_empty());
    assert!(matches!(net.take_sent_back(op).1, SentBack::RetryTopic(_)));
}

/// Lets something go wrong.
type Mishap<'a> = &'a dyn Fn(&mut Net);

/// I6: a broker that denies it is one of them.
#[test]
fn bug_11_each_failure_leads_to_the_retry_topic_at_once() {
    let close = |net: &mut Net| answers(net, Act::Close);
    let refuse = |net: &mut Net| {
        let conn = net.conn(&address_of("a")).unwrap();
        net.peer(&address_of("a")).accept = Some(Accept::Refuse);
        net.client.handle_input(net.now, Input::Closed { conn, reason: CloseReason::PeerClosed });
    };
    let group_unknown = |net: &mut Net| answers(net, no(ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST));
    let denied = |net: &mut Net| answers(net, no(ResponseCode::NO_PERMISSION));
    let silent = |net: &mut Net| answers(net, Act::Silent);
    let cases: [(Mishap<'_>, u64); 5] =
        [(&close, 0), (&refuse, 0), (&group_unknown, 0), (&denied, 0), (&silent, 5_000)];
    for (number, (happens, by)) in cases.into_iter().enumerate() {
        let mut net = net();
        happens(&mut net);
        let op = net.send_back(back());
        net.run(ms(10_000));
        let (when, how) = net.take_sent_back(op);
        assert!(matches!(how, SentBack::RetryTopic(_)), "case {number}: {how:?}");
        assert_eq!(when, at(by), "case {number}");
    }
}

/// Its 3 s and its three attempts are its own, whatever the producer's sends have and code 36 took.
#[test]
fn the_retry_topic_has_a_budget_of_its_own() {
    let mut net = net();
    answers(&mut net, Act::Silent);
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
    }
    let op = net.send_back(back());
    net.run(ms(20_000));
    let (when, error) = net.take_back_error(op);
    assert_eq!((when, error.took()), (at(8_000), ms(8_000)));
    let retry = error.retry().unwrap();
    assert_eq!((retry.attempts().len(), retry.took()), (3, ms(3_000)));
    assert!(error.may_have_been_stored());
}

#[test]
fn an_error_tells_of_stored_messages_by_the_words_of_the_broker() {
    let mut net = net();
    answers(&mut net, Act::Code(ResponseCode::SYSTEM_ERROR, "FLUSH_DISK_TIMEOUT"));
    net.broker("a").always = Some(no(ResponseCode::MESSAGE_ILLEGAL));
    net.broker("b").always = Some(no(ResponseCode::MESSAGE_ILLEGAL));
    let op = net.send_back(back());
    net.run(ms(100));
    let (_, error) = net.take_back_error(op);
    assert!(error.may_have_been_stored() && !error.is_retryable(), "{error}");
    assert_eq!(error.code(), Some(ResponseCode::MESSAGE_ILLEGAL));
}

/// A message that comes out of the retry topic keeps its first topic and id; a compressed body stays so.
#[test]
fn a_message_that_was_given_back_before_is_known_by_its_beginnings() {
    let mut stored = stored_message();
    stored.topic = "%RETRY%g".into();
    stored.properties.push_str("RETRY_TOPIC\u{1}T\u{2}ORIGIN_MESSAGE_ID\u{1}FIRST\u{2}DELAY\u{1}4\u{2}");
    stored.sys_flag = SysFlag(0x30).with_compression(Compression::Zlib);
    let mut net = net();
    let level = DelayLevel::new(18).unwrap();
    let message = SendBack::new("g", &stored).unwrap().broker("a").redelivery(Redelivery::After(level));
    answers(&mut net, no(ResponseCode::SYSTEM_ERROR));
    let op = net.send_back(message.max_reconsume_times(u32::MAX));
    net.run(ms(0));
    net.take_sent_back(op);
    let asked: SendBackHeader<'_> = net.requests(BACK)[0].command.header().unwrap();
    assert_eq!((asked.origin_topic.as_deref(), asked.delay_level), (Some("T"), 18));
    assert_eq!(asked.max_reconsume_times, Some(i32::MAX));
    let sent = net.sends()[0].send();
    let text = sent.properties.as_deref().unwrap();
    let property = |name| properties::value(text, name);
    assert_eq!(sent.sys_flag, 0x301, "compressed, and no bit of the broker's");
    assert_eq!(net.sends()[0].command.body, stored.body);
    assert_eq!(property(properties::RETRY_TOPIC), Some("T"));
    assert_eq!(property(properties::ORIGIN_MESSAGE_ID), Some("FIRST"));
    assert_eq!(property(properties::DELAY), Some("5"), "by the times it was consumed");
}

#[test]
fn a_message_without_an_id_gets_one_that_stays() {
    let stored = StoredMessage { properties: String::new(), ..stored_message() };
    let mut net = net();
    for name in ["a", "b"] {
        net.broker(name).sends = [no(ResponseCode::SYSTEM_BUSY)].into();
    }
    let op = net.send_back(SendBack::new("g", &stored).unwrap().broker("gone"));
    net.run(ms(0));
    let SentBack::RetryTopic(result) = net.take_sent_back(op).1 else { panic!() };
    assert_eq!(result.message_id.len(), 32);
    for seen in net.sends() {
        let text = seen.send().properties.unwrap().into_owned();
        assert_eq!(properties::value(&text, properties::UNIQ_KEY), Some(&*result.message_id));
        assert_eq!(properties::value(&text, properties::ORIGIN_MESSAGE_ID), Some(&*stored.message_id()));
    }
}

#[test]
fn what_cannot_be_given_back_is_said_before() {
    let stored = stored_message();
    assert!(matches!(SendBack::new("a b", &stored), Err(SendBackInvalid::Group { .. })));
    let unnamed = StoredMessage { topic: "".into(), ..stored.clone() };
    assert!(matches!(SendBack::new("g", &unnamed), Err(SendBackInvalid::Topic { .. })));
    let long = StoredMessage { properties: "x".repeat(32_768), ..stored };
    let invalid = SendBack::new("g", &long).unwrap_err();
    assert_eq!(invalid, SendBackInvalid::PropertiesTooLong { len: 32_768, max: 32_767 });
    assert_eq!((DelayLevel::new(0), DelayLevel::new(19)), (None, None));
}

/// The moments of a send-back to cut it at: each is a script, and how long it runs before.
fn moments() -> Vec<(&'static str, Act, Option<Act>, u64)> {
    vec![
        ("not yet polled", Act::Silent, None, 0),
        ("code 36 under way", Act::Silent, None, 1),
        ("in the pause, or the retry under way", no(ResponseCode::SYSTEM_ERROR), Some(Act::Silent), 50),
        ("the retry's second attempt", no(ResponseCode::SYSTEM_ERROR), Some(Act::Silent), 1_500),
    ]
}

fn at_moment(
    message: SendBack,
    (_, back, send, span): &(&str, Act, Option<Act>, u64),
) -> (Net, rmq_core::OpId) {
    let mut net = net();
    answers(&mut net, back.clone());
    for name in ["a", "b"] {
        net.broker(name).always = send.clone();
    }
    let op = net.send_back(message);
    if *span > 0 {
        net.run(ms(*span));
    }
    (net, op)
}

#[test]
fn it_can_be_cancelled_at_every_step() {
    for message in [back(), dead_letter()] {
        for moment in moments() {
            let (mut net, op) = at_moment(message.clone(), &moment);
            let written = net.seen.len();
            assert!(net.ends(op).is_empty(), "{}", moment.0);
            net.client.cancel(net.now, op);
            net.run(ms(20_000));
            assert!(matches!(net.end(op).1, Event::Cancelled { .. }), "{}", moment.0);
            let more =
                net.seen[written..].iter().filter(|seen| seen.command.code != RequestCode::HEART_BEAT.0);
            let more = more.filter(|seen| seen.address != NAME_SERVER).count();
            assert_eq!(more, 0, "{}: nothing is written any more", moment.0);
            let stats = net.client.stats();
            let held = (stats.operations, stats.operation_bytes, stats.queued, stats.cancelled);
            assert_eq!(held, (0, 0, 0, 1), "{}", moment.0);
        }
    }
}

#[test]
fn it_ends_once_when_connections_are_lost_at_every_step() {
    for message in [back(), dead_letter()] {
        for moment in moments() {
            let (mut net, op) = at_moment(message.clone(), &moment);
            for name in ["a", "b"] {
                net.peer(&address_of(name)).accept = Some(Accept::Refuse);
                if let Some(conn) = net.conn(&address_of(name)) {
                    net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
                }
            }
            net.run(ms(20_000));
            let (_, error) = net.take_back_error(op);
            assert!(error.is_retryable(), "{}: {error}", moment.0);
            assert_eq!(error.retry().is_some(), message == back(), "{}", moment.0);
            assert_eq!(net.client.stats().operation_bytes, 0);
        }
    }
}

#[test]
fn a_shutdown_ends_it_at_every_step() {
    for message in [back(), dead_letter()] {
        for moment in moments() {
            let (mut net, op) = at_moment(message.clone(), &moment);
            net.client.shutdown(net.now, Duration::ZERO);
            net.run(ms(0));
            let (_, error) = net.take_back_error(op);
            let of_send = error.retry().is_some_and(|error| *error.kind() == SendErrorKind::ShutDown);
            assert!(of_send || *error.kind() == SendBackErrorKind::ShutDown, "{}: {error:?}", moment.0);
            assert!(!error.is_retryable() && net.client.is_shut_down(), "{}", moment.0);
            let cut = error.attempts().last().map(|attempt| &attempt.error);
            let is_cut =
                matches!(cut, Some(RequestError::Closed { cause: CloseCause::ShutDown, written: true }));
            assert_eq!(is_cut, moment.0 == "code 36 under way", "{}: {error:?}", moment.0);
        }
    }
}

#[test]
fn a_shutdown_lets_it_finish() {
    let mut net = net();
    answers(&mut net, after(300, no(ResponseCode::SYSTEM_ERROR)));
    let op = net.send_back(back());
    net.run(ms(10));
    net.client.shutdown(net.now, ms(3_000));
    net.run(ms(3_000));
    assert!(matches!(net.take_sent_back(op).1, SentBack::RetryTopic(_)));
}

/// An answer that comes after the time was up changes nothing.
#[test]
fn a_late_answer_is_nobodys() {
    let mut net = net();
    answers(&mut net, after(5_001, Act::Code(ResponseCode::SUCCESS, "")));
    let op = net.send_back(back());
    net.run(ms(10_000));
    assert!(matches!(net.take_sent_back(op).1, SentBack::RetryTopic(_)));
    assert_eq!(net.client.stats().unknown_answers, 1);
}

#[test]
fn limits_count_it_and_hand_it_back() {
    let bytes = back().bytes();
    let limits = Limits { operation_bytes: bytes, ..Limits::default() };
    let mut net = Net::with(config().limits(limits).build().unwrap(), ProducerConfig::new("PG"));
    let options = SendBackOptions::default();
    let op = net.client.send_back(net.now, net.producer, back(), options).unwrap();
    assert_eq!(net.client.stats().operation_bytes, bytes);
    let rejected = net.client.send_back(net.now, net.producer, dead_letter(), options).unwrap_err();
    assert_eq!(rejected.reason, RejectReason::TooManyBytes { held: bytes, more: bytes, limit: bytes });
    assert_eq!(rejected.given, dead_letter());
    net.client.cancel(net.now, op);
    net.run(ms(0));
    let stats = net.client.stats();
    assert_eq!((stats.send_backs, stats.cancelled, stats.rejected, stats.operation_bytes), (1, 1, 1, 0));
}

#[test]
fn counters_tell_send_backs_from_sends() {
    let mut net = net();
    let sends = net.client.stats().sends;
    let first = net.send_back(back());
    net.run(ms(0));
    net.take_sent_back(first);
    answers(&mut net, no(ResponseCode::SYSTEM_ERROR));
    net.send_back(back());
    net.broker("a").always = Some(no(ResponseCode::MESSAGE_ILLEGAL));
    net.broker("b").always = Some(no(ResponseCode::MESSAGE_ILLEGAL));
    net.run(ms(0));
    let stats = net.client.stats();
    assert_eq!((stats.send_backs, stats.send_backs_succeeded, stats.send_backs_failed), (2, 1, 1));
    assert_eq!((stats.sends, stats.sends_succeeded, stats.sends_failed), (sends, sends, 0));
}

/// The message to the retry topic is a send like any other: its attempts at the only broker are apart.
#[test]
fn attempts_at_the_only_broker_of_a_retry_topic_do_not_follow_at_once() {
    let mut net = Net::new();
    net.routes.insert("%RETRY%g".into(), route(&[("b", 1)]));
    net.warm();
    answers(&mut net, no(ResponseCode::SYSTEM_ERROR));
    let busy = || no(ResponseCode::SYSTEM_ERROR);
    net.broker("b").sends = [busy(), busy()].into();
    net.forget();
    let began = net.now;
    let op = net.send_back(back());
    net.run(ms(1_000));
    let sent: Vec<_> = net.sends().iter().map(|seen| seen.at.saturating_since(began)).collect();
    assert_eq!(sent, [0, 100, 200].map(ms));
    let SentBack::RetryTopic(result) = net.take_sent_back(op).1 else { panic!("its broker said no") };
    assert_eq!(result.attempts, 3);
}

/// What those attempts come to is known of their broker; a broker that does not take a message back is not left alone for it.
#[test]
fn a_broker_that_fails_a_retry_is_left_alone() {
    let producer = ProducerConfig::new("PG").fault_tolerance(FaultTolerance::new());
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("%RETRY%g".into(), route(&[("b", 1)]));
    net.warm();
    answers(&mut net, no(ResponseCode::SYSTEM_ERROR));
    net.broker("b").always = Some(no(ResponseCode::SYSTEM_ERROR));
    let op = net.send_back(back());
    net.run(ms(1_000));
    assert!(matches!(net.take_back_error(op).1.kind(), SendBackErrorKind::RetryFailed(_)));
    net.broker("b").always = None;
    net.forget();
    for _ in 0..4 {
        net.send("T", SendOptions::default());
    }
    net.run(ms(0));
    assert_eq!(net.brokers_asked(), ["a"; 4]);
}
