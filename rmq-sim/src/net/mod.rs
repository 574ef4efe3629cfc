//! Byte streams between clients and the model's servers, under a clock that is handed in.
//!
//! [`Network`] is a state machine like the client: calls carry the time, [`Network::poll_timeout`] says when it wants
//! to be called, and a seed decides all chance. So it runs under the sans-IO clients of a [run](crate::run), under the
//! executor of a [`World`](crate::World), and under the clock of another runtime.

mod fault;
mod faults;
mod pipe;
mod place;
mod stream;
mod traffic;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rmq_core::Instant;

pub use fault::Fault;
pub use stream::{Ended, StreamId, StreamState};

use crate::model::{Cluster, ClusterConfig, ModelEvent, PeerConn};
use crate::rng::Rng;
use crate::tap::CommandTap;
use crate::trace::{Direction, Happening, Trace};
use faults::Plan;
use place::Place;
use stream::Stream;

/// Time between two registrations of a broker at the name servers (wire §5.2).
const REGISTRATION_PERIOD: Duration = Duration::from_secs(30);

/// What a [`Network`] is made of.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// The servers.
    pub cluster: ClusterConfig,
    /// The servers' wall clock at [`Instant::ZERO`], in milliseconds since the Unix epoch. Default: 2023-11-14T22:13:20Z.
    pub unix_ms: u64,
    /// How long a piece is on its way, one way. Default: 0.1 to 1 ms.
    pub latency: Range<Duration>,
    /// How many writes in a thousand arrive in several pieces, cut at any byte. Default: 100.
    pub split_per_mille: u32,
    /// Bytes that a client can write before any of them has arrived. Default: 64 KiB.
    pub send_buffer: usize,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            cluster: ClusterConfig::default(),
            unix_ms: 1_700_000_000_000,
            latency: Duration::from_micros(100)..Duration::from_millis(1),
            split_per_mille: 100,
            send_buffer: 64 * 1024,
        }
    }
}

/// What the network has to do at some moment.
#[derive(Clone, Copy, Debug)]
enum Timed {
    /// A server learns that a client dials.
    Dialed(StreamId),
    /// Something arrives.
    Arrival(StreamId, Direction),
    /// A client learns that its server does not know the connection.
    Reset(StreamId),
    Begin(u64),
    End(u64),
    Registration,
}

/// The network and the servers behind it. Its clients see streams: [`connect`](Self::connect), [`write`](Self::write),
/// [`read`](Self::read), [`close`](Self::close); [`poll_news`](Self::poll_news) names those where something changed.
#[derive(Clone, Debug)]
pub struct Network {
    config: NetworkConfig,
    now: Instant,
    rng: Rng,
    cluster: Cluster,
    places: Vec<Place>,
    streams: BTreeMap<StreamId, Stream>,
    by_peer: BTreeMap<PeerConn, StreamId>,
    next_stream: u64,
    schedule: BTreeMap<(Instant, u64), Timed>,
    serial: u64,
    news: VecDeque<StreamId>,
    plans: BTreeMap<u64, Plan>,
    fault_counts: BTreeMap<&'static str, u64>,
    taps: BTreeMap<(StreamId, Direction, bool), CommandTap>,
    trace: Trace,
}

impl Network {
    /// A network without clients and faults, at [`Instant::ZERO`].
    pub fn new(config: NetworkConfig, seed: u64) -> Self {
        let cluster = Cluster::new(config.cluster.clone());
        let brokers = (0..config.cluster.brokers).map(|index| cluster.broker_address(index));
        let places = cluster.name_server_addresses().chain(brokers).map(Place::new).collect();
        let mut network = Self {
            config,
            now: Instant::ZERO,
            rng: Rng::new(seed),
            cluster,
            places,
            streams: BTreeMap::new(),
            by_peer: BTreeMap::new(),
            next_stream: 0,
            schedule: BTreeMap::new(),
            serial: 0,
            news: VecDeque::new(),
            plans: BTreeMap::new(),
            fault_counts: BTreeMap::new(),
            taps: BTreeMap::new(),
            trace: Trace::default(),
        };
        network.set(Instant::ZERO + REGISTRATION_PERIOD, Timed::Registration);
        network
    }

    /// The newest time it was told.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The servers' wall clock, in milliseconds since the Unix epoch.
    pub fn unix_ms(&self) -> u64 {
        self.config.unix_ms.saturating_add(self.now.as_micros() / 1_000)
    }

    /// The servers.
    pub const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The servers, to be changed as an administrator would.
    pub fn with_cluster<R>(&mut self, change: impl FnOnce(&mut Cluster) -> R) -> R {
        let result = change(&mut self.cluster);
        self.deliver();
        result
    }

    /// The addresses of all servers: the name servers, then the brokers.
    pub fn addresses(&self) -> impl Iterator<Item = &Arc<str>> {
        self.places.iter().map(|place| &place.address)
    }

    /// What happened.
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Starts to keep what happens.
    pub fn record(&mut self) {
        self.trace.record();
    }

    /// Adds something to the trace.
    pub fn note(&mut self, happening: Happening) {
        self.trace.push(self.now, happening);
    }

