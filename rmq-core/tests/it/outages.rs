//! Everything is gone for long, and comes back.

use rmq_core::proto::code::RequestCode;
use rmq_core::{CloseReason, Event, Input, ProducerConfig, SendOptions};

use crate::support::{Accept, NAME_SERVER, Net, address_of, at, config, ms};

const HOUR: u64 = 3_600_000;
/// Time between two sends: less than a route is kept unused.
const ROUND: u64 = 300_000;
/// The longest back-off, with its jitter.
const LAST_BACKOFF: u64 = 33_000;

fn set_all(net: &mut Net, accept: Accept) {
    for address in [NAME_SERVER, &address_of("a"), &address_of("b")] {
        net.peer(address).accept = Some(accept);
    }
}

/// BUG-19, as far as a producer goes: the cluster is gone for an hour. Connects follow the back-off, what is told is
/// bounded by them, no turn is for nothing, and the brokers hear of the client again within one back-off.
#[test]
fn bug_19_an_hour_without_the_cluster() {
    for accept in [Accept::Refuse, Accept::Never] {
        let mut net = Net::with(config().build().unwrap(), ProducerConfig::new("PG"));
        net.warm();
        set_all(&mut net, accept);
        for address in [NAME_SERVER, &address_of("a"), &address_of("b")] {
            let conn = net.conn(address).unwrap();
            net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
        }
        net.run(ms(0));
        let mut timers = 0;
        for _ in 0..HOUR / ROUND {
            net.send("T", SendOptions::default());
            timers += turns(&mut net, ROUND);
        }
        // Heartbeats to two brokers and looks at a route, each after 30 s, and a few for the sends.
        let connects = net.connects.len();
        assert!((250..450).contains(&connects), "{accept:?}: {connects} connects in an hour");
        let told = net.events.len();
        assert!(
            told <= connects + 4 + (HOUR / ROUND) as usize,
            "{accept:?}: {told} events for {connects} connects"
        );
        assert!(timers <= 3 * connects, "{accept:?}: {timers} turns for {connects} connects");
        let stats = net.client.stats();
        assert_eq!((stats.operations, stats.awaited, stats.notices_dropped), (0, 0, 0));
        // At most a look at the route, and a timer for each link, too.
        assert!(stats.queued <= 1 && stats.timers <= 5, "{accept:?}: {stats:?}");
        set_all(&mut net, Accept::Open);
        let back = net.now;
        net.forget();
        net.run(ms(LAST_BACKOFF));
        let op = net.send("T", SendOptions::default());
        net.run(ms(0));
        net.take_sent(op);
        let beats = net.requests(RequestCode::HEART_BEAT);
        for name in ["a", "b"] {
            let first = beats.iter().find(|seen| seen.address == address_of(name));
            let first = first.unwrap_or_else(|| panic!("{accept:?}: {name} heard nothing in {:?}", net.now));
            assert!(first.at.saturating_since(back) <= ms(LAST_BACKOFF));
        }
    }
}

/// The same while a user sends on and on: each send fails in its time, and connects are bounded all the same.
#[test]
fn bug_19_sends_in_an_outage_do_not_hammer() {
    let mut net = Net::new();
    net.warm();
    set_all(&mut net, Accept::Refuse);
    for address in [NAME_SERVER, &address_of("a"), &address_of("b")] {
        let conn = net.conn(address).unwrap();
        net.later(0, Input::Closed { conn, reason: CloseReason::PeerClosed });
    }
    net.run(ms(0));
    net.forget();
    for _ in 0..1_000 {
        let op = net.send("T", SendOptions::default());
        net.run(ms(10));
        assert!(matches!(net.end(op).1, Event::SendFailed { .. }));
        net.events.clear();
    }
    let connects = net.connects.len();
    assert!(connects <= 220, "{connects} connects to two brokers in ten seconds");
    set_all(&mut net, Accept::Open);
    net.run(ms(100));
    let op = net.send("T", SendOptions::default());
    net.run(ms(100));
    assert!(net.take_sent(op).0 >= at(0));
}

/// Lets time pass and counts the moments at which the client wanted to be called.
fn turns(net: &mut Net, millis: u64) -> usize {
    let (end, mut turns) = (net.now + ms(millis), 0);
    while let Some(next) = net.client.poll_timeout().filter(|next| *next <= end) {
        net.run(next.saturating_since(net.now));
        turns += 1;
    }
    net.run(end.saturating_since(net.now));
    turns
}
