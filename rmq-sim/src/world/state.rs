//! What the parts of a world share, under one lock.

use std::collections::BTreeMap;
use std::task::{Context, Waker};

use rmq_core::Instant;

use super::executor::Executor;
use super::ledger::Ledger;
use super::wire::Tap;
use crate::net::{Network, StreamId};
use crate::rng::Rng;

/// The client's end of a stream.
#[derive(Default)]
pub(super) struct Socket {
    /// Whoever waits for the stream to open, or to have something to read.
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
    pub(super) tap: Tap,
}

pub(super) struct State {
    pub(super) network: Network,
    pub(super) sockets: BTreeMap<StreamId, Socket>,
    pub(super) executor: Executor,
    pub(super) ledger: Ledger,
    pub(super) rng: Rng,
    pub(super) hosts: u32,
    /// Whoever lets the network's time pass, and when it will look by itself.
    pub(super) pump: Option<(Waker, Instant)>,
    /// To be woken when the lock is free.
    pub(super) woken: Vec<Waker>,
    /// To be dropped when the lock is free: a waker may own what ends with it.
    pub(super) discarded: Vec<Waker>,
}

impl State {
    pub(super) fn new(network: Network, rng: Rng) -> Self {
        Self {
            network,
            sockets: BTreeMap::new(),
            executor: Executor::new(),
            ledger: Ledger::default(),
            rng,
            hosts: 0,
            pump: None,
            woken: Vec::new(),
            discarded: Vec::new(),
        }
    }

    /// Passes on what the network has to say.
    pub(super) fn settle(&mut self) {
        while let Some((_, stream)) = self.network.poll_news() {
            if let Some(socket) = self.sockets.get_mut(&stream) {
                self.woken.extend(socket.reader.take());
                self.woken.extend(socket.writer.take());
            }
        }
        self.ledger.look(&self.network);
        let next = self.network.poll_timeout();
        let is_late = |(_, at): &mut (Waker, Instant)| next.is_some_and(|next| next < *at);
        self.woken.extend(self.pump.take_if(is_late).map(|(waker, _)| waker));
    }

    /// Time passes, to `now` at most: what arrived meanwhile is known before timers go off.
    pub(super) fn advance(&mut self, now: Instant) {
        self.network.handle_timeout(now);
        self.settle();
        self.woken.extend(self.executor.due(now));
    }
}

/// Leaves the waker of `cx` in `slot`.
pub(super) fn keep(slot: &mut Option<Waker>, cx: &Context<'_>, discarded: &mut Vec<Waker>) {
    if !slot.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
        discarded.extend(slot.replace(cx.waker().clone()));
    }
}
