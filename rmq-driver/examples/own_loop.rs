//! The client as a state machine in a loop of one's own: no async code, no runtime, no task. The sockets are the standard
//! library's, non-blocking; the loop looks at each in turn.
//!
//! It sends 1,000 messages with 64 under way, loses a broker meanwhile, and says what became of each. Copy [`Node`], and put what
//! your loop waits with (epoll, kqueue, a game's frame, an interrupt) in the place of [`Node::wait`].
//!
//! `cargo run --release -p rmq-driver --example own_loop` runs on a model; with `-- --name-server 127.0.0.1:9876`, or
//! `RMQ_NAME_SERVER=127.0.0.1:9876` before it, on a cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]
#![expect(clippy::disallowed_methods, reason = "the core has no clock: it is told the time from here")]

mod common;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream, ToSocketAddrs, UdpSocket};
use std::process::ExitCode;
use std::thread::{self, JoinHandle};
use std::time::{self, Duration, SystemTime, UNIX_EPOCH};

use bytes::{Buf, Bytes};
use common::{Cluster, Failure};
use rmq_core::proto::message::Message;
use rmq_core::{
    Address, Client, ClientConfig, CloseReason, ConnId, Event, Identity, Input, Instant, Output,
    ProducerConfig, SendOptions, Start,
};

const TOPIC: &str = "ExampleOwnLoop";
const MESSAGES: usize = 1_000;
const IN_FLIGHT: usize = 64;

/// How long the loop leaves its sockets alone when none had anything.
const TICK: Duration = Duration::from_millis(1);

/// Reads of a socket in one turn: 16 MiB, more than systems keep of one, and no peer has the loop for itself.
const READS: usize = 256;

/// How often the core is told the wall clock, which message ids carry.
const WALL_CLOCK: Duration = Duration::from_secs(60);

/// A client, its sockets, and its time.
struct Node {
    client: Client,
    sockets: BTreeMap<ConnId, Socket>,
    began: time::Instant,
    told: Instant,
    buffer: Vec<u8>,
}

/// A connection, from the core's order to connect until it is closed.
struct Socket {
    /// Looking a name up and connecting are all that the standard library cannot do without blocking: a thread does it.
    opening: Option<JoinHandle<io::Result<TcpStream>>>,
    stream: Option<TcpStream>,
    /// What is left of the core's write. There is at most one, so this needs no limit.
    unwritten: VecDeque<Bytes>,
}

impl Node {
    fn new(config: ClientConfig) -> Self {
        let start = Start {
            now: Instant::ZERO,
            unix_ms: unix_ms(),
            seed: RandomState::new().hash_one(unix_ms()),
            identity: Identity { ip: local_ip(&config), pid: std::process::id() },
        };
        Self {
            client: Client::new(config, start),
            sockets: BTreeMap::new(),
            began: time::Instant::now(),
            told: Instant::ZERO,
            buffer: vec![0; 64 * 1024],
        }
    }

    /// Any clock will do that does not go back.
    fn now(&self) -> Instant {
        Instant::ZERO + self.began.elapsed()
    }

    /// One round of the loop: a turn, and, if that had nothing to do, a wait until there may be something.
    fn round(&mut self, events: &mut Vec<Event>) {
        if !self.turn(events) {
            self.wait();
        }
    }

    /// Whatever is to be done now: all input first, then time, then what the core wants. False when that was nothing.
    fn turn(&mut self, events: &mut Vec<Event>) -> bool {
        let mut inputs = Vec::new();
        self.sockets.retain(|&conn, socket| match socket.transfer(conn, &mut self.buffer, &mut inputs) {
            Ok(()) => true,
            Err(reason) => {
                inputs.push(Input::Closed { conn, reason });
                false
            }
        });
        let now = self.now();
        if now.saturating_since(self.told) >= WALL_CLOCK {
            self.told = now;
            inputs.push(Input::WallClock { unix_ms: unix_ms() });
        }
        let mut busy = !inputs.is_empty();
        for input in inputs {
            self.client.handle_input(now, input);
        }
        self.client.handle_timeout(now);
        while let Some(output) = self.client.poll_output() {
            busy = true;
            match output {
                Output::Connect { conn, address } => drop(self.sockets.insert(conn, Socket::open(address))),
                Output::Write { conn, data } => {
                    if let Some(socket) = self.sockets.get_mut(&conn) {
                        socket.unwritten.extend(data.into_segments());
                    }
                }
                Output::Close { conn } => drop(self.sockets.remove(&conn)),
                Output::Event(event) => events.push(event),
            }
        }
        busy
    }

    /// Waits until something may be to be done: a socket may have news any time, a timer of the core tells when it is due.
    fn wait(&self) {
        let due = self.client.poll_timeout().map_or(WALL_CLOCK, |at| at.saturating_since(self.now()));
        thread::sleep(if self.sockets.is_empty() { due } else { due.min(TICK) });
    }
}

