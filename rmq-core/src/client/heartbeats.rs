//! Heartbeats: each link to a master beats for itself, with one under way at most (producer §11.3, PORT).

use core::time::Duration;

use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;

use super::Client;
use super::shutdown::Lifecycle;
use crate::address::Address;
use crate::error::{CloseCause, kept};
use crate::event::Event;
use crate::link::{Beat, Heartbeat, Link, LinkId, Owner, Request, State};
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
        self.forget_faults_of_unknown();
        for change in changes {
            match change {
                BrokerChange::Came(address) => self.master_came(&address),
                BrokerChange::Left(address) => self.master_left(&address, false),
                BrokerChange::Moved(address) => self.master_left(&address, true),
            }
        }
    }

    fn master_came(&mut self, address: &Address) {
        // Over the limit of links the broker does without heartbeats until a send finds room for its link.
        if let Ok(id) = self.link_for(address) {
            self.begin_beating(id);
        }
    }

    /// Gives a link its heartbeat, if it leads to a master and has none.
    pub(super) fn begin_beating(&mut self, id: LinkId) {
        let Some(link) = self.links.get_mut(id) else { return };
        if link.heartbeat.is_none() && self.brokers.is_master(&link.address) {
            let due = self.now + self.rng.jitter(FIRST_BEAT);
            link.heartbeat = Some(Heartbeat {
                due: due.max(link.backoff_until),
                awaiting: None,
                met: false,
                refused: false,
            });
            self.rearm_link(id);
        }
    }

    /// What waits on a broker that no route names any more may still be answered, and the connection closes when idle;
    /// one that has moved answers nothing at its old address.
    fn master_left(&mut self, address: &Address, moved: bool) {
        let Some(id) = self.link_by_address.get(address).copied() else { return };
        self.stop_beating(id);
        if moved && !self.name_servers.contains(address) {
            self.break_link(id, CloseCause::Moved, true);
        }
        self.rearm_link(id);
        self.forget_link_if_spare(id);
    }

    pub(super) fn stop_beating(&mut self, id: LinkId) {
        let beat = self.take_beat(id);
        if let Some(link) = self.links.get_mut(id) {
            link.heartbeat = None;
        }
        if let Some((beat, opaque)) = beat {
            self.bury(id, opaque, beat.deadline);
        }
    }

    /// Takes the heartbeat under way out of wherever it waits; returns it, if it was written.
    fn take_beat(&mut self, id: LinkId) -> Option<(Beat, i32)> {
        let link = self.links.get_mut(id)?;
        let beat = link.heartbeat.as_mut()?.awaiting.take()?;
        link.queue.remove_owner(Owner::Heartbeat(id));
        let opaque = link.up()?.pending.opaque_of(Owner::Heartbeat(id))?;
        Some((beat, opaque))
    }

    /// A connection to a known master opened: register there at once.
    pub(super) fn beat_on_open(&mut self, id: LinkId) {
        if mutated!(ForgetHeartbeats, self.forgone_beats(id)) {
            return;
        }
        if let Some(heartbeat) = self.links.get_mut(id).and_then(|link| link.heartbeat.as_mut()) {
            heartbeat.due = self.now;
            heartbeat.awaiting = None;
            heartbeat.met = false;
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
        let (now, beating) = (self.now, self.beating());
        let Some(link) = self.links.get_mut(id) else { return };
        let Some(heartbeat) = link.heartbeat.as_mut() else { return };
        if !beating || heartbeat.awaiting.is_some() || heartbeat.due > now {
            return;
        }
        heartbeat.due = now + self.rng.jitter(self.config.heartbeat_interval);
        match link.state {
            State::Up(_) => {
                heartbeat.awaiting = Some(Beat { began: now, deadline: now + self.config.request_timeout });
                let again = core::mem::take(&mut link.beats_again);
                self.stats.heartbeats += 1;
                link.queue.push(Request { owner: Owner::Heartbeat(id), again });
                self.want_write(id);
            }
            State::Idle => {
                let connecting = self.connect(id, false);
                let excused = mutated!(StopReconnecting);
                debug_assert!(connecting.is_ok() || excused, "a beat is not due before its back-off is over");
            }
            State::Connecting { .. } => {}
        }
    }

    /// Gives up the heartbeat under way if its time is over.
    pub(super) fn end_late_beat(&mut self, id: LinkId) {
        let now = self.now;
        let beat =
            self.links.get(id).and_then(|link| link.heartbeat).and_then(|heartbeat| heartbeat.awaiting);
        if beat.is_some_and(|beat| beat.deadline <= now)
            && let Some((beat, opaque)) = self.take_beat(id)
        {
            if let Some(heartbeat) = self.links.get_mut(id).and_then(|link| link.heartbeat.as_mut()) {
                heartbeat.met = true;
            }
            self.stats.heartbeats_unanswered += 1;
            self.give_up_awaiting(id, opaque, beat.began, beat.deadline);
        }
    }

    pub(super) fn heartbeat_answered(&mut self, id: LinkId, command: &RemotingCommand) {
        let Some(link) = self.links.get_mut(id) else { return };
        let code = ResponseCode(command.code);
        let refused = code != ResponseCode::SUCCESS;
        let mut was_refused = false;
        if let Some(heartbeat) = &mut link.heartbeat {
            heartbeat.awaiting = None;
            heartbeat.met = true;
            was_refused = core::mem::replace(&mut heartbeat.refused, refused);
        }
        let address = link.address.clone();
        self.beat_if_due(id);
        if refused {
            self.stats.heartbeats_refused += 1;
            let remark = kept(command.remark.as_deref());
            self.notice(Event::HeartbeatRefused { address, code, remark });
        } else if was_refused {
            self.notice(Event::HeartbeatAccepted { address });
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
