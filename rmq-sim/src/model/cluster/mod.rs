//! Name servers and their brokers.

mod outage;
mod pushes;
mod requests;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use self::pushes::Asked;
use self::requests::Next;
pub(crate) use self::requests::is_send;
use super::broker::{Broker, Registration};
use super::config::ClusterConfig;
use super::conn::{Link, PeerConn, PeerOutput};
use super::event::{Events, ModelEvent};
use super::fault::{Fault, Faults};
use super::group::GroupConfig;
use super::name_server::NameServer;
use super::push::Push;
use super::store::StoredMessage;
use super::topic::TopicConfig;

/// Name servers and their brokers, as the peers of byte streams. No IO: [`receive`](Self::receive) takes what clients
/// wrote, [`poll_output`](Self::poll_output) gives what they are to read.
///
/// Brokers and topics are registered at the name servers at once; real brokers take moments for it. A clone is a
/// snapshot: it goes on by itself, with the same connections.
#[derive(Clone, Debug)]
pub struct Cluster {
    config: ClusterConfig,
    name_servers: Vec<NameServer>,
    brokers: Vec<Broker>,
    /// The name servers, then the brokers.
    peers: Vec<Peer>,
    links: BTreeMap<PeerConn, Link>,
    outputs: VecDeque<PeerOutput>,
    events: Events,
    next_conn: u64,
    sequence: u64,
    /// What brokers ask clients, until it is written.
    pushes: Vec<Push>,
    next_push: i32,
    /// What brokers asked and others wait for, by connection and opaque.
    asked: BTreeMap<(PeerConn, i32), Asked>,
    watches_requests: bool,
    scratch: BytesMut,
}

#[derive(Clone, Debug)]
struct Peer {
    name: Arc<str>,
    address: String,
    faults: Faults,
}

/// Which server a peer is.
#[derive(Clone, Copy)]
enum Place {
    NameServer(usize),
    Broker(usize),
}

impl Cluster {
    /// A cluster without clients and messages. Its topics are that of replies and, if topics are created by sending,
    /// `TBW102`.
    pub fn new(config: ClusterConfig) -> Self {
        let mut name_servers = vec![NameServer::new(config.profile); config.name_server_count()];
        let peer = |name, address: SocketAddr| Peer {
            name,
            address: address.to_string(),
            faults: Faults::default(),
        };
        let name = |index| {
            if name_servers.len() == 1 { "name server".into() } else { format!("name server {index}") }
        };
        let mut peers: Vec<_> = (0..name_servers.len())
            .map(|index| peer(name(index).into(), config.name_server_address_at(index)))
            .collect();
        let mut brokers = Vec::new();
        for index in 0..config.brokers {
            let broker = Broker::new(&config, index, config.broker_address(index));
            peers.push(peer(broker.shared_name(), broker.address()));
            broker.register(&mut name_servers);
            brokers.push(broker);
        }
        Self {
            config,
            name_servers,
            brokers,
            peers,
            links: BTreeMap::new(),
            outputs: VecDeque::new(),
            events: Events::default(),
            next_conn: 0,
            sequence: 0,
            pushes: Vec::new(),
            next_push: 0,
            asked: BTreeMap::new(),
            watches_requests: false,
            scratch: BytesMut::new(),
        }
    }

    /// What it was made of.
    pub const fn config(&self) -> &ClusterConfig {
        &self.config
    }

    /// The first name server's address, such as `127.0.0.1:9876`.
    pub fn name_server(&self) -> &str {
        &self.peers[0].address
    }

    /// The addresses of all name servers, in the order of their numbers.
    pub fn name_server_addresses(&self) -> impl ExactSizeIterator<Item = &str> {
        self.peers[..self.name_servers.len()].iter().map(|peer| peer.address.as_str())
    }

    /// The address of broker number `index`, from 0.
    ///
    /// # Panics
    ///
    /// When there are not so many brokers.
    pub fn broker_address(&self, index: usize) -> &str {
        &self.peers[self.name_servers.len() + index].address
    }

    /// The brokers, in the order of their numbers.
    pub fn brokers(&self) -> &[Broker] {
        &self.brokers
    }

