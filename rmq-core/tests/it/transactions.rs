//! Transactions: halves and their ends, brokers' questions, and what becomes of both when something is missing.

use bytes::{Bytes, BytesMut};
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::{FLAG_ONEWAY, HeaderFormat, RemotingCommand};
use rmq_core::proto::header::{CheckTransactionHeader, EndTransactionHeader, SendResponseHeader};
use rmq_core::proto::message::{Message, StoredMessage};
use rmq_core::proto::properties;
use rmq_core::proto::sign::{Credentials, Scope};
use rmq_core::{
    CheckToken, CloseCause, CloseReason, ConnId, EndTransactionError, Event, FaultTolerance, Input, Limits,
    OpId, ProducerConfig, RejectReason, RequestError, Resolution, SendOptions, SendResult,
};

use crate::support::{Accept, Act, Net, address_of, config, ms, stored_message};

pub(crate) const END: RequestCode = RequestCode::END_TRANSACTION;
pub(crate) const HALF_TOPIC: &str = "RMQ_SYS_TRANS_HALF_TOPIC";

pub(crate) fn send_half(net: &mut Net) -> OpId {
    let half = Message::new("T", "Hello").prepare_half(net.client.message_rules(), "PG").unwrap();
    net.client.send_half(net.now, net.producer, half, SendOptions::default()).unwrap()
}

/// The result of a half message that was stored.
pub(crate) fn half_sent(net: &mut Net) -> SendResult {
    let op = send_half(net);
    net.run(ms(0));
    net.take_sent(op).1
}

/// The headers of the ends that brokers were told.
pub(crate) fn ends(net: &Net) -> Vec<EndTransactionHeader<'_>> {
    net.requests(END).into_iter().map(|seen| seen.command.header().expect("an end's header")).collect()
}

/// A broker's question about a message of this group; one that names itself names the topic of half messages, too.
pub(crate) fn question(group: Option<&str>, broker: Option<&'static str>) -> RemotingCommand {
    let mut message = stored_message();
    if let Some(group) = group {
        message.properties.push_str(&format!("PGROUP\u{1}{group}\u{2}"));
    }
    question_about(&message, broker)
}

pub(crate) fn question_about(message: &StoredMessage, broker: Option<&'static str>) -> RemotingCommand {
    let mut body = BytesMut::new();
    message.encode(&mut body).unwrap();
    let mut command = RemotingCommand::request(RequestCode::CHECK_TRANSACTION_STATE).with_body(body.freeze());
    command.flag = FLAG_ONEWAY;
    command.with_ext(&CheckTransactionHeader {
        topic: broker.map(|_| HALF_TOPIC.into()),
        transaction_offset: 3,
        commit_log_offset: 2_048,
        message_id: Some("AC0A".into()),
        transaction_id: Some("AC0A".into()),
        offset_message_id: Some("0A00000100002A9F0000000000000800".into()),
        broker_name: broker.map(Into::into),
    })
}

/// A broker asks; returns what to answer with, if it is passed on, and the connection.
pub(crate) fn check(net: &mut Net, broker: &str, question: &RemotingCommand) -> Option<(CheckToken, ConnId)> {
    let conn = net.conn(&address_of(broker)).expect("a connection to the broker");
    let before = net.events.len();
    push(net, conn, question);
    net.drain();
    let token = net.events[before..].iter().find_map(|(_, event)| match event {
        Event::TransactionCheck { token, producer, .. } => {
            assert_eq!(*producer, net.producer);
            Some(*token)
        }
        _ => None,
    })?;
    Some((token, conn))
}

pub(crate) fn frame(command: &RemotingCommand) -> Bytes {
    let mut data = BytesMut::new();
    command.encode(HeaderFormat::Json, &mut data).unwrap();
    data.freeze()
}

fn push(net: &mut Net, conn: ConnId, command: &RemotingCommand) {
    net.client.handle_input(net.now, Input::Received { conn, data: frame(command) });
}

fn asked(net: &mut Net) -> CheckToken {
    check(net, "a", &question(Some("PG"), Some("a"))).expect("it is passed on").0
}

fn net_of(limits: Limits) -> Net {
    let mut net = Net::with(config().limits(limits).build().unwrap(), ProducerConfig::new("PG"));
    net.warm();
    net
}

