//! A checked client, its driver and its peers, as a program moves them.

use core::fmt::Write;
use core::hash::Hasher;
use core::time::Duration;
use std::collections::VecDeque;

use rmq_core::proto::command::{FLAG_ONEWAY, HeaderFormat, RemotingCommand};
use rmq_core::{CheckToken, CloseReason, Event, Input, Instant, OpId, Output, ProducerId, SendResult};

use super::broker::correlation_id;
use super::peer::{Peer, Reply, frame, reply};
use super::setup::{client, format, producer};
use super::{Op, Report, Setup};
use crate::checked::CheckedClient;
use crate::hash::StableHasher;
use crate::oracle::Violation;

/// More time than any operation has, but those that have all there is.
const LONGEST: Duration = Duration::from_secs(125);
/// Rounds in which all do as they should; more than any run needs.
const ROUNDS: usize = 64;
const PEERS: usize = 64;
/// Results, questions and requests that programs can come back to.
const LATEST: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) client: CheckedClient,
    pub(super) now: Instant,
    latest: Instant,
    pub(super) producers: Vec<ProducerId>,
    pub(super) ops: Vec<OpId>,
    /// The latest results of sends.
    pub(super) results: Latest<SendResult>,
    /// The latest questions of brokers.
    pub(super) checks: Latest<CheckToken>,
    /// The correlation ids of the latest requests that were written.
    pub(super) requests: Latest<String>,
    peers: Vec<Peer>,
    routes: u8,
    pub(super) format: HeaderFormat,
    digest: StableHasher,
    pub(super) outputs: u64,
}

/// The last few of a kind.
#[derive(Clone, Debug)]
pub(super) struct Latest<T>(VecDeque<T>);

impl<T> Latest<T> {
    fn push(&mut self, value: T) {
        self.0.truncate(LATEST - 1);
        self.0.push_front(value);
    }

    /// The newest has the number 0; numbers are taken modulo how many there are.
    pub(super) fn get(&self, number: u8) -> Option<&T> {
        self.0.get(usize::from(number) % self.0.len().max(1))
    }
}

impl World {
    pub(super) fn new(setup: Setup) -> Self {
        let (mut client, now) = client(setup);
        let first = producer("PG", Duration::from_secs(3), 3, [0, setup.producer]);
        let producers = Vec::from_iter(client.add_producer(now, first));
        Self {
            client,
            now,
            latest: now,
            producers,
            ops: Vec::new(),
            results: Latest(VecDeque::new()),
            checks: Latest(VecDeque::new()),
            requests: Latest(VecDeque::new()),
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
            Op::Connected { conn } => self.with_peer(conn, Self::connected),
            Op::Written { conn, quarters } => self.with_peer(conn, |world, at| world.written(at, quarters)),
            Op::Answer { conn, request, reply, split } => {
                self.with_peer(conn, |world, at| world.answer(at, request, reply, split));
            }
            Op::Ask { conn, times, oneway } => self.with_peer(conn, |world, at| world.ask(at, times, oneway)),
            Op::Garbage { conn, bytes } => self.with_peer(conn, |world, at| world.garbage(at, bytes)),
            Op::Check { conn, group, choice } => {
                self.with_peer(conn, |world, at| world.check(at, group, choice));
            }
            Op::Push { conn, request, choice } => {
                self.with_peer(conn, |world, at| world.push(at, request, choice));
            }
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
            Op::Shutdown { within } => self.client.shutdown(self.now, within),
            _ => self.call(op),
        }
        self.latest = self.latest.max(self.now);
        let next = self.client.poll_timeout().map_or(0, Instant::as_micros);
        self.digest.write(&next.to_be_bytes());
        self.client.take_violation().map_or(Ok(()), Err)
    }

    pub(super) fn tell(&mut self, what: &dyn core::fmt::Debug) {
        // Writing to a digest cannot fail.
        let _ = write!(self.digest, "{what:?}");
    }

    fn say(&mut self, error: &dyn core::error::Error) {
        let _ = write!(self.digest, "{error} {:?}", error.source().map(ToString::to_string));
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

    pub(super) fn received(&mut self, at: usize, data: &[u8]) {
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
                    let written = peer.written(data.segments());
                    written.iter().filter_map(correlation_id).for_each(|id| self.requests.push(id));
                }
            }
            Output::Close { conn } => {
                self.tell(&conn);
                if let Some(peer) = self.peers.iter_mut().find(|peer| peer.conn == conn) {
                    (peer.gone, peer.open) = (true, false);
                }
            }
            Output::Event(event) => self.event(event),
        }
        Some(())
    }

    fn event(&mut self, event: Event) {
        self.tell(&event);
        match event {
            Event::Sent { result, .. } => self.results.push(result),
            Event::TransactionCheck { token, .. } => self.checks.push(token),
            Event::SendFailed { error, .. } => self.say(&error),
            Event::SendBackFailed { error, .. } => self.say(&error),
            Event::RecallFailed { error, .. } => self.say(&error),
            Event::RequestFailed { error, .. } => self.say(&error),
            Event::EndTransactionFailed { error, .. } => self.say(&error),
            _ => {}
        }
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
        let held = stats.requests_waiting
            + stats.open_checks
            + stats.check_bytes
            + stats.gathered
            + stats.groups
            + stats.auto_batches
            + stats.traces_waiting
            + stats.trace_sends
            + stats.draining
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
