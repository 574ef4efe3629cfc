//! How bytes get from one side to the other.

use bytes::Bytes;
use rmq_core::Instant;

use super::pipe::{Arrived, Pipe};
use super::stream::{Ended, Stream, StreamId, StreamState};
use super::{Network, Timed};
use crate::model::PeerOutput;
use crate::trace::{Direction, FrameInfo, Happening};

/// Most pieces that one write is cut into.
const PIECES: u64 = 4;

impl Stream {
    pub(super) const fn pipe(&mut self, to: Direction) -> &mut Pipe {
        match to {
            Direction::ToServer => &mut self.to_server,
            Direction::ToClient => &mut self.to_client,
        }
    }
}

impl Network {
    /// When something that leaves now arrives.
    pub(super) fn arrival(&mut self, place: Option<usize>, to: Direction) -> Instant {
        let latency = self.rng.duration(&self.config.latency);
        let delay = place.map(|place| self.places[place].delay(to)).unwrap_or_default();
        self.now + latency + delay
    }

    /// Bytes leave, perhaps in pieces.
    pub(super) fn send(&mut self, id: StreamId, to: Direction, mut data: Bytes) {
        if data.is_empty() {
            return;
        }
        self.note(Happening::Left { stream: id, to, bytes: data.len() });
        self.trace.hash_bytes(&data);
        self.tap(id, to, false, &data);
        let cuts = if self.rng.chance(self.config.split_per_mille) { self.rng.within(1..PIECES) } else { 0 };
        for _ in 0..cuts {
            let piece = data.split_to(self.rng.index(data.len()));
            self.send_piece(id, to, piece);
        }
        self.send_piece(id, to, data);
        self.arm(id, to);
    }

    fn send_piece(&mut self, id: StreamId, to: Direction, piece: Bytes) {
        let Some(place) = self.streams.get(&id).map(|stream| stream.place) else { return };
        if !piece.is_empty() {
            let arrives = self.arrival(place, to);
            if let Some(stream) = self.streams.get_mut(&id) {
                stream.pipe(to).push(arrives, piece);
            }
        }
    }

    /// Sets a timer for what arrives next, unless one is set.
    pub(super) fn arm(&mut self, id: StreamId, to: Direction) {
        let now = self.now;
        let Some(pipe) = self.streams.get_mut(&id).map(|stream| stream.pipe(to)) else { return };
        if pipe.armed {
            return;
        }
        if let Some(at) = pipe.next() {
            pipe.armed = true;
            self.set(at.max(now), Timed::Arrival(id, to));
        }
    }