fn net() -> Net {
    net_of(Limits::default())
}

fn commit(net: &mut Net, half: &SendResult) -> OpId {
    net.client.end_transaction(net.now, net.producer, half, Resolution::Commit, None).unwrap()
}

fn answer(net: &mut Net, token: CheckToken) -> Result<OpId, RejectReason> {
    net.client.answer_check(net.now, token, Resolution::Commit, None)
}

fn take_end_error(net: &Net, op: OpId) -> EndTransactionError {
    match net.end(op).1 {
        Event::EndTransactionFailed { error, .. } => error.clone(),
        event => panic!("{op:?} was not to be told: {event:?}"),
    }
}

fn assert_nothing_left(net: &Net) {
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_bytes, stats.queued), (0, 0, 0));
    assert_eq!((stats.open_checks, stats.check_bytes), (0, 0));
}

/// A half message whose answer has this offset id and transaction id.
fn half_with(net: &mut Net, offset_id: &'static str) -> SendResult {
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
    }
    let op = send_half(net);
    net.run(ms(0));
    let request = net.sends().last().cloned().cloned().unwrap();
    let header = request.send();
    let key = properties::value(header.properties.as_deref().unwrap(), "UNIQ_KEY").map(str::to_owned);
    let answer =
        RemotingCommand::response_to(&request.command, ResponseCode::SUCCESS).with_ext(&SendResponseHeader {
            message_id: offset_id.into(),
            queue_id: 1,
            queue_offset: 7,
            transaction_id: key.map(Into::into),
            batch_unique_id: None,
            recall_handle: None,
            region_id: None,
            trace_on: None,
        });
    net.answer(request.conn, &answer);
    net.run(ms(0));
    net.take_sent(op).1
}

#[test]
fn bug_15_the_end_goes_to_the_broker_of_the_result_with_the_offset_of_the_id() {
    let v4 = "AC11000100002A9F0000000000000400";
    let v6 = "FD00000000000000000000000000000100002A9F0000000000000400";
    for id in [v4, v6, &v4.to_lowercase().leak()[..]] {
        let mut net = net();
        let half = half_with(&mut net, id.to_owned().leak());
        assert_eq!(half.offset_message_id, id);
        let op = commit(&mut net, &half);
        net.run(ms(0));
        assert!(matches!(net.end(op).1, Event::TransactionEnded { .. }));
        assert_eq!(net.requests(END)[0].address, address_of(&half.queue.broker), "not the host in the id");
        let header = &ends(&net)[0];
        assert_eq!((header.transaction_offset, header.commit_log_offset), (7, 1_024));
        assert_eq!((header.commit_or_rollback, header.from_check), (8, Some(false)));
        assert_eq!(header.message_id, half.message_id);
        assert_eq!(header.transaction_id.as_deref(), Some(half.message_id.as_str()));
    }
}

#[test]
fn bug_15_an_offset_id_that_is_none_is_a_typed_error() {
    for id in ["XYZ", "", "AC11000100002A9F00000000000004", "AC110001FFFFFFFF0000000000000400"] {
        let mut net = net();
        let half = half_with(&mut net, id);
        let ended = net.client.end_transaction(net.now, net.producer, &half, Resolution::Commit, None);
        assert_eq!(ended, Err(RejectReason::OffsetMessageId), "{id}");
        net.run(ms(5_000));
        assert!(net.requests(END).is_empty());
        assert_nothing_left(&net);
    }
}

#[test]
fn only_half_messages_of_the_group_are_halves() {
    let mut net = net();
    let rules = net.client.message_rules().clone();
    let of_others = Message::new("T", "Hello").prepare_half(&rules, "others").unwrap();
    let ordinary = Message::new("T", "Hello").prepare(&rules).unwrap();
    for message in [of_others, ordinary] {
        let given = message.clone();
        let rejected = net.client.send_half(net.now, net.producer, message, SendOptions::default());
        let rejected = rejected.unwrap_err();
        assert_eq!((rejected.reason, rejected.given), (RejectReason::NotHalf, given));
    }
    assert_eq!(net.client.stats().rejected, 2);
}

