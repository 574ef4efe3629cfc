//! A checked client, its driver and its peers, as a program moves them.

use core::fmt::Write;
use core::hash::Hasher;
use core::num::NonZeroU32;
use core::time::Duration;

use bytes::Bytes;
use rmq_core::proto::code::ResponseCode;
use rmq_core::proto::command::{FLAG_ONEWAY, HeaderFormat, RemotingCommand};
use rmq_core::proto::message::Message;
use rmq_core::{
    Address, AttemptTimeout, CloseReason, Input, Instant, OpId, Output, ProducerConfig, ProducerId,
    RetryPolicy, SendBackOptions, SendOptions, Trace,
};

use super::peer::{Peer, Reply, frame, reply};
use super::setup::{NAME_SERVERS, client, format, given_back, recalled};
use super::{Op, Report, Setup};
use crate::checked::CheckedClient;
use crate::hash::StableHasher;
use crate::oracle::Violation;

/// More time than any operation has, but those that have all there is.
const LONGEST: Duration = Duration::from_secs(125);
/// Rounds in which all do as they should; more than any run needs.
const ROUNDS: usize = 64;
const PEERS: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct World {
    client: CheckedClient,
    now: Instant,
    latest: Instant,
    producers: Vec<ProducerId>,
    ops: Vec<OpId>,
    peers: Vec<Peer>,
    routes: u8,
    format: HeaderFormat,
    digest: StableHasher,
    outputs: u64,
}

impl World {
    pub(super) fn new(setup: Setup) -> Self {
        let (mut client, now) = client(setup);
        let producers = Vec::from_iter(client.add_producer(now, ProducerConfig::new("PG")));
        Self {
            client,
            now,
            latest: now,
            producers,
            ops: Vec::new(),
            peers: Vec::new(),
            routes: 0,
            format: format(setup),
            digest: StableHasher::default(),
            outputs: 0,
        }
    }

    /// One operation of a program.
    pub(super) fn step(&mut self, op: &Op) -> Result<(), Violation> {
        match *op {
            Op::AddProducer { .. } => self.add_producer(op),
            Op::Send { .. } => self.send(op),
            Op::SendBack { .. } => self.send_back(op),
            Op::Recall { producer, choice } => self.recall(producer, choice),
            Op::Cancel { op } => {
                if let Some(op) = self.ops.iter().rev().nth(usize::from(op) % self.ops.len().max(1)) {
                    self.client.cancel(self.now, *op);
                }
            }
            Op::Connected { conn } => self.with_peer(conn, Self::connected),
            Op::Written { conn, quarters } => self.with_peer(conn, |world, at| world.written(at, quarters)),
            Op::Answer { conn, request, reply, split } => {
                self.with_peer(conn, |world, at| world.answer(at, request, reply, split));
            }
            Op::Ask { conn, times, oneway } => self.with_peer(conn, |world, at| world.ask(at, times, oneway)),
            Op::Garbage { conn, bytes } => self.with_peer(conn, |world, at| world.garbage(at, bytes)),
            Op::Closed { conn, in_order } => self.with_peer(conn, |world, at| world.closed(at, in_order)),
            Op::Serve => self.serve(),
            Op::Advance { by } => self.now = self.now + by,
            Op::ToTimer => self.now = self.client.poll_timeout().map_or(self.now, |at| at.max(self.now)),
            Op::Back { by } => {
                self.now = Instant::from_micros(self.now.as_micros().saturating_sub(by.as_micros() as u64));
            }
            Op::Timeout => self.client.handle_timeout(self.now),
            Op::Poll { most } => drop((0..most).map_while(|_| self.poll()).count()),
            Op::Turn => self.turn(),
            Op::WallClock { unix_ms } => self.client.handle_input(self.now, Input::WallClock { unix_ms }),
            Op::Routes { set } => self.routes = set,
            Op::NameServers { list } => {
                let list = Address::parse_list(NAME_SERVERS[usize::from(list) % NAME_SERVERS.len()]);
                let changed = self.client.set_name_servers(self.now, list.unwrap_or_default());
                self.tell(&changed);
            }
            Op::Shutdown { within } => self.client.shutdown(self.now, within),
        }
        self.latest = self.latest.max(self.now);
        let next = self.client.poll_timeout().map_or(0, Instant::as_micros);
        self.digest.write(&next.to_be_bytes());
        self.client.take_violation().map_or(Ok(()), Err)
    }

