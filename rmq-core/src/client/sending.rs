//! Carries out what sends order: routes, queues, attempts, ends.

use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use rmq_proto::body::TopicRouteData;
use rmq_proto::command::RemotingCommand;
use rmq_proto::message::{ID_ROOM, Prepared};
use rmq_proto::names::DEFAULT_TOPIC;

use super::outputs::Item;
use super::{Client, Effect, Timer};
use crate::config::{ProducerConfig, SendOptions};
use crate::error::{CloseCause, RejectReason, Rejected, RequestError, SendErrorKind, ServerOutcome};
use crate::event::{Event, OpId, ProducerId};
use crate::link::{FAIR_WAIT, Owner};
use crate::producer::{NewSend, Progress, SendOp, Stage, Step, Verdict};
use crate::route::{PublishQueues, QueryOutcome, TopicId};
use crate::time::Instant;

impl Client {
    /// Sends a message to its topic. The operation ends in [`Event::Sent`], [`Event::SendFailed`] or
    /// [`Event::Cancelled`]; a one-way one in [`Event::OnewayWritten`] instead of `Sent`.
    ///
    /// # Errors
    ///
    /// Over a limit, with a producer of another client, or when shut down, the message is handed back.
    pub fn send(
        &mut self,
        now: Instant,
        producer: ProducerId,
        message: Prepared,
        options: SendOptions,
    ) -> Result<OpId, Rejected<Prepared>> {
        self.advance(now);
        let more = message.body().len() + message.properties().len() + ID_ROOM;
        let config = match self.admit(producer, more) {
            Ok(config) => config,
            Err(reason) => {
                self.stats.rejected += 1;
                return Err(Rejected { reason, given: message });
            }
        };
        let unix_ms = self.unix_ms();
        let born_ms = i64::try_from(unix_ms).unwrap_or(i64::MAX);
        let key = self.unique_keys.next(unix_ms);
        let timeout = options.timeout.unwrap_or(config.send_timeout);
        let new = NewSend {
            topic: message.topic().into(),
            body: message.body().clone(),
            flag: message.flag(),
            sys_flag: message.sys_flag(),
            properties: message.properties_with_id(&key),
            message_id: key.to_string(),
        };
        let send = SendOp::new(producer, config, new, (self.now, timeout), born_ms, options.oneway);
        self.send_bytes += send.bytes();
        self.stats.sends += 1;
        let op = OpId(self.sends.insert(send));
        self.arm_send(op, None);
        self.effects.push_back(Effect::Proceed(op));
        self.settle();
        Ok(op)
    }

    /// Whether there is room for an operation that holds so many bytes.
    pub(super) fn admit(
        &self,
        producer: ProducerId,
        more: usize,
    ) -> Result<Arc<ProducerConfig>, RejectReason> {
        let limits = &self.config.limits;
        let config = self.producers.get(producer).ok_or(RejectReason::UnknownProducer)?;
        if !self.lifecycle.accepts() {
            return Err(RejectReason::ShutDown);
        }
        if self.operations() >= limits.operations {
            return Err(RejectReason::TooManyOperations { limit: limits.operations });
        }
        let held = self.send_bytes;
        if held.saturating_add(more) > limits.operation_bytes {
            return Err(RejectReason::TooManyBytes { held, more, limit: limits.operation_bytes });
        }
        Ok(config.clone())
    }

    /// Takes an operation back. What [`poll_output`](Self::poll_output) has not handed out yet is never written; of
    /// what it has, nobody can know whether the broker acts on it. Either way the operation ends in
    /// [`Event::Cancelled`], and its room is free. One that has ended already is left as it is.
    pub fn cancel(&mut self, now: Instant, op: OpId) {
        self.advance(now);
        if !self.sends.contains(op.0) {
            return;
        }
        self.abandon(op);
        self.end(op, |_| Event::Cancelled { op });
        self.settle();
    }

    pub(super) fn proceed(&mut self, op: OpId) {
        match self.sends.get(op.0).map(|send| &send.step) {
            Some(Step::Asleep) => self.ask_back(op),
            Some(Step::Resolve) => self.resolve(op),
            Some(Step::Pick) => self.pick(op),
            _ => {}
        }
    }

    fn resolve(&mut self, op: OpId) {
        if self.name_servers.is_empty() {
            return self.give_up(op, SendErrorKind::NoNameServer);
        }
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let name = send.topic.clone();
        let known = self.routes.find(&name).and_then(|id| self.routes.get_mut(id));
        match known.filter(|topic| !topic.queues.is_empty()) {
            Some(topic) => {
                topic.touch(now);
                send.step = Step::Pick;
                self.pick(op);
            }
            None => self.wait_for_route(op, &name, Stage::Topic),
        }
    }

