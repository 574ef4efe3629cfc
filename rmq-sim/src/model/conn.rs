//! One client's connection.

use std::fmt;
use std::net::SocketAddr;

use bytes::Bytes;
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};

/// Names one connection to a peer of a [`Cluster`](super::Cluster). Never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerConn(pub(crate) u64);

impl fmt::Display for PeerConn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {}", self.0)
    }
}

impl fmt::Debug for PeerConn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerConn({})", self.0)
    }
}

/// What a [`Cluster`](super::Cluster) wants done on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerOutput {
    /// Bytes for the client: all answers that one piece of input brought about.
    Write {
        /// The connection.
        conn: PeerConn,
        /// Whole frames.
        data: Bytes,
    },
    /// The peer closed the connection. Nothing more comes of it.
    Close {
        /// The connection.
        conn: PeerConn,
    },
}

/// A connection that the client's end has not left.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Index of the peer.
    pub(crate) peer: usize,
    pub(crate) from: SocketAddr,
    pub(crate) decoder: FrameDecoder,
    /// The peer's host vanished: its end knows the connection no longer, and nobody told the client's end.
    pub(crate) dead: bool,
    /// The peer's process shuts down, and another one serves new connections.
    pub(crate) leaving: bool,
}

impl Link {
    pub(crate) fn new(peer: usize, from: SocketAddr) -> Self {
        Self { peer, from, decoder: FrameDecoder::new(MAX_FRAME_LEN), dead: false, leaving: false }
    }
}
