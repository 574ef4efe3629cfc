//! The queues of a topic, for users who choose one themselves.

use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::Client;
use crate::error::{RejectReason, SendErrorKind};
use crate::event::{Event, MessageQueue, OpId, ProducerId};
use crate::producer::{NewSend, SendOp, Target};
use crate::time::Instant;

impl Client {
    /// The queues of a topic that can be written to, in the order that sends go round, if its route is known. None when it is
    /// not: [`find_queues`](Self::find_queues) asks for it.
    pub fn publish_queues(&mut self, now: Instant, topic: &str) -> Option<Arc<[MessageQueue]>> {
        self.advance(now);
        let (now, id) = (self.now, self.routes.find(&self.wire_name(topic))?);
        let topic = self.routes.get_mut(id)?;
        let list = topic.list(self.config.rules.namespace.as_deref())?;
        topic.touch(now);
        Some(list)
    }

    /// Asks for the queues of a topic, as a send to it would: a topic that is yet to be created has those that it will
    /// have. Its time is that of the producer's sends unless one is given. The operation ends in
    /// [`Event::QueuesFound`], at once if the route is known, in [`Event::SendFailed`] or [`Event::Cancelled`].
    ///
    /// # Errors
    ///
    /// Too many operations, a producer of another client, a name that no topic can have, or a client that is shut
    /// down.
    pub fn find_queues(
        &mut self,
        now: Instant,
        producer: ProducerId,
        topic: &str,
        timeout: Option<Duration>,
    ) -> Result<OpId, RejectReason> {
        self.advance(now);
        let admitted = self.admit_any(producer);
        let admitted = admitted.and_then(|config| self.admit_topic(topic).map(|()| config));
        let config = admitted.inspect_err(|_| self.stats.rejected += 1)?;
        let timeout = timeout.unwrap_or(config.send_timeout);
        let new = NewSend::nothing(topic.into(), Target::Queues, String::new());
        Ok(self.begin(SendOp::new(producer, config, new, (self.now, timeout), 0, false)))
    }

    /// Ends a question whose answer is known by now.
    pub(super) fn answer_queues(&mut self, op: OpId) {
        let Some(send) = self.sends.get(op.0) else { return };
        let topic = self.routes.find(&send.topic).and_then(|id| self.routes.get_mut(id));
        let namespace = self.config.rules.namespace.as_deref();
        match topic.and_then(|topic| topic.list(namespace)) {
            Some(queues) => self.end(op, |_| Event::QueuesFound { op, queues }),
            None => self.give_up(op, SendErrorKind::NoWritableQueue),
        }
    }
}
