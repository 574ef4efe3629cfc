use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::PopError;
use super::parts::Part;
use crate::names::RetryMark;

pub(super) const START_OFFSET_INFO: &str = "startOffsetInfo";
pub(super) const MSG_OFFSET_INFO: &str = "msgOffsetInfo";
const ORDER_COUNT_INFO: &str = "orderCountInfo";

/// Stands before the queue in items that tell of one message.
const MESSAGE_MARK: &str = "qo";

/// Stands between queue and offset in items that tell of one message.
const OFFSET_SEPARATOR: char = '%';

/// A queue that messages were popped from. An answer to a pop of one topic may tell of a queue of the topic and of the queue
/// with the same number of its retry topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueKey {
    /// Which of the topics.
    pub retry: RetryMark,
    /// The queue's number there.
    pub queue_id: i32,
}

/// As other implementations show it: `0@3`.
impl fmt::Display for QueueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.retry.as_str(), self.queue_id)
    }
}

/// Reads `startOffsetInfo`: where the broker's record of the pop begins, for each queue. Empty text tells of none.
///
/// # Errors
///
/// The text breaks the format of wire §11.1, or tells of a queue twice.
pub fn parse_start_offsets(text: &str) -> Result<BTreeMap<QueueKey, i64>, PopError> {
    parse(START_OFFSET_INFO, text, |item| Ok((item.queue()?, item.number(item.value)?)))
}

/// Reads `msgOffsetInfo`: the offsets of the popped messages, for each queue, in the order of the answer. Empty text tells of
/// none.
///
/// # Errors
///
/// The text breaks the format of wire §11.1, or tells of a queue twice.
pub fn parse_message_offsets(text: &str) -> Result<BTreeMap<QueueKey, Vec<i64>>, PopError> {
    parse(MSG_OFFSET_INFO, text, |item| {
        let offsets = item.value.split(',').map(|offset| item.number(offset));
        Ok((item.queue()?, offsets.collect::<Result<_, _>>()?))
    })
}

/// How often messages that were popped in order were consumed before.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct OrderCounts(BTreeMap<(QueueKey, Option<i64>), i32>);

impl OrderCounts {
    /// The count of the message at this offset of a queue: its own, or else that of the whole queue.
    pub fn count(&self, queue: QueueKey, queue_offset: i64) -> Option<i32> {
        self.0.get(&(queue, Some(queue_offset))).or_else(|| self.0.get(&(queue, None))).copied()
    }
}

/// Reads `orderCountInfo`: how often messages were consumed before, for each message or each queue. Empty text tells of none.
///
/// # Errors
///
/// The text breaks the format of wire §11.1, or tells of a queue or a message twice.
pub fn parse_order_counts(text: &str) -> Result<OrderCounts, PopError> {
    let counts = parse(ORDER_COUNT_INFO, text, |item| {
        let key = match item.queue.text.strip_prefix(MESSAGE_MARK) {
            None => (item.queue()?, None),
            Some(message) => item.message(message)?,
        };
        Ok((key, item.number(item.value)?))
    })?;
    Ok(OrderCounts(counts))
}

fn parse<'a, K: Ord, V>(
    field: &'static str,
    text: &'a str,
    entry: impl Fn(&Item<'a>) -> Result<(K, V), PopError>,
) -> Result<BTreeMap<K, V>, PopError> {
    let mut entries = BTreeMap::new();
    if text.is_empty() {
        return Ok(entries);
    }
    for part in Part::whole(text).split(';') {
        let (key, value) = entry(&Item::of(field, part)?)?;
        if entries.insert(key, value).is_some() {
            return Err(PopError::Duplicate { field, offset: part.offset });
        }
    }
    Ok(entries)
}

/// An item of one of the three texts; what stands for the queue and what is told of it differ.
struct Item<'a> {
    field: &'static str,
    retry: RetryMark,
    queue: Part<'a>,
    value: Part<'a>,
}

impl<'a> Item<'a> {
    fn of(field: &'static str, item: Part<'a>) -> Result<Self, PopError> {
        let parts = item.split(' ');
        let mut three = parts.clone();
        let (Some(retry), Some(queue), Some(value), None) =
            (three.next(), three.next(), three.next(), three.next())
        else {
            return Err(PopError::Parts { field, offset: item.offset, found: parts.count() });
        };
        let unknown = PopError::RetryMark { field, offset: retry.offset };
        Ok(Self { field, retry: RetryMark::from_text(retry.text).ok_or(unknown)?, queue, value })
    }

    fn queue(&self) -> Result<QueueKey, PopError> {
        Ok(QueueKey { retry: self.retry, queue_id: self.number(self.queue)? })
    }

    /// The message that stands in the place of the queue, its mark left out.
    fn message(&self, text: &str) -> Result<(QueueKey, Option<i64>), PopError> {
        let parsed = text.split_once(OFFSET_SEPARATOR).and_then(|(queue, offset)| {
            let queue = QueueKey { retry: self.retry, queue_id: queue.parse().ok()? };
            Some((queue, Some(offset.parse().ok()?)))
        });
        parsed.ok_or(PopError::Number { field: self.field, offset: self.queue.offset })
    }

    fn number<N: FromStr>(&self, part: Part<'_>) -> Result<N, PopError> {
        part.text.parse().map_err(|_| PopError::Number { field: self.field, offset: part.offset })
    }
}
