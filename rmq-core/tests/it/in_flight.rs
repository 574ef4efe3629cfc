//! Permits of a producer's sends: whoever came first goes first, and all are given back on every path.

use std::time::Duration;

use rmq_core::proto::message::Message;
use rmq_core::{
    ConfigError, Event, InFlight, OpId, ProducerConfig, RejectReason, SendErrorKind, SendOptions,
};

use crate::support::{Act, Net, address_of, after, at, config, ms, route, stored};
use rmq_core::proto::code::ResponseCode;

/// A producer with so many permits, and one broker, connected, that says nothing.
fn net(limits: InFlight) -> Net {
    let producer = ProducerConfig::new("PG").attempts(std::num::NonZeroU32::MIN).in_flight(limits);
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 4)]));
    net.warm();
    net.broker("a").always = Some(Act::Silent);
    net
}

fn send(net: &mut Net, body: usize, options: SendOptions) -> Result<OpId, RejectReason> {
    let message = Message::new("T", "x".repeat(body)).prepare(net.client.message_rules()).unwrap();
    net.client.send(net.now, net.producer, message, options).map_err(|rejected| rejected.reason)
}

fn sends(net: &mut Net, many: usize) -> Vec<OpId> {
    (0..many).map(|_| send(net, 1, SendOptions::default()).unwrap()).collect()
}

/// Answers the request that was written `index`th.
fn answer(net: &mut Net, index: usize) {
    let seen = net.sends()[index].clone();
    net.answer(seen.conn, &stored(&seen.command, index as i64, ResponseCode::SUCCESS));
    net.run(ms(0));
}

fn held(net: &Net) -> (usize, usize) {
    (net.client.stats().permits, net.client.stats().in_line)
}

#[test]
fn first_come_first_served() {
    let mut net = net(InFlight::new().max_messages(2));
    let ops = sends(&mut net, 4);
    net.run(ms(10));
    assert_eq!((net.sends().len(), held(&net)), (2, (2, 2)));
    answer(&mut net, 0);
    assert_eq!((net.sends().len(), held(&net)), (3, (2, 1)));
    net.take_sent(ops[0]);
    answer(&mut net, 2);
    net.take_sent(ops[2]);
    assert_eq!((net.sends().len(), held(&net)), (4, (2, 0)));
    answer(&mut net, 3);
    answer(&mut net, 1);
    net.take_sent(ops[3]);
    net.take_sent(ops[1]);
    assert_eq!(held(&net), (0, 0));
}

#[test]
fn a_small_message_does_not_overtake_a_large_one() {
    let mut net = net(InFlight::new().max_bytes(1_000));
    send(&mut net, 700, SendOptions::default()).unwrap();
    send(&mut net, 700, SendOptions::default()).unwrap();
    send(&mut net, 1, SendOptions::default()).unwrap();
    net.run(ms(10));
    assert_eq!((net.sends().len(), held(&net)), (1, (1, 2)));
    answer(&mut net, 0);
    assert_eq!((net.sends().len(), held(&net)), (3, (2, 0)));
}

#[test]
fn a_message_over_the_limit_of_bytes_goes_alone() {
    let mut net = net(InFlight::new().max_bytes(100));
    send(&mut net, 1_000, SendOptions::default()).unwrap();
    send(&mut net, 1_000, SendOptions::default()).unwrap();
    net.run(ms(10));
    assert_eq!(net.sends().len(), 1);
    answer(&mut net, 0);
    assert_eq!((net.sends().len(), held(&net)), (2, (1, 0)));
}

#[test]
fn one_that_may_not_wait_is_handed_back() {
    let mut net = net(InFlight::new().max_messages(1));
    let no_wait = SendOptions::default().no_wait();
    let first = send(&mut net, 1, no_wait).unwrap();
    let Err(RejectReason::NoPermit { messages: 1, bytes }) = send(&mut net, 1, no_wait) else {
        panic!("the only permit is taken");
    };
    assert_eq!(bytes, net.client.stats().operation_bytes);
    net.run(ms(10));
    answer(&mut net, 0);
    net.take_sent(first);
    assert!(send(&mut net, 1, no_wait).is_ok());
}

