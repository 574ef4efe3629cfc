//! The seven clauses of the contract, a test each, by their numbers.

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::frame::FrameError;
use rmq_core::proto::message::Message;
use rmq_core::{
    CheckToken, Client, CloseCause, CloseReason, ConnId, Event, Input, Limits, OpId, Output, ProducerConfig,
    Redelivery, Resolution, SendBack, SendErrorKind, SendOptions,
};

use crate::support::{
    Accept, Act, NAME_SERVER, Net, address_of, after, at, config, ms, route, start, stored_message,
};
use crate::transactions::{frame, question};

fn message(client: &Client, body: &'static str) -> rmq_core::proto::message::Prepared {
    Message::new("T", body).prepare(client.message_rules()).unwrap()
}

/// Calls and inputs in any order, without a drain in between unless one is drawn.
#[derive(Clone, Debug)]
enum Call {
    Send(bool),
    SendBack(bool),
    Check(usize),
    Answer(usize),
    Cancel(usize),
    Connected(usize),
    Received(usize, Vec<u8>),
    Written(usize, usize),
    Closed(usize),
    Timeout(u64),
    Drain,
    WallClock(u64),
    Shutdown(u64),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => any::<bool>().prop_map(Call::Send),
        2 => any::<bool>().prop_map(Call::SendBack),
        2 => (0..8usize).prop_map(Call::Check),
        2 => (0..8usize).prop_map(Call::Answer),
        2 => (0..20usize).prop_map(Call::Cancel),
        4 => (0..8usize).prop_map(Call::Connected),
        3 => (0..8usize, proptest::collection::vec(any::<u8>(), 0..40)).prop_map(|(c, d)| Call::Received(c, d)),
        3 => (0..8usize, 0..2_000usize).prop_map(|(c, n)| Call::Written(c, n)),
        2 => (0..8usize).prop_map(Call::Closed),
        4 => (0..5_000u64).prop_map(Call::Timeout),
        4 => Just(Call::Drain),
        1 => any::<u64>().prop_map(Call::WallClock),
        1 => (0..2_000u64).prop_map(Call::Shutdown),
    ];
    proptest::collection::vec(call, 0..80)
}

struct Driven {
    client: Client,
    conns: Vec<ConnId>,
    ops: Vec<OpId>,
    checks: Vec<CheckToken>,
    ends: BTreeMap<OpId, usize>,
    outputs: Vec<String>,
    now: rmq_core::Instant,
}