    /// The broker of a name, such as `broker-a`.
    pub fn broker(&self, name: &str) -> Option<&Broker> {
        self.brokers.iter().find(|broker| broker.name() == name)
    }

    /// What the first name server knows.
    pub fn routes(&self) -> &NameServer {
        &self.name_servers[0]
    }

    /// What each name server knows, in the order of their numbers; one that is down knows nothing.
    pub fn name_servers(&self) -> &[NameServer] {
        &self.name_servers
    }

    /// Puts a topic on every broker, or changes its settings there, as an administrator would. A broker that is down has
    /// it when it comes back.
    pub fn create_topic(&mut self, topic: &TopicConfig) {
        for index in 0..self.brokers.len() {
            self.create_topic_on(index, topic);
        }
    }

    /// Like [`create_topic`](Self::create_topic), on broker number `index` alone, from 0.
    ///
    /// # Panics
    ///
    /// When there are not so many brokers.
    pub fn create_topic_on(&mut self, index: usize, topic: &TopicConfig) {
        self.brokers[index].put_topic(topic.clone(), &mut self.name_servers, &mut self.events);
    }

    /// Puts a group of consumers on every broker, or changes its settings there, as an administrator would.
    pub fn create_group(&mut self, group: &GroupConfig) {
        self.brokers.iter_mut().for_each(|broker| broker.put_group(group.clone()));
    }

    /// Lets brokers do what is due at `unix_ms`, in milliseconds since the Unix epoch: delayed messages go to where they are
    /// meant for, and producers are asked about transactions without an end. [`receive`](Self::receive) does so too.
    pub fn advance(&mut self, unix_ms: u64) {
        for broker in &mut self.brokers {
            broker.deliver_delayed(unix_ms, &mut self.sequence);
            broker.check_transactions(unix_ms, &mut self.sequence, &mut self.pushes);
        }
        self.give_up_pushes(unix_ms);
        self.write_pushes(unix_ms);
    }

    /// When [`advance`](Self::advance) has something to do at a broker that is up, in milliseconds since the Unix epoch.
    pub fn next_delivery(&self) -> Option<u64> {
        let due = |broker: &Broker| broker.next_delivery().into_iter().chain(broker.next_check()).min();
        self.brokers.iter().filter_map(due).chain(self.next_given_up()).min()
    }

    /// Lets an address misbehave from now on. False when nobody has that address: a test that meant to see a fault
    /// then sees none.
    #[must_use = "at an address that nobody has there is no fault"]
    pub fn fault(&mut self, address: &str, fault: Fault) -> bool {
        let Some(index) = self.peer_at(address) else {
            return false;
        };
        self.peers[index].faults.add(fault);
        true
    }

    /// Ends all misbehaviour of an address. What was swallowed stays unanswered.
    pub fn heal(&mut self, address: &str) {
        if let Some(index) = self.peer_at(address) {
            self.peers[index].faults = Faults::default();
        }
    }

    /// Closes all connections to an address, and no more: clients may connect again at once. [`stop`](Self::stop) ends the
    /// process.
    pub fn close_connections(&mut self, address: &str) {
        let open = self.peer_at(address).map(|index| self.open_at(index));
        for conn in open.into_iter().flatten() {
            self.close(conn, None);
        }
    }

    /// A client connects. `None`: nobody listens at `address`, or the peer refuses or is down.
    ///
    /// The client's own address is made up; [`connect_from`](Self::connect_from) takes a real one.
    pub fn connect(&mut self, address: &str) -> Option<PeerConn> {
        let port = 49_152 + (self.next_conn % 16_384) as u16;
        self.connect_from(address, SocketAddr::new(self.config.host, port))
    }

    /// A client at `from` connects. `None`: nobody listens at `address`, or the peer refuses or is down.
    pub fn connect_from(&mut self, address: &str, from: SocketAddr) -> Option<PeerConn> {
        let index = self.peer_at(address)?;
        let peer = &self.peers[index];
        if peer.faults.refuse || !self.peer_is_up(index) {
            return None;
        }
        let conn = PeerConn(self.next_conn);
        self.next_conn += 1;
        self.links.insert(conn, Link::new(index, from));
        self.events.push(ModelEvent::Connected { conn, peer: Arc::clone(&peer.name), from });
        Some(conn)
    }

