//! What goes in and what comes out.

use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;

use crate::address::Address;
use crate::event::Event;

/// One connection, from the order to connect until it is closed.
///
/// Never reused: whatever a driver reports late for a connection that is gone is ignored, not misrouted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId {
    pub(crate) slot: u32,
    pub(crate) serial: u32,
}

impl fmt::Debug for ConnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conn {}.{}", self.slot, self.serial)
    }
}

/// What a driver reports. The enum is exhaustive on purpose: a driver handles each case.
#[derive(Clone, Debug)]
pub enum Input {
    /// The stream ordered by [`Output::Connect`] is open (and, with TLS, its handshake done).
    Connected {
        /// The connection.
        conn: ConnId,
    },
    /// Bytes read from the stream, in order, in any chunks.
    Received {
        /// The connection.
        conn: ConnId,
        /// What was read.
        data: Bytes,
    },
    /// The stream accepted so many more bytes of the outstanding [`Output::Write`].
    Written {
        /// The connection.
        conn: ConnId,
        /// Bytes accepted since the last report.
        bytes: usize,
    },
    /// The stream ended, or could not be opened. Not to be reported after [`Output::Close`].
    Closed {
        /// The connection.
        conn: ConnId,
        /// Why.
        reason: CloseReason,
    },
    /// What the wall clock says; to be fed each minute and after a jump. Timers do not depend on it.
    WallClock {
        /// Milliseconds since the Unix epoch.
        unix_ms: u64,
    },
}

/// Why a stream ended, as the driver saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The peer closed it in order (end of file).
    PeerClosed,
    /// It failed, with the system's own words: refused, reset, host unknown, TLS.
    Failed(Arc<str>),
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PeerClosed => f.write_str("closed by the peer"),
            Self::Failed(text) => f.write_str(text),
        }
    }
}

/// What a driver has to do. The enum is exhaustive on purpose.
#[derive(Clone, Debug)]
pub enum Output {
    /// Open a stream to `address`, then report [`Input::Connected`] or [`Input::Closed`].
    Connect {
        /// Names the connection from now on.
        conn: ConnId,
        /// Where to.
        address: Address,
    },
    /// Write all of `data`, reporting each part that the stream takes by [`Input::Written`]. No other `Write` for this connection comes before all of
    /// it is reported.
    Write {
        /// The connection.
        conn: ConnId,
        /// What to write.
        data: WriteData,
    },
    /// Close the stream (or give up connecting). Nothing more is to be reported for it. If its end was reported already,
    /// there is nothing left to do.
    Close {
        /// The connection.
        conn: ConnId,
    },
    /// Something the user may want to know.
    Event(Event),
}

/// The bytes of one write: a chain that can be written vectored. Large bodies are segments of their own, so that
/// they are never copied.
#[derive(Clone, Debug, Default)]
pub struct WriteData {
    pub(crate) segments: Vec<Bytes>,
}

impl WriteData {
    /// Total length in bytes.
    pub fn len(&self) -> usize {
        self.segments.iter().map(Bytes::len).sum()
    }

    /// Whether there is nothing to write; never so in an [`Output::Write`].
    pub fn is_empty(&self) -> bool {
        self.segments.iter().all(Bytes::is_empty)
    }

    /// The segments, in the order of the stream; none is empty.
    pub fn segments(&self) -> &[Bytes] {
        &self.segments
    }

    /// The segments, owned.
    pub fn into_segments(self) -> Vec<Bytes> {
        self.segments
    }
}
