//! One send (producer §5.9), one question for the queues of a topic, which is the beginning of a send, or one recall of a
//! message, which is a send's course with another request.
//!
//! The machine holds what one message needs; [its step](super::Step) says where it is; the client carries its orders out.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use bytes::Bytes;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::SendResponseHeader;
use rmq_proto::message::ElementHead;
use rmq_proto::trace::TraceRecord;

use super::{MessageId, NewSend, Permit, Progress, Purpose, Step, Target, Verdict};
use crate::config::{AttemptTimeout, ProducerConfig};
use crate::deadlines::Armed;
use crate::error::{Attempt, RecallError, RequestError, SendError, SendErrorKind, SendFailure};
use crate::event::{Event, MessageQueue, OpId, ProducerId, SendResult, SendStatus};
use crate::fault::{Outcome, Report};
use crate::link::Asking;
use crate::recall::Recall;
use crate::route::TopicId;
use crate::time::Instant;
use crate::trace::published;

/// Region of brokers that name none; most others name it, too.
const DEFAULT_REGION: &str = "DefaultRegion";

#[derive(Clone, Debug)]
pub(crate) struct SendOp {
    pub(crate) producer: ProducerId,
    pub(crate) config: Arc<ProducerConfig>,
    pub(crate) topic: Arc<str>,
    /// The topic in the table of routes, if its route was known when the send began.
    pub(crate) topic_id: Option<TopicId>,
    pub(crate) target: Target,
    pub(crate) code: RequestCode,
    pub(crate) body: Bytes,
    pub(crate) flag: i32,
    pub(crate) sys_flag: i32,
    /// Encoded, UNIQ_KEY included: the same bytes in every attempt.
    pub(crate) properties: String,
    pub(super) message_id: MessageId,
    pub(crate) born_ms: i64,
    pub(crate) oneway: bool,
    pub(crate) began: Instant,
    pub(crate) deadline: Instant,
    pub(crate) step: Step,
    pub(crate) permit: Permit,
    pub(crate) timer: Option<Armed>,
    pub(crate) progress: Option<Progress>,
    /// Attempts that ended.
    pub(crate) ended: u32,
    /// Where attempts ended after which another one may follow.
    pub(crate) tried: Vec<Arc<str>>,
    pub(crate) purpose: Purpose,
    /// When the last attempt that ended began.
    pub(crate) last_began: Instant,
    pub(super) failed: Vec<Attempt>,
    /// What the last attempt says of its broker, until it is told.
    report: Option<Report>,
    /// What is to be told of the last attempt by message trace, until it is.
    record: Option<Box<TraceRecord>>,
    /// A stored message whose status asked for another attempt.
    pub(super) not_stored_ok: Option<Box<SendResult>>,
}

impl SendOp {
    pub(crate) fn new(
        producer: ProducerId,
        config: Arc<ProducerConfig>,
        message: NewSend,
        (now, timeout): (Instant, Duration),
        born_ms: i64,
        oneway: bool,
    ) -> Self {
        let NewSend { topic, target, code, body, flag, sys_flag, properties, message_id } = message;
        Self {
            producer,
            config,
            topic,
            topic_id: None,
            target,
            code,
            body,
            flag,
            sys_flag,
            properties,
            message_id,
            born_ms,
            oneway,
            began: now,
            deadline: now + timeout,
            step: Step::Resolve,
            permit: Permit::Unneeded,
            timer: None,
            progress: None,
            ended: 0,
            tried: Vec::new(),
            purpose: Purpose::Message,
            last_began: now,
            failed: Vec::new(),
            report: None,
            record: None,
            not_stored_ok: None,
        }
    }

    /// Bytes held while it is under way.
    pub(crate) fn bytes(&self) -> usize {
        match (&self.purpose, self.recall()) {
            (Purpose::Back(back), _) => back.bytes,
            (_, Some(recall)) => recall.bytes(),
            (purpose, None) => {
                let ending = if let Purpose::End(end) = purpose { end.bytes() } else { 0 };
                self.body.len() + self.properties.len() + ending
            }
        }
    }