    fn add_producer(&mut self, op: &Op) {
        let Op::AddProducer { group, timeout, attempts, policy } = *op else { return };
        let rule = match policy % 3 {
            0 => AttemptTimeout::Split,
            1 => AttemptTimeout::Whole,
            _ => AttemptTimeout::Cap(Duration::from_millis(200)),
        };
        let retry = match policy / 3 % 3 {
            0 => RetryPolicy::default(),
            1 => RetryPolicy::default().when_not_stored_ok(true),
            _ => RetryPolicy::local_failures_only().also(ResponseCode::FLOW_CONTROL),
        };
        let config = ProducerConfig::new(format!("PG{group}"))
            .send_timeout(timeout)
            .attempts(NonZeroU32::new(u32::from(attempts)).unwrap_or(NonZeroU32::MIN))
            .attempt_timeout(rule)
            .retry(retry);
        let config = if policy / 9 % 4 == 3 { config.trace(Trace::new()) } else { config };
        let added = self.client.add_producer(self.now, config);
        self.producers.extend(added);
    }

    fn send(&mut self, op: &Op) {
        let Op::Send { producer, topic, body, timeout, oneway } = *op else { return };
        let Some(producer) = self.producers.get(usize::from(producer) % self.producers.len().max(1)) else {
            return;
        };
        let message = Message::new(format!("T{topic}"), Bytes::from(vec![b'x'; body])).tag("created");
        let Ok(message) = message.prepare(self.client.message_rules()) else { return };
        let mut options = SendOptions::default();
        (options.timeout, options.oneway) = (timeout, oneway);
        match self.client.send(self.now, *producer, message, options) {
            Ok(op) => self.ops.push(op),
            Err(rejected) => self.tell(&rejected.reason),
        }
    }

    fn send_back(&mut self, op: &Op) {
        let Op::SendBack { producer, choice, timeout, dead } = *op else { return };
        let Some(producer) = self.producers.get(usize::from(producer) % self.producers.len().max(1)) else {
            return;
        };
        let mut options = SendBackOptions::default();
        options.timeout = timeout.unwrap_or(options.timeout);
        match self.client.send_back(self.now, *producer, given_back(choice, dead), options) {
            Ok(op) => self.ops.push(op),
            Err(rejected) => self.tell(&rejected.reason),
        }
    }

    fn recall(&mut self, producer: u8, choice: u8) {
        let Some(producer) = self.producers.get(usize::from(producer) % self.producers.len().max(1)) else {
            return;
        };
        match self.client.recall(self.now, *producer, recalled(choice)) {
            Ok(op) => self.ops.push(op),
            Err(rejected) => self.tell(&rejected.reason),
        }
    }

    fn tell(&mut self, what: &dyn core::fmt::Debug) {
        // Writing to a digest cannot fail.
        let _ = write!(self.digest, "{what:?}");
    }

    /// The newest connections have the lowest numbers.
    fn with_peer(&mut self, number: u8, act: impl FnOnce(&mut Self, usize)) {
        if let Some(last) = self.peers.len().checked_sub(1) {
            act(self, last - usize::from(number) % self.peers.len());
        }
    }

    fn input(&mut self, input: Input) {
        self.client.handle_input(self.now, input);
    }

    fn connected(&mut self, at: usize) {
        let peer = &mut self.peers[at];
        peer.open |= !peer.gone;
        let conn = peer.conn;
        self.input(Input::Connected { conn });
    }

    fn written(&mut self, at: usize, quarters: u8) {
        let Peer { conn, outstanding, .. } = &mut self.peers[at];
        let (conn, most) = (*conn, *outstanding);
        let bytes = if quarters > 4 { most + 1 } else { (most * usize::from(quarters)).div_ceil(4) };
        *outstanding -= bytes.min(most);
        self.input(Input::Written { conn, bytes });
    }

    fn received(&mut self, at: usize, data: &[u8]) {
        let peer = &mut self.peers[at];
        let (conn, data) = (peer.conn, peer.with_rest(data));
        self.input(Input::Received { conn, data });
    }

