use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::info::{OrderCounts, QueueKey, parse_message_offsets, parse_order_counts, parse_start_offsets};
use super::{PopError, Receipt};
use crate::names::RetryMark;

/// What an answer to a pop says beside its messages, and who gave it (wire §5.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopAnswer<'a> {
    /// When the messages were popped, in milliseconds of the broker's Unix time.
    pub pop_time: i64,
    /// How long after that nobody else gets them, in milliseconds.
    pub invisible_time: i64,
    /// Field `reviveQid`.
    pub revive_queue_id: i32,
    /// The name of the broker that was asked.
    pub broker_name: &'a str,
    /// Field `startOffsetInfo`. Empty is the same as not there.
    pub start_offset_info: Option<&'a str>,
    /// Field `msgOffsetInfo`. Empty is the same as not there.
    pub msg_offset_info: Option<&'a str>,
    /// Field `orderCountInfo`, which answers to ordered pops have.
    pub order_count_info: Option<&'a str>,
}

/// A message of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoppedMessage<'a> {
    /// The topic that stands in the message, which may be a pop retry topic.
    pub topic: &'a str,
    /// Its queue there.
    pub queue_id: i32,
    /// Its offset in the queue.
    pub queue_offset: i64,
    /// Its property `POP_CK`, if it came with one.
    pub receipt: Option<&'a str>,
}

/// What a client adds to a popped message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popped {
    /// The message's [`Receipt`], for its property `POP_CK`.
    pub receipt: String,
    /// How often the message was consumed before, where the answer tells. It counts instead of the message's own number if
    /// it is over 0.
    pub reconsume_times: Option<i32>,
}

impl PopAnswer<'_> {
    /// Makes the receipts of all messages of the answer, given in the order of its body (wire §11.1).
    ///
    /// A message that came with a whole receipt keeps it. Else its place among the messages of its queue says which offset of
    /// `msgOffsetInfo` is its own. Where these are not as many as the offsets, because a record could not be read for one, no
    /// place can be trusted, and the message's own offset has to be among them. If there is no `startOffsetInfo`, the first
    /// message of each queue says where the broker's record begins, and each message has its own offset.
    ///
    /// # Errors
    ///
    /// One of the texts breaks its format, or they do not tell of all messages. Then no message of the answer can be
    /// acknowledged, and the broker delivers them again after the invisible time.
    pub fn receipts<'m>(
        &self,
        messages: impl IntoIterator<Item = PoppedMessage<'m>>,
    ) -> Result<Vec<Popped>, PopError> {
        let messages: Vec<_> = messages.into_iter().map(Placed::of).collect();
        let mut offsets = match self.start_offset_info {
            Some(starts) if !starts.is_empty() => {
                let told = parse_message_offsets(self.msg_offset_info.unwrap_or_default())?;
                Offsets::Told(Told::of(parse_start_offsets(starts)?, told, &messages))
            }
            _ => Offsets::OfMessages(BTreeMap::new()),
        };
        let counts = parse_order_counts(self.order_count_info.unwrap_or_default())?;
        messages.iter().map(|message| self.popped(message, &mut offsets, &counts)).collect()
    }

    fn popped<'m>(
        &self,
        placed: &Placed<'m>,
        offsets: &mut Offsets<'m>,
        counts: &OrderCounts,
    ) -> Result<Popped, PopError> {
        let Placed { message, own, queue } = placed;
        if let Some((text, Receipt { queue_offset: Some(_), .. })) = own {
            offsets.pass(*queue);
            return Ok(Popped { receipt: (*text).into(), reconsume_times: None });
        }
        let (start_offset, queue_offset) = offsets.of(message, *queue)?;
        let receipt = Receipt {
            start_offset,
            pop_time: self.pop_time,
            invisible_time: self.invisible_time,
            revive_queue_id: self.revive_queue_id,
            retry: queue.retry,
            broker_name: self.broker_name,
            queue_id: message.queue_id,
            queue_offset: Some(queue_offset),
        };
        let reconsume_times = counts.count(*queue, message.queue_offset);
        Ok(Popped { receipt: receipt.encode()?, reconsume_times })
    }
}

/// A message, and the queue that it was popped from.
struct Placed<'m> {
    message: PoppedMessage<'m>,
    /// The receipt that it came with. A text that nobody can read acknowledges nothing: it is as good as none.
    own: Option<(&'m str, Receipt<'m>)>,
    queue: QueueKey,
}

impl<'m> Placed<'m> {
    fn of(message: PoppedMessage<'m>) -> Self {
        let own = message.receipt.and_then(|text| Some((text, Receipt::parse(text).ok()?)));
        // A broker may have put the plain topic into a message of the retry topic; its receipt then still says it.
        let retry = own.map_or_else(|| RetryMark::of_topic(message.topic), |(_, own)| own.retry);
        Self { message, own, queue: QueueKey { retry, queue_id: message.queue_id } }
    }
}

/// Where the offsets of receipts come from.
enum Offsets<'m> {
    /// From the answer.
    Told(Told),
    /// From the messages: the first offset of each queue of each topic.
    OfMessages(BTreeMap<(&'m str, i32), i64>),
}

impl<'m> Offsets<'m> {
    /// Goes past a message that needs no offset.
    fn pass(&mut self, queue: QueueKey) {
        if let Self::Told(Told { queues, .. }) = self
            && let Some(told) = queues.get_mut(&queue)
            && told.is_whole()
        {
            told.next += 1;
        }
    }

    /// Where the record of the pop begins, and the offset of the message.
    fn of(&mut self, message: &PoppedMessage<'m>, queue: QueueKey) -> Result<(i64, i64), PopError> {
        let own = message.queue_offset;
        match self {
            Self::Told(Told { starts, queues }) => {
                let start = starts.get(&queue).ok_or(PopError::NoStartOffset { queue })?;
                let told = queues.entry(queue).or_default();
                let index = told.next;
                let offset = told.offset(own).ok_or(PopError::NoMessageOffset { queue, index })?;
                Ok((*start, offset))
            }
            Self::OfMessages(starts) => {
                Ok((*starts.entry((message.topic, message.queue_id)).or_insert(own), own))
            }
        }
    }
}

struct Told {
    starts: BTreeMap<QueueKey, i64>,
    queues: BTreeMap<QueueKey, ToldQueue>,
}

/// What `msgOffsetInfo` tells of a queue.
#[derive(Default)]
struct ToldQueue {
    offsets: Vec<i64>,
    /// How many messages of the queue there are.
    messages: usize,
    /// The first offset that no message has yet.
    next: usize,
}

impl Told {
    fn of(
        starts: BTreeMap<QueueKey, i64>,
        told: BTreeMap<QueueKey, Vec<i64>>,
        messages: &[Placed<'_>],
    ) -> Self {
        let queues =
            told.into_iter().map(|(queue, offsets)| (queue, ToldQueue { offsets, ..Default::default() }));
        let mut queues: BTreeMap<_, _> = queues.collect();
        for message in messages {
            queues.entry(message.queue).or_default().messages += 1;
        }
        Self { starts, queues }
    }
}

impl ToldQueue {
    /// Whether each message has its offset in the same place.
    fn is_whole(&self) -> bool {
        self.offsets.len() == self.messages
    }

    /// The offset of the next message, whose own one is `own`.
    fn offset(&mut self, own: i64) -> Option<i64> {
        let rest = self.offsets.get(self.next..)?;
        let skipped = if self.is_whole() { 0 } else { rest.iter().position(|offset| *offset == own)? };
        let offset = *rest.get(skipped)?;
        self.next += skipped + 1;
        Some(offset)
    }
}