/// The core gives a connection up after its connect timeout; this only ends the thread.
fn open(address: &Address) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for peer in (address.host(), address.port()).to_socket_addrs()? {
        match TcpStream::connect_timeout(&peer, Duration::from_secs(3)) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

impl Socket {
    fn open(address: Address) -> Self {
        let opening = Some(thread::spawn(move || open(&address)));
        Self { opening, stream: None, unwritten: VecDeque::new() }
    }

    /// Reads and writes what can be without blocking.
    fn transfer(
        &mut self,
        conn: ConnId,
        buffer: &mut [u8],
        inputs: &mut Vec<Input>,
    ) -> Result<(), CloseReason> {
        if let Some(opening) = self.opening.take_if(|opening| opening.is_finished()) {
            let opened = opening.join().unwrap_or_else(|_| Err(io::Error::other("connecting panicked")));
            self.stream = Some(opened.map_err(failed)?);
            inputs.push(Input::Connected { conn });
        }
        let Some(stream) = &mut self.stream else { return Ok(()) };
        for _ in 0..READS {
            let Some(len) = unless_blocked(stream.read(buffer))? else { break };
            if len == 0 {
                return Err(CloseReason::PeerClosed);
            }
            inputs.push(Input::Received { conn, data: Bytes::copy_from_slice(&buffer[..len]) });
        }
        while let Some(segment) = self.unwritten.front_mut() {
            let Some(bytes) = unless_blocked(stream.write(segment))? else { break };
            inputs.push(Input::Written { conn, bytes });
            segment.advance(bytes);
            if segment.is_empty() {
                self.unwritten.pop_front();
            }
        }
        Ok(())
    }
}

fn unless_blocked(moved: io::Result<usize>) -> Result<Option<usize>, CloseReason> {
    match moved {
        Ok(len) => Ok(Some(len)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(failed(error)),
    }
}

fn failed(error: io::Error) -> CloseReason {
    CloseReason::Failed(error.to_string().into())
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The address of this host, which message ids carry: the one that packets to the name server leave from. Nothing is sent.
fn local_ip(config: &ClientConfig) -> IpAddr {
    let found = config.name_servers().first().and_then(|server| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect((server.host(), server.port())).ok()?;
        Some(socket.local_addr().ok()?.ip())
    });
    found.unwrap_or_else(|| Ipv4Addr::LOCALHOST.into())
}

/// What became of the messages.
#[derive(Default)]
struct Tally {
    begun: usize,
    stored: usize,
    failed: usize,
    /// How many came to what.
    ends: BTreeMap<String, usize>,
}

impl Tally {
    fn ended(&self) -> usize {
        self.stored + self.failed
    }

    fn take(&mut self, event: Event) -> Result<(), Failure> {
        let end = match event {
            Event::Sent { result, .. } => {
                self.stored += 1;
                format!("{} at attempt {}", result.status, result.attempts)
            }
            // Without a first one stored there is no cluster, or no such topic.
            Event::SendFailed { error, .. } if self.stored == 0 => return Err(error.into()),
            Event::SendFailed { error, .. } => {
                self.failed += 1;
                let stored = if error.may_have_been_stored() { "may be stored" } else { "not stored" };
                format!("failed, {stored}: {:?}", error.kind())
            }
            Event::ConnectionClosed { address, cause, .. } => {
                println!("after {} messages: {address}: {cause}", self.ended());
                return Ok(());
            }
            _ => return Ok(()),
        };
        *self.ends.entry(end).or_default() += 1;
        Ok(())
    }
}

fn run() -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    let mut node = Node::new(ClientConfig::builder().name_server(&cluster.name_server).build()?);
    let producer = node.client.add_producer(node.now(), ProducerConfig::new("example-own-loop"))?;
    let rules = node.client.message_rules().clone();
    let (mut tally, mut events, mut was_down) = (Tally::default(), Vec::new(), false);
    while tally.ended() < MESSAGES {
        let in_flight = if tally.stored == 0 { 1 } else { IN_FLIGHT };
        while tally.begun < MESSAGES && tally.begun - tally.ended() < in_flight {
            let message = Message::new(TOPIC, format!("message {}", tally.begun)).prepare(&rules)?;
            node.client.send(node.now(), producer, message, SendOptions::default())?;
            tally.begun += 1;
        }
        node.round(&mut events);
        events.drain(..).try_for_each(|event| tally.take(event))?;
        if !was_down && tally.ended() >= MESSAGES / 4 {
            was_down = true;
            if cluster.set_broker_up(false) {
                println!("after {} messages: a broker goes away", tally.ended());
            }
        }
        if tally.ended() >= MESSAGES / 2 && cluster.set_broker_up(true) {
            println!("after {} messages: it is back", tally.ended());
        }
    }
    let took = node.began.elapsed();
    println!("{MESSAGES} messages in {took:.0?}, {:.0} a second:", MESSAGES as f64 / took.as_secs_f64());
    tally.ends.iter().for_each(|(end, count)| println!("{count:6} {end}"));

    node.client.shutdown(node.now(), Duration::from_secs(3));
    while !node.client.is_shut_down() {
        node.round(&mut events);
    }
    if tally.failed == 0 { Ok(()) } else { Err(format!("{} messages failed", tally.failed).into()) }
}

fn main() -> ExitCode {
    common::exit(run())
}
