//! One name server and its brokers.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use rmq_proto::code::RequestCode;
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::frame::Frame;

use super::answer::{Answer, AnswerExt};
use super::broker::{Broker, CLUSTER_NAME, Registration, Turn};
use super::config::ClusterConfig;
use super::conn::{Link, PeerConn, PeerOutput};
use super::event::{Events, ModelEvent};
use super::fault::{Fault, Faults};
use super::name_server::NameServer;
use super::store::StoredMessage;
use super::topic::TopicConfig;

/// One name server and its brokers, as the peers of byte streams. No IO: [`receive`](Self::receive) takes what clients
/// wrote, [`poll_output`](Self::poll_output) gives what they are to read.
///
/// Brokers and topics are registered at the name server at once; real brokers take moments for it.
#[derive(Debug)]
pub struct Cluster {
    config: ClusterConfig,
    name_server: NameServer,
    brokers: Vec<Broker>,
    /// The name server, then the brokers.
    peers: Vec<Peer>,
    links: BTreeMap<PeerConn, Link>,
    outputs: VecDeque<PeerOutput>,
    events: Events,
    next_conn: u64,
    sequence: u64,
    scratch: BytesMut,
}

#[derive(Debug)]
struct Peer {
    name: Arc<str>,
    address: String,
    faults: Faults,
}

/// What comes of one frame.
enum Next {
    GoOn,
    Close(Option<String>),
}

impl Cluster {
    /// A cluster without clients and messages. Its only topic is `TBW102`, and that only if topics are created by
    /// sending.
    pub fn new(config: ClusterConfig) -> Self {
        let mut name_server = NameServer::new(config.profile);
        let peer = |name, address: SocketAddr| Peer {
            name,
            address: address.to_string(),
            faults: Faults::default(),
        };
        let mut peers = vec![peer("name server".into(), config.name_server_address())];
        let mut brokers = Vec::new();
        for index in 0..config.brokers {
            let broker = Broker::new(&config, index, config.broker_address(index));
            peers.push(peer(broker.shared_name(), broker.address()));
            name_server.register_broker(CLUSTER_NAME, broker.name(), &broker.address().to_string());
            for topic in broker.topics() {
                name_server.register_topic(broker.name(), topic);
            }
            brokers.push(broker);
        }
        Self {
            config,
            name_server,
            brokers,
            peers,
            links: BTreeMap::new(),
            outputs: VecDeque::new(),
            events: Events::default(),
            next_conn: 0,
            sequence: 0,
            scratch: BytesMut::new(),
        }
    }

    /// What it was made of.
    pub const fn config(&self) -> &ClusterConfig {
        &self.config
    }

    /// The name server's address, such as `127.0.0.1:9876`.
    pub fn name_server(&self) -> &str {
        &self.peers[0].address
    }

    /// The address of broker number `index`, from 0.
    ///
    /// # Panics
    ///
    /// When there are not so many brokers.
    pub fn broker_address(&self, index: usize) -> &str {
        &self.peers[index + 1].address
    }

    /// The brokers, in the order of their numbers.
    pub fn brokers(&self) -> &[Broker] {
        &self.brokers
    }

    /// What the name server knows.
    pub const fn routes(&self) -> &NameServer {
        &self.name_server
    }

    /// Puts a topic on every broker, or changes its settings there, as an administrator would.
    pub fn create_topic(&mut self, topic: &TopicConfig) {
        for broker in &mut self.brokers {
            broker.put_topic(topic.clone(), &mut self.name_server, &mut self.events);
        }
    }

    /// Lets an address misbehave from now on. False when nobody has that address: a test that meant to see a fault
    /// then sees none.
    #[must_use = "at an address that nobody has there is no fault"]
    pub fn fault(&mut self, address: &str, fault: Fault) -> bool {
        let peer = self.peers.iter_mut().find(|peer| peer.address == address);
        let found = peer.is_some();
        peer.into_iter().for_each(|peer| peer.faults.add(fault.clone()));
        found
    }

