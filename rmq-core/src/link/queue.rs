//! What waits to be written on one link, in order; control before data.

use alloc::collections::VecDeque;
use alloc::string::String;

use super::Owner;
use crate::rising::RisingMap;

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

/// A request that waits to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) owner: Owner,
    /// Whether a peer that goes away has sent it here: that happens once.
    pub(crate) again: bool,
}

impl Request {
    pub(crate) const fn new(owner: Owner) -> Self {
        Self { owner, again: false }
    }
}

/// The next thing to write.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    Answer(Answer),
    Request(Request),
}

/// Requests carry no bytes yet: those are made when the stream can take them, so that what is taken back costs
/// nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    answers: VecDeque<Answer>,
    control: RisingMap<Ticket, Request>,
    data: RisingMap<Ticket, Request>,
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

    pub(crate) fn push(&mut self, request: Request) -> Ticket {
        let ticket = Ticket(self.serial);
        self.serial += 1;
        let lane = match request.owner {
            Owner::Send(_) | Owner::SendBack(_) => &mut self.data,
            Owner::Route(_) | Owner::Heartbeat(_) | Owner::Unregister(_) | Owner::Probe(_) => {
                &mut self.control
            }
        };
        lane.insert(ticket, request);
        ticket
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) {
        if self.data.remove(&ticket).is_none() {
            self.control.remove(&ticket);
        }
    }

    /// Takes back a control request whose owner remembers no ticket.
    pub(crate) fn remove_owner(&mut self, owner: Owner) {
        self.control.retain(|request| request.owner != owner);
    }

    pub(crate) fn peek(&self) -> Option<Owner> {
        let lane = if self.control.is_empty() { &self.data } else { &self.control };
        lane.first_key_value().map(|(_, request)| request.owner)
    }

    pub(crate) fn pop(&mut self) -> Option<Next> {
        if let Some(answer) = self.answers.pop_front() {
            return Some(Next::Answer(answer));
        }
        let (_, request) = self.control.pop_first().or_else(|| self.data.pop_first())?;
        Some(Next::Request(request))
    }

    /// All requests, in the order they would have been written; answers are dropped.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Owner> + use<> {
        self.answers.clear();
        self.take_requests().map(|request| request.owner)
    }

    /// All requests, in the order they would have been written. Answers belong to their connection and stay.
    pub(crate) fn take_requests(&mut self) -> impl Iterator<Item = Request> + use<> {
        let control = core::mem::take(&mut self.control);
        let data = core::mem::take(&mut self.data);
        control.into_values().chain(data.into_values())
    }
}
