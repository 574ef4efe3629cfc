//! Peers that send this client away (producer §8.8, wire §9.4).
//!
//! Another link takes the place of the one that such an answer came on, with all that waits to be written there, and what was
//! not acted on is put once more. The old one drains: no address leads to it, and it is closed when nothing that was
//! written on it waits for an answer. Requests stand where they stood, so none of their machines needs to know.

use rmq_proto::command::RemotingCommand;

use super::{Client, Effect};
use crate::address::Address;
use crate::error::{CloseCause, RequestError};
use crate::event::{Event, OpId};
use crate::fault::ProbeId;
use crate::link::{Asking, HOLD_OFF, Link, LinkId, Owner, Request};

impl Client {
    /// A peer that goes away did not act on a request.
    pub(super) fn sent_away(&mut self, id: LinkId, request: Request, answer: &RemotingCommand) {
        self.stats.go_aways += 1;
        let Request { owner, again } = request;
        let goes_on = !again && self.config.reconnect_on_go_away && self.replace(id);
        let address = self.links.get(id).map(|link| link.address.clone());
        match (owner, address) {
            // The new connection begins with a heartbeat.
            (Owner::Heartbeat(_), _) if goes_on => {}
            (Owner::Heartbeat(_), _) => self.answered(owner, answer),
            (_, Some(address)) if goes_on => self.put_again(&address, Request { owner, again: true }),
            _ => self.effects.push_back(Effect::Failed { owner, error: RequestError::GoneAway }),
        }
    }

    /// Sees to it that another link has the place of this one; false when this one has just taken it from another.
    fn replace(&mut self, id: LinkId) -> bool {
        let now = self.now;
        let Some(link) = self.links.get(id) else { return false };
        if link.draining {
            return true;
        }
        if link.took_over.is_some_and(|at| now < at + HOLD_OFF) {
            return false;
        }
        let was_beating = link.heartbeat.is_some();
        self.stop_beating(id);
        let Some(link) = self.links.get_mut(id) else { return false };
        link.draining = true;
        let (address, waiting) = (link.address.clone(), link.queue.take_requests());
        self.link_by_address.remove(&address);
        self.draining.push_back(id);
        self.notice(Event::GoingAway { address: address.clone() });
        let heir = self.add_link(&address);
        if let Some(heir) = self.links.get_mut(heir) {
            heir.took_over = Some(now);
            heir.beats_again = was_beating;
        }
        let connecting = self.connect(heir, true);
        debug_assert!(connecting.is_ok(), "a link that never failed is not held off");
        waiting.for_each(|request| self.put_again(&address, request));
        self.rearm_link(id);
        self.keep_draining();
        true
    }

    fn put_again(&mut self, address: &Address, request: Request) {
        let owner = request.owner;
        let by_user = !matches!(owner, Owner::Heartbeat(_) | Owner::Unregister(_) | Owner::Probe(_));
        match self.put(address, request, by_user) {
            Ok((link, ticket)) => self.stands(owner, Asking::Queued { link, ticket }),
            Err(error) => self.effects.push_back(Effect::Failed { owner, error }),
        }
    }

    /// Tells a request's machine where it stands.
    pub(super) fn stands(&mut self, owner: Owner, asking: Asking) {
        match owner {
            Owner::Send(OpId(op)) => {
                if let Some(send) = self.sends.get_mut(op) {
                    send.stands(asking);
                }
            }
            Owner::SendBack(op) => self.back_stands(op, asking),
            Owner::Route(topic) => {
                if let Some(query) = self.routes.get_mut(topic).and_then(|topic| topic.query.as_mut()) {
                    query.asking = asking;
                }
            }
            Owner::Probe(ProbeId(probe)) => {
                if let Some(probe) = self.probes.get_mut(probe) {
                    probe.asking = asking;
                }
            }
            // They are looked for by their owners.
            Owner::Heartbeat(_) | Owner::Unregister(_) => {}
        }
    }

    /// Closes the links that have drained for longest, until there are no more than may be.
    fn keep_draining(&mut self) {
        while self.draining.len() > self.config.limits.draining
            && let Some(oldest) = self.draining.front().copied()
        {
            self.break_link(oldest, CloseCause::GoneAway, true);
        }
    }

    /// Closes a draining link that nothing is left to wait for on.
    pub(super) fn close_if_drained(&mut self, id: LinkId) {
        if self.links.get(id).is_some_and(Link::is_drained) {
            self.break_link(id, CloseCause::GoneAway, true);
        }
    }
}