/// A one-way half message could never be ended.
#[test]
fn a_half_message_is_never_one_way() {
    let mut net = net();
    let half = Message::new("T", "Hello").prepare_half(net.client.message_rules(), "PG").unwrap();
    let op = net.client.send_half(net.now, net.producer, half, SendOptions::default().oneway()).unwrap();
    net.run(ms(0));
    net.take_sent(op);
}

/// Groups are called on the wire what they are there; the topic of an end is the user's, as in Java (producer §9.2), and that
/// of a message that is asked about, too.
#[test]
fn transactions_in_a_namespace() {
    let mut net = Net::with(config().namespace("INST").build().unwrap(), ProducerConfig::new("PG"));
    let known = net.routes.remove("T").unwrap();
    net.routes.insert("INST%T".into(), known);
    net.warm();
    let half = half_sent(&mut net);
    let header = net.sends()[0].send();
    let group = properties::value(header.properties.as_deref().unwrap(), "PGROUP");
    assert_eq!((group, &*header.topic), (Some("INST%PG"), "INST%T"));
    commit(&mut net, &half);
    net.run(ms(0));
    let end = &ends(&net)[0];
    assert_eq!((&*end.producer_group, end.topic.as_deref()), ("INST%PG", Some("T")));
    let mut message = stored_message();
    message.topic = "INST%T".into();
    message.properties.push_str("PGROUP\u{1}INST%PG\u{2}");
    let (token, conn) = check(&mut net, "a", &question_about(&message, Some("gone"))).unwrap();
    let (_, event) = net.events.last().unwrap();
    let Event::TransactionCheck { message, .. } = event else { panic!("{event:?}") };
    assert_eq!(&*message.topic, "T");
    net.client.handle_input(net.now, Input::Closed { conn, reason: CloseReason::PeerClosed });
    let op = answer(&mut net, token).unwrap();
    net.run(ms(0));
    assert_eq!(take_end_error(&net, op).topic(), "T");
}

/// Ends and answers to checks are signed as all requests.
#[test]
fn ends_are_signed() {
    let credentials = Credentials::new("the-key", "the-secret").unwrap();
    let config = config().credentials(credentials.clone()).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.warm();
    let half = half_sent(&mut net);
    let remark = Some("sold out");
    net.client.end_transaction(net.now, net.producer, &half, Resolution::Rollback, remark).unwrap();
    let token = asked(&mut net);
    answer(&mut net, token).unwrap();
    net.run(ms(0));
    let told = net.requests(END);
    assert_eq!((told.len(), told[0].command.remark.as_deref()), (2, remark));
    for seen in told {
        assert!(seen.command.is_oneway());
        assert_eq!(credentials.verify(Scope::All, &seen.command.ext, &seen.command.body), Ok(()));
    }
}

/// The address is the one that routes give now; without one, the caller is told.
#[test]
fn h4_the_end_goes_by_name_to_the_current_address() {
    let mut net = net();
    let mut half = half_sent(&mut net);
    half.queue.broker = "gone".into();
    let op = commit(&mut net, &half);
    net.run(ms(0));
    let error = take_end_error(&net, op);
    assert_eq!((error.cause(), error.address(), error.broker()), (&RequestError::NoMaster, None, "gone"));
    assert_eq!((error.topic(), error.message_id()), ("T", half.message_id.as_str()));
    assert_eq!((error.resolution(), error.may_have_been_told()), (Resolution::Commit, false));
    let text = error.to_string();
    assert!(
        text.contains("broker `gone`") && text.contains("is committed") && text.contains("ask"),
        "{text}"
    );
    assert_nothing_left(&net);
}

#[test]
fn an_end_connects_if_need_be_and_says_when_it_cannot() {
    for refuses in [false, true] {
        let mut net = net();
        let half = half_sent(&mut net);
        let address = address_of(&half.queue.broker);
        let conn = net.conn(&address).unwrap();
        if refuses {
            net.peer(&address).accept = Some(Accept::Refuse);
        }
        net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
        net.run(ms(200));
        let op = commit(&mut net, &half);
        net.run(ms(50));
        if refuses {
            let error = take_end_error(&net, op);
            assert!(matches!(error.cause(), RequestError::Connect(_)), "{error}");
            assert_eq!(error.address().map(ToString::to_string), Some(address));
        } else {
            assert!(matches!(net.end(op).1, Event::TransactionEnded { .. }));
            assert_eq!(net.requests(END)[0].address, address);
        }
        assert_nothing_left(&net);
    }
}

