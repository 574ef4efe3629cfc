//! GO_AWAY (producer §8.8, wire §9.4) beyond rows 75 and 76.

use std::num::NonZeroU32;

use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::{
    CloseCause, CloseReason, Event, FaultTolerance, Input, ProducerConfig, RequestError, Resolution,
    SendErrorKind, SendOptions, SentBack,
};

use crate::support::{Accept, Act, NAME_SERVER, Net, address_of, after, at, back, config, ms, route};
use crate::transactions::{check, question};

const GO_AWAY: Act = Act::Code(ResponseCode::GO_AWAY, "");
const STORED: Act = Act::Stored(ResponseCode::SUCCESS);

/// Topic `T` on broker `a` alone, with all connections open.
fn net() -> Net {
    net_of(ProducerConfig::new("PG"))
}

fn net_of(producer: ProducerConfig) -> Net {
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net
}

fn connects_to(net: &Net, address: &str) -> usize {
    net.connects.iter().filter(|(_, to)| to == address).count()
}

/// The old connection stays for what was written there before, and closes with the last answer.
#[test]
fn what_was_written_before_is_still_answered() {
    let mut net = net();
    let address = address_of("a");
    net.broker("a").sends = [after(500, STORED), after(300, STORED)].into();
    let slow = [(); 2].map(|()| net.send("T", SendOptions::default()));
    net.run(ms(0));
    net.send_away(&address);
    let moved = net.send("T", SendOptions::default());
    net.run(ms(0));
    assert_eq!(net.take_sent(moved).0, at(0));
    assert!(net.events.iter().any(|(_, event)| matches!(event, Event::GoingAway { .. })));
    let stats = net.client.stats();
    assert_eq!((stats.draining, stats.connections, stats.links, stats.go_aways), (1, 3, 2, 1));
    net.run(ms(1_000));
    assert_eq!(
        slow.map(|op| (net.take_sent(op).0, net.take_sent(op).1.attempts)),
        [(at(500), 1), (at(300), 1)]
    );
    assert_eq!(net.closes, [(at(500), address)]);
    let stats = net.client.stats();
    assert_eq!((stats.draining, stats.connections, stats.awaited, stats.operations), (0, 2, 0, 0));
}

/// When the peer closes it instead, what is left there fails at once, and the new connection is none the worse for it.
#[test]
fn a_draining_connection_that_ends_fails_what_is_left_there() {
    let mut net = net();
    let old = net.conn(&address_of("a")).unwrap();
    net.broker("a").sends = [Act::Silent].into();
    let left = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.send_away(&address_of("a"));
    net.send("T", SendOptions::default());
    net.run(ms(50));
    net.later(100, Input::Closed { conn: old, reason: CloseReason::PeerClosed });
    net.run(ms(150));
    let (when, result) = net.take_sent(left);
    assert_eq!((when, result.attempts), (at(150), 2));
    let lost = net.events.iter().any(|(when, event)| {
        let cause = CloseCause::Stream(CloseReason::PeerClosed);
        matches!(event, Event::ConnectionClosed { cause: of, replaced: true, .. } if *of == cause && *when == at(150))
    });
    assert!(lost, "{:?}", net.events);
    assert_eq!(connects_to(&net, &address_of("a")), 1);
}

/// Requests that time out, and those that are cancelled, hold a draining connection no longer than their time.
#[test]
fn a_draining_connection_does_not_outlive_the_time_of_its_requests() {
    for cancels in [false, true] {
        let mut net = net_of(ProducerConfig::new("PG").attempts(NonZeroU32::MIN));
        net.broker("a").sends = [Act::Silent].into();
        let op = net.send("T", SendOptions::default().timeout(ms(1_000)));
        net.run(ms(0));
        net.send_away(&address_of("a"));
        net.send("T", SendOptions::default());
        net.run(ms(10));
        if cancels {
            net.client.cancel(net.now, op);
        }
        net.run(ms(980));
        assert_eq!(net.client.stats().draining, 1, "cancels: {cancels}");
        net.run(ms(20));
        let stats = net.client.stats();
        assert_eq!((stats.draining, stats.awaited), (0, 0), "cancels: {cancels}");
        assert_eq!(net.closes, [(at(1_000), address_of("a"))], "cancels: {cancels}");
    }
}

