//! Links: opening, feeding, and taking apart.

use alloc::boxed::Box;

use bytes::Bytes;
use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::Frame;

use super::outputs::Item;
use super::{Client, Effect, Timer};
use crate::address::Address;
use crate::config::CloseOnTimeout;
use crate::error::{CloseCause, RequestError};
use crate::event::Event;
use crate::io::{CloseReason, ConnId};
use crate::link::{Asking, Entry, FAIR_WAIT, Link, LinkId, Owner, Request, State, Ticket, Up};
use crate::time::Instant;

impl Client {
    /// Queues a request to a peer, connecting if need be. Its bytes are made when the stream can take them.
    pub(super) fn request(
        &mut self,
        address: &Address,
        owner: Owner,
        by_user: bool,
    ) -> Result<(LinkId, Ticket), RequestError> {
        self.put(address, Request::new(owner), by_user)
    }

    /// [`request`](Self::request), for one that may have been sent here.
    pub(super) fn put(
        &mut self,
        address: &Address,
        request: Request,
        by_user: bool,
    ) -> Result<(LinkId, Ticket), RequestError> {
        let id = self.link_for(address)?;
        self.connect(id, by_user)?;
        let Some(link) = self.links.get_mut(id) else {
            return Err(RequestError::TooManyConnections { limit: self.config.limits.links });
        };
        let ticket = link.queue.push(request);
        self.want_write(id);
        Ok((id, ticket))
    }

    pub(super) fn link_for(&mut self, address: &Address) -> Result<LinkId, RequestError> {
        if let Some(id) = self.link_by_address.get(address) {
            return Ok(*id);
        }
        // Brokers, however many, must not keep a name server out.
        let limit = self.config.limits.links;
        let known = self.links.len() - self.draining.len();
        if known >= limit && !self.name_servers.contains(address) {
            return Err(RequestError::TooManyConnections { limit });
        }
        Ok(self.add_link(address))
    }

    pub(super) fn add_link(&mut self, address: &Address) -> LinkId {
        let id = self.links.insert(Link::new(address.clone()));
        self.link_by_address.insert(address.clone(), id);
        self.begin_beating(id);
        id
    }

    /// Starts connecting an idle link, or says why that has to wait.
    pub(super) fn connect(&mut self, id: LinkId, by_user: bool) -> Result<(), RequestError> {
        let conn = ConnId { slot: id.slot, serial: self.next_conn };
        let (now, timeout) = (self.now, self.config.connect_timeout);
        let Some(link) = self.links.get_mut(id) else {
            return Ok(());
        };
        if !matches!(link.state, State::Idle) {
            return Ok(());
        }
        if let Some(cause) = link.held_off(now, by_user) {
            return Err(RequestError::HeldOff(cause.clone()));
        }
        link.connecting(now, conn, timeout);
        let address = link.address.clone();
        self.next_conn = self.next_conn.wrapping_add(1);
        self.stats.connects += 1;
        self.outputs.push(Item::Connect { conn, address });
        self.rearm_link(id);
        Ok(())
    }

    /// Marks a link for writing, if it has something to write and its stream took all it was given.
    pub(super) fn want_write(&mut self, id: LinkId) {
        let Some(link) = self.links.get_mut(id) else { return };
        let has_work = !link.queue.is_empty();
        if let Some(up) = link.up()
            && has_work
            && up.has_credit()
            && !up.write_queued
        {
            up.write_queued = true;
            self.outputs.push(Item::Write { conn: up.conn, link: id });
        }
    }

    /// Moves a link's timer to where it has to be. A timer that is too early is left alone and moves when it fires.
    pub(super) fn rearm_link(&mut self, id: LinkId) {
        let beating = self.beating();
        let Some(link) = self.links.get_mut(id) else { return };
        let spare = link.is_spare() && !self.name_servers.contains(&link.address);
        let forget = if spare { link.held_off_until().filter(|at| *at > self.now) } else { None };
        let Some(at) = link.next_deadline(beating, self.config.idle_timeout).or(forget) else {
            return self.timers.disarm(&mut link.timer);
        };
        if link.timer.is_none_or(|armed| armed.at > at) {
            self.timers.arm(&mut link.timer, at, Timer::Link(id));
        }
    }

    pub(super) fn link_timer(&mut self, id: LinkId) {
        let now = self.now;
        let Some(link) = self.links.get_mut(id) else { return };
        link.timer = None;
        if let Some(up) = link.up() {
            up.pending.forget_dead(now);
        }
        let cause = match &link.state {
            State::Idle => None,
            State::Connecting { deadline, .. } if *deadline <= now => {
                Some(CloseCause::ConnectTimeout { after: self.config.connect_timeout })
            }
            State::Connecting { .. } => None,
            State::Up(up) if up.stall_deadline.is_some_and(|at| at <= now) => {
                Some(CloseCause::WriteStall { after: self.config.write_stall })
            }
            State::Up(up) => {
                let idle = self.config.idle_timeout;
                let unused = up.is_quiet() && link.queue.is_empty() && up.last_activity + idle <= now;
                unused.then_some(CloseCause::Idle { after: idle })
            }
        };
        match cause {
            Some(cause) => self.break_link(id, cause, true),
            None => {
                self.end_late_beat(id);
                self.beat_if_due(id);
            }
        }
        self.close_if_drained(id);
        self.push_idle_deadline(id);
        self.rearm_link(id);
        self.forget_link_if_spare(id);
    }