    fn answer(&mut self, at: usize, request: u8, how: Reply, split: bool) {
        let (routes, format) = (self.routes, self.format);
        let Some(request) = self.peers[at].take(request) else { return self.received(at, &[]) };
        let bytes = reply(&request, how, routes, format);
        let half = if split { bytes.len() / 2 } else { bytes.len() };
        self.received(at, &bytes[..half]);
        self.peers[at].rest = bytes.slice(half..);
    }

    fn ask(&mut self, at: usize, times: u8, oneway: bool) {
        let mut request = RemotingCommand::request(307);
        request.opaque = self.outputs as i32;
        request.flag |= if oneway { FLAG_ONEWAY } else { 0 };
        let bytes = frame(&request, self.format).repeat(usize::from(times));
        self.received(at, &bytes);
    }

    fn garbage(&mut self, at: usize, [first, second]: [u8; 2]) {
        self.received(at, &[0, 0, first % 8, second, first]);
    }

    fn closed(&mut self, at: usize, in_order: bool) {
        let peer = &mut self.peers[at];
        (peer.gone, peer.open) = (true, false);
        let conn = peer.conn;
        let reason = if in_order { CloseReason::PeerClosed } else { CloseReason::Failed("reset".into()) };
        self.input(Input::Closed { conn, reason });
    }

    fn poll(&mut self) -> Option<()> {
        let output = self.client.poll_output()?;
        self.outputs += 1;
        match output {
            Output::Connect { conn, address } => {
                self.tell(&(conn, &address));
                if self.peers.len() == PEERS {
                    self.peers.remove(0);
                }
                self.peers.push(Peer::new(conn));
            }
            Output::Write { conn, data } => {
                self.tell(&conn);
                data.segments().iter().for_each(|segment| self.digest.write(segment));
                if let Some(peer) = self.peers.iter_mut().find(|peer| peer.conn == conn) {
                    peer.written(data.segments());
                }
            }
            Output::Close { conn } => {
                self.tell(&conn);
                if let Some(peer) = self.peers.iter_mut().find(|peer| peer.conn == conn) {
                    (peer.gone, peer.open) = (true, false);
                }
            }
            Output::Event(event) => self.tell(&event),
        }
        Some(())
    }

    fn turn(&mut self) {
        self.client.handle_timeout(self.now);
        while self.poll().is_some() {}
        self.client.end_turn(self.now);
    }

    fn serve(&mut self) {
        for _ in 0..ROUNDS {
            let before = self.outputs;
            for at in 0..self.peers.len() {
                if self.peers[at].gone {
                    continue;
                }
                if !self.peers[at].open {
                    self.connected(at);
                }
                if self.peers[at].outstanding > 0 {
                    self.written(at, 4);
                }
                while !self.peers[at].requests.is_empty() {
                    self.answer(at, 0, Reply::Good, false);
                }
            }
            self.turn();
            if self.outputs == before {
                break;
            }
        }
    }

    /// Lets the time of all operations pass, then shuts down; nothing may be left.
    pub(super) fn finish(&mut self) -> Result<Report, Violation> {
        self.now = self.latest;
        let never_end = core::mem::take(&mut self.ops);
        self.step(&Op::Turn)?;
        self.step(&Op::Advance { by: LONGEST })?;
        self.step(&Op::Turn)?;
        never_end.into_iter().for_each(|op| self.client.cancel(self.now, op));
        self.step(&Op::Turn)?;
        let stats = self.client.stats();
        Violation::unless((stats.operations, stats.operation_bytes) == (0, 0), "all-end", || {
            format!("when all time has passed: {stats:?}")
        })?;
        self.step(&Op::Shutdown { within: LONGEST })?;
        self.step(&Op::Turn)?;
        // The program may have called it before, with more time.
        self.step(&Op::Advance { by: Duration::from_secs(3_600) })?;
        self.step(&Op::Turn)?;
        let (over, stats) = (self.client.is_shut_down(), self.client.stats());
        let held = stats.draining
            + stats.links
            + stats.topics
            + stats.connections
            + stats.queued
            + stats.awaited
            + stats.timers;
        Violation::unless(over && held == 0, "all-end", || format!("after ShutDown: {over}, {stats:?}"))?;
        Ok(Report { digest: self.digest.value(), outputs: self.outputs, stats })
    }
}
