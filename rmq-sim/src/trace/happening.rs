//! What can happen.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;

use crate::net::{Ended, Fault, StreamId};
use crate::oracle::Violation;

/// What the lines of a trace mean.
pub const LEGEND: &str = "\
seconds.micros  who  what
  c0 c1 ...     clients, by number
  #n            a connection
  >             to the server            <  to the client
  frame         code (opaque), bytes: left when it is written, arrived when the other side has all of it
  +++ / ---     a fault begins / ends
  op n          an operation of that client, from its acceptance to its one end
  !!!           an oracle failed";

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToServer => ">",
            Self::ToClient => "<",
        })
    }
}

/// A frame, as far as a picture of a run needs it. Says nothing of its contents, which may be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameInfo {
    /// Code of the request or response.
    pub code: i32,
    /// Ties a response to its request.
    pub opaque: i32,
    /// Whether it is a response.
    pub is_response: bool,
    /// Length of the whole frame, in bytes.
    pub len: usize,
}

impl FrameInfo {
    pub(crate) fn new(len: usize, command: &RemotingCommand) -> Self {
        Self { code: command.code, opaque: command.opaque, is_response: command.is_response(), len }
    }
}

impl fmt::Display for FrameInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_response {
            write!(f, "{}", ResponseCode(self.code))?;
        } else {
            write!(f, "{}", RequestCode(self.code))?;
        }
        write!(f, " ({}), {} bytes", self.opaque, self.len)
    }
}

/// One thing that happened. Clients have numbers, from 0, and so have each client's operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "fields are what their names say, in the terms of the enum's own text")]
pub enum Happening {
    /// A client begins to connect.
    Dialed { client: u32, stream: StreamId, address: Arc<str> },
    /// A connection is open.
    Opened { stream: StreamId },
    /// The client learned that a connection ended, or could not be opened.
    Ended { stream: StreamId, how: Ended },
    /// The client closed a connection.
    Abandoned { stream: StreamId },
    /// Bytes left.
    Left { stream: StreamId, to: Direction, bytes: usize },
    /// Bytes arrived.
    Arrived { stream: StreamId, to: Direction, bytes: usize },
    /// The last byte of a frame left. Only while recording.
    FrameLeft { stream: StreamId, to: Direction, frame: FrameInfo },
    /// The last byte of a frame arrived. Only while recording.
    FrameArrived { stream: StreamId, to: Direction, frame: FrameInfo },
    /// A fault begins at a server.
    FaultBegan { address: Arc<str>, fault: Fault },
    /// It is over.
    FaultEnded { address: Arc<str>, fault: Fault },
    /// All faults are over and none follows.
    Healed,
    /// A client began.
    Started { client: u32 },
    /// A client's process stands still.
    Suspended { client: u32, time: Duration },
    /// A client's wall clock jumped.
    ClockStepped { client: u32, millis: i64 },
    /// A client was killed, and another takes its place.
    Killed { client: u32 },
    /// A client accepted an operation.
    Accepted { client: u32, op: u64, what: &'static str },
    /// A client was told to take an operation back.
    Cancelled { client: u32, op: u64 },
    /// An operation ended.
    Finished { client: u32, op: u64, how: Arc<str> },
    /// A client was told to shut down.
    ShuttingDown { client: u32 },
    /// A client has shut down.
    ShutDown { client: u32 },
    /// Whatever somebody wanted to see in the trace.
    Note(Arc<str>),
    /// An oracle failed.
    Violated(Violation),
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dialed { client, stream, address } => write!(f, "c{client} {stream} dials {address}"),
            Self::Opened { stream } => write!(f, "{stream} open"),
            Self::Ended { stream, how } => write!(f, "{stream} ended: {how}"),
            Self::Abandoned { stream } => write!(f, "{stream} closed by the client"),
            Self::Left { stream, to, bytes } => write!(f, "{stream} {to} {bytes} bytes left"),
            Self::Arrived { stream, to, bytes } => write!(f, "{stream} {to} {bytes} bytes arrived"),
            Self::FrameLeft { stream, to, frame } => write!(f, "{stream} {to} {frame}, left"),
            Self::FrameArrived { stream, to, frame } => write!(f, "{stream} {to} {frame}, arrived"),
            Self::FaultBegan { address, fault } => write!(f, "+++ {address}: {fault}"),
            Self::FaultEnded { address, fault } => write!(f, "--- {address}: {fault}"),
            Self::Healed => f.write_str("--- all faults are over"),
            Self::Started { client } => write!(f, "c{client} starts"),
            Self::Suspended { client, time } => write!(f, "c{client} is suspended for {time:?}"),
            Self::ClockStepped { client, millis } => write!(f, "c{client} wall clock jumps by {millis} ms"),
            Self::Killed { client } => write!(f, "c{client} is killed"),
            Self::Accepted { client, op, what } => write!(f, "c{client} op {op}: {what}"),
            Self::Cancelled { client, op } => write!(f, "c{client} op {op}: cancel"),
            Self::Finished { client, op, how } => write!(f, "c{client} op {op}: {how}"),
            Self::ShuttingDown { client } => write!(f, "c{client} is to shut down"),
            Self::ShutDown { client } => write!(f, "c{client} has shut down"),
            Self::Note(text) => f.write_str(text),
            Self::Violated(violation) => write!(f, "!!! {violation}"),
        }
    }
}