impl Driven {
    fn new() -> Self {
        Self {
            client: Client::new(config().build().unwrap(), start()),
            conns: Vec::new(),
            ops: Vec::new(),
            checks: Vec::new(),
            ends: BTreeMap::new(),
            outputs: Vec::new(),
            now: at(0),
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.client.poll_output() {
            self.outputs.push(format!("{output:?}"));
            match output {
                Output::Connect { conn, .. } => self.conns.push(conn),
                Output::Event(
                    Event::Sent { op, .. }
                    | Event::OnewayWritten { op }
                    | Event::SendFailed { op, .. }
                    | Event::SentBack { op, .. }
                    | Event::SendBackFailed { op, .. }
                    | Event::TransactionEnded { op }
                    | Event::EndTransactionFailed { op, .. }
                    | Event::Cancelled { op },
                ) => *self.ends.entry(op).or_default() += 1,
                Output::Event(Event::TransactionCheck { token, .. }) => self.checks.push(token),
                _ => {}
            }
        }
    }

    fn call(&mut self, producer: rmq_core::ProducerId, call: &Call) {
        let now = self.now;
        let conn = |index: &usize| self.conns.get(*index % self.conns.len().max(1)).copied();
        match call {
            Call::Send(oneway) => {
                let options = if *oneway { SendOptions::default().oneway() } else { SendOptions::default() };
                let message = message(&self.client, "Hello");
                self.ops.extend(self.client.send(now, producer, message, options).ok());
            }
            Call::SendBack(dead) => {
                let redelivery = if *dead { Redelivery::DeadLetter } else { Redelivery::ByBroker };
                let message = SendBack::new("g", &stored_message()).unwrap().redelivery(redelivery);
                self.ops.extend(self.client.send_back(now, producer, message, Default::default()).ok());
            }
            Call::Check(index) => {
                let data = frame(&question(Some("PG"), Some("a")));
                conn(index).into_iter().for_each(|conn| {
                    self.client.handle_input(now, Input::Received { conn, data: data.clone() });
                });
            }
            Call::Answer(index) => {
                if let Some(token) = self.checks.get(*index) {
                    let answered = self.client.answer_check(now, *token, Resolution::Commit, None);
                    self.ops.extend(answered.ok());
                }
            }
            Call::Cancel(index) => {
                if let Some(op) = self.ops.get(*index) {
                    self.client.cancel(now, *op);
                }
            }
            Call::Connected(index) => {
                conn(index)
                    .into_iter()
                    .for_each(|conn| self.client.handle_input(now, Input::Connected { conn }));
            }
            Call::Received(index, data) => {
                let data = Bytes::from(data.clone());
                conn(index).into_iter().for_each(|conn| {
                    self.client.handle_input(now, Input::Received { conn, data: data.clone() });
                });
            }
            Call::Written(index, bytes) => {
                let bytes = *bytes;
                conn(index)
                    .into_iter()
                    .for_each(|conn| self.client.handle_input(now, Input::Written { conn, bytes }));
            }
            Call::Closed(index) => {
                let reason = CloseReason::PeerClosed;
                conn(index).into_iter().for_each(|conn| {
                    self.client.handle_input(now, Input::Closed { conn, reason: reason.clone() });
                });
            }
            Call::Timeout(millis) => {
                self.now = now + ms(*millis);
                self.client.handle_timeout(self.now);
            }
            Call::Drain => self.drain(),
            Call::WallClock(unix_ms) => self.client.handle_input(now, Input::WallClock { unix_ms: *unix_ms }),
            Call::Shutdown(within) => self.client.shutdown(now, ms(*within)),
        }
    }

    /// Lets all deadlines pass: every operation has to end.
    fn finish(&mut self) {
        for _ in 0..25 {
            self.now = self.now + ms(3_000);
            self.client.handle_timeout(self.now);
            self.drain();
        }
    }
}

proptest! {
    /// Any call is legal at any time, and whatever comes, each accepted operation ends once.
    #[test]
    fn clause_1_any_call_in_any_order(calls in calls()) {
        let mut driven = Driven::new();
        let producer = driven.client.add_producer(at(0), ProducerConfig::new("PG")).unwrap();
        calls.iter().for_each(|call| driven.call(producer, call));
        driven.finish();
        for op in &driven.ops {
            prop_assert_eq!(driven.ends.get(op), Some(&1), "{:?}", op);
        }
        let stats = driven.client.stats();
        prop_assert_eq!((stats.operations, stats.operation_bytes), (0, 0));
        prop_assert_eq!((stats.open_checks, stats.check_bytes), (0, 0));
    }

    /// The same start and the same calls give the same outputs; and a snapshot goes on as its original does.
    #[test]
    fn clause_6_same_calls_same_outputs(calls in calls(), at_call in 0..80usize) {
        let (mut one, mut two) = (Driven::new(), Driven::new());
        for driven in [&mut one, &mut two] {
            let producer = driven.client.add_producer(at(0), ProducerConfig::new("PG")).unwrap();
            for (i, call) in calls.iter().enumerate() {
                driven.call(producer, call);
                if i == at_call {
                    driven.client = driven.client.clone();
                }
            }
            driven.finish();
        }
        prop_assert_eq!(one.outputs, two.outputs);
    }
}

/// Bad bytes close their connection and are told; neighbours go on.
#[test]
fn clause_2_handling_cannot_fail() {
    let mut net = Net::new();
    net.warm();
    net.broker("a").always = Some(Act::Silent);
    net.broker("b").always = Some(after(50, Act::Stored(ResponseCode::SUCCESS)));
    let ops: Vec<_> = (0..4).map(|_| net.send("T", SendOptions::default())).collect();
    net.run(ms(10));
    let conn = net.conn(&address_of("a")).unwrap();
    net.later(0, Input::Received { conn, data: Bytes::from_static(b"\xff\xff\xff\xff") });
    net.run(ms(10));
    assert_eq!(net.closes.len(), 1);
    assert_eq!(net.client.stats().protocol_errors, 1);
    let told = net.events.iter().any(|(_, event)| match event {
        Event::ConnectionClosed { cause, .. } => *cause == CloseCause::Frame(FrameError::NegativeLength(-1)),
        _ => false,
    });
    assert!(told, "{:?}", net.events);
    net.broker("a").always = None;
    net.run(ms(100));
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
}

/// After a turn there is nothing due; `Net::turn` checks it at every step of every test here.
#[test]
fn clause_3_no_driver_can_spin() {
    let mut net = Net::new();
    net.broker("a").accept = Some(Accept::Refuse);
    net.broker("b").accept = Some(Accept::Never);
    net.peer(NAME_SERVER).accept = Some(Accept::OpenAfter(1_500));
    for _ in 0..20 {
        net.send("T", SendOptions::default());
    }
    let mut turns = 0;
    while let Some(next) = net.client.poll_timeout().filter(|next| *next < at(600_000)) {
        net.run(next.saturating_since(net.now));
        turns += 1;
    }
    assert!(turns < 2_000, "{turns} turns for ten minutes");
}

/// Input and commands fire no timer: an answer that is fed before `handle_timeout` wins, however late. So a process
/// that was suspended for five seconds loses no answer that waits for it.
#[test]
fn clause_3_a_suspended_client_loses_no_answer() {
    let mut net = Net::new();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(after(20, Act::Stored(ResponseCode::SUCCESS)));
    }
    let ops: Vec<_> = (0..10).map(|_| net.send("T", SendOptions::default())).collect();
    net.turn();
    net.now = net.now + ms(5_000);
    net.turn();
    ops.into_iter().for_each(|op| assert_eq!(net.take_sent(op).1.attempts, 1));
}

