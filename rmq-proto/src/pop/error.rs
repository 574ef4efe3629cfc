use thiserror::Error;

use super::QueueKey;

/// A text that is no receipt, or a receipt that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// Too few or too many parts.
    #[error("a receipt of a popped message has 7 or 8 parts, this one has {found}")]
    Parts {
        /// How many it has.
        found: usize,
    },
    /// A part that is to be a number, and is none or too large.
    #[error("the receipt of a popped message has no number at byte {offset}, where `{part}` is to be")]
    Number {
        /// The part.
        part: &'static str,
        /// Byte offset of the part.
        offset: usize,
    },
    /// A retry mark that nobody knows.
    #[error("the receipt of a popped message has none of the retry marks 0, 1 and 2 at byte {offset}")]
    RetryMark {
        /// Byte offset of the part.
        offset: usize,
    },
    /// A broker name that is empty or has a blank in it.
    #[error(
        "the receipt of a popped message cannot have this broker name: it is empty, or has a blank in it"
    )]
    BrokerName,
}

/// An answer to a pop that no receipts can be made of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PopError {
    /// An item with too few or too many parts.
    #[error("the item at byte {offset} of `{field}` has {found} parts, not 3")]
    Parts {
        /// The ext field.
        field: &'static str,
        /// Byte offset of the item.
        offset: usize,
        /// How many it has.
        found: usize,
    },
    /// A part that is to be a number, and is none or too large.
    #[error("`{field}` has no number at byte {offset}")]
    Number {
        /// The ext field.
        field: &'static str,
        /// Byte offset of the part.
        offset: usize,
    },
    /// A retry mark that nobody knows.
    #[error("`{field}` has none of the retry marks 0, 1 and 2 at byte {offset}")]
    RetryMark {
        /// The ext field.
        field: &'static str,
        /// Byte offset of the part.
        offset: usize,
    },
    /// A second item for the same queue, or the same message.
    #[error("`{field}` has a second item for the same queue or message at byte {offset}")]
    Duplicate {
        /// The ext field.
        field: &'static str,
        /// Byte offset of the item.
        offset: usize,
    },
    /// A message of a queue that `startOffsetInfo` does not tell of.
    #[error("`startOffsetInfo` does not tell of {queue}, which a message lies in")]
    NoStartOffset {
        /// The queue.
        queue: QueueKey,
    },
    /// A message that `msgOffsetInfo` does not tell of.
    #[error("`msgOffsetInfo` does not tell of message {index} of {queue}")]
    NoMessageOffset {
        /// The queue.
        queue: QueueKey,
        /// The message's place among those of the queue, from 0.
        index: usize,
    },
    /// The receipts cannot be written.
    #[error(transparent)]
    Receipt(#[from] ReceiptError),
}
