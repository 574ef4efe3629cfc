//! The wall clock jumps; no timer cares.

use std::collections::BTreeSet;

use rmq_core::{Instant, SendErrorKind, SendOptions};
use rmq_sim::net::Fault;

use crate::world::{Request, TOPIC, World, at, gaps, millis, secs};

const HOUR: i64 = 3_600_000;

/// Sends each 7 s for 20 min; the clock jumps at 5 min by `first` and at 10 min by `second`.
fn run(first: i64, second: i64) -> World {
    let mut world = World::new(2);
    for (begin, end, jump) in [(0, 300, first), (300, 600, second), (600, 1_200, 0)] {
        for second in (begin..end).step_by(7) {
            world.run_to(at(second));
            world.send(0);
        }
        world.run_to(at(end));
        if jump != 0 {
            let now = world.now();
            world.process(0).step_clock(now, jump);
        }
    }
    world.run_to(at(1_210));
    world
}

/// Whatever the wall clock does, servers read the same requests at the same moments, and no id is there twice.
#[test]
fn x7_the_wall_clock_moves_no_timer() {
    let still = run(0, 0);
    let jumps =
        [(-HOUR, 0), (24 * HOUR, 0), (-HOUR, -HOUR), (24 * HOUR, -24 * HOUR), (HOUR, -2 * HOUR), (-1, 1)];
    for (first, second) in jumps {
        let world = run(first, second);
        assert_eq!(times(&world.requests), times(&still.requests), "{first} {second}");
        let ids: BTreeSet<_> = world.ends.iter().map(|end| end.sent().message_id.clone()).collect();
        assert_eq!(ids.len(), still.ends.len(), "{first} {second}: an id is there twice");
        // The jump did happen: messages say that they are born at another time.
        let last = world.network.cluster().stored().last().unwrap();
        let ahead = last.born_timestamp - last.store_timestamp;
        assert!((ahead - first - second).abs() < 100, "{first} {second}: {ahead}");
    }
    // Each of both brokers hears a heartbeat each 30 s, give or take a tenth.
    let beats = still.heartbeats().len();
    assert!((2 * 36..=2 * 46).contains(&beats), "{beats} heartbeats in 20 min");
}

fn times(requests: &[Request]) -> Vec<(Instant, i32)> {
    requests.iter().map(|request| (request.at, request.code.0)).collect()
}

/// With nothing but heartbeats under way, none comes early or late around the jump.
#[test]
fn x7_heartbeats_neither_burst_nor_stop() {
    for jump in [-HOUR, 24 * HOUR] {
        let mut world = World::new(1);
        world.send_and_wait(0).sent();
        world.run_to(at(100));
        let now = world.now();
        world.process(0).step_clock(now, jump);
        world.run_to(at(400));
        let gaps = gaps(&world.heartbeats(), at(30), at(400));
        assert!(gaps.len() >= 10, "{jump}: {gaps:?}");
        let due = millis(26_990)..=millis(33_010);
        assert!(gaps.iter().all(|gap| due.contains(gap)), "{jump}: {gaps:?}");
    }
}

/// A send that waits while the clock jumps ends when its time is over by the other clock.
#[test]
fn x7_a_send_has_its_time_whatever_the_wall_clock_says() {
    for jump in [-HOUR, 24 * HOUR] {
        let mut world = World::new(1);
        world.send_and_wait(0).sent();
        let broker = world.broker();
        world.plan(&broker, Fault::Hang, at(10), at(60));
        world.run_to(at(10));
        let op = world.send_to(0, TOPIC, SendOptions::default().timeout(secs(8)));
        world.run_to(at(14));
        assert_eq!(world.stats(0).operations, 1);
        let now = world.now();
        world.process(0).step_clock(now, jump);
        world.run_to(at(30));
        let end = world.end_of(0, op);
        assert_eq!(end.at, at(18));
        let kind = end.error().kind();
        assert!(
            matches!(kind, SendErrorKind::AttemptsExhausted | SendErrorKind::TimedOut),
            "{}",
            end.error()
        );
        assert_eq!(end.error().took(), secs(8));
    }
}