/// What waited to be written on the old connection is written on the new one.
#[test]
fn what_is_not_written_yet_moves() {
    let mut net = net();
    let old = net.conn(&address_of("a")).unwrap();
    net.send_away(&address_of("a"));
    let first = net.send("T", SendOptions::default());
    net.drain();
    let rest = [(); 3].map(|()| net.send("T", SendOptions::default()));
    net.run(ms(0));
    net.take_sent(first);
    for op in rest {
        assert_eq!(net.take_sent(op).1.attempts, 1);
    }
    let on_old = net.sends().iter().filter(|seen| seen.conn == old).count();
    assert_eq!((on_old, net.sends().len()), (1, 5));
    assert_eq!(net.client.stats().queued, 0);
}

/// The time of a request goes on: a connection that does not open in it is a timeout, one that is refused a failure.
#[test]
fn the_new_connection_has_what_is_left_of_the_time() {
    for (accept, end) in [(Accept::Never, 400), (Accept::Refuse, 100)] {
        let mut net = net_of(ProducerConfig::new("PG").attempts(NonZeroU32::MIN));
        net.broker("a").sends = [after(100, GO_AWAY)].into();
        net.broker("a").accept = Some(accept);
        let op = net.send("T", SendOptions::default().timeout(ms(400)));
        net.run(ms(1_000));
        let (when, error) = net.take_error(op);
        assert_eq!(when, at(end), "{error}");
        assert!(!error.may_have_been_stored(), "the broker did not act on it: {error}");
    }
}

#[test]
fn a_second_go_away_is_a_failure_with_a_cause_of_its_own() {
    let mut net = net();
    net.broker("a").always = Some(GO_AWAY);
    let op = net.send("T", SendOptions::default());
    net.run(ms(3_000));
    let error = net.take_error(op).1;
    assert_eq!((error.kind(), error.attempts().len()), (&SendErrorKind::AttemptsExhausted, 3));
    assert!(error.attempts().iter().all(|attempt| attempt.error == RequestError::GoneAway), "{error}");
    assert!(error.is_retryable() && !error.may_have_been_stored());
    assert!(error.to_string().contains("the peer goes away and did not act on the request"), "{error}");
}

#[test]
fn without_reconnecting_each_go_away_is_a_failure() {
    let config = config().reconnect_on_go_away(false).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG").attempts(NonZeroU32::MIN));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.send_away(&address_of("a"));
    let op = net.send("T", SendOptions::default());
    net.run(ms(100));
    assert_eq!(net.take_error(op).1.attempts()[0].error, RequestError::GoneAway);
    assert_eq!((connects_to(&net, &address_of("a")), net.client.stats().draining), (0, 0));
}

/// A peer that sends everybody away, always: one new connection in 100 ms at most, however many ask.
#[test]
fn new_connections_are_held_off() {
    let mut net = net_of(ProducerConfig::new("PG").attempts(NonZeroU32::MIN));
    net.broker("a").always = Some(GO_AWAY);
    for _ in 0..100 {
        let op = net.send("T", SendOptions::default());
        net.run(ms(10));
        assert_eq!(net.take_error(op).1.attempts()[0].error, RequestError::GoneAway);
    }
    let connects = connects_to(&net, &address_of("a"));
    assert!((5..=10).contains(&connects), "{connects} connects in a second");
    assert!(net.client.stats().draining <= 1);
}

/// Heartbeats alone, too, make a new connection once per interval at most, and no more.
#[test]
fn heartbeats_that_are_sent_away() {
    let mut net = net();
    net.run(ms(5_000));
    net.forget();
    net.send_away(&address_of("a"));
    net.run(ms(35_000));
    assert_eq!(connects_to(&net, &address_of("a")), 1);
    let beats = net.requests(RequestCode::HEART_BEAT);
    assert_eq!(beats.len(), 2, "the second one registers the new connection");
    assert!(beats[0].conn != beats[1].conn && beats[0].at == beats[1].at);
    let refused = |event: &Event| matches!(event, Event::HeartbeatRefused { .. });
    assert!(!net.events.iter().any(|(_, event)| refused(event)));
    net.forget();
    net.broker("a").others.insert(RequestCode::HEART_BEAT.0, after(250, GO_AWAY));
    net.run(ms(600_000));
    let connects = connects_to(&net, &address_of("a"));
    assert!((15..=23).contains(&connects), "{connects} connects in ten minutes, a beat each 30 s");
    assert!(net.events.iter().any(|(_, event)| refused(event)), "a second answer is told");
}

