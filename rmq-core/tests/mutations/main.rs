//! Each deliberate bug does what its name says, seen from the outside, and without one the same check holds. A process of
//! its own: a bug is on for all of it.

#![cfg(rmq_mutate)]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

#[path = "../it/support.rs"]
#[allow(dead_code, reason = "the other tests use all of it")]
mod support;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rmq_core::mutate::{self, Mutation};
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::properties;
use rmq_core::{
    AttemptTimeout, CloseReason, Event, FaultTolerance, Input, OpId, Output, ProducerConfig, Redelivery,
    SendErrorKind, SendOptions,
};

use support::{Accept, Act, Net, address_of, after, back, config, ms, route};

/// What `observe` sees of a client without a bug, and what with this one.
fn both<T>(mutation: Mutation, mut observe: impl FnMut() -> T) -> (T, T) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    mutate::set(None);
    let normal = observe();
    mutate::set(Some(mutation));
    let mutated = observe();
    mutate::set(None);
    (normal, mutated)
}

/// Topic `T` has one queue, on broker `a`; its connection is open.
fn one_broker() -> Net {
    with_one_broker(ProducerConfig::new("PG"))
}

fn with_one_broker(producer: ProducerConfig) -> Net {
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net
}

fn send(net: &mut Net) -> OpId {
    net.send("T", SendOptions::default())
}

fn close(net: &mut Net, broker: &str) {
    let conn = net.conn(&address_of(broker)).expect("it is open");
    net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
}

/// `S`ent, `F`ailed, `C`ancelled, in the order told.
fn ends(net: &Net, op: OpId) -> String {
    let letter = |event: &Event| match event {
        Event::Sent { .. } => 'S',
        Event::SendFailed { .. } => 'F',
        Event::Cancelled { .. } => 'C',
        _ => '?',
    };
    net.ends(op).iter().map(|(_, event)| letter(event)).collect()
}

fn busy() -> Act {
    Act::Code(ResponseCode::SYSTEM_BUSY, "")
}

#[test]
fn names_are_one_to_one() {
    let names: BTreeSet<_> = Mutation::ALL.iter().map(|mutation| mutation.name()).collect();
    assert_eq!(names.len(), Mutation::ALL.len());
    assert!(Mutation::ALL.iter().all(|mutation| Mutation::named(mutation.name()) == Some(*mutation)));
    assert_eq!(Mutation::named("none"), None);
}

#[test]
fn acknowledge_when_written() {
    let seen = both(Mutation::AcknowledgeWhenWritten, || {
        let mut net = one_broker();
        net.broker("a").always = Some(Act::Silent);
        let op = send(&mut net);
        net.run(ms(10_000));
        ends(&net, op)
    });
    assert_eq!(seen, ("F".into(), "S".into()));
}

#[test]
fn reuse_opaque() {
    let seen = both(Mutation::ReuseOpaque, || {
        let mut net = one_broker();
        net.broker("a").always = Some(after(10, Act::Stored(ResponseCode::SUCCESS)));
        let ops: Vec<_> = (0..8).map(|_| send(&mut net)).collect();
        net.run(ms(5));
        let opaques: BTreeSet<_> = net.sends().iter().map(|seen| seen.command.opaque).collect();
        net.run(ms(10_000));
        assert!(ops.iter().all(|op| ends(&net, *op) == "S"));
        opaques.len()
    });
    assert_eq!(seen, (8, 6));
}

#[test]
fn forget_permit() {
    let seen = both(Mutation::ForgetPermit, || {
        let mut net = one_broker();
        let op = send(&mut net);
        net.client.cancel(net.now, op);
        net.run(ms(10));
        assert_eq!(net.client.stats().operations, 0);
        net.client.stats().operation_bytes > 0
    });
    assert_eq!(seen, (false, true));
}

#[test]
fn retry_past_budget() {
    let seen = both(Mutation::RetryPastBudget, || {
        let mut net = one_broker();
        net.broker("a").always = Some(busy());
        let op = send(&mut net);
        net.run(ms(10_000));
        (net.sends().len(), net.take_error(op).1.attempts().len())
    });
    assert_eq!(seen, ((3, 3), (4, 4)));
}

#[test]
fn pick_tried_broker() {
    let seen = both(Mutation::PickTriedBroker, || {
        let mut net = Net::new();
        net.warm();
        for name in ["a", "b"] {
            net.broker(name).always = Some(busy());
        }
        (0..8)
            .filter(|_| {
                net.forget();
                send(&mut net);
                net.run(ms(10));
                let asked = net.brokers_asked();
                asked[0] == asked[1]
            })
            .count()
    });
    assert_eq!(seen.0, 0);
    assert!(seen.1 > 0);
}