/// It has the producer's send timeout, wherever it waits.
#[test]
fn an_end_has_its_time() {
    for connects in [true, false] {
        let mut net = net();
        let half = half_sent(&mut net);
        let address = address_of(&half.queue.broker);
        if connects {
            net.peer(&address).accept = Some(Accept::Never);
            let conn = net.conn(&address).unwrap();
            net.client.handle_input(net.now, Input::Closed { conn, reason: CloseReason::PeerClosed });
            net.run(ms(150));
        } else {
            net.stalled = true;
        }
        let began = net.now;
        let op = commit(&mut net, &half);
        net.run(ms(10_000));
        let (at, _) = net.end(op);
        assert_eq!(at.saturating_since(began), ms(3_000));
        let error = take_end_error(&net, op);
        assert_eq!(error.may_have_been_told(), !connects, "{error}");
        assert_nothing_left(&net);
    }
}

#[test]
fn an_end_can_be_cancelled_before_it_is_written() {
    let mut net = net();
    let half = half_sent(&mut net);
    let op = commit(&mut net, &half);
    net.client.cancel(net.now, op);
    net.run(ms(5_000));
    assert!(matches!(net.end(op).1, Event::Cancelled { .. }));
    assert!(net.requests(END).is_empty());
    assert_nothing_left(&net);
}

#[test]
fn an_end_ends_once_at_the_shutdown() {
    for (stalled, within) in [(false, 1_000), (true, 1_000), (true, 0)] {
        let mut net = net();
        let half = half_sent(&mut net);
        net.stalled = stalled;
        let op = commit(&mut net, &half);
        net.client.shutdown(net.now, ms(within));
        net.run(ms(2_000));
        if stalled {
            let error = take_end_error(&net, op);
            let expected = matches!(error.cause(), RequestError::Closed { cause: CloseCause::ShutDown, .. });
            assert!(expected, "{error}");
        } else {
            assert!(matches!(net.end(op).1, Event::TransactionEnded { .. }));
        }
        assert!(net.client.is_shut_down());
        let ended = net.client.end_transaction(net.now, net.producer, &half, Resolution::Commit, None);
        assert_eq!(ended, Err(RejectReason::ShutDown));
        assert_nothing_left(&net);
    }
}

/// Its bytes were handed out, and the connection ends before the stream took them.
#[test]
fn an_end_fails_with_its_connection() {
    let mut net = net();
    let half = half_sent(&mut net);
    net.stalled = true;
    let op = commit(&mut net, &half);
    net.turn();
    let conn = net.conn(&address_of(&half.queue.broker)).unwrap();
    net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
    net.run(ms(0));
    let error = take_end_error(&net, op);
    assert!(matches!(error.cause(), RequestError::Closed { written: true, .. }), "{error}");
    assert_nothing_left(&net);
}

/// Fault tolerance is about sends: what an end came to says nothing of them.
#[test]
fn an_end_says_nothing_of_a_brokers_health() {
    let producer = ProducerConfig::new("PG").fault_tolerance(FaultTolerance::default());
    let mut net = Net::with(config().build().unwrap(), producer);
    net.warm();
    let half = half_sent(&mut net);
    let before = net.client.stats().fault_items;
    net.stalled = true;
    let op = commit(&mut net, &half);
    net.run(ms(3_000));
    take_end_error(&net, op);
    assert_eq!(net.client.stats().fault_items, before);
}

#[test]
fn a_long_remark_is_cut() {
    let mut net = net();
    let half = half_sent(&mut net);
    let remark = "ä".repeat(100_000);
    let remark = Some(remark.as_str());
    net.client.end_transaction(net.now, net.producer, &half, Resolution::Unknown, remark).unwrap();
    net.run(ms(0));
    assert_eq!(net.requests(END)[0].command.remark.as_deref(), Some(&*"ä".repeat(512)));
}