/// Route queries, send-backs and the detector's questions move as sends do.
#[test]
fn every_kind_of_request_moves() {
    let mut net = net();
    net.routes.insert("U".into(), route(&[("a", 1)]));
    net.send_away(NAME_SERVER);
    let op = net.send("U", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    assert_eq!(connects_to(&net, NAME_SERVER), 1);
    net.send_away(&address_of("a"));
    let op = net.send_back(back());
    net.run(ms(0));
    assert!(matches!(net.take_sent_back(op).1, SentBack::ByBroker));
    assert_eq!(net.requests(RequestCode::CONSUMER_SEND_MSG_BACK).len(), 2);
    net.run(ms(200));
    net.send_away(&address_of("a"));
    net.client.shutdown(net.now, ms(3_000));
    net.run(ms(10));
    assert!(net.client.is_shut_down());
    assert_eq!(net.requests(RequestCode::UNREGISTER_CLIENT).len(), 2);

    let tolerance = FaultTolerance::new().detector(true);
    let mut net = net_of(ProducerConfig::new("PG").fault_tolerance(tolerance).attempts(NonZeroU32::MIN));
    net.broker("a").sends = [Act::Close].into();
    net.send("T", SendOptions::default());
    net.run(ms(1_500));
    net.send_away(&address_of("a"));
    net.run(ms(2_500));
    let probes = net.requests(RequestCode::GET_MAX_OFFSET);
    assert!(probes.len() == 2 && probes[0].conn != probes[1].conn, "{probes:?}");
}

/// The answer to a check of a transaction goes to the new connection: nobody would say that it was lost on the old one.
#[test]
fn an_answer_to_a_check_goes_to_the_new_connection() {
    let mut net = net();
    let (token, old) = check(&mut net, "a", &question(Some("PG"), Some("a"))).unwrap();
    net.broker("a").sends = [Act::Silent].into();
    net.send("T", SendOptions::default());
    net.run(ms(0));
    net.send_away(&address_of("a"));
    net.send("T", SendOptions::default());
    net.run(ms(0));
    assert_eq!(net.client.stats().draining, 1);
    net.client.answer_check(net.now, token, Resolution::Commit, None).unwrap();
    net.run(ms(0));
    let ends = net.requests(RequestCode::END_TRANSACTION);
    assert!(ends.len() == 1 && ends[0].conn != old, "{ends:?}");
}

/// A question to a name server that is sent away twice goes on to the next one.
#[test]
fn a_name_server_that_goes_away_is_passed_over() {
    let config = config().name_server("ns2:9876").build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    net.warm();
    net.routes.insert("U".into(), route(&[("a", 1)]));
    let chosen = ["ns:9876", "ns2:9876"].into_iter().find(|server| net.conn(server).is_some()).unwrap();
    net.peer(chosen).others.insert(RequestCode::GET_ROUTEINFO_BY_TOPIC.0, GO_AWAY);
    let op = net.send("U", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    let asked: Vec<_> =
        net.requests(RequestCode::GET_ROUTEINFO_BY_TOPIC).iter().map(|seen| seen.address == chosen).collect();
    assert_eq!(asked, [true, true, false]);
}

/// A shutdown while brokers go away ends in its time and closes what drains.
#[test]
fn a_shutdown_closes_what_drains() {
    let mut net = net();
    net.broker("a").sends = [Act::Silent].into();
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.send_away(&address_of("a"));
    net.send("T", SendOptions::default());
    net.run(ms(0));
    net.client.shutdown(net.now, ms(1_000));
    net.run(ms(1_000));
    assert_eq!(*net.take_error(op).1.kind(), SendErrorKind::ShutDown);
    assert!(net.client.is_shut_down() && net.conn(&address_of("a")).is_none());
    let stats = net.client.stats();
    assert_eq!((stats.draining, stats.links, stats.connections, stats.timers), (0, 0, 0, 0));
}

/// Clause 6: however the answers are cut, each connection gets the same bytes and each send the same end.
#[test]
fn clause_6_pieces_change_nothing() {
    let run = |chunk| {
        let mut net = net();
        net.chunk = chunk;
        net.broker("a").sends =
            [after(200, STORED), after(100, GO_AWAY), after(100, STORED), after(100, GO_AWAY)].into();
        let ops = [(); 4].map(|()| net.send("T", SendOptions::default()));
        net.run(ms(1_000));
        (ops.map(|op| format!("{:?}", net.end(op))), net.written)
    };
    let whole = run(usize::MAX);
    for chunk in [1, 7, 100] {
        assert_eq!(run(chunk), whole, "in pieces of {chunk}");
    }
}