#[test]
fn pick_isolated_broker() {
    let seen = both(Mutation::PickIsolatedBroker, || {
        let producer = ProducerConfig::new("PG").fault_tolerance(FaultTolerance::new());
        let mut net = Net::with(config().build().unwrap(), producer);
        net.warm();
        net.broker("a").always = Some(busy());
        (0..4).for_each(|_| {
            send(&mut net);
            net.run(ms(0));
        });
        net.brokers_asked().iter().filter(|broker| *broker == "a").count()
    });
    assert_eq!(seen.0, 1, "once, and then it is left alone");
    assert!(seen.1 > 1);
}

#[test]
fn keep_closed_requests() {
    let seen = both(Mutation::KeepClosedRequests, || {
        let mut net = Net::new();
        net.warm();
        let first = net.next_broker("T");
        net.broker(&first).sends = [Act::Close].into();
        let (began, op) = (net.now, send(&mut net));
        net.run(ms(10_000));
        net.take_sent(op).0.saturating_since(began) >= ms(1_000)
    });
    assert_eq!(seen, (false, true));
}

#[test]
fn drop_partial_frame() {
    let seen = both(Mutation::DropPartialFrame, || {
        let mut net = one_broker();
        net.chunk = 50;
        let ops: Vec<_> = (0..20)
            .map(|_| {
                let op = send(&mut net);
                net.run(ms(300));
                op
            })
            .collect();
        net.run(ms(10_000));
        assert!(ops.iter().all(|op| ends(&net, *op).len() == 1));
        net.client.stats().protocol_errors > 0
    });
    assert_eq!(seen, (false, true));
}

#[test]
fn leak_connection() {
    let seen = both(Mutation::LeakConnection, || {
        let mut net = one_broker();
        net.run(ms(1));
        let conn = net.conn(&address_of("a")).unwrap();
        net.later(0, Input::Received { conn, data: vec![0xff; 64].into() });
        net.run(ms(10));
        net.conn(&address_of("a")) == Some(conn)
    });
    assert_eq!(seen, (false, true));
}

#[test]
fn spin_on_deadline() {
    let seen = both(Mutation::SpinOnDeadline, || {
        let Net { mut client, .. } = one_broker();
        (0..20).any(|_| {
            let now = client.poll_timeout().expect("heartbeats never end");
            client.handle_timeout(now);
            while client.poll_output().is_some() {}
            client.poll_timeout().is_some_and(|at| at <= now)
        })
    });
    assert_eq!(seen, (false, true));
}

#[test]
fn end_twice() {
    let seen = both(Mutation::EndTwice, || {
        let mut net = one_broker();
        net.broker("a").always = Some(busy());
        let op = send(&mut net);
        net.run(ms(200));
        assert_eq!(net.client.stats().operations, 0);
        ends(&net, op)
    });
    assert_eq!(seen, ("F".into(), "FF".into()));
}

#[test]
fn retry_with_fresh_key() {
    let seen = both(Mutation::RetryWithFreshKey, || {
        let mut net = one_broker();
        net.broker("a").sends = [busy(), busy()].into();
        let op = send(&mut net);
        net.run(ms(200));
        let key = |text: &str| properties::value(text, properties::UNIQ_KEY).unwrap().to_owned();
        let keys: Vec<_> = net.sends().iter().map(|seen| key(&seen.send().properties.unwrap())).collect();
        assert_eq!(net.take_sent(op).1.message_id, keys[2]);
        keys.iter().collect::<BTreeSet<_>>().len()
    });
    assert_eq!(seen, (1, 3));
}

#[test]
fn claim_not_stored() {
    for act in [Act::Silent, Act::Close] {
        let seen = both(Mutation::ClaimNotStored, || {
            let mut net = one_broker();
            net.broker("a").always = Some(act.clone());
            let op = send(&mut net);
            net.run(ms(10_000));
            assert!(!net.sends().is_empty());
            net.take_error(op).1.may_have_been_stored()
        });
        assert_eq!(seen, (true, false), "{act:?}");
    }
}

#[test]
fn write_without_credit() {
    let seen = both(Mutation::WriteWithoutCredit, || {
        let Net { mut client, now, producer, .. } = one_broker();
        let mut outstanding = Vec::new();
        for _ in 0..3 {
            let message = rmq_core::proto::message::Message::new("T", "Hello");
            let message = message.prepare(client.message_rules()).unwrap();
            client.send(now, producer, message, SendOptions::default()).unwrap();
            while let Some(output) = client.poll_output() {
                if let Output::Write { conn, data } = output {
                    outstanding.push((conn, data.len()));
                }
            }
        }
        for (conn, bytes) in &outstanding {
            client.handle_input(now, Input::Written { conn: *conn, bytes: *bytes });
        }
        assert_eq!(client.stats().misuses, 0);
        outstanding.len()
    });
    assert_eq!(seen, (1, 3));
}