#[test]
fn a_check_brings_the_message() {
    let mut net = net();
    let token = asked(&mut net);
    let (_, event) = net.events.last().unwrap();
    let Event::TransactionCheck { token: told, message, .. } = event else { panic!("{event:?}") };
    assert_eq!(*told, token);
    assert_eq!((&*message.topic, &*message.body), ("T", &b"Hello"[..]));
    assert_eq!((message.message_id(), message.tags()), ("AC0A".into(), Some("TagA")));
    let stats = net.client.stats();
    assert_eq!((stats.checks, stats.open_checks), (1, 1));
    assert_eq!(stats.check_bytes, message.body.len() + message.properties.len());
    assert!(net.client.is_check_open(token));
}

#[test]
fn h3_a_check_that_cannot_be_read_is_counted_and_no_more() {
    let mut net = net();
    let good = question(Some("PG"), Some("a"));
    let cut = good.body.slice(..good.body.len() - 1);
    let no_header =
        RemotingCommand::request(RequestCode::CHECK_TRANSACTION_STATE).with_body(good.body.clone());
    let rows = [good.clone().with_body("no record".into()), good.clone().with_body(cut), no_header];
    for bad in rows {
        assert_eq!(check(&mut net, "a", &bad), None);
    }
    net.run(ms(1_000));
    let stats = net.client.stats();
    assert_eq!((stats.checks_undecodable, stats.open_checks, stats.protocol_errors), (3, 0, 0));
    assert!(net.seen.iter().all(|seen| !seen.command.is_response()));
    assert!(check(&mut net, "a", &good).is_some(), "the connection is as good as before");
}

/// The work still runs: the broker is told so, and in the end once more.
#[test]
fn h5_unknown_then_one_commit() {
    let mut net = net();
    let half = half_sent(&mut net);
    let token = asked(&mut net);
    net.client.answer_check(net.now, token, Resolution::Unknown, None).unwrap();
    net.run(ms(0));
    commit(&mut net, &half);
    net.run(ms(0));
    let told: Vec<_> = ends(&net).iter().map(|end| (end.commit_or_rollback, end.from_check)).collect();
    assert_eq!(told, [(0, Some(true)), (8, Some(false))]);
}

#[test]
fn a_token_is_good_for_one_answer() {
    let mut net = net();
    let token = asked(&mut net);
    let op = answer(&mut net, token).unwrap();
    assert_eq!(answer(&mut net, token), Err(RejectReason::CheckOver));
    net.client.ignore_check(net.now, token);
    net.run(ms(0));
    assert!(matches!(net.end(op).1, Event::TransactionEnded { .. }));
    assert_eq!(net.requests(END).len(), 1);
    // Its place is taken by another one.
    let next = asked(&mut net);
    assert_ne!(next, token);
    assert_eq!(answer(&mut net, token), Err(RejectReason::CheckOver));
    assert!(!net.client.is_check_open(token) && net.client.is_check_open(next));
    net.client.ignore_check(net.now, next);
    assert_eq!(answer(&mut net, next), Err(RejectReason::CheckOver));
    net.run(ms(0));
    assert_nothing_left(&net);
}

#[test]
fn a_check_is_over_after_60_s() {
    let mut net = net();
    let early = asked(&mut net);
    net.run(ms(59_999));
    let op = answer(&mut net, early).unwrap();
    net.run(ms(0));
    assert!(matches!(net.end(op).1, Event::TransactionEnded { .. }));
    let late = asked(&mut net);
    net.run(ms(60_000));
    assert_eq!(answer(&mut net, late), Err(RejectReason::CheckOver));
    assert_eq!((net.client.stats().checks_expired, net.client.stats().checks), (1, 2));
    assert_nothing_left(&net);
}

/// The connection that asked is gone: by its name the broker is found at the address that it has.
#[test]
fn an_answer_finds_the_broker_by_its_name() {
    for broker in [None, Some("a")] {
        let mut net = net();
        let (token, conn) = check(&mut net, "a", &question(Some("PG"), broker)).unwrap();
        net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
        net.run(ms(200));
        let op = answer(&mut net, token).unwrap();
        net.run(ms(50));
        assert!(matches!(net.end(op).1, Event::TransactionEnded { .. }));
        let seen = net.requests(END);
        assert_eq!(seen[0].address, address_of("a"));
        assert_ne!(seen[0].conn, conn);
    }
}