    /// Its message as one of a batch.
    pub(crate) fn element_head(&self) -> ElementHead {
        let (body_len, properties_len) = (self.body.len(), self.properties.len());
        ElementHead { flag: self.flag, body_len, properties_len }
    }

    pub(crate) fn rides_in(&self, carrier: OpId) -> bool {
        matches!(self.step, Step::Riding { batch } if batch == carrier)
    }

    /// Whether it counts among what its producer has under way.
    pub(crate) fn needs_permit(&self) -> bool {
        matches!(self.target, Target::Topic | Target::Queue(_)) && self.ending().is_none()
    }

    pub(crate) fn attempts_allowed(&self) -> u32 {
        match self.target {
            _ if self.oneway => 1,
            Target::Recall(_) => 1,
            Target::Queue(_) => self.config.max_attempts_at_queue().get(),
            Target::Topic | Target::Queues => self.config.attempts.get(),
        }
    }

    /// Whether the user chose where it goes: another queue will not do.
    pub(crate) fn has_given_queue(&self) -> bool {
        matches!(self.target, Target::Queue(_) | Target::Recall(_))
    }

    /// The message to be taken back, if that is what is wanted.
    pub(crate) fn recall(&self) -> Option<&Recall> {
        match &self.target {
            Target::Recall(recall) => Some(recall),
            Target::Topic | Target::Queue(_) | Target::Queues => None,
        }
    }

    /// The request of the attempt under way stands elsewhere.
    pub(crate) fn stands(&mut self, asking: Asking) {
        match asking {
            Asking::Idle => {}
            Asking::Queued { link, ticket } => self.step = Step::Queued { link, ticket },
            Asking::Awaiting { link, opaque } => self.step = Step::Awaiting { link, opaque },
        }
    }

    /// Whether no other attempt follows what a broker answers.
    fn answers_are_final(&self) -> bool {
        self.has_given_queue() || self.request().is_some()
    }

    /// When an attempt that begins now has had its share of the time.
    pub(crate) fn attempt_deadline(&self, now: Instant) -> Instant {
        let attempts_left = self.attempts_allowed().saturating_sub(self.ended).max(1);
        // The last share ends with the call, whatever the division rounds away.
        if attempts_left == 1 {
            return self.deadline;
        }
        let left = self.deadline.saturating_since(now);
        let share = match self.config.attempt_timeout {
            AttemptTimeout::Split => left / attempts_left,
            AttemptTimeout::Cap(cap) => left.min(cap),
            AttemptTimeout::Whole => left,
        };
        now + share
    }

    /// The attempt under way failed.
    pub(crate) fn fail(&mut self, now: Instant, error: RequestError) -> Verdict {
        let retry = match &error {
            RequestError::Answered { code, .. } => {
                self.config.retry.retries(*code) && !self.answers_are_final()
            }
            RequestError::BadHeader(_) | RequestError::WrongIds { .. } => false,
            _ => true,
        };
        self.end_attempt(now, Some(error));
        if !retry {
            return Verdict::GivenUp(SendErrorKind::Refused);
        }
        self.again_or_exhausted()
    }

