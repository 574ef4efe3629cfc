//! Carries out what send-backs order, up to the message to the retry topic, which is a send.

use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;

use super::{Client, Effect, Timer};
use crate::config::SendBackOptions;
use crate::error::{CloseCause, Rejected, RequestError, SendErrorKind};
use crate::event::{Event, OpId, ProducerId};
use crate::link::{Asking, Owner};
use crate::producer::{NewSend, Purpose, SendOp, Step, Target};
use crate::send_back::{AfterFailure, BackStep, SendBack, SendBackOp, SentBack};

impl Client {
    /// Gives a message back to its broker, to be consumed again later. Ends in [`Event::SentBack`],
    /// [`Event::SendBackFailed`] or [`Event::Cancelled`].
    ///
    /// When the broker cannot be asked, or says anything but yes, a copy is sent to the group's retry topic as a message of
    /// `producer`, by its rules but with a budget of its own: three attempts within
    /// [`retry_timeout`](SendBackOptions::retry_timeout). A [dead letter](crate::Redelivery::DeadLetter) is never sent so,
    /// as it would be consumed again: the broker is asked again and again, with pauses, until
    /// [`timeout`](SendBackOptions::timeout) is over.
    ///
    /// # Errors
    ///
    /// Over a limit, with a producer of another client, with a group that is too long for the client's namespace, or when
    /// shut down, the message is handed back.
    pub fn send_back(
        &mut self,
        now: crate::Instant,
        producer: ProducerId,
        message: SendBack,
        options: SendBackOptions,
    ) -> Result<OpId, Rejected<SendBack>> {
        self.advance(now);
        let admitted = self.admit_any(producer).and_then(|config| {
            let on_the_wire = self.back_on_the_wire(&message)?;
            self.admit_bytes(on_the_wire.as_ref().unwrap_or(&message).bytes())?;
            Ok((config, on_the_wire))
        });
        let ((config, on_the_wire), message) = self.or_hand_back(admitted, message)?;
        let message = on_the_wire.unwrap_or(message);
        let unix_ms = self.unix_ms();
        let born_ms = self.born_ms();
        let new = if message.is_dead_letter() && !mutated!(RetryDeadLetters) {
            NewSend::nothing(message.topic().into(), Target::Topic, message.message_id().into())
        } else {
            message.retry(|| self.unique_keys.next(unix_ms))
        };
        let back = SendBackOp::new(message, options, self.now);
        let mut send = SendOp::new(producer, config, new, (self.now, options.timeout), born_ms, false);
        send.step = Step::Asleep;
        send.purpose = Purpose::Back(back.into());
        self.send_bytes += send.bytes();
        self.stats.send_backs += 1;
        let op = OpId(self.sends.insert(send));
        self.effects.push_back(Effect::Proceed(op));
        self.settle();
        Ok(op)
    }

    fn back(&mut self, OpId(op): OpId) -> Option<&mut SendBackOp> {
        self.sends.get_mut(op).and_then(SendOp::asking_back)
    }

    /// Asks the broker.
    pub(super) fn ask_back(&mut self, op: OpId) {
        let now = self.now;
        let Some(back) = self.back(op).filter(|back| back.step == BackStep::Begin) else { return };
        if back.skips_broker() {
            return self.retry_back(op);
        }
        let deadline = back.deadline;
        let address = match back.target() {
            Ok(name) => {
                let name = name.clone();
                self.brokers.master(&name).cloned()
            }
            Err(address) => Some(address.clone()),
        };
        if let Some(back) = self.back(op) {
            back.asking = Some((address.clone(), now));
        }
        self.arm_back(op, deadline);
        let requested = match &address {
            Some(address) => self.request(address, Owner::SendBack(op), true),
            None => Err(RequestError::NoMaster),
        };
        match requested {
            Ok((link, ticket)) => {
                if let Some(back) = self.back(op) {
                    back.step = BackStep::Queued { link, ticket };
                }
            }
            Err(error) => self.effects.push_back(Effect::Failed { owner: Owner::SendBack(op), error }),
        }
    }

    fn arm_back(&mut self, op: OpId, at: crate::Instant) {
        if let Some(send) = self.sends.get_mut(op.0) {
            self.timers.arm(&mut send.timer, at, Timer::SendBack(op));
        }
    }

    /// A pause is over, or the time for the broker to answer.
    pub(super) fn back_timer(&mut self, op: OpId) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        send.timer = None;
        let Some(back) = send.asking_back() else { return };
        let (step, deadline) = (back.step, back.deadline);
        let began = back.asking.as_ref().map_or(now, |(_, began)| *began);
        match step {
            // The clock may have jumped meanwhile.
            BackStep::Pausing if now >= deadline => return self.give_up(op, SendErrorKind::TimedOut),
            BackStep::Pausing => {
                back.step = BackStep::Begin;
                return self.ask_back(op);
            }
            BackStep::Queued { link, ticket } => self.unqueue(link, ticket),
            BackStep::Awaiting { link, opaque } => self.give_up_awaiting(link, opaque, began, deadline),
            BackStep::Begin | BackStep::Retry => {}
        }
        let written = matches!(step, BackStep::Awaiting { .. });
        self.back_failed(op, RequestError::Timeout { after: now.saturating_since(began), written });
    }

    pub(super) fn back_stands(&mut self, op: OpId, asking: Asking) {
        if let Some(back) = self.back(op) {
            match asking {
                Asking::Idle => {}
                Asking::Queued { link, ticket } => back.step = BackStep::Queued { link, ticket },
                Asking::Awaiting { link, opaque } => back.step = BackStep::Awaiting { link, opaque },
            }
        }
    }

    pub(super) fn back_answered(&mut self, op: OpId, command: &RemotingCommand) {
        if self.back(op).is_none() {
            return;
        }
        match ResponseCode(command.code) {
            ResponseCode::SUCCESS => self.end(op, |_| Event::SentBack { op, how: SentBack::ByBroker }),
            code => self.back_failed(op, RequestError::answered(code, command.remark.as_deref())),
        }
    }

    pub(super) fn back_failed(&mut self, op: OpId, error: RequestError) {
        let now = self.now;
        let Some(back) = self.back(op) else { return };
        match back.fail(now, error) {
            AfterFailure::Retry => self.retry_back(op),
            AfterFailure::Pause { until } => self.arm_back(op, until),
            AfterFailure::GiveUp => self.give_up(op, SendErrorKind::TimedOut),
        }
    }

    /// Sends to the retry topic instead.
    fn retry_back(&mut self, op: OpId) {
        let now = self.now;
        let Some(send) = self.sends.get_mut(op.0) else { return };
        self.timers.disarm(&mut send.timer);
        send.retry_back(now);
        self.arm_send(op, None);
        self.effects.push_back(Effect::Proceed(op));
    }

    /// Takes a send-back out of wherever it waits, though its time is not over.
    pub(super) fn abandon_back(&mut self, op: OpId) {
        let Some(back) = self.back(op) else { return };
        let deadline = back.deadline;
        match back.step {
            BackStep::Queued { link, ticket } => self.unqueue(link, ticket),
            BackStep::Awaiting { link, opaque } => self.bury(link, opaque, deadline),
            BackStep::Begin | BackStep::Pausing | BackStep::Retry => {}
        }
    }

    /// Lists the attempt under way as one that the shutdown ended.
    pub(super) fn cut_back(&mut self, op: OpId) {
        let now = self.now;
        if let Some(back) = self.back(op) {
            let written = matches!(back.step, BackStep::Awaiting { .. });
            back.end_attempt(now, RequestError::Closed { cause: CloseCause::ShutDown, written });
        }
    }
}
