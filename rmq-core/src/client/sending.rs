//! Sends: accepted, cancelled, and brought to a route.

use alloc::sync::Arc;
use alloc::vec::Vec;

use rmq_proto::body::TopicRouteData;
use rmq_proto::message::{ID_ROOM, Prepared};

use super::Client;
use super::namespaces::enter_namespace;
use crate::config::{ProducerConfig, SendOptions};
use crate::error::{RejectReason, Rejected, SendErrorKind, ServerOutcome};
use crate::event::{Event, MessageQueue, OpId, ProducerId};
use crate::producer::{NewSend, Purpose, SendOp, Stage, Step, Target};
use crate::route::{PublishQueues, QueryOutcome, TopicId};
use crate::time::Instant;

/// Bytes that a message holds while it is under way, with the longest id.
pub(super) fn most_bytes(message: &Prepared) -> usize {
    message.body().len() + message.properties().len() + ID_ROOM
}

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
        self.submit(now, producer, None, message, options)
    }

    /// Sends a message to a queue of its topic, such as [`publish_queues`](Self::publish_queues) tells; else as
    /// [`send`](Self::send).
    ///
    /// There is one attempt, and what the broker answers is final: a queue is given because it matters which. A policy with
    /// [`at_given_queue`](crate::RetryPolicy::at_given_queue) has failures of the connection followed by others there. Whether
    /// the broker is left alone by [fault tolerance](crate::FaultTolerance) is not looked at.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send), and a queue of another topic.
    pub fn send_to(
        &mut self,
        now: Instant,
        producer: ProducerId,
        queue: &MessageQueue,
        message: Prepared,
        options: SendOptions,
    ) -> Result<OpId, Rejected<Prepared>> {
        self.submit(now, producer, Some(queue), message, options)
    }

    pub(super) fn submit(
        &mut self,
        now: Instant,
        producer: ProducerId,
        queue: Option<&MessageQueue>,
        message: Prepared,
        options: SendOptions,
    ) -> Result<OpId, Rejected<Prepared>> {
        self.advance(now);
        let admitted = self.admit_message(producer, &message, queue, options);
        let (config, message) = self.or_hand_back(admitted, message)?;
        let target = queue.map_or(Target::Topic, Target::queue);
        let group = self.group_for(producer, &config, &message, &target, options);
        let key = self.unique_keys.next(self.unix_ms());
        let timeout = options.timeout.unwrap_or(config.send_timeout);
        let new = NewSend::of(&message, target, &key);
        let born_ms = self.born_ms();
        let send = SendOp::new(producer, config, new, (self.now, timeout), born_ms, options.oneway);
        self.stats.sends += 1;
        Ok(match group {
            Some(group) => self.gather(send, group),
            None => self.begin(send),
        })
    }

    pub(super) fn begin(&mut self, send: SendOp) -> OpId {
        // Before it is looked at, so that it is moved once: it is long.
        let op = OpId(self.sends.insert(send));
        let Some(send) = self.sends.get_mut(op.0) else { return op };
        enter_namespace(self.config.rules.namespace.as_deref(), send);
        self.send_bytes += send.bytes();
        let is_message = matches!(send.purpose, Purpose::Message);
        if let Some(request) = send.request() {
            self.requests.insert(request.correlation_id, op);
        }
        // What may begin an attempt at once has its timer armed there; whatever else it comes to arms it, too.
        if !is_message {
            self.arm_send(op, None);
        }
        self.admit(op);
        self.settle();
        op
    }

    fn admit_message(
        &self,
        producer: ProducerId,
        message: &Prepared,
        queue: Option<&MessageQueue>,
        options: SendOptions,
    ) -> Result<Arc<ProducerConfig>, RejectReason> {
        let config = self.admit_any(producer)?;
        if queue.is_some_and(|queue| &*queue.topic != message.topic()) {
            return Err(RejectReason::OtherTopic);
        }
        self.admit_good_topic(message.topic())?;
        let bytes = most_bytes(message);
        self.admit_bytes(bytes)?;
        if options.no_wait {
            self.admit_at_once(producer, &config, bytes)?;
        }
        Ok(config)
    }

    /// What a command was given, handed back when it is not admitted.
    pub(super) fn or_hand_back<A, T>(
        &mut self,
        admitted: Result<A, RejectReason>,
        given: T,
    ) -> Result<(A, T), Rejected<T>> {
        match admitted {
            Ok(admitted) => Ok((admitted, given)),
            Err(reason) => {
                self.stats.rejected += 1;
                Err(Rejected { reason, given })
            }
        }
    }

    /// Whether there is room for so many bytes more.
    pub(super) fn admit_bytes(&self, more: usize) -> Result<(), RejectReason> {
        let held = self.send_bytes;
        let limit = self.config.limits.operation_bytes;
        if held.saturating_add(more) > limit {
            return Err(RejectReason::TooManyBytes { held, more, limit });
        }
        Ok(())
    }

    /// Whether a producer may begin an operation of any kind.
    pub(super) fn admit_any(&self, producer: ProducerId) -> Result<Arc<ProducerConfig>, RejectReason> {
        let config = self.producers.get(producer).ok_or(RejectReason::UnknownProducer)?;
        if !self.lifecycle.accepts() {
            return Err(RejectReason::ShutDown);
        }
        let limit = self.config.limits.operations;
        if self.operations() >= limit {
            return Err(RejectReason::TooManyOperations { limit });
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
        self.end_attempt(op);
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
        if self.name_servers.is_empty() && !self.config.name_servers_follow {
            return self.give_up(op, SendErrorKind::NoNameServer);
        }
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let id = self.routes.find(&send.topic);
        let known = id.and_then(|id| self.routes.get_mut(id));
        match known.filter(|topic| !topic.queues.is_empty()) {
            Some(topic) => {
                topic.touch(now);
                send.topic_id = id;
                self.start_picking(op);
            }
            None => {
                // Before the question's timer: where both are over at once, the send ends first.
                self.arm_send(op, None);
                self.wait_for_route(op, Stage::Topic);
            }
        }
    }

    /// What a send waited for is there, or will not be.
    pub(super) fn route_settled(&mut self, op: OpId, outcome: &QueryOutcome) {
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let Step::Waiting { topic, stage, .. } = &send.step else { return };
        let (topic, stage) = (*topic, stage.clone());
        send.step = Step::Resolve;
        let (name, has_given_queue) = (send.topic.clone(), send.has_given_queue());
        match (outcome, stage) {
            (QueryOutcome::Unavailable { servers }, _) if !self.has_queues(topic, &name) => {
                self.give_up(op, SendErrorKind::RouteUnavailable { servers: servers.clone() });
            }
            (QueryOutcome::Found(_), Stage::Topic) => {
                if self.has_queues(topic, &name) || has_given_queue {
                    self.start_picking(op);
                } else {
                    self.give_up(op, SendErrorKind::NoWritableQueue);
                }
            }
            (QueryOutcome::Missing { servers, unanimous }, Stage::Topic) => {
                let stage = Stage::Default { servers: servers.clone(), unanimous: *unanimous };
                self.wait_for_route(op, stage);
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
        let Some(send) = self.sends.get_mut(op.0) else { return };
        send.step = Step::Pick;
        // At once: what comes next may push the route out.
        match send.target {
            Target::Queues => self.answer_queues(op),
            _ if send.request().is_some_and(|request| !request.registered) => self.register_first(op),
            Target::Topic | Target::Queue(_) | Target::Recall(_) => self.pick(op),
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
}