#[test]
fn an_answer_to_a_broker_that_is_gone_fails() {
    let mut net = net();
    let (token, conn) = check(&mut net, "a", &question(Some("PG"), Some("unheard-of"))).unwrap();
    net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
    net.run(ms(200));
    let op = answer(&mut net, token).unwrap();
    net.run(ms(0));
    let error = take_end_error(&net, op);
    assert_eq!((error.broker(), error.cause()), ("unheard-of", &RequestError::NoMaster));
    assert_nothing_left(&net);
}

/// An answer has 3 s, whatever the producer's sends have.
#[test]
fn an_answer_has_its_own_time() {
    let producer = ProducerConfig::new("PG").send_timeout(ms(10_000));
    let mut net = Net::with(config().build().unwrap(), producer);
    net.warm();
    let token = asked(&mut net);
    net.stalled = true;
    let began = net.now;
    let op = answer(&mut net, token).unwrap();
    net.run(ms(20_000));
    assert_eq!(net.end(op).0.saturating_since(began), ms(3_000));
}

#[test]
fn checks_go_with_the_client() {
    let mut net = net();
    let token = asked(&mut net);
    net.client.shutdown(net.now, ms(1_000));
    assert!(!net.client.is_check_open(token));
    assert_eq!(answer(&mut net, token), Err(RejectReason::CheckOver));
    assert_eq!(check(&mut net, "a", &question(Some("PG"), Some("a"))), None);
    assert_eq!(net.client.stats().checks_dropped, 1);
    net.run(ms(1_000));
    assert!(net.client.is_shut_down());
    assert_nothing_left(&net);
}

/// An answer for which there is no room leaves the check as it is.
#[test]
fn a_rejected_answer_can_be_given_again() {
    let mut net = net_of(Limits { operations: 2, ..Limits::default() });
    let token = asked(&mut net);
    let sends = [(); 2].map(|()| net.send("T", SendOptions::default()));
    assert_eq!(answer(&mut net, token), Err(RejectReason::TooManyOperations { limit: 2 }));
    net.run(ms(0));
    sends.into_iter().for_each(|send| drop(net.take_sent(send)));
    let op = answer(&mut net, token).unwrap();
    net.run(ms(0));
    assert!(matches!(net.end(op).1, Event::TransactionEnded { .. }));
}

/// How many of ten questions are passed on.
fn passed_of_ten(net: &mut Net) -> usize {
    let conn = net.conn(&address_of("a")).unwrap();
    (0..10).for_each(|_| push(net, conn, &question(Some("PG"), Some("a"))));
    let stats = net.client.stats();
    assert_eq!(stats.checks + stats.checks_dropped, 10);
    net.drain();
    let is_check = |event: &Event| matches!(event, Event::TransactionCheck { .. });
    net.events.iter().filter(|(_, event)| is_check(event)).count()
}

#[test]
fn clause_7_checks() {
    let mut net = net_of(Limits { checks: 3, ..Limits::default() });
    assert_eq!(passed_of_ten(&mut net), 3);
    assert_eq!(net.client.stats().open_checks, 3);
    net.run(ms(60_000));
    assert!(check(&mut net, "a", &question(Some("PG"), Some("a"))).is_some(), "those are over");
}

#[test]
fn clause_7_check_bytes() {
    let message = question(Some("PG"), Some("a"));
    let message = StoredMessage::decode(&message.body).unwrap();
    let bytes = message.body.len() + message.properties.len();
    let mut net = net_of(Limits { check_bytes: 4 * bytes + 1, ..Limits::default() });
    assert_eq!(passed_of_ten(&mut net), 4);
    assert_eq!(net.client.stats().check_bytes, 4 * bytes);
}

/// A check whose event has no room is none.
#[test]
fn clause_7_notices_of_checks() {
    let mut net = net_of(Limits { notices: 2, ..Limits::default() });
    assert_eq!(passed_of_ten(&mut net), 2);
    assert_eq!((net.client.stats().open_checks, net.client.stats().notices_dropped), (2, 0));
}
