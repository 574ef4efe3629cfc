//! Reports about other clients, as cases for this one: connections and attempts of sends.

use std::num::NonZeroU32;

use rmq_core::proto::code::ResponseCode;
use rmq_core::proto::message::{Message, MessageError};
use rmq_core::{
    CloseCause, CloseReason, Event, FaultTolerance, Input, ProducerConfig, RequestError, SendErrorKind,
    SendOptions, SendStatus,
};

use crate::support::{Accept, Act, NAME_SERVER, Net, address_of, after, at, config, ms, route};

fn once() -> ProducerConfig {
    ProducerConfig::new("PG").attempts(NonZeroU32::MIN)
}

fn net_of(producer: ProducerConfig, brokers: &[(&str, i32)]) -> Net {
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(brokers));
    net
}

/// So many sends, so that the rotation stands elsewhere.
fn send_some(net: &mut Net, sends: usize) {
    for _ in 0..sends {
        net.send("T", SendOptions::default());
    }
    net.run(ms(0));
}

/// B3: what the peer closed while nothing was under way costs the next send no attempt and no time.
#[test]
fn b3_a_connection_closed_while_idle_is_replaced() {
    let mut net = net_of(once(), &[("a", 1)]);
    net.warm();
    let conn = net.conn(&address_of("a")).unwrap();
    net.later(10_000, Input::Closed { conn, reason: CloseReason::PeerClosed });
    net.run(ms(10_200));
    let (began, op) = (net.now, net.send("T", SendOptions::default()));
    net.run(ms(3_000));
    let (when, result) = net.take_sent(op);
    assert_eq!((when, result.attempts, net.sends().len()), (began, 1, 1));
}

/// B3: cut off before any answer, a send is tried again only if it may be, and waits for no timeout.
#[test]
fn b3_a_send_cut_off_obeys_its_policy() {
    for attempts in [1, 2] {
        let producer = ProducerConfig::new("PG").attempts(NonZeroU32::new(attempts).unwrap());
        let mut net = net_of(producer, &[("a", 1), ("b", 1)]);
        net.warm();
        let first = net.next_broker("T");
        net.broker(&first).sends = [Act::Close].into();
        let (began, op) = (net.now, net.send("T", SendOptions::default()));
        net.run(ms(3_000));
        assert_eq!((net.end(op).0, net.sends().len()), (began, attempts as usize));
        if attempts == 1 {
            let error = net.take_error(op).1;
            assert!(
                matches!(error.attempts()[0].error, RequestError::Closed { written: true, .. }),
                "{error}"
            );
            assert!(error.may_have_been_stored() && error.is_retryable());
        } else {
            assert_eq!(net.take_sent(op).1.attempts, 2);
        }
    }
}

/// B4: a second client of the same group and identity owes nothing to the first one.
#[test]
fn b4_a_client_started_after_a_shutdown_works() {
    let mut first = Net::new();
    first.warm();
    first.client.shutdown(first.now, ms(1_000));
    first.run(ms(1_000));
    assert!(first.client.is_shut_down());
    let mut second = Net::new();
    let op = second.send("T", SendOptions::default());
    second.run(ms(0));
    second.take_sent(op);
    assert_eq!(second.client.client_id(), first.client.client_id());
    assert_eq!(second.connects.len(), 2, "a name server and a broker of its own: {:?}", second.connects);
}

/// B5: nobody listens. The send ends with an error that can be shown, as every event can.
#[test]
fn b5_a_refused_connect_is_an_error_that_can_be_shown() {
    let mut net = net_of(once(), &[("a", 1)]);
    net.broker("a").accept = Some(Accept::Refuse);
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    let error = net.take_error(op).1;
    assert!(matches!(error.attempts()[0].error, RequestError::Connect(CloseCause::Stream(_))), "{error}");
    assert!(
        error.to_string().contains("a (a:10911), queue 0: cannot connect: connection refused"),
        "{error}"
    );
    net.broker("a").accept = Some(Accept::Open);
    net.run(ms(200));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    for (_, event) in &net.events {
        assert!(!format!("{event:?}").is_empty());
    }
}

/// B12: a stream that takes nothing costs the send no more than its time, and goes.
#[test]
fn b12_a_send_ends_in_its_time_though_nothing_is_written() {
    let mut net = net_of(once(), &[("a", 1)]);
    net.warm();
    net.stalled = true;
    let op = net.send("T", SendOptions::default().timeout(ms(1_000)));
    net.run(ms(10_000));
    net.stalled = false;
    net.run(ms(60_000));
    let (when, error) = net.take_error(op);
    assert_eq!(when, at(1_000));
    assert!(matches!(error.attempts()[0].error, RequestError::Timeout { .. }), "{error}");
    let stalled =
        |event: &Event| matches!(event, Event::ConnectionClosed { cause: CloseCause::WriteStall { .. }, .. });
    assert!(net.events.iter().any(|(_, event)| stalled(event)));
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_bytes, stats.awaited), (0, 0, 0));
}

/// D3: the broker that just failed counts as available all the same, as no failure leaves it alone for a while; another
/// one is tried. If there is none, it is.
#[test]
fn d3_an_available_broker_that_failed_is_passed_over() {
    let tolerance = || FaultTolerance::new().latency_max([ms(60_000)]).not_available_duration([ms(0)]);
    for (brokers, other) in [(&[("a", 2), ("b", 2)][..], true), (&[("a", 2)], false)] {
        for place in 0..4 {
            let mut net = net_of(ProducerConfig::new("PG").fault_tolerance(tolerance()), brokers);
            net.warm();
            send_some(&mut net, place);
            net.forget();
            let first = net.next_broker("T");
            net.broker(&first).sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "")].into();
            let op = net.send("T", SendOptions::default());
            net.run(ms(200));
            let result = net.take_sent(op).1;
            assert_eq!((result.attempts, *result.queue.broker != *first), (2, other), "{place}");
        }
    }
}