    /// A client dials an address. The stream has news when it is open or has ended, which may be never.
    pub fn connect(&mut self, now: Instant, client: u32, address: &str) -> StreamId {
        self.advance(now);
        let id = StreamId(self.next_stream);
        self.next_stream += 1;
        let place = self.place(address);
        let address: Arc<str> =
            place.map_or_else(|| address.into(), |place| self.places[place].address.clone());
        self.note(Happening::Dialed { client, stream: id, address: address.clone() });
        self.streams.insert(id, Stream::new(client, address, place));
        let arrives = self.arrival(place, Direction::ToServer);
        self.set(arrives, Timed::Dialed(id));
        id
    }

    /// Where a stream is in its life; `None` for one that its client closed.
    pub fn state(&self, stream: StreamId) -> Option<StreamState> {
        self.streams.get(&stream).filter(|stream| !stream.abandoned).map(|stream| stream.state)
    }

    /// Writes as much of `data` as there is room for and returns how much that was. When it was not all, there will be
    /// news as soon as there is room.
    ///
    /// # Errors
    ///
    /// The stream has ended, or was never open.
    pub fn write(&mut self, now: Instant, id: StreamId, data: &[Bytes]) -> Result<usize, Ended> {
        self.advance(now);
        let send_buffer = self.config.send_buffer;
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| !stream.abandoned) else {
            return Err(Ended::Reset);
        };
        match stream.state {
            StreamState::Open => {}
            StreamState::Dialing => return Ok(0),
            StreamState::Ended(how) => return Err(how),
        }
        let room = send_buffer.saturating_sub(stream.to_server.len());
        let wanted = data.iter().map(Bytes::len).sum::<usize>();
        stream.wants_room = wanted > room;
        let mut left = wanted.min(room);
        for part in data {
            let part = part.slice(..part.len().min(left));
            left -= part.len();
            self.send(id, Direction::ToServer, part);
        }
        Ok(wanted.min(room))
    }

    /// Takes what has arrived, at most `max` bytes; `None` when there is nothing now, or the stream ended and all was
    /// read.
    pub fn read(&mut self, id: StreamId, max: usize) -> Option<Bytes> {
        self.streams.get_mut(&id)?.read(max)
    }

    /// The client closes a stream, or gives up dialing. What it wrote still arrives.
    pub fn close(&mut self, now: Instant, id: StreamId) {
        self.advance(now);
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| !stream.abandoned) else { return };
        stream.abandoned = true;
        stream.inbox.clear();
        let place = stream.place;
        self.note(Happening::Abandoned { stream: id });
        let arrives = self.arrival(place, Direction::ToServer);
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if stream.peer.is_none() || stream.orphaned {
            return self.forget(id);
        }
        stream.to_server.end(arrives);
        self.arm(id, Direction::ToServer);
    }

    /// Streams that clients opened or dial, and have not closed.
    pub fn streams_of(&self, client: u32) -> impl Iterator<Item = StreamId> {
        let of_client = move |stream: &Stream| stream.client == client && !stream.abandoned;
        self.streams.iter().filter(move |(_, stream)| of_client(stream)).map(|(id, _)| *id)
    }

    /// A stream that opened, ended, has something to read, or has room again, and the client it belongs to.
    pub fn poll_news(&mut self) -> Option<(u32, StreamId)> {
        while let Some(id) = self.news.pop_front() {
            if let Some(stream) = self.streams.get_mut(&id) {
                stream.has_news = false;
                if !stream.abandoned {
                    return Some((stream.client, id));
                }
            }
        }
        None
    }

    /// What the servers did; see [`Cluster::poll_event`].
    pub fn poll_server_event(&mut self) -> Option<ModelEvent> {
        self.cluster.poll_event()
    }

    /// When the network wants [`handle_timeout`](Self::handle_timeout) to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let scheduled = self.schedule.first_key_value().map(|((at, _), _)| *at);
        let delivery = self.cluster.next_delivery();
        let delivery = delivery.map(|at| Instant::from_millis(at.saturating_sub(self.config.unix_ms)));
        scheduled.into_iter().chain(delivery).min()
    }

    /// Lets everything happen that is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(entry) = self.schedule.first_entry() {
            let at = entry.key().0;
            if at > now {
                break;
            }
            let timed = entry.remove();
            self.advance(at);
            self.happen(timed);
        }
        self.advance(now);
        self.cluster.advance(self.unix_ms());
        self.deliver();
    }

    fn happen(&mut self, timed: Timed) {
        match timed {
            Timed::Dialed(id) => self.answer_dial(id),
            Timed::Arrival(id, to) => self.arrive(id, to),
            Timed::Reset(id) => self.end(id, Ended::Reset),
            Timed::Begin(plan) => self.begin_fault(plan),
            Timed::End(plan) => self.end_fault(plan),
            Timed::Registration => {
                self.cluster.register_brokers();
                self.deliver();
                self.set(self.now + REGISTRATION_PERIOD, Timed::Registration);
            }
        }
    }

    /// Time never goes back.
    fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    fn set(&mut self, at: Instant, timed: Timed) {
        self.schedule.insert((at, self.serial), timed);
        self.serial += 1;
    }

    fn place(&self, address: &str) -> Option<usize> {
        self.places.iter().position(|place| &*place.address == address)
    }

    /// The address that servers see a client at.
    fn client_address(client: u32, stream: StreamId) -> SocketAddr {
        let [_, high, middle, low] = client.wrapping_add(1).to_be_bytes();
        let port = 49_152 + (stream.0 % 16_384) as u16;
        SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, high, middle, low)), port)
    }
}