#[test]
fn clause_4_every_operation_ends_once() {
    let mut net = Net::new();
    let mut ops = Vec::new();
    net.broker("a").sends = [Act::Close, Act::Silent, Act::Code(ResponseCode::SYSTEM_BUSY, "")].into();
    net.broker("b").sends = [after(900, Act::Stored(ResponseCode::SUCCESS)), Act::Silent, Act::Close].into();
    for round in 0..10 {
        ops.push(net.send("T", SendOptions::default()));
        ops.push(net.send("T", SendOptions::default().oneway()));
        ops.push(net.send("nowhere", SendOptions::default()));
        net.run(ms(round * 7));
        let last = ops[ops.len() - 2];
        net.client.cancel(net.now, last);
        net.client.cancel(net.now, last);
    }
    net.client.shutdown(net.now, ms(2_000));
    net.run(ms(4_000));
    for op in ops {
        net.end(op);
    }
    assert!(net.client.is_shut_down());
    assert_eq!(net.client.poll_timeout(), None);
}

#[test]
fn clause_5_one_write_at_a_time_of_bounded_size() {
    let limits = Limits { write_batch: 2_000, ..Limits::default() };
    let mut client = Client::new(config().limits(limits).build().unwrap(), start());
    let producer = client.add_producer(at(0), ProducerConfig::new("PG")).unwrap();
    let mut net = Net::new();
    std::mem::swap(&mut net.client, &mut client);
    net.producer = producer;
    net.warm();
    for _ in 0..50 {
        net.send("T", SendOptions::default());
    }
    let writes = |net: &mut Net| {
        let outputs = std::iter::from_fn(|| net.client.poll_output());
        let write = |output| {
            if let Output::Write { conn, data } = output { Some((conn, data.len())) } else { None }
        };
        outputs.filter_map(write).collect::<Vec<_>>()
    };
    let first = writes(&mut net);
    assert_eq!(first.len(), 2, "one per connection");
    assert!(first.iter().all(|(_, len)| *len <= 2_000), "{first:?}");
    let (conn, len) = first[0];
    net.client.handle_input(net.now, Input::Written { conn, bytes: len - 1 });
    assert!(writes(&mut net).is_empty(), "a byte is still to be reported");
    net.client.handle_input(net.now, Input::Written { conn, bytes: 1 });
    assert_eq!(writes(&mut net).iter().map(|(of, _)| *of).collect::<Vec<_>>(), [conn]);
    let misuses = net.client.stats().misuses;
    net.client.handle_input(net.now, Input::Written { conn, bytes: 1_000_000 });
    assert_eq!(net.client.stats().misuses, misuses + 1);
}