#[test]
fn stop_reconnecting() {
    let seen = both(Mutation::StopReconnecting, || {
        let mut net = one_broker();
        net.broker("a").accept = Some(Accept::Refuse);
        close(&mut net, "a");
        for _ in 0..5 {
            send(&mut net);
            net.run(ms(200));
        }
        let refused = net.connects.len();
        net.broker("a").accept = Some(Accept::Open);
        net.run(ms(200_000));
        let op = send(&mut net);
        net.run(ms(5_000));
        (refused, ends(&net, op))
    });
    assert!(seen.0.0 > 3);
    assert_eq!(
        (seen.0.1, seen.1),
        ("S".into(), (2, "F".into())),
        "the end of the connection was the first failure"
    );
}

#[test]
fn draw_per_read() {
    let seen = both(Mutation::DrawPerRead, || {
        let queues = |chunk| {
            let mut net = Net::new();
            net.routes.insert("T".into(), route(&[("a", 16)]));
            net.chunk = chunk;
            send(&mut net);
            net.run(ms(10));
            net.sends()[0].send().queue_id
        };
        (1..9).map(|pieces| queues(50 * pieces)).collect::<BTreeSet<_>>().len() > 1
    });
    assert_eq!(seen, (false, true));
}

#[test]
fn forget_heartbeats() {
    let seen = both(Mutation::ForgetHeartbeats, || {
        let mut net = Net::new();
        send(&mut net);
        net.run(ms(2_000));
        assert_eq!(net.requests(RequestCode::HEART_BEAT).len(), 2, "the first ones are sent");
        close(&mut net, "a");
        net.forget();
        for _ in 0..100 {
            let op = send(&mut net);
            net.run(ms(1_000));
            net.take_sent(op);
        }
        let beats = net.requests(RequestCode::HEART_BEAT);
        assert!(beats.iter().any(|seen| seen.address == address_of("b")));
        assert!(net.conn(&address_of("a")).is_some());
        beats.iter().any(|seen| seen.address == address_of("a"))
    });
    assert_eq!(seen, (true, false));
}

#[test]
fn overrun_deadline() {
    let seen = both(Mutation::OverrunDeadline, || {
        let mut net = with_one_broker(ProducerConfig::new("PG").attempt_timeout(AttemptTimeout::Whole));
        net.broker("a").always = Some(Act::Silent);
        let (began, op) = (net.now, send(&mut net));
        net.run(ms(10_000));
        net.take_error(op).0.saturating_since(began)
    });
    assert_eq!(seen, (ms(3_000), ms(3_500)));
}

#[test]
fn lose_timer() {
    let seen = both(Mutation::LoseTimer, || {
        let mut net = one_broker();
        net.broker("a").always = Some(Act::Silent);
        let op = send(&mut net);
        net.run(ms(10_000));
        let ended = ends(&net, op);
        net.client.shutdown(net.now, ms(0));
        net.turn();
        let error = net.take_error(op).1;
        (ended, *error.kind() == SendErrorKind::ShutDown)
    });
    assert_eq!(seen, (("F".into(), false), (String::new(), true)));
}

#[test]
fn retry_dead_letters() {
    let seen = both(Mutation::RetryDeadLetters, || {
        let mut net = Net::new();
        send(&mut net);
        net.run(ms(100));
        net.forget();
        net.routes.insert("%RETRY%g".into(), route(&[("a", 1)]));
        let op = net.send_back(back().broker("gone").redelivery(Redelivery::DeadLetter));
        net.run(ms(10_000));
        let ended = matches!(net.end(op).1, Event::SendBackFailed { .. });
        (ended, net.sends().len())
    });
    assert_eq!(seen, ((true, 0), (false, 1)));
}

/// With every bug most sends get through while nothing else is wrong, so that what a check reports is the bug. (The
/// network of these tests does not let a client spin.)
#[test]
fn sends_still_end() {
    for mutation in Mutation::ALL.iter().filter(|mutation| **mutation != Mutation::SpinOnDeadline) {
        let seen = both(*mutation, || {
            let mut net = Net::new();
            let ops: Vec<_> = (0..50)
                .map(|i| {
                    let op = send(&mut net);
                    if i % 2 == 0 {
                        net.run(ms(20));
                    }
                    op
                })
                .collect();
            net.run(ms(10_000));
            ops.iter().filter(|op| ends(&net, **op) == "S").count()
        });
        assert_eq!(seen.0, 50);
        assert!(seen.1 >= 45, "{mutation:?}: {seen:?}");
    }
}
