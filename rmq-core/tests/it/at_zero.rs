//! Whatever was asked of a client: when it has ended, nothing of it is held.

use rmq_core::proto::message::Message;
use rmq_core::proto::trace::TRACE_TOPIC;
use rmq_core::{
    Event, InFlight, MessageQueue, OpId, ProducerConfig, Redelivery, SendOptions, SendResult, Stats, Trace,
};

use crate::support::{Accept, Act, NAME_SERVER, Net, at, back, config, ms, route};

/// A client that tells what it does and has not too much under way, its messages' topic on broker `a` alone.
fn net() -> Net {
    let limits = InFlight::new().max_messages(50);
    let producer = ProducerConfig::new("PG").trace(Trace::new()).in_flight(limits);
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.routes.insert(TRACE_TOPIC.into(), route(&[("a", 1)]));
    net
}

/// Where operations are held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The name server does not answer.
    Route,
    /// The broker's host does not answer.
    Connect,
    /// The broker's stream takes nothing.
    Write,
    /// The broker does not answer.
    Answer,
    /// The broker is busy, so that a pause follows.
    Pause,
}

impl Stage {
    const ALL: [Self; 5] = [Self::Route, Self::Connect, Self::Write, Self::Answer, Self::Pause];

    /// A client whose operations are held up here.
    fn net(self) -> Net {
        let mut net = net();
        if self != Self::Route {
            // The route comes with this one.
            net.client.find_queues(at(0), net.producer, "T", None).unwrap();
            net.run(ms(10));
        }
        if matches!(self, Self::Write) {
            let op = net.send("T", SendOptions::default());
            net.run(ms(10));
            net.take_sent(op);
        }
        match self {
            Self::Route => {
                let ask = rmq_core::proto::code::RequestCode::GET_ROUTEINFO_BY_TOPIC.0;
                net.peer(NAME_SERVER).others.insert(ask, Act::Silent);
            }
            Self::Connect => net.broker("a").accept = Some(Accept::Never),
            Self::Write => net.stalled = true,
            Self::Answer => net.broker("a").always = Some(Act::Silent),
            Self::Pause => {
                let busy = rmq_core::proto::code::ResponseCode::SYSTEM_BUSY;
                net.broker("a").always = Some(Act::Code(busy, "busy"));
            }
        }
        net.forget();
        net
    }
}

/// Begins one of the kinds of operations there are, in turn.
fn begin(net: &mut Net, number: u64) -> OpId {
    let options = SendOptions::default().timeout(ms(1_000 + number % 7));
    match number % 5 {
        0 => net.send("T", options),
        1 => net.send("T", options.oneway()),
        2 => {
            let queue = MessageQueue { topic: "T".into(), broker: "a".into(), queue_id: 0 };
            let message = Message::new("T", "Hello").prepare(net.client.message_rules()).unwrap();
            net.client.send_to(net.now, net.producer, &queue, message, options).unwrap()
        }
        3 => net.client.find_queues(net.now, net.producer, "nobody-knows", Some(ms(1_000))).unwrap(),
        _ => net.send_back(back().redelivery(Redelivery::DeadLetter)),
    }
}

fn operations_are_at_zero(stats: &Stats, when: &str) {
    let held = (stats.operations, stats.operation_bytes, stats.operation_timers);
    assert_eq!(held, (0, 0, 0), "{when}: {stats:?}");
    assert_eq!((stats.permits, stats.in_line), (0, 0), "{when}: {stats:?}");
    assert_eq!((stats.trace_sends, stats.traces_waiting), (0, 0), "{when}: {stats:?}");
}

fn all_is_at_zero(stats: &Stats, when: &str) {
    operations_are_at_zero(stats, when);
    let tables = (stats.topics, stats.links, stats.connections, stats.fault_items);
    assert_eq!(tables, (0, 0, 0, 0), "{when}: {stats:?}");
    assert_eq!((stats.queued, stats.awaited, stats.timers), (0, 0, 0), "{when}: {stats:?}");
}

/// 200 operations at each of five stages run out of time.
#[test]
fn a_thousand_timeouts_leave_nothing() {
    for stage in Stage::ALL {
        let mut net = stage.net();
        let ops: Vec<_> = (0..200).map(|number| begin(&mut net, number)).collect();
        let stats = net.client.stats();
        assert_eq!((stats.operations, stats.operation_timers), (200, 200), "{stage:?}");
        // Answers to what was cancelled or gave up early are awaited to the end of its time.
        net.run(ms(20_000));
        ops.iter().for_each(|op| assert_eq!(net.ends(*op).len(), 1));
        let failed = ops
            .iter()
            .filter(|op| matches!(net.end(**op).1, Event::SendFailed { .. } | Event::SendBackFailed { .. }));
        assert!(failed.count() >= 120, "{stage:?}: most have run out of time");
        let stats = net.client.stats();
        operations_are_at_zero(&stats, &format!("{stage:?}"));
        assert_eq!((stats.queued, stats.awaited), (0, 0), "{stage:?}: {stats:?}");
        net.client.shutdown(net.now, ms(1_000));
        net.run(ms(1_000));
        all_is_at_zero(&net.client.stats(), &format!("{stage:?}, shut down"));
    }
}

/// 200 operations at each of five stages are cancelled, each after another while.
#[test]
fn a_thousand_cancelled_sends_leave_nothing() {
    for stage in Stage::ALL {
        let mut net = stage.net();
        let mut ops = Vec::new();
        for number in 0..200 {
            ops.push(begin(&mut net, number));
            net.run(ms(number % 3));
            if number % 2 == 1 {
                for op in ops.drain(..) {
                    net.client.cancel(net.now, op);
                }
                net.drain();
                operations_are_at_zero(&net.client.stats(), &format!("{stage:?}, {number}"));
            }
        }
        net.run(ms(20_000));
        let stats = net.client.stats();
        operations_are_at_zero(&stats, &format!("{stage:?}"));
        assert_eq!((stats.queued, stats.awaited), (0, 0), "{stage:?}: {stats:?}");
        net.client.shutdown(net.now, ms(0));
        net.turn();
        all_is_at_zero(&net.client.stats(), &format!("{stage:?}, shut down"));
    }
}

/// 100 clients are started, used and shut down, at another moment and with another time each.
#[test]
fn a_hundred_starts_and_stops_leave_nothing() {
    for number in 0..100 {
        let stage = Stage::ALL[number as usize % 5];
        let mut net = if number % 2 == 0 { net() } else { stage.net() };
        let ops: Vec<_> = (0..10).map(|place| begin(&mut net, number + place)).collect();
        net.run(ms(number * 13 % 1_500));
        let within = ms([0, 1, 500, 3_000][number as usize % 4]);
        net.client.shutdown(net.now, within);
        net.run(within);
        assert!(net.client.is_shut_down(), "{number}");
        ops.iter().for_each(|op| assert_eq!(net.ends(*op).len(), 1));
        all_is_at_zero(&net.client.stats(), &format!("client {number}"));
    }
}

/// What succeeds leaves nothing either, but for what a working client knows.
#[test]
fn successes_leave_nothing() {
    let mut net = net();
    for _ in 0..100 {
        let op = net.send("T", SendOptions::default());
        net.run(ms(1));
        let _: SendResult = net.take_sent(op).1;
    }
    net.run(ms(10_000));
    let stats = net.client.stats();
    operations_are_at_zero(&stats, "idle");
    assert_eq!((stats.queued, stats.awaited, stats.traces, stats.traces_sent), (0, 0, 100, 100));
}