    pub(super) fn answer_dial(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get(&id) else { return };
        if stream.state != StreamState::Dialing || stream.abandoned {
            return;
        }
        let (client, address, place) = (stream.client, stream.address.clone(), stream.place);
        let place = place.map(|place| &self.places[place]);
        if place.is_some_and(|place| place.ignores_dials()) {
            return;
        }
        let refuses = place.is_none_or(|place| place.refuses());
        let from = Self::client_address(client, id);
        let peer = if refuses { None } else { self.cluster.connect_from(&address, from) };
        let Some(peer) = peer else { return self.end(id, Ended::Refused) };
        self.by_peer.insert(peer, id);
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.peer = Some(peer);
            stream.state = StreamState::Open;
        }
        self.note(Happening::Opened { stream: id });
        self.has_news(id);
    }

    /// Takes what is due out of one direction of a stream.
    pub(super) fn arrive(&mut self, id: StreamId, to: Direction) {
        let now = self.now;
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.pipe(to).armed = false;
        if stream.place.is_some_and(|place| self.places[place].stalls(to)) {
            return;
        }
        if stream.orphaned && to == Direction::ToServer {
            let place = stream.place;
            let arrives = self.arrival(place, Direction::ToClient);
            return self.set(arrives, Timed::Reset(id));
        }
        while let Some(arrived) = self.streams.get_mut(&id).and_then(|stream| stream.pipe(to).take(now)) {
            match (to, arrived) {
                (Direction::ToServer, Arrived::Piece(data)) => self.reach_server(id, data),
                (Direction::ToServer, Arrived::End) => return self.hang_up(id),
                (Direction::ToClient, Arrived::Piece(data)) => self.reach_client(id, data),
                (Direction::ToClient, Arrived::End) => return self.end(id, Ended::PeerClosed),
            }
        }
        self.arm(id, to);
    }

    pub(super) fn reach_server(&mut self, id: StreamId, data: Bytes) {
        self.note(Happening::Arrived { stream: id, to: Direction::ToServer, bytes: data.len() });
        self.tap(id, Direction::ToServer, true, &data);
        let unix_ms = self.unix_ms();
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let peer = stream.peer;
        let gave_room = std::mem::take(&mut stream.wants_room);
        if let Some(peer) = peer {
            self.cluster.receive(unix_ms, peer, data);
            self.deliver();
        }
        if gave_room {
            self.has_news(id);
        }
    }

    pub(super) fn reach_client(&mut self, id: StreamId, data: Bytes) {
        self.note(Happening::Arrived { stream: id, to: Direction::ToClient, bytes: data.len() });
        self.tap(id, Direction::ToClient, true, &data);
        if let Some(stream) = self.streams.get_mut(&id).filter(|stream| !stream.abandoned) {
            stream.inbox.push_back(data);
            self.has_news(id);
        }
    }

    /// The server learns that the client closed the stream.
    fn hang_up(&mut self, id: StreamId) {
        self.lose_peer(id);
        self.forget(id);
    }

    /// The server's end goes away, without a word to the client.
    pub(super) fn lose_peer(&mut self, id: StreamId) {
        if let Some(peer) = self.streams.get_mut(&id).and_then(|stream| stream.peer.take()) {
            self.by_peer.remove(&peer);
            self.cluster.disconnect(peer);
            self.deliver();
        }
    }

    /// The client learns that a stream is over.
    pub(super) fn end(&mut self, id: StreamId, how: Ended) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if matches!(stream.state, StreamState::Ended(_)) {
            return;
        }
        stream.state = StreamState::Ended(how);
        let abandoned = stream.abandoned;
        self.note(Happening::Ended { stream: id, how });
        self.lose_peer(id);
        if abandoned {
            self.forget(id);
        } else {
            self.has_news(id);
        }
    }

    pub(super) fn forget(&mut self, id: StreamId) {
        self.lose_peer(id);
        self.streams.remove(&id);
        for to in [Direction::ToServer, Direction::ToClient] {
            self.taps.remove(&(id, to, false));
            self.taps.remove(&(id, to, true));
        }
    }

    pub(super) fn has_news(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id)
            && !stream.has_news
        {
            stream.has_news = true;
            self.news.push_back(id);
        }
    }

    /// Carries out what the servers want.
    pub(super) fn deliver(&mut self) {
        while let Some(output) = self.cluster.poll_output() {
            match output {
                PeerOutput::Write { conn, data } => {
                    if let Some(&id) = self.by_peer.get(&conn) {
                        self.send(id, Direction::ToClient, data);
                    }
                }
                PeerOutput::Close { conn } => {
                    if let Some(id) = self.by_peer.remove(&conn) {
                        self.close_by_server(id);
                    }
                }
            }
        }
    }

    fn close_by_server(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.peer = None;
        let place = stream.place;
        let arrives = self.arrival(place, Direction::ToClient);
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.to_client.end(arrives);
            self.arm(id, Direction::ToClient);
        }
    }

    /// Reads along, while the trace is recorded.
    fn tap(&mut self, id: StreamId, to: Direction, arrived: bool, data: &Bytes) {
        if !self.trace.is_recorded() {
            return;
        }
        let tap = self.taps.entry((id, to, arrived)).or_default();
        for (len, command) in tap.pass(data.clone()) {
            let frame = FrameInfo::new(len, &command);
            let happening = if arrived {
                Happening::FrameArrived { stream: id, to, frame }
            } else {
                Happening::FrameLeft { stream: id, to, frame }
            };
            self.trace.annotate(self.now, happening);
        }
    }
}