    /// A link that waits for answers is in use, however long nothing has come.
    fn push_idle_deadline(&mut self, id: LinkId) {
        let (now, idle) = (self.now, self.config.idle_timeout);
        if let Some(up) = self.links.get_mut(id).and_then(Link::up)
            && up.last_activity + idle <= now
        {
            up.last_activity = now;
        }
    }

    /// The link of a live connection.
    fn link_of(&mut self, conn: ConnId) -> Option<LinkId> {
        let id = self.links.id_at(conn.slot);
        let id = id.filter(|id| self.links.get(*id).and_then(Link::conn) == Some(conn));
        if id.is_none() {
            self.stats.stale_inputs += 1;
        }
        id
    }

    pub(super) fn connected(&mut self, conn: ConnId) {
        let Some(id) = self.link_of(conn) else { return };
        let (now, max_frame) = (self.now, self.config.limits.frame);
        let Some(link) = self.links.get_mut(id) else { return };
        if link.is_up() {
            self.stats.misuses += 1;
            return;
        }
        link.state = State::Up(Box::new(Up::new(conn, now, max_frame)));
        let address = link.address.clone();
        self.stats.connections_opened += 1;
        self.notice(Event::ConnectionOpened { address });
        self.beat_on_open(id);
        self.want_write(id);
        self.rearm_link(id);
    }

    pub(super) fn closed(&mut self, conn: ConnId, reason: CloseReason) {
        if let Some(id) = self.link_of(conn) {
            self.break_link(id, CloseCause::Stream(reason), false);
        }
    }

    pub(super) fn written(&mut self, conn: ConnId, bytes: usize) {
        let Some(id) = self.link_of(conn) else { return };
        let (now, stall) = (self.now, self.now + self.config.write_stall);
        let Some(up) = self.links.get_mut(id).and_then(Link::up) else {
            self.stats.misuses += 1;
            return;
        };
        let accepted = up.progress(bytes, now, stall);
        self.stats.misuses += u64::from(accepted != bytes);
        self.stats.bytes_written += accepted as u64;
        while let Some(op) = self.links.get_mut(id).and_then(Link::up).and_then(Up::pop_oneway) {
            self.end_oneway(op);
        }
        self.want_write(id);
        self.rearm_link(id);
        self.close_if_drained(id);
    }

    pub(super) fn received(&mut self, conn: ConnId, mut data: Bytes) {
        let Some(id) = self.link_of(conn) else { return };
        let now = self.now;
        let Some(link) = self.links.get_mut(id) else { return };
        let Some(up) = link.up() else {
            self.stats.misuses += 1;
            return;
        };
        up.receive(data.len(), now);
        if mutated!(DrawPerRead) {
            self.rng.next();
        }
        link.succeeded();
        self.stats.bytes_received += data.len() as u64;
        while let Some(up) = self.links.get_mut(id).and_then(Link::up).filter(|up| up.conn == conn) {
            match up.decoder.decode(&mut data) {
                Ok(Some(frame)) => self.frame(id, frame),
                Ok(None) => {
                    mutated!(DropPartialFrame => up.forget_partial_frame(self.config.limits.frame));
                    break;
                }
                Err(error) => self.bad_bytes(id, CloseCause::Frame(error)),
            }
        }
        self.close_if_drained(id);
    }

    fn bad_bytes(&mut self, id: LinkId, cause: CloseCause) {
        self.stats.protocol_errors += 1;
        self.break_link(id, cause, true);
    }

    fn frame(&mut self, id: LinkId, frame: Frame) {
        self.stats.frames_received += 1;
        let command = match RemotingCommand::decode(frame) {
            Ok(command) => command,
            Err(error) => return self.bad_bytes(id, CloseCause::Header(error)),
        };
        if !command.is_response() {
            return self.inbound(id, &command);
        }
        let entry =
            self.links.get_mut(id).and_then(Link::up).and_then(|up| up.pending.remove(command.opaque));
        let goes_away = ResponseCode(command.code) == ResponseCode::GO_AWAY;
        // That a peer goes away is no answer (producer §8.7).
        if let Some(entry) = &entry
            && !goes_away
        {
            self.tell_hooks(id, entry.code, &command);
        }
        match entry {
            Some(Entry { owner: Some(owner), again, .. }) if goes_away => {
                self.sent_away(id, Request { owner, again }, &command);
                self.settle();
            }
            Some(Entry { owner: Some(owner), .. }) => {
                self.answered(owner, &command);
                self.settle();
            }
            Some(Entry { owner: None, .. }) | None => self.stats.unknown_answers += 1,
        }
    }