    /// What a send waited for is there, or will not be.
    pub(super) fn route_settled(&mut self, op: OpId, outcome: &QueryOutcome) {
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let Step::Waiting { topic, stage, .. } = &send.step else { return };
        let (topic, stage) = (*topic, stage.clone());
        send.step = Step::Resolve;
        let name = send.topic.clone();
        match (outcome, stage) {
            (QueryOutcome::Unavailable { servers }, _) if !self.has_queues(topic, &name) => {
                self.give_up(op, SendErrorKind::RouteUnavailable { servers: servers.clone() });
            }
            (QueryOutcome::Found(_), Stage::Topic) => {
                if self.has_queues(topic, &name) {
                    self.start_picking(op);
                } else {
                    self.give_up(op, SendErrorKind::NoWritableQueue);
                }
            }
            (QueryOutcome::Missing { servers, unanimous }, Stage::Topic) => {
                let stage = Stage::Default { servers: servers.clone(), unanimous: *unanimous };
                self.wait_for_route(op, &DEFAULT_TOPIC.into(), stage);
            }
            (QueryOutcome::Found(route), Stage::Default { servers, .. }) => {
                self.use_default(op, &name, route, servers);
            }
            (QueryOutcome::Missing { unanimous: true, .. }, Stage::Default { servers, unanimous: true }) => {
                self.give_up(op, SendErrorKind::TopicNotFound { servers });
            }
            (QueryOutcome::Missing { .. }, Stage::Default { servers, .. }) => {
                self.give_up(op, SendErrorKind::RouteUnavailable { servers });
            }
            (QueryOutcome::Unavailable { .. }, _) => self.start_picking(op),
        }
    }

    /// Whether the topic itself has queues; the default topic's do not count.
    fn has_queues(&self, topic: TopicId, name: &str) -> bool {
        self.routes.get(topic).is_some_and(|topic| &*topic.name == name && !topic.queues.is_empty())
    }

    fn start_picking(&mut self, op: OpId) {
        if let Some(send) = self.sends.get_mut(op.0) {
            send.step = Step::Pick;
            // At once: what comes next may push the route out.
            self.pick(op);
        }
    }

    /// The topic does not exist yet: a broker that creates topics will make it of the default one.
    fn use_default(
        &mut self,
        op: OpId,
        name: &Arc<str>,
        route: &TopicRouteData,
        servers: Vec<ServerOutcome>,
    ) {
        let Some(send) = self.sends.get(op.0) else { return };
        let known = self.routes.find(name).is_some_and(|id| self.has_queues(id, name));
        if !known {
            let queues = send.config.default_topic_queues.get() as i32;
            let id = self.install_fallback(name, PublishQueues::fallback(route, queues));
            if !self.has_queues(id, name) {
                return self.give_up(op, SendErrorKind::TopicNotFound { servers });
            }
        }
        self.start_picking(op);
    }

