//! Servers are down for ten minutes, and then up again.

use std::time::Duration;

use rmq_core::{CloseCause, Instant, RequestError, SendErrorKind};
use rmq_sim::net::Fault;

use crate::world::{World, at, gaps, millis, secs};

const DOWN: Instant = Instant::from_millis(5_000);
const UP: Instant = Instant::from_millis(605_000);

/// The longest back-off there is, jitter included, and the way there and back.
const CAP: Duration = Duration::from_millis(33_010);

/// Each wait is the one before doubled, from a second to at most half a minute, give or take a tenth; beside it there is the
/// time that each try takes to fail.
fn assert_schedule(gaps: &[Duration], try_takes: Duration) {
    for (failures, gap) in gaps.iter().enumerate() {
        let base = secs(1 << failures.min(10)).min(secs(30));
        let (least, most) = (base * 9 / 10 + try_takes, base * 11 / 10 + try_takes + millis(5));
        assert!(
            (least..=most).contains(gap),
            "wait number {failures} is {gap:?}, which is not in {least:?}..{most:?}: {gaps:?}"
        );
    }
}

/// With nothing to send, heartbeats alone look for the broker. A topic that nobody sends to for ten minutes is forgotten,
/// and its brokers with it, so that there is one send in the middle.
#[test]
fn b7_heartbeats_find_a_broker_again() {
    for (fault, try_takes) in [(Fault::Refuse, Duration::ZERO), (Fault::Blackhole, secs(3))] {
        let mut world = World::new(1);
        let broker = world.broker();
        world.run_to(at(4));
        world.send_and_wait(0).sent();
        world.plan(&broker, fault.clone(), DOWN, UP);
        world.plan(&broker, Fault::Reset, DOWN, DOWN);
        world.run_to(at(305));
        let dials = world.dials(0, &broker);
        let tries = gaps(&dials, DOWN, at(305));
        // The first try comes a back-off after the reset; then one failure is counted already.
        let first = dials.iter().find(|dial| **dial > DOWN).unwrap().saturating_since(DOWN);
        assert!((millis(900)..=millis(1_110)).contains(&first), "{fault}: {first:?}");
        assert_schedule(&std::iter::once(first + try_takes).chain(tries).collect::<Vec<_>>(), try_takes);
        world.send_and_wait(0).error();
        world.run_to(at(700));
        let later = gaps(&world.dials(0, &broker), at(310), UP);
        assert!(later.iter().all(|gap| *gap <= CAP + try_takes), "{fault}: {later:?}");
        let dials = world.dials(0, &broker);
        let back = dials.iter().find(|dial| **dial >= UP);
        let back = back.unwrap_or_else(|| panic!("{fault}: no try after {UP:?}: {dials:?}"));
        assert!(back.saturating_since(UP) <= CAP, "{fault}: back at {back:?}");
        let beat = world.heartbeats().into_iter().find(|beat| *beat >= UP).unwrap();
        assert!(beat.saturating_since(*back) <= millis(10), "{fault}: first heartbeat at {beat:?}");
        world.send_and_wait(0).sent();
        assert_eq!(
            world.dials(0, &broker).len(),
            dials.len(),
            "{fault}: the connection is the one that was found"
        );
    }
}

/// With sends under way, no send fails that begins once the broker is back, and the broker that is down is not flooded. It is
/// down for two minutes here: sends look for it at the same pace all the time.
#[test]
fn b7_sends_find_a_broker_again() {
    const UP: Instant = Instant::from_millis(125_000);
    let mut world = World::new(1);
    let broker = world.broker();
    world.run_to(at(4));
    world.cut_off(&broker, DOWN, UP);
    let mut failed = 0;
    for tenth in 41..1_400 {
        world.run_to(Instant::from_millis(tenth * 100));
        let began = world.now();
        let end = world.send_and_wait(0);
        if began < DOWN || began >= UP + millis(100) {
            end.sent();
            continue;
        }
        // The attempts of a send to the only broker begin 100 ms apart: of the last ones one may be in time.
        if began + millis(200) < UP {
            failed += 1;
            let error = end.error();
            assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted, "{error}");
            assert!(error.to_string().contains("connection refused"), "{error}");
            assert!(!error.may_have_been_stored(), "{error}");
        }
    }
    assert!(failed > 580, "{failed} sends failed");
    let gaps = gaps(&world.dials(0, &broker), DOWN, UP);
    assert!(gaps.iter().all(|gap| *gap >= millis(100)), "{gaps:?}");
    assert!(gaps.iter().all(|gap| *gap <= millis(250)), "each send tries, as far as it may: {gaps:?}");
}

/// All servers are cut off: the name servers are looked for at their own pace, and found as fast.
#[test]
fn b7_all_servers_are_found_again() {
    let mut world = World::new(2);
    world.run_to(at(4));
    for _ in 0..8 {
        world.send_and_wait(0).sent();
    }
    let addresses: Vec<_> = world.network.addresses().map(ToString::to_string).collect();
    assert_eq!(addresses.len(), 3);
    for address in &addresses {
        world.cut_off(address, DOWN, UP);
    }
    world.run_to(at(305));
    let name_server = world.name_server();
    for broker in addresses.iter().filter(|address| **address != name_server) {
        let tries = gaps(&world.dials(0, broker), DOWN, at(305));
        assert!(tries.len() >= 10, "{broker}: {tries:?}");
        assert!(tries.iter().all(|gap| (millis(900)..=CAP).contains(gap)), "{broker}: {tries:?}");
    }
    // Routes are looked at each 30 s, so the name server is dialed then, if its back-off is over.
    let tries = gaps(&world.dials(0, &name_server), DOWN, at(305));
    assert!(tries.len() >= 4, "{tries:?}");
    assert!(tries.iter().all(|gap| (secs(27)..=2 * CAP).contains(gap)), "{tries:?}");
    let end = world.send_and_wait(0);
    assert!(matches!(end.error().kind(), SendErrorKind::AttemptsExhausted), "{}", end.error());
    world.run_to(UP + CAP);
    let back = world.heartbeats().into_iter().filter(|beat| *beat >= UP).count();
    assert!(back >= 2, "both brokers hear of the client again");
    for _ in 0..8 {
        world.send_and_wait(0).sent();
    }
    world.run_for(2 * CAP);
    assert!(world.dials(0, &name_server).iter().any(|dial| *dial >= UP));
}

/// All processes die and are started again: name servers have forgotten everything, and sends succeed at once all the
/// same.
#[test]
fn b7_all_servers_are_started_again() {
    let mut world = World::new(2);
    world.run_to(at(4));
    world.send_and_wait(0).sent();
    let addresses: Vec<_> = world.network.addresses().map(ToString::to_string).collect();
    for address in &addresses {
        world.plan(address, Fault::Crash, DOWN, UP);
    }
    for second in 5..605 {
        world.run_to(at(second) + millis(1));
        let end = world.send_and_wait(0);
        let error = end.error();
        assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted, "{error}");
        let refused = |error: &RequestError| match error {
            RequestError::Connect(cause) | RequestError::HeldOff(cause) => {
                matches!(cause, CloseCause::Stream(_))
            }
            RequestError::Closed { cause, .. } => matches!(cause, CloseCause::Stream(_)),
            _ => false,
        };
        assert!(error.attempts().iter().all(|attempt| refused(&attempt.error)), "{error}");
        assert!(end.at.saturating_since(at(second)) < millis(100), "it fails at once: {error}");
    }
    world.run_to(UP + millis(150));
    for _ in 0..8 {
        world.send_and_wait(0).sent();
    }
}
