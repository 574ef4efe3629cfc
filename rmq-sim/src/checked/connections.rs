//! Connections: one order to connect, one write at a time, one order to close.

use std::collections::{BTreeMap, BTreeSet};

use rmq_core::{ConnId, Input};

use super::ONE_WRITE;
use crate::oracle::Violation;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Connecting,
    /// Open, with so many bytes handed out and not reported written.
    Open {
        outstanding: usize,
    },
    /// Its end was reported. An order to close that was given before may still come.
    Ended,
}

/// What an input means for its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing: the connection is gone or was never there.
    Stale,
    /// The stream opened, ended, or brought bytes.
    Fact,
    /// So many bytes of the outstanding write were taken.
    Taken(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Connections {
    write_batch: usize,
    states: BTreeMap<ConnId, State>,
    used: BTreeSet<ConnId>,
    /// Those that the next complete drain forgets.
    ended: Vec<ConnId>,
    open: usize,
    /// Inputs that no driver should make.
    pub(super) misuses: u64,
}

impl Connections {
    pub(super) fn new(write_batch: usize) -> Self {
        let (states, used) = (BTreeMap::new(), BTreeSet::new());
        Self { write_batch, states, used, ended: Vec::new(), open: 0, misuses: 0 }
    }

    /// Connections ordered so far.
    pub(super) fn ordered(&self) -> usize {
        self.used.len()
    }

    /// Those that are open.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Those that are open or about to be.
    pub(super) fn live(&self) -> usize {
        self.states.len() - self.ended.len()
    }

    pub(super) fn input(&mut self, input: &Input) -> Meaning {
        let (Input::Connected { conn }
        | Input::Received { conn, .. }
        | Input::Written { conn, .. }
        | Input::Closed { conn, .. }) = input
        else {
            return Meaning::Fact;
        };
        let Some(state) = self.states.get_mut(conn).filter(|state| **state != State::Ended) else {
            return Meaning::Stale;
        };
        match (input, &mut *state) {
            (Input::Closed { .. }, _) => {
                self.open -= usize::from(matches!(state, State::Open { .. }));
                *state = State::Ended;
                self.ended.push(*conn);
            }
            (Input::Connected { .. }, State::Connecting) => {
                *state = State::Open { outstanding: 0 };
                self.open += 1;
            }
            (Input::Written { bytes, .. }, State::Open { outstanding }) => {
                let taken = (*bytes).min(*outstanding);
                self.misuses += u64::from(taken != *bytes);
                *outstanding -= taken;
                return Meaning::Taken(taken);
            }
            (Input::Received { .. }, State::Open { .. }) => {}
            _ => {
                self.misuses += 1;
                return Meaning::Stale;
            }
        }
        Meaning::Fact
    }

    pub(super) fn connect(&mut self, conn: ConnId) -> Result<(), Violation> {
        let fresh = self.used.insert(conn);
        if fresh {
            self.states.insert(conn, State::Connecting);
        }
        Violation::unless(fresh, ONE_WRITE, || format!("{conn:?} is ordered for the second time"))
    }

    /// A write of `len` bytes was ordered; `one_frame` says whether it is a single frame.
    pub(super) fn write(&mut self, conn: ConnId, len: usize, one_frame: bool) -> Result<(), Violation> {
        let Some(State::Open { outstanding }) = self.states.get_mut(&conn) else {
            let state = self.states.get(&conn);
            return Err(Violation::new(
                ONE_WRITE,
                format!("{len} bytes to write on {conn:?}, which is {state:?}"),
            ));
        };
        let before = core::mem::replace(outstanding, len);
        Violation::unless(before == 0, ONE_WRITE, || {
            format!("{len} bytes to write on {conn:?}, where {before} are outstanding")
        })?;
        Violation::unless(len > 0, ONE_WRITE, || format!("an empty write on {conn:?}"))?;
        Violation::unless(len <= self.write_batch || one_frame, ONE_WRITE, || {
            format!("several frames of {len} bytes to write on {conn:?}, over {}", self.write_batch)
        })
    }

    pub(super) fn close(&mut self, conn: ConnId) -> Result<(), Violation> {
        let state = self.states.remove(&conn);
        self.open -= usize::from(matches!(state, Some(State::Open { .. })));
        self.ended.retain(|ended| *ended != conn);
        let before = if self.used.contains(&conn) { "gone" } else { "never ordered" };
        Violation::unless(state.is_some(), ONE_WRITE, || format!("{conn:?} is to be closed, but is {before}"))
    }

    /// All outputs were polled: whatever was ordered before an end was reported has come.
    pub(super) fn drained(&mut self) {
        for conn in self.ended.drain(..) {
            self.states.remove(&conn);
        }
    }
}