/// D4: two of three brokers are dead; wherever the rotation stands, the third attempt finds the living one.
#[test]
fn d4_the_living_one_of_three_brokers_is_found() {
    for living in ["a", "b", "c"] {
        for dead in [Act::Close, Act::Silent, Act::Code(ResponseCode::SYSTEM_BUSY, "")] {
            for place in 0..6 {
                let mut net = net_of(ProducerConfig::new("PG"), &[("a", 2), ("b", 2), ("c", 2)]);
                send_some(&mut net, place);
                net.forget();
                for name in ["a", "b", "c"].into_iter().filter(|name| *name != living) {
                    net.broker(name).always = Some(dead.clone());
                }
                let op = net.send("T", SendOptions::default());
                net.run(ms(3_000));
                assert_eq!(&*net.take_sent(op).1.queue.broker, living, "{dead:?}, {place}");
                let mut asked = net.brokers_asked();
                let attempts = asked.len();
                asked.sort();
                asked.dedup();
                assert_eq!(asked.len(), attempts, "each once");
            }
        }
    }
}

/// D7: a connect that is refused is followed by another attempt, and there is one end.
#[test]
fn d7_a_refused_connect_is_followed_by_another_attempt() {
    for dead in ["a", "b"] {
        let mut net = Net::new();
        net.broker(dead).accept = Some(Accept::Refuse);
        let ops: Vec<_> = (0..4).map(|_| net.send("T", SendOptions::default())).collect();
        net.run(ms(5_000));
        let attempts: Vec<_> = ops.iter().map(|op| net.take_sent(*op).1.attempts).collect();
        assert!(attempts.contains(&2) && attempts.iter().all(|attempts| *attempts <= 2), "{attempts:?}");
        assert!(net.sends().iter().all(|seen| seen.address != address_of(dead)));
    }
}

/// D10: a timeout, a refusal by code and one of the connection: each is told, with its broker.
#[test]
fn d10_the_error_names_what_each_attempt_came_to() {
    let mut net = net_of(ProducerConfig::new("PG"), &[("a", 1), ("b", 1), ("c", 1)]);
    net.warm();
    let mut order = ["a", "b", "c"];
    let first = net.next_broker("T");
    let place = order.iter().position(|name| *name == first).unwrap();
    order.rotate_left(place);
    net.broker(order[0]).always = Some(Act::Silent);
    net.broker(order[1]).always = Some(Act::Code(ResponseCode::SYSTEM_BUSY, "too many"));
    net.broker(order[2]).accept = Some(Accept::Refuse);
    let conn = net.conn(&address_of(order[2])).unwrap();
    net.later(500, Input::Closed { conn, reason: CloseReason::PeerClosed });
    let op = net.send("T", SendOptions::default());
    net.run(ms(3_000));
    let error = net.take_error(op).1;
    let [first, second, third] = error.attempts() else { panic!("{error}") };
    assert!(matches!(first.error, RequestError::Timeout { written: true, .. }));
    assert_eq!(second.error.code(), Some(ResponseCode::SYSTEM_BUSY));
    assert!(matches!(third.error, RequestError::Connect(_)), "{error}");
    let text = error.to_string();
    for (name, words) in order.iter().zip(["no answer", "SYSTEM_BUSY (2): too many", "cannot connect"]) {
        let part =
            text.split_once(&format!("{name} ({name}:10911), queue 0: ")).expect("the broker is named").1;
        assert!(part.starts_with(words), "{words}: {text}");
    }
}

/// D12: a message that is stored is no failure, whatever else the broker has to say of it.
#[test]
fn d12_other_statuses_are_results() {
    for (code, status) in [
        (ResponseCode::FLUSH_DISK_TIMEOUT, SendStatus::FlushDiskTimeout),
        (ResponseCode::SLAVE_NOT_AVAILABLE, SendStatus::SlaveNotAvailable),
        (ResponseCode::FLUSH_SLAVE_TIMEOUT, SendStatus::FlushSlaveTimeout),
    ] {
        let mut net = Net::new();
        for name in ["a", "b"] {
            net.broker(name).always = Some(after(1, Act::Stored(code)));
        }
        let op = net.send("T", SendOptions::default());
        net.run(ms(3_000));
        assert_eq!((net.take_sent(op).1.status, net.sends().len()), (status, 1));
    }
}

/// K10: too large for the client, and too large for the broker.
#[test]
fn k10_a_message_that_is_too_large_is_a_typed_error() {
    let mut net = Net::new();
    let error = Message::new("T", vec![0; (4 << 20) + 1]).prepare(net.client.message_rules()).unwrap_err();
    assert!(matches!(error, MessageError::BodyTooLong { len: 4_194_305, max: 4_194_304, .. }), "{error}");
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Code(ResponseCode::MESSAGE_ILLEGAL, "size over limit"));
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(3_000));
    let error = net.take_error(op).1;
    assert_eq!((error.kind(), error.code()), (&SendErrorKind::Refused, Some(ResponseCode::MESSAGE_ILLEGAL)));
    assert!(error.to_string().contains("size over limit") && !error.is_retryable(), "{error}");
    assert_eq!(net.sends().len(), 1);
    assert!(net.conn(NAME_SERVER).is_some(), "no connection suffers");
}
