use core::fmt;

/// Why a record of a body, or an element of a batch, is no message, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at byte {offset}{}: {kind}", Lost(*.len), AtQueueOffset(*.queue_offset))]
#[non_exhaustive]
pub struct RecordError {
    /// Where the record begins, in bytes from the start of what was read.
    pub offset: usize,
    /// How many bytes from there on give no message: those of the record if its length can be believed and reading goes
    /// on behind it, else all that are left.
    pub len: usize,
    /// The message's offset in its queue, as far as it is known.
    pub queue_offset: Option<i64>,
    /// What is wrong.
    pub kind: RecordErrorKind,
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordErrorKind {
    /// A number does not fit the record any more.
    #[error("{needed} bytes are needed at byte {at} of the record, {available} are there")]
    Cut {
        /// Where the number begins, in bytes from the start of the record.
        at: usize,
        /// Its size in bytes.
        needed: usize,
        /// What is there of it, in bytes.
        available: usize,
    },
    /// The record's own length is less than any record has, or more than there is. Where the next one begins is not
    /// known then.
    #[error("the record says it has {length} bytes; {min} are the fewest, and {available} are there")]
    Length {
        /// The length stated.
        length: i32,
        /// The least length in bytes.
        min: usize,
        /// What is there, in bytes.
        available: usize,
    },
    /// There is more than the one record.
    #[error("{len} bytes follow the one record that was expected")]
    TrailingBytes {
        /// How many bytes follow.
        len: usize,
    },
    /// The record has a layout that is not known.
    #[error("the record has the unknown magic {0:#010x}")]
    UnknownMagic(u32),
    /// What fills a file of the commit log up to its end; never a message.
    #[error("the record is the blank end of a file of the commit log")]
    Filler,
    /// The length of a field is negative where it cannot be, or more than the record has.
    #[error("the record says its {field} has {length} bytes where {available} are")]
    FieldLength {
        /// The field.
        field: RecordField,
        /// The length stated.
        length: i32,
        /// What is left of the record, in bytes.
        available: usize,
    },
    /// A text is not UTF-8.
    #[error("the {field} of the record is not UTF-8 at byte {at} of the record")]
    Utf8 {
        /// The text.
        field: RecordField,
        /// Where its first bad byte lies, in bytes from the start of the record.
        at: usize,
    },
    /// A port that no host has.
    #[error("the {field} of the record has the port {port}")]
    Port {
        /// The host.
        field: RecordField,
        /// The port.
        port: i32,
    },
    /// A record that says it is a batch has no body.
    #[error("the record says it is a batch, and has no body")]
    EmptyBatch,
    /// The offset of an element of a batch is out of range.
    #[error("element {index} of a batch at the queue offset {base} is past the greatest offset")]
    QueueOffset {
        /// The queue offset of the batch.
        base: i64,
        /// Which element, from 0.
        index: usize,
    },
}

/// A field of a record whose length or value can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordField {
    /// The host that the message was born at.
    BornHost,
    /// The host that stored the message.
    StoreHost,
    /// The body.
    Body,
    /// The topic.
    Topic,
    /// The properties' text.
    Properties,
}

impl fmt::Display for RecordField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BornHost => "born host",
            Self::StoreHost => "store host",
            Self::Body => "body",
            Self::Topic => "topic",
            Self::Properties => "properties",
        })
    }
}

struct Lost(usize);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("no message"),
            len => write!(f, "no message in {len} bytes"),
        }
    }
}

struct AtQueueOffset(Option<i64>);

impl fmt::Display for AtQueueOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(offset) => write!(f, ", queue offset {offset}"),
            None => Ok(()),
        }
    }
}
