use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt::Write;
use core::str::FromStr;

use super::ReceiptError;
use super::parts::Part;
use crate::names::RetryMark;

/// The revive queue of messages that were popped in order (wire §11.1).
pub const ORDERED_REVIVE_QUEUE: i32 = 999;

/// The receipt of a popped message: property `POP_CK` of the message, field `extraInfo` of what acknowledges it (wire §11.1).
///
/// ```
/// use rmq_proto::names::RetryMark;
/// use rmq_proto::pop::Receipt;
///
/// let receipt = Receipt::parse("7 1700000000100 60000 3 0 broker-a 1 7")?;
/// assert_eq!((receipt.broker_name, receipt.queue_id, receipt.queue_offset), ("broker-a", 1, Some(7)));
/// assert_eq!(receipt.retry, RetryMark::Normal);
/// # Ok::<(), rmq_proto::pop::ReceiptError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt<'a> {
    /// `ckQueueOffset`: where the broker's record of this pop begins in the queue, at the first message popped with it.
    pub start_offset: i64,
    /// When the message was popped, in milliseconds of the broker's Unix time.
    pub pop_time: i64,
    /// How long after that nobody else gets the message, in milliseconds.
    pub invisible_time: i64,
    /// The broker's queue of such records; [`ORDERED_REVIVE_QUEUE`] if the message was popped in order.
    pub revive_queue_id: i32,
    /// What kind of topic the message lies in.
    pub retry: RetryMark,
    /// The broker that has the message. Its master takes the acknowledgement.
    pub broker_name: &'a str,
    /// The queue that has the message.
    pub queue_id: i32,
    /// The message's offset in the queue. Not there before it is known which message of the pop is meant; what
    /// acknowledges needs it.
    pub queue_offset: Option<i64>,
}

impl<'a> Receipt<'a> {
    /// Reads a receipt, with the message's offset or without.
    ///
    /// # Errors
    ///
    /// The text is no receipt.
    pub fn parse(text: &'a str) -> Result<Self, ReceiptError> {
        let mut parts = Part::whole(text).split(' ');
        let bad_parts = ReceiptError::Parts { found: parts.clone().count() };
        let mut next = || parts.next().ok_or_else(|| bad_parts.clone());
        let receipt = Self {
            start_offset: number(next()?, "ckQueueOffset")?,
            pop_time: number(next()?, "popTime")?,
            invisible_time: number(next()?, "invisibleTime")?,
            revive_queue_id: number(next()?, "reviveQid")?,
            retry: retry_mark(next()?)?,
            broker_name: Some(next()?.text)
                .filter(|name| !name.is_empty())
                .ok_or(ReceiptError::BrokerName)?,
            queue_id: number(next()?, "queueId")?,
            queue_offset: parts.next().map(|part| number(part, "msgQueueOffset")).transpose()?,
        };
        if parts.next().is_some() { Err(bad_parts) } else { Ok(receipt) }
    }

    /// The receipt's text.
    ///
    /// # Errors
    ///
    /// The broker's name is empty or has a blank in it, so that nobody could read the text.
    pub fn encode(&self) -> Result<String, ReceiptError> {
        if self.broker_name.is_empty() || self.broker_name.contains(' ') {
            return Err(ReceiptError::BrokerName);
        }
        let Self { start_offset, pop_time, invisible_time, revive_queue_id, .. } = self;
        let Self { retry, broker_name, queue_id, .. } = self;
        let mut text = alloc::format!(
            "{start_offset} {pop_time} {invisible_time} {revive_queue_id} {} {broker_name} {queue_id}",
            retry.as_str()
        );
        if let Some(offset) = self.queue_offset {
            // Writing to a `String` cannot fail.
            let _written = write!(text, " {offset}");
        }
        Ok(text)
    }

    /// The topic that an acknowledgement names, for a message that `group` popped from `topic`: that one, or its pop retry
    /// topic. In a batch of acknowledgements the plain topic stands instead, and the broker does this.
    pub fn ack_topic<'t>(&self, group: &str, topic: &'t str) -> Cow<'t, str> {
        self.retry.topic(group, topic)
    }

    /// Whether the message was popped in order.
    pub const fn is_ordered(&self) -> bool {
        self.revive_queue_id == ORDERED_REVIVE_QUEUE
    }

    /// The receipt that takes the place of this one when the broker changed how long the message is invisible; the other
    /// values are of its answer (wire §5.18). `None` if this one does not say which message it is of.
    #[must_use]
    pub fn renewed(self, pop_time: i64, invisible_time: i64, revive_queue_id: i32) -> Option<Self> {
        let start_offset = self.queue_offset?;
        Some(Self { start_offset, pop_time, invisible_time, revive_queue_id, ..self })
    }
}

fn number<N: FromStr>(part: Part<'_>, name: &'static str) -> Result<N, ReceiptError> {
    part.text.parse().map_err(|_| ReceiptError::Number { part: name, offset: part.offset })
}

fn retry_mark(part: Part<'_>) -> Result<RetryMark, ReceiptError> {
    RetryMark::from_text(part.text).ok_or(ReceiptError::RetryMark { offset: part.offset })
}
