//! When faults begin and end, and what they do.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use rmq_core::Instant;

use super::fault::Fault;
use super::stream::{Ended, StreamId, StreamState};
use super::{Network, Timed};
use crate::model;
use crate::trace::{Direction, Happening};

/// A fault to come, or one that is on.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    place: usize,
    fault: Fault,
    end: Instant,
}

impl Network {
    /// Lets something go wrong at an address, from `span.start` (now, if that is past) to `span.end`. False when no
    /// server has the address.
    #[must_use = "at an address that no server has nothing goes wrong"]
    pub fn plan(&mut self, address: &str, fault: Fault, span: Range<Instant>) -> bool {
        let Some(place) = self.place(address) else { return false };
        let number = self.serial;
        let begin = span.start.max(self.now);
        self.plans.insert(number, Plan { place, fault, end: span.end.max(begin) });
        self.set(begin, Timed::Begin(number));
        true
    }

    /// Ends all faults, and forgets those planned.
    pub fn heal(&mut self, now: Instant) {
        self.advance(now);
        self.plans.clear();
        for place in 0..self.places.len() {
            while let Some((_, fault)) = self.places[place].active.pop() {
                self.lift(place, fault);
            }
            self.settle_server(place);
            self.resume(place);
        }
        self.note(Happening::Healed);
    }

    /// How many faults began, by [name](Fault::name).
    pub fn fault_counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.fault_counts.iter().map(|(name, count)| (*name, *count))
    }

    /// Whether a fault is on at an address.
    pub fn is_faulty(&self, address: &str) -> bool {
        self.place(address).is_some_and(|place| !self.places[place].active.is_empty())
    }

    pub(super) fn begin_fault(&mut self, number: u64) {
        let Some(Plan { place, fault, end }) = self.plans.get(&number).cloned() else { return };
        let address = Arc::clone(&self.places[place].address);
        *self.fault_counts.entry(fault.name()).or_default() += 1;
        self.note(Happening::FaultBegan { address: address.clone(), fault: fault.clone() });
        // A process that is down cannot die once more.
        let is_down = self.places[place].is_down();
        self.places[place].active.push((number, fault.clone()));
        match fault {
            Fault::Reset => self.reset_all(place, 1_000),
            Fault::HalfOpen => self.orphan_all(place),
            Fault::Crash if !is_down => {
                self.reset_all(place, 500);
                let _ = self.cluster.stop(&address);
            }
            Fault::Vanish if !is_down => {
                self.orphan_all(place);
                let _ = self.cluster.vanish(&address);
            }
            Fault::CloseOnRequest { carried_out } => {
                let _ = self.cluster.fault(&address, model::Fault::CloseOnRequest { carried_out });
            }
            Fault::Drain => {
                let _ = self.cluster.drain(&address);
            }
            _ => self.settle_server(place),
        }
        self.deliver();
        self.set(end, Timed::End(number));
    }

    pub(super) fn end_fault(&mut self, number: u64) {
        let Some(Plan { place, .. }) = self.plans.remove(&number) else { return };
        let active = &mut self.places[place].active;
        let Some(index) = active.iter().position(|(of, _)| *of == number) else { return };
        let (_, fault) = active.remove(index);
        self.lift(place, fault);
        self.settle_server(place);
        self.resume(place);
    }

    /// Undoes what a fault, which is no longer on, did to its server.
    fn lift(&mut self, place: usize, fault: Fault) {
        let address = Arc::clone(&self.places[place].address);
        let starts = matches!(fault, Fault::Crash | Fault::Vanish);
        if fault == Fault::Drain {
            self.cluster.end_drain(&address);
            self.deliver();
        }
        self.note(Happening::FaultEnded { address: address.clone(), fault });
        if starts && !self.places[place].is_down() {
            let _ = self.cluster.start(&address);
            self.deliver();
        }
    }

    /// Tells the server which faults of its own are on. A close that no request has met is forgotten.
    fn settle_server(&mut self, place: usize) {
        let Self { cluster, places, .. } = self;
        let place = &places[place];
        cluster.heal(&place.address);
        for (_, fault) in &place.active {
            let fault = match fault {
                Fault::Hang => model::Fault::Hang,
                Fault::Mute => model::Fault::Mute,
                Fault::GoAway => model::Fault::GoAway,
                Fault::AnswerSends(code) => {
                    model::Fault::AnswerSends { count: u32::MAX, code: *code, remark: None }
                }
                _ => continue,
            };
            let _ = cluster.fault(&place.address, fault);
        }
    }

    /// Lets go on what a fault held up.
    fn resume(&mut self, place: usize) {
        for id in self.streams_at(place) {
            if self.is_in(id, StreamState::Dialing) {
                self.set(self.now, Timed::Dialed(id));
            }
            self.arm(id, Direction::ToServer);
            self.arm(id, Direction::ToClient);
        }
    }

    fn streams_at(&self, place: usize) -> Vec<StreamId> {
        let at_place = self.streams.iter().filter(|(_, stream)| stream.place == Some(place));
        at_place.map(|(id, _)| *id).collect()
    }

    fn is_in(&self, id: StreamId, state: StreamState) -> bool {
        self.streams.get(&id).is_some_and(|stream| stream.state == state)
    }

    /// Resets so many open streams in a thousand.
    fn reset_all(&mut self, place: usize, per_mille: u32) {
        for id in self.streams_at(place) {
            if self.is_in(id, StreamState::Open) && self.rng.chance(per_mille) {
                self.reset(id);
            }
        }
    }

    /// Of what is on its way, each side still gets a part, cut at any byte.
    fn reset(&mut self, id: StreamId) {
        let up = self.part_of_flight(id, Direction::ToServer);
        if !up.is_empty() {
            self.reach_server(id, up);
        }
        let down = self.part_of_flight(id, Direction::ToClient);
        if !down.is_empty() {
            self.reach_client(id, down);
        }
        self.end(id, Ended::Reset);
    }

    fn part_of_flight(&mut self, id: StreamId, to: Direction) -> Bytes {
        let Some(stream) = self.streams.get_mut(&id) else { return Bytes::new() };
        let mut flight = BytesMut::new();
        stream.pipe(to).drain().for_each(|piece| flight.extend_from_slice(&piece));
        flight.truncate(self.rng.index(flight.len() + 1));
        flight.freeze()
    }

    /// The server forgets its connections, and says nothing.
    fn orphan_all(&mut self, place: usize) {
        for id in self.streams_at(place) {
            if self.is_in(id, StreamState::Open) {
                self.lose_peer(id);
                if let Some(stream) = self.streams.get_mut(&id) {
                    stream.orphaned = true;
                }
                self.arm(id, Direction::ToServer);
            }
        }
    }
}
