//! Transactions: half messages go out and are ended, and brokers' questions are passed on and answered (producer §9).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;

use bytes::Bytes;
use rmq_proto::code::RequestCode;
use rmq_proto::command::{EncodeError, FLAG_ONEWAY, RemotingCommand};
use rmq_proto::header::CheckTransactionHeader;
use rmq_proto::message::{Prepared, StoredMessage};
use rmq_proto::properties::PGROUP;

use super::encode::Batch;
use super::inbound::own_body;
use super::namespaces::enter_namespace;
use super::{Client, Effect, Timer};
use crate::address::Address;
use crate::config::{ProducerConfig, SendOptions};
use crate::error::{RejectReason, Rejected, RequestError};
use crate::event::{Event, OpId, ProducerId, Resolution, SendResult};
use crate::io::ConnId;
use crate::link::{LinkId, Owner, Request, Ticket};
use crate::producer::{NewSend, Progress, Purpose, SendOp, Step, Target};
use crate::route::Choice;
use crate::time::Instant;
use crate::trace::Labels;
use crate::transaction::{ANSWER_TIMEOUT, Check, CheckToken, End, MAX_AGE, is_half_of};

/// A body up to this many bytes does not keep the piece of input alive that it came in.
const COPY_UP_TO: usize = 65_536;

/// What of a check is not passed on to anybody.
enum Unusable {
    /// Its header or its message cannot be read.
    Undecodable,
    /// Its message names no group, or none of this client's.
    NoProducer,
}

/// Where an END_TRANSACTION goes.
struct Way {
    broker: Arc<str>,
    address: Option<Address>,
    /// An open connection to take before any other to that address.
    link: Option<LinkId>,
}