/// One in line is in front of it, though there would be room.
#[test]
fn one_that_may_not_wait_does_not_overtake() {
    let mut net = net(InFlight::new().max_bytes(1_000));
    send(&mut net, 700, SendOptions::default()).unwrap();
    send(&mut net, 700, SendOptions::default()).unwrap();
    assert!(matches!(
        send(&mut net, 1, SendOptions::default().no_wait()),
        Err(RejectReason::NoPermit { messages: 1, .. })
    ));
}

#[test]
fn what_is_cancelled_leaves_the_line_or_lets_the_next_in() {
    let mut net = net(InFlight::new().max_messages(1));
    let ops = sends(&mut net, 3);
    net.run(ms(10));
    net.client.cancel(net.now, ops[1]);
    assert_eq!(held(&net), (1, 1));
    net.client.cancel(net.now, ops[0]);
    assert_eq!(held(&net), (1, 0));
    net.run(ms(10));
    assert_eq!(net.sends().len(), 2, "the cancelled one was never written");
    for op in &ops[..2] {
        assert!(matches!(net.end(*op).1, Event::Cancelled { .. }));
    }
    answer(&mut net, 1);
    net.take_sent(ops[2]);
    assert_eq!(held(&net), (0, 0));
}

/// Time in line counts.
#[test]
fn the_last_in_line_has_what_is_left_of_its_time() {
    let mut net = net(InFlight::new().max_messages(1));
    net.broker("a").always = Some(after(400, Act::Stored(ResponseCode::SUCCESS)));
    let timeout = SendOptions::default().timeout(ms(1_000));
    let ops: Vec<_> = (0..3).map(|_| send(&mut net, 1, timeout).unwrap()).collect();
    net.run(ms(2_000));
    assert_eq!(net.take_sent(ops[1]).0, at(800));
    let (when, error) = net.take_error(ops[2]);
    assert_eq!((when, error.kind()), (at(1_000), &SendErrorKind::AttemptsExhausted));
    assert_eq!(error.attempts().len(), 1, "it was let in at 800 ms");
}

#[test]
fn a_shutdown_lets_the_line_go_on_and_fails_the_rest() {
    let mut net = net(InFlight::new().max_messages(1));
    let ops = sends(&mut net, 3);
    net.run(ms(10));
    net.client.shutdown(net.now, ms(1_000));
    answer(&mut net, 0);
    net.take_sent(ops[0]);
    assert_eq!((net.sends().len(), held(&net)), (2, (1, 1)));
    net.run(ms(1_000));
    for op in &ops[1..] {
        assert_eq!(net.take_error(*op).1.kind(), &SendErrorKind::ShutDown);
    }
    assert_eq!(held(&net), (0, 0));
}

#[test]
fn a_lost_connection_gives_all_permits_back() {
    let mut net = net(InFlight::new().max_messages(2));
    let ops = sends(&mut net, 3);
    net.run(ms(10));
    let conn = net.conn(&address_of("a")).unwrap();
    net.later(0, rmq_core::Input::Closed { conn, reason: rmq_core::CloseReason::PeerClosed });
    net.run(Duration::from_secs(4));
    for op in ops {
        net.take_error(op);
    }
    assert_eq!(held(&net), (0, 0));
}

#[test]
fn limits_of_nothing_are_refused() {
    for limits in [InFlight::new().max_messages(0), InFlight::new().max_bytes(0)] {
        let mut net = Net::new();
        let added = net.client.add_producer(net.now, ProducerConfig::new("other").in_flight(limits));
        assert!(matches!(added, Err(ConfigError::TooSmall { minimum: "1", .. })), "{added:?}");
    }
}
