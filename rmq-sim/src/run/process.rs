//! A client in a world: the loop that drives it, without an async runtime.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use rmq_core::{ClientConfig, CloseReason, ConnId, Event, Input, Instant, Output, Start};

use crate::checked::CheckedClient;
use crate::net::{Ended, Network, StreamId, StreamState};
use crate::oracle::Violation;

/// Time between two readings of the wall clock.
const CLOCK_PERIOD: Duration = Duration::from_secs(60);

/// A client and the loop that feeds it from a [`Network`], by the client's contract: all ready input, then time, then
/// outputs. It carries a [`CheckedClient`], so it notices whatever breaks the contract.
///
/// A user's own state machine takes the place of the client by doing what [`turn`](Self::turn) does: it is this loop
/// that one writes.
#[derive(Clone, Debug)]
pub struct Process {
    number: u32,
    client: CheckedClient,
    links: BTreeMap<ConnId, Link>,
    conns: BTreeMap<StreamId, ConnId>,
    ready: BTreeSet<StreamId>,
    /// Most bytes of one read.
    read_len: usize,
    frozen_until: Option<Instant>,
    unix_ms: i64,
    next_clock: Instant,
    events: VecDeque<Event>,
}

#[derive(Clone, Debug)]
struct Link {
    stream: StreamId,
    opened: bool,
    /// Of the write that is outstanding, what the stream has not taken.
    unwritten: VecDeque<Bytes>,
}

impl Process {
    /// Client number `number` of the network; `read_len` is the most bytes that one read takes.
    ///
    /// # Panics
    ///
    /// When `read_len` is 0.
    pub fn new(number: u32, config: ClientConfig, start: Start, read_len: usize) -> Self {
        assert!(read_len > 0, "a read of no bytes reads nothing");
        let started = i64::try_from(start.now.as_micros() / 1_000).unwrap_or(i64::MAX);
        Self {
            number,
            unix_ms: i64::try_from(start.unix_ms).unwrap_or(i64::MAX) - started,
            next_clock: start.now + CLOCK_PERIOD,
            client: CheckedClient::new(config, start),
            links: BTreeMap::new(),
            conns: BTreeMap::new(),
            ready: BTreeSet::new(),
            read_len,
            frozen_until: None,
            events: VecDeque::new(),
        }
    }

    /// Its number in the network.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// The client. Commands to it take effect at the next [`turn`](Self::turn).
    pub const fn client(&mut self) -> &mut CheckedClient {
        &mut self.client
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        self.links.values().filter(|link| link.opened).count()
    }

    /// Whether a connection is being opened, so that requests may wait for it.
    pub fn is_connecting(&self) -> bool {
        self.links.values().any(|link| !link.opened)
    }

    /// A stream of this process has news.
    pub fn wake(&mut self, stream: StreamId) {
        if self.conns.contains_key(&stream) {
            self.ready.insert(stream);
        }
    }

    /// The process stands still until `until`: nothing is read, no timer fires.
    pub fn suspend(&mut self, until: Instant) {
        self.frozen_until = Some(until);
    }

    /// Its wall clock jumps by so many milliseconds, and it is told so at the next turn.
    pub const fn step_clock(&mut self, now: Instant, millis: i64) {
        self.unix_ms = self.unix_ms.saturating_add(millis);
        self.next_clock = now;
    }

    /// Until when it stands still, if it does.
    pub const fn suspended_until(&self) -> Option<Instant> {
        self.frozen_until
    }

    /// Whether it stands still at `now`.
    pub fn is_suspended(&self, now: Instant) -> bool {
        self.frozen_until.is_some_and(|until| until > now)
    }

    /// When it has to have a turn, at the latest.
    pub fn poll_timeout(&self) -> Instant {
        let timer = self.client.poll_timeout();
        let next = timer.map_or(self.next_clock, |timer| timer.min(self.next_clock));
        let next = if self.ready.is_empty() { next } else { Instant::ZERO };
        self.frozen_until.map_or(next, |until| next.max(until))
    }

