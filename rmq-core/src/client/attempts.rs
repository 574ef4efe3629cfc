//! Attempts: begun, failed, answered, and the end that a send comes to.

use core::mem;

use rmq_proto::command::RemotingCommand;

use super::{Client, Effect, Timer};
use crate::error::{CloseCause, RequestError, SendErrorKind};
use crate::event::{Event, OpId, SendResult};
use crate::fault::Health;
use crate::link::{FAIR_WAIT, Owner};
use crate::producer::{Progress, Purpose, SendOp, Stage, Step, Target, Verdict};
use crate::route::Choice;
use crate::time::Instant;

impl Client {
    /// Begins an attempt.
    pub(super) fn pick(&mut self, op: OpId) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        if now >= send.deadline {
            return self.give_up(op, SendErrorKind::TimedOut);
        }
        let Some(choice) = self.choose(op) else {
            // The route went while attempts were made: look for it anew.
            return self.wait_for_route(op, Stage::Topic);
        };
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let address = self.brokers.master(&choice.broker).cloned();
        let deadline = send.attempt_deadline(now);
        if send.ended > 0 {
            self.stats.retries += 1;
            mutated!(RetryWithFreshKey => send.rename(self.unique_keys.next(self.clock.unix_ms(now))));
        }
        send.progress = Some(Progress { choice, address: address.clone(), began: now, deadline });
        self.arm_send(op, Some(deadline));
        let requested = match &address {
            Some(address) => self.allowed(op).and_then(|()| self.request(address, Owner::Send(op), true)),
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

    /// The queue for the next attempt; none when no route has any.
    fn choose(&mut self, op: OpId) -> Option<Choice> {
        let now = self.now;
        let send = self.sends.get(op.0)?;
        match &send.target {
            Target::Queue(choice) => return Some(choice.clone()),
            Target::Recall(recall) => return Some(self.holder(&send.topic, recall.shared_broker())),
            Target::Topic | Target::Queues => {}
        }
        let known = send.topic_id.filter(|id| self.routes.get(*id).is_some());
        let id = known.or_else(|| self.routes.find(&send.topic))?;
        let topic = self.routes.get_mut(id)?;
        let faults = self.producers.faults(send.producer);
        let health = |broker: &str| faults.map_or(Health::Available, |faults| faults.health(broker, now));
        topic.choose(send.producer, health, send.tried.iter().map(|broker| &**broker), &mut self.rng)
    }

    /// Another attempt: at once, unless only the broker is there that the last one has just failed at.
    fn try_again(&mut self, op: OpId) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let resume = send.last_began + send.config.retry_backoff;
        let topic = self.routes.find(&send.topic).and_then(|id| self.routes.get(id));
        let only = topic.and_then(|topic| topic.queues.only_broker());
        let pauses =
            send.has_given_queue() || (only.is_some() && only == send.tried.last().map(|last| &**last));
        if !pauses || now >= resume || now >= send.deadline {
            return self.effects.push_back(Effect::Proceed(op));
        }
        if resume >= send.deadline {
            return self.give_up(op, SendErrorKind::AttemptsExhausted);
        }
        send.step = Step::Pausing;
        self.arm_send(op, Some(resume));
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
        if let Step::Riding { batch } = send.step {
            return self.rider_timer(op, batch);
        }
        if matches!(send.step, Step::Replying) {
            return self.give_up(op, SendErrorKind::TimedOut);
        }
        if matches!(send.step, Step::Pausing | Step::Registering) {
            self.registering.remove(&op);
            send.step = Step::Pick;
            self.arm_send(op, None);
            return self.pick(op);
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
    pub(super) fn servers_asked(&self, op: OpId) -> SendErrorKind {
        let step = self.sends.get(op.0).map(|send| &send.step);
        if let Some(Step::InLine) = step {
            return SendErrorKind::NoPermit;
        }
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
    pub(super) fn abandon(&mut self, op: OpId) {
        let Some(send) = self.sends.get(op.0) else { return };
        match (&send.step, &send.progress) {
            (Step::Awaiting { link, opaque }, Some(progress)) => {
                self.bury(*link, *opaque, progress.deadline);
            }
            (Step::Asleep, _) => self.abandon_back(op),
            (Step::Riding { batch }, _) => self.leave_batch(*batch),
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
            (Step::Gathered { group, place }, _) => self.leave_group(*group, *place),
            (Step::Queued { link, ticket }, _) => self.unqueue(*link, *ticket),
            (Step::Awaiting { link, opaque }, Some(progress)) => {
                let (link, opaque, began, deadline) = (*link, *opaque, progress.began, progress.deadline);
                self.give_up_awaiting(link, opaque, began, deadline);
            }
            (Step::Registering, _) => {
                self.registering.remove(&op);
            }
            (
                Step::Asleep | Step::InLine | Step::Resolve | Step::Pick | Step::Pausing | Step::Replying,
                _,
            )
            | (Step::Writing | Step::Awaiting { .. } | Step::Riding { .. }, _) => {}
        }
    }

    pub(super) fn attempt_failed(&mut self, op: OpId, error: RequestError) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        self.stats.count_failure(&error);
        let verdict = send.fail(now, error);
        self.follow(op, verdict);
    }

    pub(super) fn send_answered(&mut self, op: OpId, command: &RemotingCommand) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        if send.recall().is_some() {
            return self.recall_answered(op, command);
        }
        let failures = send.failures().len();
        let verdict = send.answered(now, command);
        if let Some(failed) = send.failures().get(failures) {
            self.stats.count_failure(&failed.error);
        }
        if send.riders().is_some() {
            self.keep_parts(op);
        }
        self.follow(op, verdict);
    }

    fn follow(&mut self, op: OpId, verdict: Verdict) {
        self.tell_fault_table(op);
        self.tell_trace(op);
        match verdict {
            Verdict::Again => self.try_again(op),
            Verdict::Stored(result) => self.stored(op, result),
            Verdict::GivenUp(kind) => self.give_up(op, kind),
        }
    }

    #[inline]
    fn stored(&mut self, op: OpId, result: SendResult) {
        if self.sends.get(op.0).is_some_and(|send| send.riders().is_some()) {
            return self.stored_batch(op, &result);
        }
        if self.sends.get(op.0).is_some_and(|send| send.request().is_some()) {
            return self.await_reply(op, result);
        }
        self.end(op, |send| send.stored(op, result));
    }

    pub(super) fn end_oneway(&mut self, op: OpId) {
        if self.sends.contains(op.0) {
            self.trace_end(op);
            self.end_attempt(op);
            self.end(op, |_| Event::OnewayWritten { op });
        }
    }

    /// Ends an attempt that did not fail, of an operation that ends by other means than an answer.
    pub(super) fn end_attempt(&mut self, op: OpId) {
        let now = self.now;
        if let Some(send) = self.sends.get_mut(op.0) {
            send.end_attempt(now, None);
            self.tell_fault_table(op);
        }
    }

    /// Ends a send, unless it got a better answer before.
    pub(super) fn give_up(&mut self, op: OpId, kind: SendErrorKind) {
        let now = self.now;
        if let Some(result) = self.sends.get_mut(op.0).and_then(SendOp::take_not_stored_ok) {
            return self.stored(op, result);
        }
        if self.sends.get(op.0).is_some_and(|send| send.riders().is_some()) {
            return self.give_up_batch(op, &kind);
        }
        self.end(op, |send| send.failed(op, now, kind));
    }

    /// The one way out: an operation ends once, with one event.
    pub(super) fn end(&mut self, op: OpId, event: impl FnOnce(&mut SendOp) -> Event) {
        let Some(send) = self.sends.get_mut(op.0) else { return };
        self.timers.disarm(&mut send.timer);
        let (producer, limit, permit) = (send.producer, send.config.in_flight, mem::take(&mut send.permit));
        let bytes = send.bytes();
        let is_question = matches!(send.target, Target::Queues);
        let mut event = event(send);
        let purpose = mem::take(&mut send.purpose);
        // Where it is: it is long, and all that is wanted of it was taken.
        self.sends.clear(op.0);
        self.give_back(producer, limit, permit);
        match purpose {
            Purpose::Message | Purpose::Batch(_) => {}
            Purpose::Back(back) => event = back.conclude(self.now, event),
            Purpose::End(end) => event = end.conclude(event),
            Purpose::Request(request) => event = self.end_request(*request, event),
            Purpose::Trace(cargo) => return self.traces_ended(cargo, &event),
        }
        self.leave_namespace(&mut event);
        self.stats.count_end(&event, is_question);
        let forgotten =
            mutated!(ForgetPermit) && matches!(event, Event::SendFailed { .. } | Event::Cancelled { .. });
        let bytes = if forgotten { 0 } else { bytes };
        mutated!(EndTwice => self.tell_failure_once_more(&event));
        self.outputs.push_terminal(event, bytes);
    }

    /// Fails every send under way, as the client shuts down.
    pub(super) fn fail_all_sends(&mut self) {
        self.drop_traces();
        for id in self.sends.ids() {
            let (op, now) = (OpId(id), self.now);
            // Whoever rides in a batch ends with it.
            if matches!(self.sends.get(id).map(|send| &send.step), Some(Step::Riding { .. })) {
                continue;
            }
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
