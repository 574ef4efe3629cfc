//! What waits to be written on one link, in order; control before data.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;

use super::Owner;

/// Names a waiting request, so that it can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// An answer to a broker's request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) opaque: i32,
    pub(crate) remark: Option<String>,
}

/// The next thing to write.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    Answer(Answer),
    Request(Owner),
}

/// Requests carry no bytes yet: those are made when the stream can take them, so that what is taken back costs
/// nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    answers: VecDeque<Answer>,
    control: BTreeMap<Ticket, Owner>,
    data: BTreeMap<Ticket, Owner>,
    serial: u64,
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.answers.len() + self.control.len() + self.data.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn answers(&self) -> usize {
        self.answers.len()
    }

    pub(crate) fn push_answer(&mut self, answer: Answer) {
        self.answers.push_back(answer);
    }

    pub(crate) fn push(&mut self, owner: Owner) -> Ticket {
        let ticket = Ticket(self.serial);
        self.serial += 1;
        let lane = match owner {
            Owner::Send(_) | Owner::SendBack(_) => &mut self.data,
            Owner::Route(_) | Owner::Heartbeat(_) | Owner::Unregister(_) | Owner::Probe(_) => {
                &mut self.control
            }
        };
        lane.insert(ticket, owner);
        ticket
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) {
        if self.data.remove(&ticket).is_none() {
            self.control.remove(&ticket);
        }
    }

    /// Takes back a control request whose owner remembers no ticket.
    pub(crate) fn remove_owner(&mut self, owner: Owner) {
        self.control.retain(|_, of| *of != owner);
    }

    pub(crate) fn peek(&self) -> Option<Owner> {
        let lane = if self.control.is_empty() { &self.data } else { &self.control };
        lane.first_key_value().map(|(_, owner)| *owner)
    }

    pub(crate) fn pop(&mut self) -> Option<Next> {
        if let Some(answer) = self.answers.pop_front() {
            return Some(Next::Answer(answer));
        }
        let (_, owner) = self.control.pop_first().or_else(|| self.data.pop_first())?;
        Some(Next::Request(owner))
    }

    /// All requests, in the order they would have been written; answers are dropped.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Owner> + use<> {
        self.answers.clear();
        let control = core::mem::take(&mut self.control);
        let data = core::mem::take(&mut self.data);
        control.into_values().chain(data.into_values())
    }
}
