//! Batches: messages one after the other in the body of SEND_BATCH_MESSAGE (320), or of one stored record (wire §6.6).

use alloc::string::String;
use bytes::{BufMut, Bytes, BytesMut};
use core::fmt;
use core::iter::FusedIterator;

use super::fields::{Fields, Windows};
use super::{BodyLen, RecordError, RecordErrorKind};
use crate::properties;

/// Bytes of an element without body and properties.
const FIXED_LEN: usize = 22;

/// Most bytes in a batch: it goes into frames and records whose length has 32 bits and a sign.
const MAX_LEN: usize = i32::MAX as usize;

/// A message of a batch. Topic, queue and times are those of the batch.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BatchElement {
    /// The user's own flag.
    pub flag: i32,
    /// The body. When read, it shares the memory of what was read.
    pub body: Bytes,
    /// The text of the properties (wire §6.4).
    pub properties: String,
}

impl BatchElement {
    /// How many bytes it has in a batch.
    pub fn encoded_len(&self) -> usize {
        self.head().encoded_len()
    }

    const fn head(&self) -> ElementHead {
        ElementHead { flag: self.flag, body_len: self.body.len(), properties_len: self.properties.len() }
    }

    /// Writes an element that was checked before, so that all lengths fit.
    fn put(&self, out: &mut BytesMut) {
        self.head().put_before_body(out);
        out.put_slice(&self.body);
        self.head().put_before_properties(out);
        out.put_slice(self.properties.as_bytes());
    }
}

/// An element whose parts are written one by one, so that nothing has to be copied together first. In their order: what goes
/// [before the body](Self::put_before_body), the body, what goes [before the
/// properties](Self::put_before_properties), the properties.
///
/// Lengths are not checked; those of a [`Prepared`](super::Prepared) fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementHead {
    /// The user's own flag.
    pub flag: i32,
    /// Bytes of the body.
    pub body_len: usize,
    /// Bytes of the properties, at most [`properties::MAX_LEN`](crate::properties::MAX_LEN).
    pub properties_len: usize,
}

impl ElementHead {
    /// How many bytes the element has in a batch.
    pub const fn encoded_len(&self) -> usize {
        FIXED_LEN + self.body_len + self.properties_len
    }

    /// Writes what goes before the body.
    pub fn put_before_body(&self, out: &mut impl BufMut) {
        out.put_u32(self.encoded_len() as u32);
        // Magic number and checksum; nobody reads either.
        out.put_u64(0);
        out.put_i32(self.flag);
        out.put_u32(self.body_len as u32);
    }

    /// Writes what goes between the body and the properties.
    pub fn put_before_properties(&self, out: &mut impl BufMut) {
        out.put_u16(self.properties_len as u16);
    }
}

impl fmt::Debug for BatchElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchElement")
            .field("flag", &self.flag)
            .field("body", &BodyLen(&self.body))
            .field("properties", &self.properties)
            .finish()
    }
}

/// Why messages cannot be written as a batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchEncodeError {
    /// The properties of an element are longer than it can carry.
    #[error("the properties of message {index} of the batch have {len} bytes, over the limit of {max}")]
    PropertiesTooLong {
        /// Which element, from 0.
        index: usize,
        /// Length of the text in bytes.
        len: usize,
        /// The limit in bytes: [`properties::MAX_LEN`](crate::properties::MAX_LEN).
        max: usize,
    },
    /// The batch is longer than anything that carries it. (Brokers' own limits are much lower.)
    #[error("the batch has {len} bytes up to message {index}, over the limit of {max}")]
    TooLong {
        /// The element that passes the limit, from 0.
        index: usize,
        /// Length in bytes of the batch up to the end of this element.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
}

/// Appends the batch of these messages to `out` (wire §6.6). Whether they belong into one batch is not looked at.
///
/// # Errors
///
/// The first element that cannot be written; then `out` is as it was. No elements are no error and give an empty body, which
/// brokers refuse.
///
/// ```
/// use bytes::BytesMut;
/// use rmq_proto::message::{BatchElement, BatchElements, encode_batch};
///
/// let elements = ["hello", "world"].map(|body| BatchElement { body: body.into(), ..BatchElement::default() });
/// let mut out = BytesMut::new();
/// encode_batch(&elements, &mut out)?;
///
/// let read: Result<Vec<_>, _> = BatchElements::new(out.freeze()).collect();
/// assert_eq!(read?, elements);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode_batch(elements: &[BatchElement], out: &mut BytesMut) -> Result<(), BatchEncodeError> {
    let mut total = 0_usize;
    for (index, element) in elements.iter().enumerate() {
        let (len, max) = (element.properties.len(), properties::MAX_LEN);
        if len > max {
            return Err(BatchEncodeError::PropertiesTooLong { index, len, max });
        }
        // Equal bodies may share their memory, so the sum can be more than there is memory.
        total = total.saturating_add(element.encoded_len());
        if total > MAX_LEN {
            return Err(BatchEncodeError::TooLong { index, len: total, max: MAX_LEN });
        }
    }
    out.reserve(total);
    elements.iter().for_each(|element| element.put(out));
    Ok(())
}

/// The messages in the body of a batch (wire §6.6).
///
/// A bad element is an error in its place. Those behind it still come out as long as its length can be true; else the
/// rest of the batch is one last error. As everywhere, magic number and checksum are not looked at.
#[derive(Clone, Debug)]
pub struct BatchElements {
    windows: Windows,
}

impl BatchElements {
    /// The messages of `body`. Without bytes there are none.
    pub const fn new(body: Bytes) -> Self {
        Self { windows: Windows::new(body) }
    }

    /// How many bytes of the body the elements and errors so far had.
    pub const fn offset(&self) -> usize {
        self.windows.offset()
    }
}

impl Iterator for BatchElements {
    type Item = Result<BatchElement, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = match self.windows.next(|_| FIXED_LEN)? {
            Ok(window) => read(&window.bytes).map_err(|kind| (window, kind)),
            Err(unread) => Err(unread),
        };
        Some(read.map_err(|(window, kind)| window.error(None, kind)))
    }
}

impl FusedIterator for BatchElements {}

/// Reads the fields of wire §6.6 in their order.
fn read(element: &Bytes) -> Result<BatchElement, RecordErrorKind> {
    let mut fields = Fields::behind_length(element);
    let (_magic, _crc) = (fields.u32()?, fields.u32()?);
    let flag = fields.i32()?;
    let body = fields.body()?;
    let properties = fields.properties()?.into();
    Ok(BatchElement { flag, body, properties })
}
