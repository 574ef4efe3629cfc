//! Requests: sends whose reply is waited for, and the replies that brokers push (producer §10.1, wire §5.17).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::PushReplyHeader;
use rmq_proto::id::CorrelationId;
use rmq_proto::message::{CORRELATION_ROOM, PreparedRequest, StoredMessage};
use rmq_proto::properties::{self, CORRELATION_ID};

use super::inbound::own_body;
use super::sending::most_bytes;
use super::{Client, Effect};
use crate::config::ProducerConfig;
use crate::error::{RejectReason, Rejected};
use crate::event::{Event, OpId, ProducerId, Replied, SendResult};
use crate::link::LinkId;
use crate::producer::{NewSend, Purpose, RequestOp, SendOp, Step, Target};
use crate::time::Instant;

/// The part of a request's time that brokers have for getting to know this client.
const INTRODUCTION: u32 = 4;

/// Bodies up to this many bytes are copied, so that they do not keep the read alive that they came in.
const COPY_UP_TO: usize = 4_096;

impl Client {
    /// Sends a message and waits for its reply, within the time that it was prepared with. The operation ends in
    /// [`Event::Replied`], [`Event::RequestFailed`] or [`Event::Cancelled`].
    ///
    /// The producer's attempts are for failures of the connection and timeouts: what a broker answers is final, whatever its
    /// [retry policy](crate::RetryPolicy) says, as in Java. A request whose send fails is over at once; one that a broker has
    /// waits for the reply, whatever becomes of the connection. A reply that comes before the broker says that it has the
    /// request ends it, too.
    ///
    /// Whichever broker gets the reply pushes it to this client, if it knows it. So the first request waits until those that
    /// routes name do, for a quarter of its time at most.
    ///
    /// # Errors
    ///
    /// Over a limit, with a producer of another client, prepared for [another client](Self::client_id), or when shut down,
    /// the request is handed back.
    pub fn send_request(
        &mut self,
        now: Instant,
        producer: ProducerId,
        request: PreparedRequest,
    ) -> Result<OpId, Rejected<PreparedRequest>> {
        self.advance(now);
        let admitted = self.admit_request(producer, &request);
        let (config, request) = self.or_hand_back(admitted, request)?;
        let key = self.unique_keys.next(self.unix_ms());
        let correlation_id = self.fresh_correlation_id();
        let (message, timeout) = (request.message(), request.timeout());
        let properties = request.properties_with_ids(&key, correlation_id);
        let new = NewSend::with(message, Target::Topic, &key, properties);
        let born_ms = self.born_ms();
        let mut send = SendOp::new(producer, config, new, (self.now, timeout), born_ms, false);
        send.purpose = Purpose::Request(Box::new(RequestOp::new(correlation_id, timeout)));
        self.stats.requests += 1;
        Ok(self.begin(send))
    }

    fn admit_request(
        &self,
        producer: ProducerId,
        request: &PreparedRequest,
    ) -> Result<Arc<ProducerConfig>, RejectReason> {
        let config = self.admit_any(producer)?;
        if *request.client_id() != *self.client_id {
            return Err(RejectReason::OtherClient);
        }
        let message = request.message();
        self.admit_good_topic(message.topic())?;
        self.admit_bytes(most_bytes(message) + CORRELATION_ROOM)?;
        Ok(config)
    }

    fn fresh_correlation_id(&mut self) -> CorrelationId {
        loop {
            let bits = u128::from(self.rng.next()) << 64 | u128::from(self.rng.next());
            let id = CorrelationId::from_random(bits);
            if !self.requests.contains_key(&id) {
                return id;
            }
        }
    }

    /// Has all masters hear of this client before a request goes out, as any of them may have to push its reply.
    pub(super) fn register_first(&mut self, op: OpId) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let until = now + send.deadline.saturating_since(now) / INTRODUCTION;
        if let Some(request) = send.request_mut() {
            request.registered = true;
        }
        if !self.is_registering() {
            return self.pick(op);
        }
        self.introduce();
        if let Some(send) = self.sends.get_mut(op.0) {
            send.step = Step::Registering;
            self.registering.insert(op);
            self.arm_send(op, Some(until));
        }
    }

    fn is_registering(&self) -> bool {
        self.beating() && self.links.iter().any(|(_, link)| link.is_registering())
    }

    /// Heartbeats that would come in their own time come now.
    fn introduce(&mut self) {
        for id in self.links.ids() {
            let Some(link) = self.links.get_mut(id).filter(|link| link.is_registering()) else { continue };
            if let Some(heartbeat) = &mut link.heartbeat {
                heartbeat.due = heartbeat.due.min(self.now);
            }
            self.beat_if_due(id);
            self.rearm_link(id);
        }
    }

    /// Once the brokers know this client, the next request that waited for it goes on.
    pub(super) fn next_registered(&mut self) -> Option<Effect> {
        if self.registering.is_empty() || self.is_registering() {
            return None;
        }
        let op = self.registering.pop_first()?;
        if let Some(send) = self.sends.get_mut(op.0) {
            send.step = Step::Pick;
        }
        Some(Effect::Proceed(op))
    }

    /// A broker has the request.
    pub(super) fn await_reply(&mut self, op: OpId, result: SendResult) {
        let Some(send) = self.sends.get_mut(op.0) else { return };
        send.step = Step::Replying;
        if let Some(request) = send.request_mut() {
            request.sent = Some(result);
        }
        self.release_sent(op);
        self.arm_send(op, None);
    }

    pub(super) fn end_request(&mut self, request: RequestOp, event: Event) -> Event {
        self.requests.remove(&request.correlation_id);
        request.conclude(event)
    }

    /// PUSH_REPLY_MESSAGE_TO_CLIENT (326): success, whether anybody waits for it or not.
    pub(super) fn reply_pushed(&mut self, id: LinkId, command: &RemotingCommand) {
        match self.take_reply(command) {
            Ok(()) => self.answer(id, command, ResponseCode::SUCCESS, None),
            Err(remark) => self.answer(id, command, ResponseCode::SYSTEM_ERROR, Some(remark)),
        }
    }

    fn take_reply(&mut self, command: &RemotingCommand) -> Result<(), String> {
        let header = command.header::<PushReplyHeader<'_>>();
        let header = header.map_err(|error| format!("the reply cannot be read: {error}"))?;
        let text = properties::value(header.properties.as_deref().unwrap_or_default(), CORRELATION_ID);
        let text = text.ok_or_else(|| format!("the reply has no property {CORRELATION_ID}"))?;
        let op = text.parse().ok().and_then(|id: CorrelationId| self.requests.get(&id)).copied();
        match op {
            Some(op) => {
                let message =
                    StoredMessage::pushed(&header, own_body(&command.body, COPY_UP_TO), self.unix_ms());
                self.replied(op, message);
            }
            None => self.stats.unknown_replies += 1,
        }
        Ok(())
    }

    /// The send may be under way still: where an attempt went astray, or this broker is faster than the one that has the
    /// request.
    fn replied(&mut self, op: OpId, message: StoredMessage) {
        self.abandon(op);
        self.end_attempt(op);
        let request = self.sends.get_mut(op.0).and_then(SendOp::request_mut);
        let sent = request.and_then(|request| request.sent.take());
        self.end(op, |send| {
            let (message_id, attempts) = (send.take_message_id(), send.ended);
            Event::Replied { op, reply: Box::new(Replied { message, message_id, attempts, sent }) }
        });
    }
}
