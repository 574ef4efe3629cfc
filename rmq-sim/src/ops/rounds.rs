//! Clause 6 of the contract: chunks of what is received and moments of polling do not matter.
//!
//! [`compare`] takes bytes for a program of rounds and runs it in two manners. In the plain one, each answer arrives in
//! one piece and outputs are polled when a round's calls are over. In the other, answers arrive in pieces of random
//! lengths, and after each call and each piece a random number of outputs is polled; what they order is done at once.
//!
//! A round is, at one time: a turn, good answers to sends, a cancel, then one of {the answer to a question for a route,
//! answers to heartbeats, an answer that fails its attempt, the end of a connection}, then sends, then a turn. Why this
//! order: a request that is polled earlier *is* written earlier, which a cancel, the end of its connection, a timeout or an
//! answer behind it can tell ("was it written?", "was anything received since?"). So nothing that writes is followed
//! by something that could tell.
//!
//! Compared are
//! - of each operation: its events, with all they tell but its name;
//! - of each connection: the sends written, in order, byte for byte but for their opaques, and how many of each
//!   other request. Control frames overtake what waits at the moment, so their places differ, and with them
//!   the opaques, which are counted as frames are made.

use std::collections::BTreeMap;

use core::time::Duration;

use bytes::Bytes;
use rmq_core::proto::code::RequestCode;
use rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_core::proto::message::Message;
use rmq_core::{
    CloseReason, ConnId, Event, Input, Instant, OpId, Output, ProducerConfig, ProducerId, SendBackOptions,
    SendOptions,
};

use super::Setup;
use super::peer::{Peer, Reply, frame, reply};
use super::setup::{client, given_back};
use crate::checked::CheckedClient;
use crate::oracle::Violation;

const ORACLE: &str = "same-in-any-manner";
const TIMES: [u64; 8] = [0, 0, 1, 50, 100, 600, 1_000, 3_001];
/// More than the time of any operation.
const LONGEST: Duration = Duration::from_secs(9);

/// What is compared of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// By the number of the call, as the names of operations depend on which have ended.
    ends: BTreeMap<usize, Vec<String>>,
    sends: BTreeMap<ConnId, Vec<Bytes>>,
    others: BTreeMap<(ConnId, i32), usize>,
}

struct Random(u64);

impl Random {
    /// Below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

struct Rounds {
    client: CheckedClient,
    producer: ProducerId,
    now: Instant,
    ops: Vec<OpId>,
    peers: BTreeMap<ConnId, Peer>,
    connecting: Vec<ConnId>,
    routes: u8,
    /// How pieces and moments are drawn; none in the plain manner.
    manner: Option<Random>,
    seen: Seen,
}

/// Bytes of a program; those that are missing are 0.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> usize {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        usize::from(*first)
    }
}

/// Runs the program in both manners and compares. Returns how many operations ended and how many sends were written.
///
/// # Errors
///
/// A promise that is broken, or what differs, as `same-in-any-manner`.
pub fn compare(bytes: &[u8], seed: u64) -> Result<(usize, usize), Violation> {
    let plain = run(bytes, None)?;
    let other = run(bytes, Some(Random(seed)))?;
    let sends = |seen: &Seen| seen.sends.values().map(Vec::len).sum::<usize>();
    for (op, ends) in &plain.ends {
        let others = other.ends.get(op);
        Violation::unless(others == Some(ends), ORACLE, || format!("send {op}: {ends:?} and {others:?}"))?;
    }
    for (conn, written) in &plain.sends {
        let others = other.sends.get(conn);
        Violation::unless(others == Some(written), ORACLE, || {
            format!("on {conn:?}: {} sends and {:?}", written.len(), others.map(Vec::len))
        })?;
    }
    Violation::unless(plain == other, ORACLE, || format!("{:?} and {:?}", plain.others, other.others))?;
    Ok((plain.ends.len(), sends(&plain)))
}

