//! One send-back (producer §12.2, §12.3).
//!
//! | step     | leaves on                                      | to                                     |
//! |----------|------------------------------------------------|----------------------------------------|
//! | Begin    | the broker is a logical one                    | Retry, unless it is a dead letter      |
//! | Begin    | address known                                  | Queued                                 |
//! | Begin    | no master known                                | Retry; dead letter: Pausing            |
//! | Queued   | its bytes are handed out                       | Awaiting                               |
//! | Queued, Awaiting | failure, the time is over              | Retry; dead letter: Pausing, or the end |
//! | Awaiting | SUCCESS                                        | the end                                |
//! | Awaiting | any other code                                 | Retry; dead letter: Pausing, or the end |
//! | Pausing  | the pause is over                              | Begin                                  |
//! | Retry    | the end of the send to the retry topic         | the end                                |
//!
//! A dead letter is never sent to the retry topic: there it would be consumed again. Code 36 is tried again until its
//! time is over instead.
//!
//! The send to the retry topic is a [`SendOp`] like any other, which carries this machine and sleeps until `Retry`.
//!
//! The group and the topic are those on the wire: a client with a namespace has wrapped both before (producer §12.1).

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU32;
use core::time::Duration;

use alloc::borrow::Cow;
use rmq_proto::header::SendBackHeader;

use super::message::Parts;
use super::{SendBack, SentBack};
use crate::address::Address;
use crate::config::{ProducerConfig, SendBackOptions};
use crate::error::{RequestError, SendBackAttempt, SendBackError, SendBackErrorKind, SendBackFailure};
use crate::error::{SendError, SendErrorKind};
use crate::event::Event;
use crate::link::{LinkId, Ticket};
use crate::producer::{SendOp, Step};
use crate::time::Instant;

/// Attempts of the send to the retry topic. Java: 1 + `retryTimesWhenSendFailed` of its inner producer.
const RETRY_ATTEMPTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(2);
/// Pause before code 36 is tried again; it doubles up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// Attempts that an error lists; of more, the last ones.
const LISTED: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackStep {
    Begin,
    Queued { link: LinkId, ticket: Ticket },
    Awaiting { link: LinkId, opaque: i32 },
    Pausing,
    Retry,
}

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    Retry,
    Pause { until: Instant },
    GiveUp,
}

#[derive(Clone, Debug)]
pub(crate) struct SendBackOp {
    message: SendBack,
    pub(crate) bytes: usize,
    began: Instant,
    pub(crate) deadline: Instant,
    retry_timeout: Duration,
    pub(crate) step: BackStep,
    /// The attempt under way: whom it asks, and since when.
    pub(crate) asking: Option<(Option<Address>, Instant)>,
    attempts: Vec<SendBackAttempt>,
    tries: u32,
    may_be_stored: bool,
    pause: Duration,
}

impl SendBackOp {
    pub(crate) fn new(message: SendBack, options: SendBackOptions, now: Instant) -> Self {
        Self {
            bytes: message.bytes(),
            message,
            began: now,
            deadline: now + options.timeout,
            retry_timeout: options.retry_timeout,
            step: BackStep::Begin,
            asking: None,
            attempts: Vec::new(),
            tries: 0,
            may_be_stored: false,
            pause: FIRST_PAUSE,
        }
    }

    /// Whether to send to the retry topic without asking anybody.
    pub(crate) fn skips_broker(&self) -> bool {
        self.message.is_on_logical_broker() && !self.message.is_dead_letter()
    }

    /// The broker to look the address up of, or the address.
    pub(crate) fn target(&self) -> Result<&Arc<str>, &Address> {
        self.message.0.broker.as_ref().ok_or(&self.message.0.store_host)
    }

    pub(crate) fn header(&self) -> SendBackHeader<'_> {
        let Parts { group, topic, broker, commit_log_offset, message_id, redelivery, .. } = &*self.message.0;
        SendBackHeader {
            commit_log_offset: *commit_log_offset,
            group: Cow::Borrowed(group),
            delay_level: redelivery.on_the_wire(),
            origin_message_id: Some(Cow::Borrowed(message_id)),
            origin_topic: Some(Cow::Borrowed(topic)),
            unit_mode: Some(false),
            max_reconsume_times: Some(self.message.most_on_the_wire()),
            broker_name: broker.as_deref().map(Cow::Borrowed),
        }
    }

    /// The attempt under way failed, or there was none to make.
    pub(crate) fn fail(&mut self, now: Instant, error: RequestError) -> AfterFailure {
        self.end_attempt(now, error);
        if !self.message.is_dead_letter() || mutated!(RetryDeadLetters) {
            return AfterFailure::Retry;
        }
        let until = now + self.pause;
        if until >= self.deadline {
            return AfterFailure::GiveUp;
        }
        self.pause = (self.pause * 2).min(LAST_PAUSE);
        self.step = BackStep::Pausing;
        AfterFailure::Pause { until }
    }

    pub(crate) fn end_attempt(&mut self, now: Instant, error: RequestError) {
        let Some((address, began)) = self.asking.take() else { return };
        self.tries += 1;
        let attempt = SendBackAttempt {
            broker: self.message.0.broker.clone(),
            address,
            began: began.saturating_since(self.began),
            took: now.saturating_since(began),
            error,
        };
        self.may_be_stored |= attempt.may_have_been_stored();
        if self.attempts.len() == LISTED {
            self.attempts.remove(0);
        }
        self.attempts.push(attempt);
    }

    /// What the end of the send that carries this machine means for the send-back.
    pub(crate) fn conclude(self, now: Instant, event: Event) -> Event {
        match event {
            Event::Sent { op, result } => Event::SentBack { op, how: SentBack::RetryTopic(result) },
            Event::SendFailed { op, error } => {
                Event::SendBackFailed { op, error: self.into_error(now, error) }
            }
            other => other,
        }
    }

    fn into_error(self, now: Instant, error: SendError) -> SendBackError {
        let kind = match (self.step, error.kind()) {
            (BackStep::Retry, _) => SendBackErrorKind::RetryFailed(error),
            (_, SendErrorKind::ShutDown) => SendBackErrorKind::ShutDown,
            _ => SendBackErrorKind::DeadLetterRefused,
        };
        let Parts { group, topic, message_id, .. } = *self.message.0;
        SendBackError(Box::new(SendBackFailure {
            kind,
            group,
            topic,
            message_id,
            attempts: self.attempts,
            tries: self.tries,
            may_be_stored: self.may_be_stored,
            took: now.saturating_since(self.began),
        }))
    }
}

impl SendOp {
    /// The send-back that has not come to its message to the retry topic.
    pub(crate) fn asking_back(&mut self) -> Option<&mut SendBackOp> {
        self.back_mut().filter(|back| back.step != BackStep::Retry)
    }

    /// Wakes the send to the retry topic, whose time begins now.
    pub(crate) fn retry_back(&mut self, now: Instant) {
        let Some(back) = self.back_mut() else { return };
        back.step = BackStep::Retry;
        (self.began, self.deadline) = (now, now + back.retry_timeout);
        self.config =
            Arc::new(ProducerConfig { attempts: RETRY_ATTEMPTS, ..ProducerConfig::clone(&self.config) });
        self.step = Step::Resolve;
    }
}