/// A single frame may be longer than a batch; its body is a segment of its own, not a copy.
#[test]
fn clause_5_a_large_body_is_not_copied() {
    let mut net = Net::new();
    net.warm();
    let body = Bytes::from(vec![b'x'; 1 << 20]);
    let message = Message::new("T", body.clone()).prepare(net.client.message_rules()).unwrap();
    net.client.send(net.now, net.producer, message, SendOptions::default()).unwrap();
    let written = std::iter::from_fn(|| net.client.poll_output()).find_map(|output| match output {
        Output::Write { data, .. } => Some(data.into_segments()),
        _ => None,
    });
    let segments = written.unwrap();
    assert_eq!(segments.last().unwrap().as_ptr(), body.as_ptr());
}

/// With any chunking of what is received, and any drain order, an operation's events and a connection's bytes are the
/// same.
#[test]
fn clause_6_chunks_and_drains_do_not_matter() {
    let run = |chunk: usize, drain_each: bool| {
        let mut net = Net::new();
        net.warm();
        let ops: Vec<_> = (0..6)
            .map(|_| {
                let op = net.send("T", SendOptions::default());
                if drain_each {
                    net.drain();
                }
                op
            })
            .collect();
        net.chunk = chunk;
        net.run(ms(100));
        let ends: Vec<_> = ops.iter().map(|op| net.take_sent(*op).1).collect();
        let bytes: BTreeMap<_, _> = net.written.clone();
        (ends, bytes)
    };
    let whole = run(usize::MAX, true);
    for chunk in [1, 2, 7, 100] {
        assert_eq!(run(chunk, false), whole, "chunks of {chunk}");
        assert_eq!(run(chunk, true), whole, "chunks of {chunk}");
    }
}

/// Which of several timeouts at one time comes first, and so which is the one that finds the peer silent, does not depend
/// on when outputs were polled.
#[test]
fn clause_6_drains_do_not_order_equal_deadlines() {
    let run = |drain_each: bool| {
        let once = ProducerConfig::new("PG").attempts(std::num::NonZeroU32::MIN);
        let mut net = Net::with(config().build().unwrap(), once);
        net.routes.insert("T".into(), route(&[("a", 1)]));
        net.warm();
        net.run(ms(5_000));
        net.broker("a").always = Some(Act::Silent);
        net.broker("a").others.insert(RequestCode::HEART_BEAT.0, Act::Silent);
        // Two sends and a heartbeat that end at the same time.
        let first = net.send("T", SendOptions::default());
        if drain_each {
            net.drain();
        }
        let ops = [first, net.send("T", SendOptions::default())];
        net.client.add_producer(net.now, ProducerConfig::new("PG2")).unwrap();
        net.run(ms(3_000));
        ops.map(|op| net.take_error(op).1)
    };
    assert_eq!(run(true), run(false));
}

/// A clock that goes back is clamped: nothing fires early, late or twice.
#[test]
fn clause_6_a_clock_that_goes_back_is_clamped() {
    let mut net = Net::new();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Silent);
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(500));
    net.client.handle_timeout(at(0));
    net.client.handle_input(at(0), Input::WallClock { unix_ms: 0 });
    net.run(ms(5_000));
    let (when, error) = net.take_error(op);
    assert_eq!((when, error.kind()), (at(3_000), &SendErrorKind::AttemptsExhausted));
}