    /// Ends a link's connection and fails what waited on it. `order` says whether the driver has to be told.
    pub(super) fn break_link(&mut self, id: LinkId, cause: CloseCause, order: bool) {
        let now = self.now;
        let Some(link) = self.links.get_mut(id) else { return };
        let Some(conn) = link.conn() else { return };
        let state = link.failed(now, cause.clone(), &mut self.rng);
        let waiting = link.queue.drain();
        let (address, replaced) = (link.address.clone(), link.draining);
        if self.outputs.forget(conn) && order && !mutated!(LeakConnection) {
            self.outputs.push(Item::Close { conn });
        }
        let opened = matches!(state, State::Up(_));
        let mut fail = |owner, error| self.effects.push_back(Effect::Failed { owner, error });
        if let State::Up(up) = state {
            self.stats.disconnects += 1;
            let written = RequestError::Closed { cause: cause.clone(), written: !mutated!(ClaimNotStored) };
            up.oneways().for_each(|op| fail(Owner::Send(op), written.clone()));
            if !mutated!(KeepClosedRequests) {
                up.pending.into_owners().for_each(|owner| fail(owner, written.clone()));
            }
            waiting.for_each(|owner| {
                fail(owner, RequestError::Closed { cause: cause.clone(), written: false });
            });
        } else {
            self.stats.connect_failures += 1;
            waiting.for_each(|owner| fail(owner, RequestError::Connect(cause.clone())));
        }
        self.notice(Event::ConnectionClosed { address, cause, opened, replaced });
        self.rearm_link(id);
        self.forget_link_if_spare(id);
    }

    pub(super) fn forget_link_if_spare(&mut self, id: LinkId) {
        let Some(link) = self.links.get(id) else { return };
        let known = self.name_servers.contains(&link.address) || link.held_off(self.now, true).is_some();
        let remembers = known && !link.draining;
        if !link.is_spare() || remembers {
            return;
        }
        if let Some(mut link) = self.links.remove(id) {
            self.timers.disarm(&mut link.timer);
            if link.draining {
                self.draining.retain(|draining| *draining != id);
            } else {
                self.link_by_address.remove(&link.address);
            }
        }
    }

    /// A written request got no answer in time: its opaque is free again, and its connection may have to go. `began`
    /// and `deadline` bound the time that the request had.
    pub(super) fn give_up_awaiting(&mut self, id: LinkId, opaque: i32, began: Instant, deadline: Instant) {
        let (now, rule) = (self.now, self.config.close_on_timeout);
        let Some(up) = self.links.get_mut(id).and_then(Link::up) else { return };
        let Some(entry) = up.pending.remove(opaque) else { return };
        let fair = now.saturating_since(entry.written_at) >= FAIR_WAIT;
        let silent = fair && up.timed_out(entry.received);
        let breaks = match rule {
            CloseOnTimeout::Silent => silent,
            CloseOnTimeout::Java => {
                let left = deadline.saturating_since(entry.written_at);
                let timeout = deadline.saturating_since(began);
                left.as_millis() > 100 || left.as_millis() > timeout.as_millis() / 4
            }
        };
        if breaks {
            self.break_link(id, CloseCause::Silent, true);
        }
        self.close_if_drained(id);
    }

    /// Takes back a question from wherever it stands. If its time, from `began` to `deadline`, is not over, an answer may
    /// still come, and nothing speaks against the connection.
    pub(super) fn withdraw(&mut self, asking: Asking, began: Instant, deadline: Instant) {
        match asking {
            Asking::Idle => {}
            Asking::Queued { link, ticket } => self.unqueue(link, ticket),
            Asking::Awaiting { link, opaque } if self.now < deadline => self.bury(link, opaque, deadline),
            Asking::Awaiting { link, opaque } => self.give_up_awaiting(link, opaque, began, deadline),
        }
    }

    /// Takes back a request that is not written yet.
    pub(super) fn unqueue(&mut self, id: LinkId, ticket: Ticket) {
        if let Some(link) = self.links.get_mut(id) {
            link.queue.remove(ticket);
        }
    }

    /// Leaves a cancelled request's opaque taken until `deadline`.
    pub(super) fn bury(&mut self, id: LinkId, opaque: i32, deadline: Instant) {
        let (now, limit) = (self.now, self.config.limits.tombstones);
        if let Some(up) = self.links.get_mut(id).and_then(Link::up) {
            up.pending.bury(now, opaque, deadline, limit);
            self.rearm_link(id);
        }
    }
}