impl Client {
    /// Sends a [half message](rmq_proto::message::Message::prepare_half): as [`send`](Self::send), with retries, but no
    /// consumer sees it before [`end_transaction`](Self::end_transaction) commits it.
    /// [`oneway`](SendOptions::oneway) is not looked at. The operation ends in [`Event::Sent`], whose result is what
    /// `end_transaction` wants, in [`Event::SendFailed`] or [`Event::Cancelled`].
    ///
    /// A retry may leave several half messages behind. All but the one in the result, as one that is never ended,
    /// are [asked about](Event::TransactionCheck).
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send), and a message that is no half message of the producer's group.
    pub fn send_half(
        &mut self,
        now: Instant,
        producer: ProducerId,
        message: Prepared,
        options: SendOptions,
    ) -> Result<OpId, Rejected<Prepared>> {
        self.advance(now);
        let config = self.producers.get(producer);
        let is_other = config.is_some_and(|config| !is_half_of(&message, &config.group));
        let is_half = if is_other { Err(RejectReason::NotHalf) } else { Ok(()) };
        let ((), message) = self.or_hand_back(is_half, message)?;
        self.submit(now, producer, None, message, SendOptions { oneway: false, ..options })
    }

    /// Tells the broker of a half message how its transaction went: one-way, in one attempt, to the address that routes in
    /// use give the master of the broker in the result. `remark` says why, to whoever reads the broker's log; at most 1 KiB
    /// of it is sent. The operation has the time of the producer's sends and ends in [`Event::TransactionEnded`],
    /// [`Event::EndTransactionFailed`] or [`Event::Cancelled`].
    ///
    /// Where [nothing may be committed](SendResult::is_to_be_rolled_back), the local work should not have been done, and
    /// the half message is to be rolled back. That is the caller's part: what is said here is what is told.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send), and a result whose offset id cannot be read. The broker asks after a while.
    pub fn end_transaction(
        &mut self,
        now: Instant,
        producer: ProducerId,
        half: &SendResult,
        resolution: Resolution,
        remark: Option<&str>,
    ) -> Result<OpId, RejectReason> {
        self.advance(now);
        let end = End::of_half(half, resolution, remark).ok_or(RejectReason::OffsetMessageId);
        let admitted = end.and_then(|end| Ok((self.admit_end(producer, &end)?, end)));
        let (config, mut end) = admitted.inspect_err(|_| self.stats.rejected += 1)?;
        end.labels = config.trace.as_ref().and_then(|_| Labels::of_half(half));
        let broker = half.queue.broker.clone();
        let way = Way { address: self.brokers.master(&broker).cloned(), broker, link: None };
        let message = (half.queue.topic.clone(), half.message_id.clone());
        Ok(self.begin_end((producer, config), message, end, way))
    }

    /// Answers a broker's question: one-way, in one attempt of 3 s, on the connection that asked, if that is still open, and
    /// else to the broker by its name. Ends as [`end_transaction`](Self::end_transaction). After
    /// [`Resolution::Unknown`], as without an answer, the broker asks again.
    ///
    /// # Errors
    ///
    /// [`RejectReason::CheckOver`] when the check was answered or let go before, or is older than 60 s; too many operations
    /// or bytes, or a client that is shut down. The check can be answered again after the other two.
    pub fn answer_check(
        &mut self,
        now: Instant,
        token: CheckToken,
        resolution: Resolution,
        remark: Option<&str>,
    ) -> Result<OpId, RejectReason> {
        self.advance(now);
        let check = self.checks.get(token.0).ok_or(RejectReason::CheckOver);
        let end = check.map(|check| (check.producer, check.end(resolution, remark)));
        let admitted = end.and_then(|(producer, end)| Ok((self.admit_end(producer, &end)?, end)));
        let (config, end) = admitted.inspect_err(|_| self.stats.rejected += 1)?;
        let check = self.take_check(token).ok_or(RejectReason::CheckOver)?;
        let way = self.way_back(&check);
        Ok(self.begin_end((check.producer, config), (check.topic, check.message_id), end, way))
    }

    /// Lets a check go without an answer: the broker asks again. One that is over is left as it is.
    pub fn ignore_check(&mut self, now: Instant, token: CheckToken) {
        self.advance(now);
        self.take_check(token);
    }

    /// Whether a check can still be answered.
    pub fn is_check_open(&self, token: CheckToken) -> bool {
        self.checks.contains(token.0)
    }

    fn admit_end(&self, producer: ProducerId, end: &End) -> Result<Arc<ProducerConfig>, RejectReason> {
        let config = self.admit_any(producer)?;
        self.admit_bytes(end.bytes())?;
        Ok(config)
    }

    fn way_back(&self, check: &Check) -> Way {
        let Check { asked_on, asked_by, .. } = check;
        let broker = check.broker.clone();
        let link = self.link_up(*asked_on);
        let by_name = broker.as_ref().and_then(|name| self.brokers.master(name));
        let address = if link.is_some() || broker.is_none() { Some(asked_by) } else { by_name };
        Way { address: address.cloned(), broker: broker.unwrap_or_default(), link }
    }

    fn link_up(&self, conn: ConnId) -> Option<LinkId> {
        let id = self.links.id_at(conn.slot)?;
        self.links.get(id).filter(|link| link.is_up() && link.conn() == Some(conn)).map(|_| id)
    }

    fn begin_end(
        &mut self,
        (producer, config): (ProducerId, Arc<ProducerConfig>),
        (topic, message_id): (Arc<str>, String),
        end: End,
        way: Way,
    ) -> OpId {
        let now = self.now;
        let Way { broker, address, link } = way;
        let timeout = if end.from_check { ANSWER_TIMEOUT } else { config.send_timeout };
        let choice = Choice { broker, queue_id: -1 };
        let new = NewSend::nothing(topic, Target::Queue(choice.clone()), message_id);
        let mut send = SendOp::new(producer, config, new, (now, timeout), 0, true);
        send.code = RequestCode::END_TRANSACTION;
        send.progress =
            Some(Progress { choice, address: address.clone(), began: now, deadline: send.deadline });
        send.purpose = Purpose::End(Box::new(end));
        enter_namespace(self.config.rules.namespace.as_deref(), &mut send);
        self.stats.transaction_ends += 1;
        self.send_bytes += send.bytes();
        let op = OpId(self.sends.insert(send));
        self.arm_send(op, None);
        match self.queue_end(op, link, address.as_ref()) {
            Ok((link, ticket)) => {
                if let Some(send) = self.sends.get_mut(op.0) {
                    send.step = Step::Queued { link, ticket };
                }
            }
            Err(error) => self.effects.push_back(Effect::Failed { owner: Owner::Send(op), error }),
        }
        self.settle();
        op
    }

    fn queue_end(
        &mut self,
        op: OpId,
        link: Option<LinkId>,
        address: Option<&Address>,
    ) -> Result<(LinkId, Ticket), RequestError> {
        if let Some(id) = link
            // Who sends clients away does nothing more, and nobody would say so.
            && let Some(link) = self.links.get_mut(id).filter(|link| !link.draining)
        {
            let ticket = link.queue.push(Request::new(Owner::Send(op)));
            self.want_write(id);
            return Ok((id, ticket));
        }
        self.request(address.ok_or(RequestError::NoMaster)?, Owner::Send(op), true)
    }

    pub(super) fn encode_end(
        &self,
        send: &SendOp,
        end: &End,
        opaque: i32,
        batch: &mut Batch,
    ) -> Result<(), EncodeError> {
        let head = self.head(RequestCode::END_TRANSACTION.0, opaque, FLAG_ONEWAY, end.remark.as_deref());
        self.frame_to(batch, &head, &end.header(send), &Bytes::new())
    }

    /// A broker asks about a half message that nobody has ended. No answer but the one to come is wanted.
    pub(super) fn check_arrived(&mut self, id: LinkId, command: &RemotingCommand) {
        match self.read_check(id, command) {
            Ok((check, message)) => self.pass_on(check, message),
            Err(Unusable::Undecodable) => self.stats.checks_undecodable += 1,
            Err(Unusable::NoProducer) => self.stats.checks_of_strangers += 1,
        }
    }

    fn read_check(&self, id: LinkId, command: &RemotingCommand) -> Result<(Check, StoredMessage), Unusable> {
        let header: CheckTransactionHeader<'_> = command.header().map_err(|_| Unusable::Undecodable)?;
        let mut message = StoredMessage::decode(&command.body).map_err(|_| Unusable::Undecodable)?;
        message.body = own_body(&message.body, COPY_UP_TO);
        message.topic = self.users_topic(message.topic);
        let producer = message.property(PGROUP).and_then(|group| self.producers.of_group(group));
        let producer = producer.ok_or(Unusable::NoProducer)?;
        let link = self.links.get(id).ok_or(Unusable::NoProducer)?;
        let conn = link.conn().ok_or(Unusable::NoProducer)?;
        let broker = match &header.broker_name {
            Some(name) => Some(Arc::from(&**name)),
            None => self.brokers.name_of(&link.address).cloned(),
        };
        let mut check = Check::new(producer, &header, &message, (conn, link.address.clone()), broker);
        if self.producers.get(producer).is_some_and(|config| config.trace.is_some()) {
            check.labels = Labels::of_message(&message);
        }
        Ok((check, message))
    }

    fn pass_on(&mut self, check: Check, message: StoredMessage) {
        let limits = &self.config.limits;
        let (producer, bytes) = (check.producer, check.bytes);
        let fits = self.checks.len() < limits.checks
            && self.check_bytes.saturating_add(bytes) <= limits.check_bytes
            && self.lifecycle.accepts();
        if !fits {
            self.stats.checks_dropped += 1;
            return;
        }
        let token = CheckToken(self.checks.insert(check));
        self.check_bytes += bytes;
        if !self.outputs.push_notice(Event::TransactionCheck { token, producer, message }) {
            self.take_check(token);
            self.stats.checks_dropped += 1;
            return;
        }
        self.stats.checks += 1;
        let at = self.now + MAX_AGE;
        if let Some(check) = self.checks.get_mut(token.0) {
            self.timers.arm(&mut check.timer, at, Timer::Check(token));
        }
    }

    fn take_check(&mut self, token: CheckToken) -> Option<Check> {
        let mut check = self.checks.remove(token.0)?;
        self.timers.disarm(&mut check.timer);
        self.check_bytes -= check.bytes;
        Some(check)
    }

    pub(super) fn check_timer(&mut self, token: CheckToken) {
        if self.take_check(token).is_some() {
            self.stats.checks_expired += 1;
        }
    }

    /// Lets all checks go, as the client shuts down.
    pub(super) fn ignore_checks(&mut self) {
        for id in self.checks.ids() {
            self.take_check(CheckToken(id));
        }
    }
}