    /// Bytes from the client, in any pieces. `unix_ms` is the servers' clock, in milliseconds since the Unix epoch. A
    /// frame that cannot be read closes the connection (wire §1.3). Bytes for a closed connection are ignored.
    pub fn receive(&mut self, unix_ms: u64, conn: PeerConn, mut data: Bytes) {
        self.advance(unix_ms);
        if let Some(link) = self.links.get(&conn).filter(|link| link.dead) {
            if self.peer_is_up(link.peer) {
                self.close(conn, None);
            }
            return;
        }
        let mut answers = std::mem::take(&mut self.scratch);
        let next = loop {
            let Some(link) = self.links.get_mut(&conn) else {
                break Next::GoOn;
            };
            let next = match link.decoder.decode(&mut data) {
                Ok(Some(frame)) => self.handle_frame(unix_ms, conn, frame, &mut answers),
                Ok(None) => break Next::GoOn,
                Err(error) => Next::Close(Some(error.to_string())),
            };
            if let Next::Close(_) = next {
                break next;
            }
        };
        if !answers.is_empty() {
            self.outputs.push_back(PeerOutput::Write { conn, data: answers.split().freeze() });
        }
        self.scratch = answers;
        self.write_pushes(unix_ms);
        if let Next::Close(fault) = next {
            self.close(conn, fault);
        }
    }

    /// What is to be done next on some connection.
    pub fn poll_output(&mut self) -> Option<PeerOutput> {
        self.outputs.pop_front()
    }

    /// What has happened. At most 1,024 events wait: who wants them all polls after each call, and looks at
    /// [`lost_events`](Self::lost_events).
    pub fn poll_event(&mut self) -> Option<ModelEvent> {
        self.events.pop()
    }

    /// How many events were lost because too many waited; the oldest go first.
    pub const fn lost_events(&self) -> u64 {
        self.events.lost()
    }

    /// Whether each request is an event from now on ([`ModelEvent::Requested`]). Off at first.
    pub const fn watch_requests(&mut self, on: bool) {
        self.watches_requests = on;
    }

    /// The client's end is gone. Its groups go with it.
    pub fn disconnect(&mut self, conn: PeerConn) {
        self.forget(conn, None);
    }

    /// The stored messages that are still kept, of all brokers, in the order of storing.
    pub fn stored(&self) -> impl Iterator<Item = &StoredMessage> {
        let mut messages: Vec<_> = self.brokers.iter().flat_map(|broker| broker.store().iter()).collect();
        messages.sort_unstable_by_key(|message| message.sequence);
        messages.into_iter()
    }

    /// The groups that clients have registered at brokers, and not taken back.
    pub fn registrations(&self) -> impl Iterator<Item = Registration<'_>> {
        self.brokers.iter().flat_map(Broker::registrations)
    }

    /// How many connections are open to an address.
    pub fn open_connections(&self, address: &str) -> usize {
        self.peer_at(address).map_or(0, |index| self.open_at(index).len())
    }

    fn peer_at(&self, address: &str) -> Option<usize> {
        self.peers.iter().position(|peer| peer.address == address)
    }

    fn place(&self, peer: usize) -> Place {
        match peer.checked_sub(self.name_servers.len()) {
            Some(broker) => Place::Broker(broker),
            None => Place::NameServer(peer),
        }
    }

    fn close(&mut self, conn: PeerConn, fault: Option<String>) {
        if self.forget(conn, fault) {
            self.outputs.push_back(PeerOutput::Close { conn });
        }
    }

    fn forget(&mut self, conn: PeerConn, fault: Option<String>) -> bool {
        let Some(link) = self.links.remove(&conn) else {
            return false;
        };
        if !link.dead {
            self.end(conn, link.peer, fault);
        }
        true
    }

    /// The peer knows the connection no longer.
    fn end(&mut self, conn: PeerConn, peer: usize, fault: Option<String>) {
        if let Place::Broker(index) = self.place(peer) {
            self.brokers[index].disconnect(conn, &mut self.events);
        }
        let peer = Arc::clone(&self.peers[peer].name);
        self.events.push(ModelEvent::Disconnected { conn, peer, fault });
    }
}
