//! One link per peer: its connection, what waits to be written on it and what waits for an answer.
//!
//! | state      | leaves on                                    | to         |
//! |------------|----------------------------------------------|------------|
//! | Idle       | a request, or a heartbeat past its back-off   | Connecting |
//! | Connecting | `Connected`                                  | Up         |
//! | Connecting | `Closed`, connect timeout                    | Idle       |
//! | Up         | `Closed`, bad bytes, stall, silence, idleness | Idle       |
//! | Up         | its peer sends the client away               | Up, but draining |
//!
//! Another link takes the place of one that drains, and no address leads to it any more. It is closed, and gone, when all that
//! was written on it is answered or given up.
//!
//! An idle link remembers why and when it failed: the next connect that the core starts by itself waits for the
//! back-off, and one for a user's operation comes at most once per [`HOLD_OFF`].

mod pending;
mod queue;
mod up;

pub(crate) use pending::{Entry, Pending};
pub(crate) use queue::{Answer, Next, Queue, Request, Ticket};
pub(crate) use up::Up;

use alloc::boxed::Box;
use core::time::Duration;

use crate::address::Address;
use crate::deadlines::Armed;
use crate::error::CloseCause;
use crate::event::{OpId, ProducerId};
use crate::fault::ProbeId;
use crate::io::ConnId;
use crate::rng::Rng;
use crate::route::TopicId;
use crate::slab::Id;
use crate::time::Instant;

pub(crate) type LinkId = Id;

/// Least time between two connects to one address; within it a request fails with the remembered cause.
pub(crate) const HOLD_OFF: Duration = Duration::from_millis(100);
/// A wait shorter than this says nothing about the peer.
pub(crate) const FAIR_WAIT: Duration = Duration::from_millis(500);
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const LAST_BACKOFF: Duration = Duration::from_secs(30);

/// Which machine waits for a request: its continuation, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Send(OpId),
    SendBack(OpId),
    Route(TopicId),
    Heartbeat(LinkId),
    Unregister(ProducerId),
    Probe(ProbeId),
}

/// Where a request stands, for the machine that may want it back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asking {
    /// At no link.
    Idle,
    Queued {
        link: LinkId,
        ticket: Ticket,
    },
    Awaiting {
        link: LinkId,
        opaque: i32,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum State {
    Idle,
    Connecting { conn: ConnId, deadline: Instant },
    Up(Box<Up>),
}

/// Set while a route names the link's address as a master (producer §11.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heartbeat {
    pub(crate) due: Instant,
    pub(crate) awaiting: Option<Beat>,
    /// Whether a beat on this connection was answered, or will not be.
    pub(crate) met: bool,
    /// Whether the last one that was answered was refused.
    pub(crate) refused: bool,
}

/// A heartbeat under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beat {
    pub(crate) began: Instant,
    pub(crate) deadline: Instant,
}

#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) address: Address,
    pub(crate) state: State,
    pub(crate) queue: Queue,
    pub(crate) heartbeat: Option<Heartbeat>,
    pub(crate) timer: Option<Armed>,
    last_connect: Option<Instant>,
    failure: Option<CloseCause>,
    failures: u32,
    pub(crate) backoff_until: Instant,
    /// Its peer has sent the client away, and another link has taken its place.
    pub(crate) draining: bool,
    /// When it took the place of another link, if it did.
    pub(crate) took_over: Option<Instant>,
    /// Whether its first heartbeat stands for one on the link whose place it took.
    pub(crate) beats_again: bool,
}

impl Link {
    pub(crate) fn new(address: Address) -> Self {
        Self {
            address,
            state: State::Idle,
            queue: Queue::default(),
            heartbeat: None,
            timer: None,
            last_connect: None,
            failure: None,
            failures: 0,
            backoff_until: Instant::ZERO,
            draining: false,
            took_over: None,
            beats_again: false,
        }
    }

    pub(crate) fn conn(&self) -> Option<ConnId> {
        match &self.state {
            State::Idle => None,
            State::Connecting { conn, .. } => Some(*conn),
            State::Up(up) => Some(up.conn),
        }
    }