    /// Ends all misbehaviour of an address. What was swallowed stays unanswered.
    pub fn heal(&mut self, address: &str) {
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.address == address) {
            peer.faults = Faults::default();
        }
    }

    /// Closes all connections to an address, as when its process dies. With [`Fault::Refuse`] it is down.
    pub fn close_connections(&mut self, address: &str) {
        let of_address = |link: &Link| self.peers[link.peer].address == address;
        let conns: Vec<_> =
            self.links.iter().filter(|(_, link)| of_address(link)).map(|(&conn, _)| conn).collect();
        for conn in conns {
            self.close(conn, None);
        }
    }

    /// A client connects. `None`: nobody listens at `address`, or the peer refuses.
    ///
    /// The client's own address is made up; [`connect_from`](Self::connect_from) takes a real one.
    pub fn connect(&mut self, address: &str) -> Option<PeerConn> {
        let port = 49_152 + (self.next_conn % 16_384) as u16;
        self.connect_from(address, SocketAddr::new(self.config.host, port))
    }

    /// A client at `from` connects. `None`: nobody listens at `address`, or the peer refuses.
    pub fn connect_from(&mut self, address: &str, from: SocketAddr) -> Option<PeerConn> {
        let index = self.peers.iter().position(|peer| peer.address == address)?;
        let peer = &self.peers[index];
        if peer.faults.refuse {
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
        if let Next::Close(fault) = next {
            self.close(conn, fault);
        }
    }

    /// What is to be done next on some connection.
    pub fn poll_output(&mut self) -> Option<PeerOutput> {
        self.outputs.pop_front()
    }

    /// What has happened; at most 1,024 events wait, the oldest are lost first.
    pub fn poll_event(&mut self) -> Option<ModelEvent> {
        self.events.pop()
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
        self.links.values().filter(|link| self.peers[link.peer].address == address).count()
    }

    fn handle_frame(&mut self, unix_ms: u64, conn: PeerConn, frame: Frame, answers: &mut BytesMut) -> Next {
        let format = frame.format;
        let request = match RemotingCommand::decode(frame) {
            Ok(request) => request,
            Err(error) => return Next::Close(Some(error.to_string())),
        };
        let Some(link) = self.links.get(&conn) else {
            return Next::GoOn;
        };
        let (index, from) = (link.peer, link.from);
        // The model asks clients nothing, so no answer is expected (wire §1.4).
        if request.is_response() || self.peers[index].faults.hang {
            return Next::GoOn;
        }
        match self.peers[index].faults.take_close() {
            Some(false) => Next::Close(None),
            Some(true) => {
                self.answer(unix_ms, conn, index, from, &request);
                Next::Close(None)
            }
            None => {
                let answer = self.answer(unix_ms, conn, index, from, &request);
                self.write(answer, &request, format, answers)
            }
        }
    }

    fn answer(
        &mut self,
        unix_ms: u64,
        conn: PeerConn,
        index: usize,
        from: SocketAddr,
        request: &RemotingCommand,
    ) -> Option<Answer> {
        let Some(broker) = index.checked_sub(1).and_then(|index| self.brokers.get_mut(index)) else {
            return self.name_server.answer(request);
        };
        let is_send =
            matches!(RequestCode(request.code), RequestCode::SEND_MESSAGE | RequestCode::SEND_MESSAGE_V2);
        let forced = if is_send { self.peers[index].faults.take_send() } else { None };
        if let Some(forced) = &forced
            && !forced.is_stored()
        {
            let remark = forced.remark.clone().map(Into::into);
            return Some(Answer { code: forced.code, remark, ..Answer::success(AnswerExt::Region) });
        }
        let mut turn = Turn {
            unix_ms,
            conn,
            from,
            name_server: &mut self.name_server,
            events: &mut self.events,
            sequence: &mut self.sequence,
            forced,
        };
        Some(broker.answer(&mut turn, request))
    }

    /// A one-way request is never answered, not even with an error (wire §1.4).
    fn write(
        &self,
        answer: Option<Answer>,
        request: &RemotingCommand,
        format: HeaderFormat,
        answers: &mut BytesMut,
    ) -> Next {
        let Some(answer) = answer.filter(|_| !request.is_oneway()) else {
            return Next::GoOn;
        };
        match answer.encode(self.config.profile.rules(), request, format, answers) {
            Ok(()) => Next::GoOn,
            Err(error) => Next::Close(Some(error.to_string())),
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
        if let Some(broker) = link.peer.checked_sub(1).and_then(|index| self.brokers.get_mut(index)) {
            broker.disconnect(conn, &mut self.events);
        }
        let peer = Arc::clone(&self.peers[link.peer].name);
        self.events.push(ModelEvent::Disconnected { conn, peer, fault });
        true
    }
}
