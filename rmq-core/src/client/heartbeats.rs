//! Heartbeats: each link to a master beats for itself, with one under way at most (producer §11.3, PORT).

use core::time::Duration;

use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;

use super::Client;
use super::shutdown::Lifecycle;
use crate::address::Address;
use crate::error::CloseCause;
use crate::event::Event;
use crate::link::{Beat, Heartbeat, Link, LinkId, Owner, State};
use crate::route::BrokerChange;

/// From hearing of a master to the first heartbeat, unless a send connects before.
const FIRST_BEAT: Duration = Duration::from_secs(1);

impl Client {
    /// Whether heartbeats are sent at all: there is somebody to register.
    pub(super) fn beating(&self) -> bool {
        matches!(self.lifecycle, Lifecycle::Running) && !self.producers.is_empty()
    }

    /// The routes changed: masters came or went.
    pub(super) fn brokers_changed(&mut self, changes: impl IntoIterator<Item = BrokerChange>) {
        for change in changes {
            match change {
                BrokerChange::Came(address) => self.master_came(&address),
                BrokerChange::Left(address) => self.master_left(&address),
            }
        }
    }

    fn master_came(&mut self, address: &Address) {
        // Over the limit of links the broker does without heartbeats; sends to it say why they fail.
        let Ok(id) = self.link_for(address) else { return };
        let due = self.now + self.rng.jitter(FIRST_BEAT);
        let Some(link) = self.links.get_mut(id) else {
            return;
        };
        if link.heartbeat.is_none() {
            let due = due.max(link.backoff_until);
            link.heartbeat = Some(Heartbeat { due, awaiting: None });
            self.rearm_link(id);
        }
    }

    fn master_left(&mut self, address: &Address) {
        let Some(id) = self.link_by_address.get(address).copied() else {
            return;
        };
        if self.name_servers.contains(address) {
            return;
        }
        if let Some(link) = self.links.get_mut(id) {
            link.heartbeat = None;
        }
        self.break_link(id, CloseCause::Moved, true);
        self.rearm_link(id);
        self.forget_link_if_spare(id);
    }

    /// A connection to a known master opened: register there at once.
    pub(super) fn beat_on_open(&mut self, id: LinkId) {
        if let Some(heartbeat) = self.links.get_mut(id).and_then(|link| link.heartbeat.as_mut()) {
            heartbeat.due = self.now;
            heartbeat.awaiting = None;
            self.beat_if_due(id);
        }
    }

    /// There is a new group to register. A heartbeat under way does not have it: another follows.
    pub(super) fn beat_now(&mut self) {
        for id in self.links.ids() {
            if let Some(link) = self.links.get_mut(id).filter(|link| link.is_up())
                && let Some(heartbeat) = link.heartbeat.as_mut()
            {
                heartbeat.due = self.now;
                self.beat_if_due(id);
            }
            self.rearm_link(id);
        }
    }

    pub(super) fn beat_if_due(&mut self, id: LinkId) {
        if !self.beating() {
            return;
        }
        let (now, timeout) = (self.now, self.config.request_timeout);
        let next = now + self.rng.jitter(self.config.heartbeat_interval);
        let Some(link) = self.links.get_mut(id) else {
            return;
        };
        let Some(heartbeat) = link.heartbeat.as_mut() else {
            return;
        };
        if let Some(beat) = heartbeat.awaiting {
            if beat.deadline <= now {
                self.heartbeat_timed_out(id, beat);
            }
            return;
        }
        if heartbeat.due > now {
            return;
        }
        heartbeat.due = next;
        match link.state {
            State::Up(_) => {
                heartbeat.awaiting = Some(Beat { began: now, deadline: now + timeout });
                link.queue.push(Owner::Heartbeat(id));
                self.want_write(id);
            }
            State::Idle => {
                if self.connect(id, false).is_err()
                    && let Some(link) = self.links.get_mut(id)
                {
                    let until = link.backoff_until;
                    if let Some(heartbeat) = &mut link.heartbeat {
                        heartbeat.due = until;
                    }
                }
            }
            State::Connecting { .. } => {}
        }
    }

    fn heartbeat_timed_out(&mut self, id: LinkId, beat: Beat) {
        let Some(link) = self.links.get_mut(id) else {
            return;
        };
        if let Some(heartbeat) = &mut link.heartbeat {
            heartbeat.awaiting = None;
        }
        link.queue.remove_owner(Owner::Heartbeat(id));
        let opaque = link.up().and_then(|up| up.pending.opaque_of(Owner::Heartbeat(id)));
        if let Some(opaque) = opaque {
            self.give_up_awaiting(id, opaque, beat.began, beat.deadline);
        }
    }

    pub(super) fn heartbeat_answered(&mut self, id: LinkId, command: &RemotingCommand) {
        let Some(link) = self.links.get_mut(id) else {
            return;
        };
        if let Some(heartbeat) = &mut link.heartbeat {
            heartbeat.awaiting = None;
        }
        let address = link.address.clone();
        self.beat_if_due(id);
        let code = ResponseCode(command.code);
        if code != ResponseCode::SUCCESS {
            self.notice(Event::HeartbeatRefused { address, code });
        }
        self.rearm_link(id);
    }
}

impl Link {
    /// Whether a broker at the other end knows this client.
    pub(super) fn is_registered(&self) -> bool {
        self.is_up() && self.heartbeat.is_some()
    }
}
