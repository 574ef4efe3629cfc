use bytes::Bytes;
use core::iter::FusedIterator;
use core::mem;

use super::{Records, StoredMessage, body_at};
use crate::message::{BatchElement, BatchElements, RecordError, RecordErrorKind, SysFlag};

/// The messages in the body of an answer to a pull, a pop or a query: [`Records`], with inner batches taken apart as by
/// [`StoredMessage::unbatch`].
///
/// A batch that is compressed as a whole comes out as one message, like any that is compressed: inflate it, then take it
/// apart with [`StoredMessage::unbatch`].
///
/// What is wrong inside a batch is placed in bytes from the start of the whole body.
#[derive(Clone, Debug)]
pub struct Messages {
    records: Records,
    batch: Option<Unbatch>,
}

impl Messages {
    /// The messages of `body`.
    pub const fn new(body: Bytes) -> Self {
        Self { records: Records::new(body), batch: None }
    }
}

impl Iterator for Messages {
    type Item = Result<StoredMessage, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(message) = self.batch.as_mut().and_then(Unbatch::next) {
                return Some(message);
            }
            let offset = self.records.offset();
            let record = match self.records.next()? {
                Ok(record) if record.can_be_unbatched() => record,
                message => return Some(message),
            };
            let body_offset = offset + body_at(record.sys_flag);
            self.batch = Some(Unbatch::new(record, body_offset));
        }
    }
}

impl FusedIterator for Messages {}

impl StoredMessage {
    /// Takes apart the batch that was stored as this one record (wire §6.1). Any other message comes out as it is, and
    /// so does a batch whose body is still compressed: inflate it before.
    ///
    /// The flag, the body and the properties are the element's own, and element i has the queue offset + i; a bad
    /// element counts. It has no checksum: the one of the record was that of the whole batch. Everything else is the
    /// record's, except that [`NEEDS_UNWRAP`](SysFlag::NEEDS_UNWRAP) is gone, so no message is taken apart twice;
    /// [`INNER_BATCH`](SysFlag::INNER_BATCH) stays and tells where it came from.
    ///
    /// What is wrong is placed in bytes from the start of this message's body.
    pub fn unbatch(self) -> Unbatch {
        Unbatch::new(self, 0)
    }

    fn can_be_unbatched(&self) -> bool {
        self.sys_flag.is_inner_batch() && !self.sys_flag.is_compressed()
    }
}

/// The messages of one record. Made by [`StoredMessage::unbatch`].
#[derive(Clone, Debug)]
pub struct Unbatch(State);

#[derive(Clone, Debug)]
enum State {
    /// What comes out next, and nothing after it.
    Last(Option<Result<StoredMessage, RecordError>>),
    Batch(Batch),
}

#[derive(Clone, Debug)]
struct Batch {
    /// What the messages have in common: the record without its body and properties.
    common: StoredMessage,
    elements: BatchElements,
    /// How many elements came so far.
    count: usize,
    /// Where the batch begins in what errors are placed in.
    offset: usize,
}

impl Unbatch {
    fn new(mut record: StoredMessage, offset: usize) -> Self {
        if !record.can_be_unbatched() {
            return Self(State::Last(Some(Ok(record))));
        }
        if record.body.is_empty() {
            let queue_offset = Some(record.queue_offset);
            let error = RecordError { offset, len: 0, queue_offset, kind: RecordErrorKind::EmptyBatch };
            return Self(State::Last(Some(Err(error))));
        }
        let elements = BatchElements::new(mem::take(&mut record.body));
        record.properties.clear();
        record.body_crc = 0;
        record.sys_flag = record.sys_flag.without(SysFlag::NEEDS_UNWRAP);
        Self(State::Batch(Batch { common: record, elements, count: 0, offset }))
    }
}

impl Iterator for Unbatch {
    type Item = Result<StoredMessage, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            State::Last(message) => message.take(),
            State::Batch(batch) => batch.next(),
        }
    }
}

impl FusedIterator for Unbatch {}

impl Batch {
    fn next(&mut self) -> Option<Result<StoredMessage, RecordError>> {
        let start = self.elements.offset();
        let element = self.elements.next()?;
        let (base, index) = (self.common.queue_offset, self.count);
        self.count += 1;
        let queue_offset = i64::try_from(index).ok().and_then(|index| base.checked_add(index));
        Some(match (element, queue_offset) {
            (Ok(element), Some(queue_offset)) => Ok(self.message(element, queue_offset)),
            (Ok(_), None) => Err(RecordError {
                offset: self.offset + start,
                len: self.elements.offset() - start,
                queue_offset,
                kind: RecordErrorKind::QueueOffset { base, index },
            }),
            (Err(error), _) => Err(RecordError { offset: self.offset + error.offset, queue_offset, ..error }),
        })
    }

    fn message(&self, element: BatchElement, queue_offset: i64) -> StoredMessage {
        let BatchElement { flag, body, properties } = element;
        StoredMessage { flag, body, properties, queue_offset, ..self.common.clone() }
    }
}
