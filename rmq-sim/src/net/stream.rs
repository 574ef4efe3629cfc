//! One connection, as the network sees it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::pipe::Pipe;
use crate::model::PeerConn;

/// One connection of a [`Network`](super::Network), from dialing on. Never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub(crate) u64);

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamId({})", self.0)
    }
}

/// How a stream ended, as the client learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// Nobody accepts connections there.
    Refused,
    /// The server closed it in order.
    PeerClosed,
    /// It was reset: what was on its way is lost, perhaps in the middle of a frame.
    Reset,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "connection refused",
            Self::PeerClosed => "closed by the peer",
            Self::Reset => "connection reset",
        })
    }
}

/// Where a stream is in its life, for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamState {
    /// The server has not answered.
    Dialing,
    /// Bytes go both ways.
    Open,
    /// It is over. What arrived before can still be read, unless it was refused.
    Ended(Ended),
}

#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) address: Arc<str>,
    /// Number of the client.
    pub(super) client: u32,
    /// Index of the server's place; `None` when nobody has the address.
    pub(super) place: Option<usize>,
    pub(super) state: StreamState,
    /// The server's end, while it has one.
    pub(super) peer: Option<PeerConn>,
    /// The server's host is gone without a word: nothing is answered, not even by its system.
    pub(super) orphaned: bool,
    pub(super) to_server: Pipe,
    pub(super) to_client: Pipe,
    pub(super) inbox: VecDeque<Bytes>,
    /// The client closed it; what is on its way still arrives.
    pub(super) abandoned: bool,
    /// A write was not taken whole.
    pub(super) wants_room: bool,
    pub(super) has_news: bool,
}

impl Stream {
    pub(super) fn new(client: u32, address: Arc<str>, place: Option<usize>) -> Self {
        Self {
            address,
            client,
            place,
            state: StreamState::Dialing,
            peer: None,
            orphaned: false,
            to_server: Pipe::new(),
            to_client: Pipe::new(),
            inbox: VecDeque::new(),
            abandoned: false,
            wants_room: false,
            has_news: false,
        }
    }

    /// Takes at most `max` bytes of what arrived.
    pub(super) fn read(&mut self, max: usize) -> Option<Bytes> {
        let front = self.inbox.front_mut()?;
        if front.len() > max {
            return Some(front.split_to(max));
        }
        let first = self.inbox.pop_front()?;
        if self.inbox.is_empty() {
            return Some(first);
        }
        let mut glued = BytesMut::from(first);
        while let Some(front) = self.inbox.front_mut() {
            let room = max - glued.len();
            if front.len() > room {
                glued.extend_from_slice(&front.split_to(room));
                break;
            }
            glued.extend_from_slice(front);
            self.inbox.pop_front();
        }
        Some(glued.freeze())
    }
}