    /// A broker answered the attempt under way.
    pub(crate) fn answered(&mut self, now: Instant, command: &RemotingCommand) -> Verdict {
        let code = ResponseCode(command.code);
        let Some(status) = SendStatus::of(code) else {
            return self.fail(now, RequestError::answered(code, command.remark.as_deref()));
        };
        let header = match command.header::<SendResponseHeader<'_>>() {
            Ok(header) => header,
            Err(error) => return self.fail(now, RequestError::BadHeader(error)),
        };
        if let Err(error) = self.check_ids(&header) {
            return self.fail(now, error);
        }
        let mut result = self.result(status, &header);
        self.record = published(self, now, &result);
        let again = status != SendStatus::SendOk
            && self.config.retry.retries_not_stored_ok()
            && !self.answers_are_final();
        // That of a message that is at its end is taken there.
        if again || !matches!(self.purpose, Purpose::Message) {
            result.message_id = self.id_of_result(&header);
        }
        if !again {
            self.end_attempt(now, None);
            return Verdict::Stored(result);
        }
        self.tried.push(result.queue.broker.clone());
        self.not_stored_ok = Some(Box::new(result));
        self.end_attempt(now, None);
        self.again_or_exhausted()
    }

    fn again_or_exhausted(&self) -> Verdict {
        let left = self.ended < self.attempts_allowed() + u32::from(mutated!(RetryPastBudget));
        if left { Verdict::Again } else { Verdict::GivenUp(SendErrorKind::AttemptsExhausted) }
    }

    /// A stored message is better news than whatever came after it.
    pub(crate) fn take_not_stored_ok(&mut self) -> Option<SendResult> {
        self.not_stored_ok.take().map(|result| SendResult { attempts: self.ended, ..*result })
    }

    pub(crate) fn end_attempt(&mut self, now: Instant, error: Option<RequestError>) {
        let Some(Progress { choice, address, began, .. }) = self.progress.take() else { return };
        self.ended += 1;
        self.last_began = began;
        if self.config.fault_tolerance.is_some()
            && self.recall().is_none()
            && self.ending().is_none()
            && let Some(outcome) = Outcome::of(error.as_ref())
        {
            let took = now.saturating_since(began);
            self.report = Some(Report { broker: choice.broker.clone(), took, outcome });
        }
        if let Some(error) = error {
            self.tried.push(choice.broker.clone());
            self.failed.push(Attempt {
                broker: choice.broker,
                address,
                queue_id: choice.queue_id,
                began: began.saturating_since(self.began),
                took: now.saturating_since(began),
                error,
            });
        }
        self.step = Step::Pick;
    }

    /// Attempts that failed.
    pub(crate) fn failures(&self) -> &[Attempt] {
        &self.failed
    }

    pub(crate) fn take_report(&mut self) -> Option<Report> {
        self.report.take()
    }

    pub(crate) fn take_record(&mut self) -> Option<Box<TraceRecord>> {
        self.record.take()
    }

    /// How it ends when it is stored.
    #[inline]
    pub(crate) fn stored(&mut self, op: OpId, mut result: SendResult) -> Event {
        if result.message_id.is_empty() {
            result.message_id = self.take_message_id();
        }
        Event::Sent { op, result }
    }

    /// All but the message's id.
    fn result(&self, status: SendStatus, header: &SendResponseHeader<'_>) -> SendResult {
        let broker =
            self.progress.as_ref().map_or_else(|| "".into(), |progress| progress.choice.broker.clone());
        SendResult {
            status,
            message_id: String::new(),
            queue: MessageQueue { topic: self.topic.clone(), broker, queue_id: header.queue_id },
            queue_offset: header.queue_offset,
            offset_message_id: header.message_id.to_string(),
            transaction_id: header.transaction_id.as_ref().map(ToString::to_string),
            recall_handle: header.recall_handle.as_ref().map(ToString::to_string),
            region_id: region(header.region_id.as_deref()),
            trace_on: header.trace_on.as_deref() != Some("false"),
            attempts: self.ended + 1,
        }
    }

    /// How it ends when it is given up.
    pub(crate) fn failed(&mut self, op: OpId, now: Instant, kind: SendErrorKind) -> Event {
        let error = self.take_error(now, kind);
        if self.recall().is_some() {
            Event::RecallFailed { op, error: RecallError(error) }
        } else {
            Event::SendFailed { op, error }
        }
    }

    fn take_error(&mut self, now: Instant, kind: SendErrorKind) -> SendError {
        SendError(Box::new(SendFailure {
            kind,
            topic: self.topic.clone(),
            message_id: self.take_message_id(),
            attempts: mem::take(&mut self.failed),
            took: now.saturating_since(self.began),
        }))
    }
}

fn region(named: Option<&str>) -> Cow<'static, str> {
    match named {
        None | Some(DEFAULT_REGION) => Cow::Borrowed(DEFAULT_REGION),
        Some(other) => Cow::Owned(other.into()),
    }
}