    pub(crate) fn up(&mut self) -> Option<&mut Up> {
        match &mut self.state {
            State::Up(up) => Some(up),
            State::Idle | State::Connecting { .. } => None,
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    /// Requests written whose answer is awaited.
    pub(crate) fn awaited(&self) -> usize {
        match &self.state {
            State::Up(up) => up.pending.len(),
            State::Idle | State::Connecting { .. } => 0,
        }
    }

    /// Bytes handed to the stream that it has not taken yet, and bytes received of a frame that is not whole yet.
    pub(crate) fn buffered(&self) -> (usize, usize) {
        match &self.state {
            State::Up(up) => (up.unwritten(), up.decoder.buffered()),
            State::Idle | State::Connecting { .. } => (0, 0),
        }
    }

    /// Whether it drains and nothing is left to wait for.
    pub(crate) fn is_drained(&self) -> bool {
        let quiet = matches!(&self.state, State::Up(up) if up.is_quiet());
        self.draining && quiet && self.queue.is_empty()
    }

    /// Nothing but its address is worth remembering.
    pub(crate) fn is_spare(&self) -> bool {
        matches!(self.state, State::Idle) && self.heartbeat.is_none() && self.queue.is_empty()
    }

    /// Why a connect may not start now; `None` when it may. A user's operation is held off for a moment only.
    pub(crate) fn held_off(&self, now: Instant, by_user: bool) -> Option<&CloseCause> {
        let failure = self.failure.as_ref()?;
        if mutated!(StopReconnecting) && self.failures >= 3 {
            return Some(failure);
        }
        let until = match self.last_connect {
            Some(last) if by_user => last + HOLD_OFF,
            _ if by_user => return None,
            _ => self.backoff_until,
        };
        if now < until { Some(failure) } else { None }
    }

    /// Whether the peer is a master that will soon know this client, as nothing speaks against it.
    pub(crate) fn is_registering(&self) -> bool {
        self.failure.is_none() && self.heartbeat.is_some_and(|heartbeat| !heartbeat.met)
    }

    /// When an idle link has nothing to remember any more.
    pub(crate) fn held_off_until(&self) -> Option<Instant> {
        self.failure.as_ref().and(self.last_connect).map(|last| last + HOLD_OFF)
    }

    pub(crate) fn connecting(&mut self, now: Instant, conn: ConnId, timeout: Duration) {
        self.last_connect = Some(now);
        self.state = State::Connecting { conn, deadline: now + timeout };
    }

    /// Remembers that the link works, once its peer has said something.
    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
        self.failure = None;
    }

    /// Takes the state apart after a failure; the caller settles what waited.
    pub(crate) fn failed(&mut self, now: Instant, cause: CloseCause, rng: &mut Rng) -> State {
        let benign = matches!(
            cause,
            CloseCause::Idle { .. }
                | CloseCause::Moved
                | CloseCause::Unlisted
                | CloseCause::GoneAway
                | CloseCause::ShutDown
        );
        if benign {
            self.backoff_until = now;
        } else {
            let shift = self.failures.min(10);
            self.failures = self.failures.saturating_add(1);
            let delay = FIRST_BACKOFF.saturating_mul(1 << shift).min(LAST_BACKOFF);
            self.backoff_until = now + rng.jitter(delay);
            self.failure = Some(cause);
        }
        if let Some(heartbeat) = &mut self.heartbeat {
            heartbeat.awaiting = None;
            heartbeat.met = false;
            heartbeat.due = if benign { heartbeat.due.max(now) } else { self.backoff_until };
        }
        core::mem::replace(&mut self.state, State::Idle)
    }

    /// The nearest moment at which something is to be done for this link. `beating` says whether heartbeats are sent.
    pub(crate) fn next_deadline(&self, beating: bool, idle: Duration) -> Option<Instant> {
        let heartbeat = self.heartbeat.filter(|_| beating);
        match &self.state {
            State::Idle => heartbeat.map(|heartbeat| heartbeat.due),
            State::Connecting { deadline, .. } => Some(*deadline),
            State::Up(up) => {
                let beat =
                    heartbeat.map(|heartbeat| heartbeat.awaiting.map_or(heartbeat.due, |beat| beat.deadline));
                let idle_at = Some(up.last_activity + idle);
                [beat, up.stall_deadline, idle_at, up.pending.next_death()].into_iter().flatten().min()
            }
        }
    }
}