fn run(bytes: &[u8], manner: Option<Random>) -> Result<Seen, Violation> {
    let mut reader = Reader(bytes);
    let setup = Setup { seed: reader.byte() as u8, limits: 0, times: reader.byte() as u8, servers: 0 };
    let mut rounds = Rounds::new(setup, manner);
    while !reader.0.is_empty() {
        rounds.round(&mut reader);
        rounds.client.take_violation().map_or(Ok(()), Err)?;
    }
    rounds.now = rounds.now + LONGEST;
    rounds.turn();
    rounds.client.take_violation().map_or(Ok(rounds.seen), Err)
}

impl Rounds {
    fn new(setup: Setup, manner: Option<Random>) -> Self {
        let (mut client, now) = client(setup);
        let producer = client.add_producer(now, ProducerConfig::new("PG")).expect("a good configuration");
        Self {
            client,
            producer,
            now,
            ops: Vec::new(),
            peers: BTreeMap::new(),
            connecting: Vec::new(),
            routes: 0,
            manner,
            seen: Seen::default(),
        }
    }

    fn round(&mut self, program: &mut Reader<'_>) {
        self.now = self.now + Duration::from_millis(TIMES[program.byte() % TIMES.len()]);
        self.turn();
        let answered = program.byte();
        let peers: Vec<ConnId> = self.peers.keys().copied().collect();
        for (i, conn) in peers.iter().enumerate().filter(|(i, _)| answered >> (i % 8) & 1 == 1) {
            let reply = if answered >> (i % 7) & 3 == 3 { Reply::Stored(10) } else { Reply::Good };
            self.answer(*conn, RequestCode::SEND_MESSAGE_V2, reply);
        }
        let choice = program.byte();
        if choice & 0xf0 == 0xf0 && !self.ops.is_empty() {
            self.client.cancel(self.now, self.ops[program.byte() % self.ops.len()]);
            self.between();
        }
        if !peers.is_empty() {
            let conn = peers[program.byte() % peers.len()];
            match choice & 0x0f {
                0..=7 => peers.iter().take_while(|conn| !self.answer_route(**conn)).for_each(drop),
                8..=11 => self.answer(conn, RequestCode::SEND_MESSAGE_V2, Reply::of(17 + choice as u8 / 16)),
                12 => self.close(conn),
                14 => {
                    let how = Reply::of(17 + choice as u8 / 16);
                    peers
                        .iter()
                        .for_each(|conn| self.answer(*conn, RequestCode::CONSUMER_SEND_MSG_BACK, how));
                }
                13 => self.routes = program.byte() as u8 % 7,
                _ => peers.iter().for_each(|conn| self.answer(*conn, RequestCode::HEART_BEAT, Reply::Good)),
            }
        }
        for _ in 0..program.byte() % 6 {
            self.send(program.byte());
        }
        self.turn();
    }

    /// A moment at which outputs may be polled.
    fn between(&mut self) {
        let polls = self.manner.as_mut().map_or(0, |random| random.below(4));
        for _ in 0..polls {
            self.poll();
        }
    }

    fn send(&mut self, choice: usize) {
        if choice & 0xc0 == 0xc0 {
            return self.send_back(choice);
        }
        let body = vec![b'x'; if choice & 0x20 == 0 { 10 } else { 5_000 }];
        let message = Message::new(format!("T{}", choice % 7), body).prepare(self.client.message_rules());
        let message = message.expect("a good message");
        let mut options = SendOptions::default();
        options.oneway = choice & 0x10 != 0;
        self.ops.extend(self.client.send(self.now, self.producer, message, options).ok());
        self.between();
    }

    fn send_back(&mut self, choice: usize) {
        let message = given_back(choice as u8, choice & 0x20 == 0);
        let options = SendBackOptions::default();
        self.ops.extend(self.client.send_back(self.now, self.producer, message, options).ok());
        self.between();
    }

