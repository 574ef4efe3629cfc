//! What a batch has that a single message has not.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use rmq_proto::header::SendResponseHeader;
use rmq_proto::message::ID_SEPARATOR;

use super::{Progress, Purpose, SendOp, Step};
use crate::error::{Attempt, RequestError};
use crate::event::{OpId, SendResult};
use crate::time::Instant;

/// The batch that a [`SendOp`] sends. Its `message_id` is the ids of all messages.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// The batch's own id.
    pub(crate) id: String,
    /// Of an automatic batch.
    pub(crate) riders: Option<Riders>,
}

/// The operations whose messages an automatic batch carries. They end by it, or before it by themselves: what an attempt
/// carries is what is left when its bytes are made.
#[derive(Clone, Debug)]
pub(crate) struct Riders {
    /// In the order in which they were gathered. Those that the last written attempt carried, once one was written; some
    /// may have ended since.
    pub(crate) members: Vec<OpId>,
    /// How many have not ended.
    pub(crate) left: usize,
}

impl SendOp {
    /// Whether it is an automatic batch: no operation of a user, but what carries some.
    pub(crate) fn riders(&self) -> Option<&Riders> {
        self.batch().and_then(|batch| batch.riders.as_ref())
    }

    pub(crate) fn riders_mut(&mut self) -> Option<&mut Riders> {
        if let Purpose::Batch(batch) = &mut self.purpose { batch.riders.as_mut() } else { None }
    }

    /// The id that a result has: the messages' own, unless the broker made one message of the batch (producer §6.2).
    pub(super) fn id_of_result(&self, header: &SendResponseHeader<'_>) -> String {
        match self.batch() {
            Some(batch) if header.batch_unique_id.is_some() => batch.id.clone(),
            _ => self.message_id().into(),
        }
    }

    /// Whether the broker said where each message of an automatic batch is (producer §10.6).
    pub(super) fn check_ids(&self, header: &SendResponseHeader<'_>) -> Result<(), RequestError> {
        let Some(riders) = self.riders().filter(|_| header.batch_unique_id.is_none()) else { return Ok(()) };
        let (messages, ids) = (riders.members.len(), header.message_id.split(ID_SEPARATOR).count());
        if messages == ids { Ok(()) } else { Err(RequestError::WrongIds { messages, ids }) }
    }

    fn unanswered(&self, now: Instant) -> Option<Attempt> {
        let Progress { choice, address, began, .. } = self.progress.clone()?;
        let after = now.saturating_since(began);
        Some(Attempt {
            broker: choice.broker,
            address,
            queue_id: choice.queue_id,
            began: began.saturating_since(self.began),
            took: after,
            error: RequestError::Timeout { after, written: matches!(self.step, Step::Awaiting { .. }) },
        })
    }

    /// Takes over what befell the batch that carries it, up to now: the attempts that ended, and the one under way as one
    /// whose time is over.
    pub(crate) fn inherit(&mut self, batch: &Self, now: Instant) {
        let earlier = batch.began.saturating_since(self.began);
        let unanswered = batch.unanswered(now);
        self.ended = batch.ended + u32::from(unanswered.is_some());
        let later = |attempt: Attempt| Attempt { began: attempt.began + earlier, ..attempt };
        self.failed = batch.failed.iter().cloned().chain(unanswered).map(later).collect();
    }

    /// Keeps its part of a result that may be bettered.
    pub(crate) fn keep(&mut self, result: SendResult) {
        self.not_stored_ok = Some(Box::new(result));
    }
}

/// What the message at this place of an automatic batch is told (producer §10.6).
pub(crate) fn part_of(result: &SendResult, place: usize, own_id: &str) -> SendResult {
    if !result.message_id.contains(ID_SEPARATOR) {
        return result.clone();
    }
    let offset_id = result.offset_message_id.split(ID_SEPARATOR).nth(place).unwrap_or_default();
    SendResult {
        message_id: own_id.into(),
        queue_offset: result.queue_offset.saturating_add(place as i64),
        offset_message_id: offset_id.into(),
        ..result.clone()
    }
}

impl Batch {
    pub(crate) fn explicit(id: String) -> Box<Self> {
        Box::new(Self { id, riders: None })
    }

    pub(crate) fn automatic(id: String, members: Vec<OpId>) -> Box<Self> {
        let left = members.len();
        Box::new(Self { id, riders: Some(Riders { members, left }) })
    }
}
