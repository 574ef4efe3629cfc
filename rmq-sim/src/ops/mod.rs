//! Programs for a client made of bytes: any calls in any order, by a driver that keeps to nothing.
//!
//! [`Ops::from_bytes`] takes any bytes for a program, [`Ops::run`] runs it on a [`CheckedClient`](crate::checked::CheckedClient)
//! and stops at the first violation. Peers only answer when the program says so, with whatever it says: a good answer, a code,
//! a header that is not one, an answer twice, in two pieces. So a program reaches deep states, and then does what
//! no driver should: reports for connections that are gone or never opened, more bytes written than were handed out, time that goes back
//! or jumps by an hour.
//!
//! At the end of a program all time that its operations have passes: nothing may be under way then, and a shutdown has to
//! leave nothing behind.
//!
//! [`rounds`] drives two clients in step, in different ways that must not matter.

mod decode;
mod peer;
pub mod rounds;
mod setup;
mod world;

use core::time::Duration;

use rmq_core::Stats;

use crate::oracle::Violation;
pub use peer::Reply;
use world::World;

/// One call, or one thing that a driver or a peer does. Operations, connections and producers are named by number, modulo
/// those that the program knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Adds a producer.
    AddProducer {
        /// Number of its group.
        group: u8,
        /// Time of its sends.
        timeout: Duration,
        /// Its attempts.
        attempts: u8,
        /// Which of a few policies it has.
        policy: u8,
    },
    /// Sends a message.
    Send {
        /// The producer.
        producer: u8,
        /// Number of the topic.
        topic: u8,
        /// Bytes of the body.
        body: usize,
        /// Time of this send.
        timeout: Option<Duration>,
        /// Whether it is one-way.
        oneway: bool,
    },
    /// Gives a message back.
    SendBack {
        /// The producer.
        producer: u8,
        /// Which of a few stored messages, brokers and times.
        choice: u8,
        /// Time for the broker.
        timeout: Option<Duration>,
        /// Whether it is a dead letter.
        dead: bool,
    },
    /// Recalls a message.
    Recall {
        /// The producer.
        producer: u8,
        /// Which of a few topics, and which broker its handle names.
        choice: u8,
    },
    /// Cancels an operation, under way or not.
    Cancel {
        /// The operation.
        op: u8,
    },
    /// Reports a connection open.
    Connected {
        /// The connection.
        conn: u8,
    },
    /// Reports bytes written: of four parts of what is outstanding so many, rounded up; with 5, one byte more than all.
    Written {
        /// The connection.
        conn: u8,
        /// How many quarters.
        quarters: u8,
    },
    /// Answers a request that was written.
    Answer {
        /// The connection.
        conn: u8,
        /// Which of the requests that wait there.
        request: u8,
        /// How.
        reply: Reply,
        /// Whether the second half of the bytes comes only with the next bytes of the connection.
        split: bool,
    },
    /// Requests of a broker's own.
    Ask {
        /// The connection.
        conn: u8,
        /// How many.
        times: u8,
        /// Whether it wants no answer.
        oneway: bool,
    },
    /// Bytes that are no frame, or the beginning of one.
    Garbage {
        /// The connection.
        conn: u8,
        /// Two of the bytes.
        bytes: [u8; 2],
    },
    /// Reports the end of a connection.
    Closed {
        /// The connection.
        conn: u8,
        /// Whether the peer closed it in order.
        in_order: bool,
    },
    /// All do as they should until nothing is left to do: connections open, bytes are written, requests answered.
    Serve,
    /// Time passes.
    Advance {
        /// How much.
        by: Duration,
    },
    /// Time passes until the next timer is due.
    ToTimer,
    /// The clock goes back.
    Back {
        /// How much.
        by: Duration,
    },
    /// Fires timers.
    Timeout,
    /// Polls some outputs.
    Poll {
        /// At most so many.
        most: u8,
    },
    /// Ends a turn: fires timers and polls all outputs.
    Turn,
    /// The wall clock is set.
    WallClock {
        /// Milliseconds since the Unix epoch.
        unix_ms: u64,
    },
    /// Name servers answer with another set of routes from now on.
    Routes {
        /// Which.
        set: u8,
    },
    /// Gives the client another list of name servers.
    NameServers {
        /// Which of a few, an empty one included.
        list: u8,
    },
    /// Shuts down.
    Shutdown {
        /// The time it has.
        within: Duration,
    },
}

/// What a program's client starts from. Each byte chooses one of a few values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setup {
    seed: u8,
    limits: u8,
    times: u8,
    servers: u8,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ops {
    setup: Setup,
    ops: Vec<Op>,
}

/// What a program came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Digest of all outputs, byte for byte, and of the next timer after each operation of the program.
    pub digest: u64,
    /// Outputs polled.
    pub outputs: u64,
    /// What the client did in all.
    pub stats: Stats,
}

impl Ops {
    /// The program that `bytes` stand for; any do.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        decode::ops(bytes)
    }

    /// Its operations.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// The first promise that the client breaks.
    pub fn run(&self) -> Result<Report, Violation> {
        let mut world = World::new(self.setup);
        self.ops.iter().try_for_each(|op| world.step(op))?;
        world.finish()
    }

    /// Runs it up to its operation `at`, clones all there is, and runs the two to the end.
    ///
    /// # Errors
    ///
    /// The first promise that the client breaks.
    pub fn run_from_snapshot(&self, at: usize) -> Result<[Report; 2], Violation> {
        let (before, after) = self.ops.split_at(at.min(self.ops.len()));
        let mut original = World::new(self.setup);
        before.iter().try_for_each(|op| original.step(op))?;
        let mut snapshot = original.clone();
        let mut reports = [Report::default(); 2];
        for (world, report) in [&mut original, &mut snapshot].into_iter().zip(&mut reports) {
            after.iter().try_for_each(|op| world.step(op))?;
            *report = world.finish()?;
        }
        Ok(reports)
    }
}

/// [`Ops::run`] of the program that `bytes` stand for.
///
/// # Errors
///
/// The first promise that the client breaks.
pub fn run(bytes: &[u8]) -> Result<Report, Violation> {
    Ops::from_bytes(bytes).run()
}
