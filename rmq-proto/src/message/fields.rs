//! What records in store format and elements of a batch have in common: each begins with its own length.

use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};

use super::{RecordError, RecordErrorKind, RecordField};

/// Bytes of the length that a record begins with.
const LENGTH_LEN: usize = 4;

/// Cuts a body into the records that it is said to be, by their lengths alone. Each step takes constant time.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    body: Bytes,
    at: usize,
}

/// The bytes of one record.
pub(super) struct Window {
    /// Where it begins, in bytes from the start of the body.
    pub(super) offset: usize,
    pub(super) bytes: Bytes,
}

impl Window {
    /// The error that this record is no message.
    pub(super) fn error(&self, queue_offset: Option<i64>, kind: RecordErrorKind) -> RecordError {
        RecordError { offset: self.offset, len: self.bytes.len(), queue_offset, kind }
    }
}

impl Windows {
    pub(super) const fn new(body: Bytes) -> Self {
        Self { body, at: 0 }
    }

    /// How many bytes were cut off.
    pub(super) const fn offset(&self) -> usize {
        self.at
    }

    /// The next record. `least` is the fewest bytes that one with this beginning has.
    ///
    /// # Errors
    ///
    /// All that is left, if the length in front cannot be true.
    pub(super) fn next(
        &mut self,
        least: impl FnOnce(&[u8]) -> usize,
    ) -> Option<Result<Window, (Window, RecordErrorKind)>> {
        let rest = &self.body[self.at..];
        if rest.is_empty() {
            return None;
        }
        let offset = self.at;
        let len = record_len(rest, least(rest));
        self.at += *len.as_ref().unwrap_or(&rest.len());
        let window = Window { offset, bytes: self.body.slice(offset..self.at) };
        Some(match len {
            Ok(_) => Ok(window),
            Err(kind) => Err((window, kind)),
        })
    }
}

/// Reads the length that `bytes` begin with. At least `min`, and no more than there is.
pub(super) fn record_len(bytes: &[u8], min: usize) -> Result<usize, RecordErrorKind> {
    let available = bytes.len();
    let cut = RecordErrorKind::Cut { at: 0, needed: LENGTH_LEN, available };
    let length = i32::from_be_bytes(*bytes.first_chunk().ok_or(cut)?);
    match usize::try_from(length) {
        Ok(len) if (min..=available).contains(&len) => Ok(len),
        _ => Err(RecordErrorKind::Length { length, min, available }),
    }
}

/// Reads the fields of one record one after the other, and knows how far it came.
pub(super) struct Fields<'a> {
    record: &'a Bytes,
    at: usize,
}

impl<'a> Fields<'a> {
    /// The fields behind the record's length, which was looked at before.
    pub(super) const fn behind_length(record: &'a Bytes) -> Self {
        Self { record, at: LENGTH_LEN }
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], RecordErrorKind> {
        let rest = self.record.get(self.at..).unwrap_or_default();
        let cut = RecordErrorKind::Cut { at: self.at, needed: N, available: rest.len() };
        let bytes = rest.first_chunk().ok_or(cut)?;
        self.at += N;
        Ok(*bytes)
    }

    pub(super) fn i8(&mut self) -> Result<i8, RecordErrorKind> {
        self.number().map(i8::from_be_bytes)
    }

    pub(super) fn i16(&mut self) -> Result<i16, RecordErrorKind> {
        self.number().map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, RecordErrorKind> {
        self.number().map(i32::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, RecordErrorKind> {
        self.number().map(u32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, RecordErrorKind> {
        self.number().map(i64::from_be_bytes)
    }

    pub(super) fn host(&mut self, field: RecordField, is_v6: bool) -> Result<SocketAddr, RecordErrorKind> {
        let ip = if is_v6 { IpAddr::from(self.number::<16>()?) } else { IpAddr::from(self.number::<4>()?) };
        let port = self.i32()?;
        let host_port = u16::try_from(port).map_err(|_| RecordErrorKind::Port { field, port })?;
        Ok(SocketAddr::new(ip, host_port))
    }

    /// The next `length` bytes, shared with the record.
    pub(super) fn bytes(&mut self, field: RecordField, length: i32) -> Result<Bytes, RecordErrorKind> {
        // No field lies past the end.
        let available = self.record.len() - self.at;
        match usize::try_from(length) {
            Ok(len) if len <= available => {
                let start = self.at;
                self.at += len;
                Ok(self.record.slice(start..self.at))
            }
            _ => Err(RecordErrorKind::FieldLength { field, length, available }),
        }
    }

    /// The next `length` bytes as text.
    pub(super) fn text(&mut self, field: RecordField, length: i32) -> Result<&'a str, RecordErrorKind> {
        let start = self.at;
        self.bytes(field, length)?;
        core::str::from_utf8(&self.record[start..self.at])
            .map_err(|error| RecordErrorKind::Utf8 { field, at: start + error.valid_up_to() })
    }

    /// A body with its length before it; of 0 or less there is none (wire §6.1).
    pub(super) fn body(&mut self) -> Result<Bytes, RecordErrorKind> {
        let length = self.i32()?;
        self.bytes(RecordField::Body, length.max(0))
    }

    /// The properties' text with its length before it; of 0 or less there is none (wire §6.1).
    pub(super) fn properties(&mut self) -> Result<&'a str, RecordErrorKind> {
        let length = self.i16()?;
        self.text(RecordField::Properties, length.max(0).into())
    }
}