    /// Begins an attempt.
    fn pick(&mut self, op: OpId) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        if now >= send.deadline {
            return self.give_up(op, SendErrorKind::TimedOut);
        }
        let topic = self.routes.find(&send.topic).and_then(|id| self.routes.get_mut(id));
        let Some(topic) = topic.filter(|topic| !topic.queues.is_empty()) else {
            // The route went while attempts were made: look for it anew.
            send.step = Step::Resolve;
            let name = send.topic.clone();
            return self.wait_for_route(op, &name, Stage::Topic);
        };
        let tried = send.tried.iter().map(|broker| &**broker);
        let Some(choice) = topic.choose(send.producer, tried, &mut self.rng) else { return };
        let address = self.brokers.master(&choice.broker).cloned();
        let deadline = send.attempt_deadline(now);
        if send.ended > 0 {
            self.stats.retries += 1;
            mutated!(RetryWithFreshKey => send.rename(self.unique_keys.next(self.clock.unix_ms(now))));
        }
        send.progress = Some(Progress { choice, address: address.clone(), began: now, deadline });
        self.arm_send(op, Some(deadline));
        let requested = match &address {
            Some(address) => self.request(address, Owner::Send(op), true),
            None => Err(RequestError::NoMaster),
        };
        match requested {
            Ok((link, ticket)) => {
                if let Some(send) = self.sends.get_mut(op.0) {
                    send.step = Step::Queued { link, ticket };
                }
            }
            Err(error) => self.effects.push_back(Effect::Failed { owner: Owner::Send(op), error }),
        }
    }

    /// Arms an operation's one timer at the nearest of its deadlines.
    pub(super) fn arm_send(&mut self, op: OpId, attempt: Option<Instant>) {
        if let Some(send) = self.sends.get_mut(op.0) {
            let at = attempt.map_or(send.deadline, |attempt| attempt.min(send.deadline));
            let at = if mutated!(OverrunDeadline) { at + FAIR_WAIT } else { at };
            self.timers.arm(&mut send.timer, at, Timer::Send(op));
        }
    }

    pub(super) fn send_timer(&mut self, op: OpId) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        send.timer = None;
        if mutated!(LoseTimer) && send.ended == 1 {
            return;
        }
        let Some(Progress { began, .. }) = send.progress else {
            let waiting = self.servers_asked(op);
            self.leave(op);
            return self.give_up(op, waiting);
        };
        let after = now.saturating_since(began);
        let error = match send.step {
            Step::Writing => RequestError::WriteTimeout { after },
            _ => {
                let written = matches!(send.step, Step::Awaiting { .. }) && !mutated!(ClaimNotStored);
                RequestError::Timeout { after, written }
            }
        };
        self.leave(op);
        self.attempt_failed(op, error);
    }

    /// What to say of a send whose time ends while it waits for a route.
    fn servers_asked(&self, op: OpId) -> SendErrorKind {
        let step = self.sends.get(op.0).map(|send| &send.step);
        let Some(Step::Waiting { topic, stage, .. }) = step else { return SendErrorKind::TimedOut };
        let query = self.routes.get(*topic).and_then(|topic| topic.query.as_ref());
        match (stage, query) {
            (Stage::Default { servers, .. }, _) => {
                SendErrorKind::RouteUnavailable { servers: servers.clone() }
            }
            (Stage::Topic, Some(query)) => SendErrorKind::RouteUnavailable { servers: query.outcomes() },
            (Stage::Topic, None) => SendErrorKind::TimedOut,
        }
    }

    /// Takes a send out of wherever it waits, though its time is not over: an answer may still come.
    fn abandon(&mut self, op: OpId) {
        let Some(send) = self.sends.get(op.0) else { return };
        match (&send.step, &send.progress) {
            (Step::Awaiting { link, opaque }, Some(progress)) => {
                self.bury(*link, *opaque, progress.deadline);
            }
            (Step::Asleep, _) => self.abandon_back(op),
            _ => self.leave(op),
        }
    }

    /// Takes a send out of wherever it waits, as its time is over.
    fn leave(&mut self, op: OpId) {
        let Some(send) = self.sends.get(op.0) else { return };
        match (&send.step, &send.progress) {
            (Step::Waiting { topic, serial, .. }, _) => {
                let (topic, serial) = (*topic, *serial);
                self.stop_waiting(topic, serial);
            }
            (Step::Queued { link, ticket }, _) => self.unqueue(*link, *ticket),
            (Step::Awaiting { link, opaque }, Some(progress)) => {
                let (link, opaque, began, deadline) = (*link, *opaque, progress.began, progress.deadline);
                self.give_up_awaiting(link, opaque, began, deadline);
            }
            (Step::Asleep | Step::Resolve | Step::Pick | Step::Writing | Step::Awaiting { .. }, _) => {}
        }
    }

    pub(super) fn attempt_failed(&mut self, op: OpId, error: RequestError) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let verdict = send.fail(now, error);
        self.follow(op, verdict);
    }

    pub(super) fn send_answered(&mut self, op: OpId, command: &RemotingCommand) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let verdict = send.answered(now, command);
        self.follow(op, verdict);
    }

    fn follow(&mut self, op: OpId, verdict: Verdict) {
        match verdict {
            Verdict::Again => self.effects.push_back(Effect::Proceed(op)),
            Verdict::Stored(result) => {
                self.end(op, |_| Event::Sent { op, result });
            }
            Verdict::GivenUp(kind) => self.give_up(op, kind),
        }
    }

    pub(super) fn end_oneway(&mut self, op: OpId) {
        if self.sends.contains(op.0) {
            self.end(op, |_| Event::OnewayWritten { op });
        }
    }

    /// Ends a send, unless it got a better answer before.
    pub(super) fn give_up(&mut self, op: OpId, kind: SendErrorKind) {
        let now = self.now;
        if let Some(result) = self.sends.get_mut(op.0).and_then(SendOp::take_not_stored_ok) {
            return self.follow(op, Verdict::Stored(result));
        }
        self.end(op, |send| Event::SendFailed { op, error: send.into_error(now, kind) });
    }

    /// The one way out: an operation ends once, with one event.
    pub(super) fn end(&mut self, op: OpId, event: impl FnOnce(SendOp) -> Event) {
        let Some(mut send) = self.sends.remove(op.0) else { return };
        self.timers.disarm(&mut send.timer);
        let bytes = send.bytes();
        let event = match send.back.take() {
            Some(back) => back.conclude(self.now, event(send)),
            None => event(send),
        };
        self.stats.count_end(&event);
        let forgotten =
            mutated!(ForgetPermit) && matches!(event, Event::SendFailed { .. } | Event::Cancelled { .. });
        let bytes = if forgotten { 0 } else { bytes };
        mutated!(EndTwice => self.tell_failure_once_more(&event));
        self.outputs.push(Item::Terminal { event, bytes });
    }

    /// Fails every send under way, as the client shuts down.
    pub(super) fn fail_all_sends(&mut self) {
        for id in self.sends.ids() {
            let (op, now) = (OpId(id), self.now);
            self.abandon(op);
            self.cut_back(op);
            if let Some(send) = self.sends.get_mut(id) {
                let written = matches!(send.step, Step::Awaiting { .. } | Step::Writing);
                send.end_attempt(now, Some(RequestError::Closed { cause: CloseCause::ShutDown, written }));
            }
            self.give_up(op, SendErrorKind::ShutDown);
        }
    }
}