    fn answer_route(&mut self, conn: ConnId) -> bool {
        let asked = |peer: &Peer| {
            peer.requests.iter().any(|request| request.code == RequestCode::GET_ROUTEINFO_BY_TOPIC.0)
        };
        let asks = self.peers.get(&conn).is_some_and(asked);
        if asks {
            self.answer(conn, RequestCode::GET_ROUTEINFO_BY_TOPIC, Reply::Good);
        }
        asks
    }

    /// Answers the first request of that code, if one waits.
    fn answer(&mut self, conn: ConnId, code: RequestCode, how: Reply) {
        let Some(peer) = self.peers.get_mut(&conn) else { return };
        let Some(at) = peer.requests.iter().position(|request| request.code == code.0) else { return };
        let request = peer.requests.remove(at);
        let mut bytes = reply(&request, how, self.routes, HeaderFormat::Json);
        while !bytes.is_empty() {
            let most = bytes.len();
            let len = self.manner.as_mut().map_or(most, |random| 1 + random.below(most));
            let data = bytes.split_to(len);
            self.client.handle_input(self.now, Input::Received { conn, data });
            self.between();
        }
    }

    fn close(&mut self, conn: ConnId) {
        if self.peers.remove(&conn).is_some() {
            self.connecting.retain(|connecting| *connecting != conn);
            self.client.handle_input(self.now, Input::Closed { conn, reason: CloseReason::PeerClosed });
            self.between();
        }
    }

    fn poll(&mut self) -> bool {
        let Some(output) = self.client.poll_output() else { return false };
        match output {
            Output::Connect { conn, .. } => {
                self.peers.insert(conn, Peer::new(conn));
                self.connecting.push(conn);
            }
            Output::Write { conn, data } => {
                if let Some(peer) = self.peers.get_mut(&conn) {
                    let commands = peer.written(data.segments());
                    commands.into_iter().for_each(|command| self.seen.command(conn, command));
                }
                self.client.handle_input(self.now, Input::Written { conn, bytes: data.len() });
            }
            Output::Close { conn } => {
                self.peers.remove(&conn);
                self.connecting.retain(|connecting| *connecting != conn);
            }
            Output::Event(event) => self.seen.event(&self.ops, &event),
        }
        true
    }

    /// Polls all there is and opens what is ordered, until nothing is left to do.
    fn turn(&mut self) {
        loop {
            self.client.handle_timeout(self.now);
            while self.poll() {}
            if self.connecting.is_empty() {
                break;
            }
            for conn in core::mem::take(&mut self.connecting) {
                self.client.handle_input(self.now, Input::Connected { conn });
            }
        }
        self.client.end_turn(self.now);
    }
}

impl Seen {
    fn command(&mut self, conn: ConnId, mut command: RemotingCommand) {
        command.opaque = 0;
        let data = [RequestCode::SEND_MESSAGE_V2, RequestCode::CONSUMER_SEND_MSG_BACK];
        if data.contains(&RequestCode(command.code)) {
            self.sends.entry(conn).or_default().push(frame(&command, HeaderFormat::Json));
        } else {
            *self.others.entry((conn, command.code)).or_default() += 1;
        }
    }

    fn event(&mut self, ops: &[OpId], event: &Event) {
        let (op, what) = match event {
            Event::Sent { op, result } => (op, format!("{result:?}")),
            Event::OnewayWritten { op } => (op, "written".to_owned()),
            Event::SendFailed { op, error } => (op, format!("{error:?}")),
            Event::SentBack { op, how } => (op, format!("{how:?}")),
            Event::SendBackFailed { op, error } => (op, format!("{error:?}")),
            Event::Replied { op, reply } => (op, format!("{reply:?}")),
            Event::RequestFailed { op, error } => (op, format!("{error:?}")),
            Event::Cancelled { op } => (op, "cancelled".to_owned()),
            _ => return,
        };
        if let Some(number) = ops.iter().position(|of| of == op) {
            self.ends.entry(number).or_default().push(what);
        }
    }
}
