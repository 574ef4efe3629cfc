use bytes::Bytes;
use core::iter::FusedIterator;

use super::{StoredMessage, decode};
use crate::message::RecordError;
use crate::message::fields::Windows;

/// The records in the body of an answer to a pull, a pop or a query (wire §6.1).
///
/// A bad record is an error in its place. Those behind it still come out as long as its length can be true: at least
/// the fewest bytes of a message, and no more than there are. Else the rest of the body is one last error. The lengths
/// of all records and errors together are that of the body. Messages share its memory.
///
/// A batch that was stored as one record comes out as this record; [`Messages`](super::Messages) takes it apart.
#[derive(Clone, Debug)]
pub struct Records {
    windows: Windows,
}

impl Records {
    /// The records of `body`.
    pub const fn new(body: Bytes) -> Self {
        Self { windows: Windows::new(body) }
    }

    /// How many bytes of the body the records and errors so far had.
    pub const fn offset(&self) -> usize {
        self.windows.offset()
    }
}

impl Iterator for Records {
    type Item = Result<StoredMessage, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = match self.windows.next(decode::min_len)? {
            Ok(window) => decode::read(&window.bytes).map_err(|kind| (window, kind)),
            Err(unread) => Err(unread),
        };
        Some(read.map_err(|(window, kind)| window.error(decode::queue_offset(&window.bytes), kind)))
    }
}

impl FusedIterator for Records {}