    /// One turn of the loop.
    pub fn turn(&mut self, network: &mut Network, now: Instant) {
        if self.is_suspended(now) {
            return;
        }
        self.frozen_until = None;
        if self.next_clock <= now {
            self.next_clock = now + CLOCK_PERIOD;
            let millis = i64::try_from(now.as_micros() / 1_000).unwrap_or(i64::MAX);
            let unix_ms = u64::try_from(self.unix_ms.saturating_add(millis)).unwrap_or(0);
            self.client.handle_input(now, Input::WallClock { unix_ms });
        }
        for stream in std::mem::take(&mut self.ready) {
            self.serve(network, now, stream);
        }
        self.client.handle_timeout(now);
        while let Some(output) = self.client.poll_output() {
            self.carry_out(network, now, output);
        }
        self.client.end_turn(now);
    }

    /// What the client told, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The first breach of the client's contract.
    pub fn take_violation(&mut self) -> Option<Violation> {
        self.client.take_violation()
    }

    /// The process dies: its system closes its streams.
    pub fn kill(self, network: &mut Network, now: Instant) {
        for link in self.links.into_values() {
            network.close(now, link.stream);
        }
    }

    /// Feeds what a stream has.
    fn serve(&mut self, network: &mut Network, now: Instant, stream: StreamId) {
        let Some(&conn) = self.conns.get(&stream) else { return };
        let Some(state) = network.state(stream) else { return };
        if let Some(link) = self.links.get_mut(&conn)
            && !link.opened
            && state != StreamState::Dialing
            && !matches!(state, StreamState::Ended(Ended::Refused))
        {
            link.opened = true;
            self.client.handle_input(now, Input::Connected { conn });
        }
        while let Some(data) = network.read(stream, self.read_len) {
            self.client.handle_input(now, Input::Received { conn, data });
        }
        if let StreamState::Ended(how) = state {
            self.links.remove(&conn);
            self.conns.remove(&stream);
            network.close(now, stream);
            let reason = match how {
                Ended::PeerClosed => CloseReason::PeerClosed,
                how => CloseReason::Failed(how.to_string().into()),
            };
            return self.client.handle_input(now, Input::Closed { conn, reason });
        }
        self.write(network, now, conn);
    }

    /// Writes as much as the stream takes.
    fn write(&mut self, network: &mut Network, now: Instant, conn: ConnId) {
        let Some(link) = self.links.get_mut(&conn) else { return };
        if link.unwritten.is_empty() {
            return;
        }
        // An error shows at the next turn: the stream has news then.
        let taken = network.write(now, link.stream, link.unwritten.make_contiguous()).unwrap_or(0);
        let mut left = taken;
        while let Some(front) = link.unwritten.front_mut() {
            if front.len() > left {
                drop(front.split_to(left));
                break;
            }
            left -= front.len();
            link.unwritten.pop_front();
        }
        if taken > 0 {
            self.client.handle_input(now, Input::Written { conn, bytes: taken });
        }
    }

    fn carry_out(&mut self, network: &mut Network, now: Instant, output: Output) {
        match output {
            Output::Connect { conn, address } => {
                let stream = network.connect(now, self.number, &address.to_string());
                self.conns.insert(stream, conn);
                self.links.insert(conn, Link { stream, opened: false, unwritten: VecDeque::new() });
            }
            Output::Write { conn, data } => {
                if let Some(link) = self.links.get_mut(&conn) {
                    link.unwritten.extend(data.into_segments());
                }
                self.write(network, now, conn);
            }
            Output::Close { conn } => {
                if let Some(link) = self.links.remove(&conn) {
                    self.conns.remove(&link.stream);
                    network.close(now, link.stream);
                }
            }
            Output::Event(event) => self.events.push_back(event),
        }
    }
}
