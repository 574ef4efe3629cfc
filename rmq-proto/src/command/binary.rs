//! The ROCKETMQ binary header (wire §3).

use core::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};

use super::{CommandHead, DecodeError, EncodeError, Language, RemotingCommand, cut};
use crate::ext::{ExtFields, ExtSink, WriteExt};
use crate::json::put_integer;

/// Longest name of an ext field: its length has 16 bits and a sign.
const MAX_NAME_LEN: usize = i16::MAX as usize;

/// Reads from the front of a header, and knows how far it came.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let bytes = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk());
        let cut = DecodeError::Cut { offset: self.at, needed: N, available: self.left() };
        self.at += bytes.map_or(0, |bytes: &[u8; N]| bytes.len());
        bytes.copied().ok_or(cut)
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        self.number().map(u8::from_be_bytes)
    }

    fn i16(&mut self) -> Result<i16, DecodeError> {
        self.number().map(i16::from_be_bytes)
    }

    fn i32(&mut self) -> Result<i32, DecodeError> {
        self.number().map(i32::from_be_bytes)
    }

    /// The next `len` bytes; `None` if that is negative or more than there are.
    fn take(&mut self, len: impl TryInto<usize>) -> Option<&'a [u8]> {
        let end = self.at.checked_add(len.try_into().ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// Text of `len` bytes. `bad_len` makes the error for a length that cannot be, from what there is.
    fn text(
        &mut self,
        len: impl TryInto<usize>,
        bad_len: impl FnOnce(usize) -> DecodeError,
    ) -> Result<&'a str, DecodeError> {
        let (start, available) = (self.at, self.left());
        let text = self.take(len).ok_or_else(|| bad_len(available))?;
        core::str::from_utf8(text).map_err(|error| DecodeError::Utf8 { offset: start + error.valid_up_to() })
    }
}

pub(super) fn decode(header: Bytes, body: Bytes) -> Result<RemotingCommand, DecodeError> {
    let mut cursor = Cursor { bytes: &header, at: 0 };
    let code = cursor.i16()?.into();
    let language = Language::known(cursor.byte()?);
    let version = cursor.i16()?.into();
    let opaque = cursor.i32()?;
    let flag = cursor.i32()?;
    let length = cursor.i32()?;
    let remark = cursor.text(length, |available| DecodeError::RemarkLength { length, available })?;
    let remark = (!remark.is_empty()).then(|| remark.into());
    let ext = ext_fields(&mut cursor)?;
    let ext = ext.map_or_else(ExtFields::absent, |range| ExtFields::from_binary(cut(header, range)));
    // Bytes that are left over belong to the header and mean nothing (wire §1.3).
    Ok(RemotingCommand { code, language, version, opaque, flag, remark, ext, body })
}

/// Checks the ext fields and returns where they lie; `None` if there are none.
fn ext_fields(cursor: &mut Cursor<'_>) -> Result<Option<Range<usize>>, DecodeError> {
    let length = cursor.i32()?;
    if length <= 0 {
        return Ok(None);
    }
    let (start, available) = (cursor.at, cursor.left());
    cursor.take(length).ok_or(DecodeError::ExtLength { length, available })?;
    let end = cursor.at;
    // What follows the ext fields is out of reach of their names and values.
    let mut entries = Cursor { bytes: &cursor.bytes[..end], at: start };
    while entries.at < end {
        let length = entries.i16()?;
        entries.text(length, |available| DecodeError::NameLength { length, available })?;
        let length = entries.i32()?;
        entries.text(length, |available| DecodeError::ValueLength { length, available })?;
    }
    Ok(Some(start..end))
}

/// Writes a header whose code and version fit 16 bits.
pub(super) fn encode<H: WriteExt + ?Sized>(
    out: &mut BytesMut,
    code: i16,
    version: i16,
    head: &CommandHead<'_>,
    ext: &H,
) -> Result<(), EncodeError> {
    out.put_i16(code);
    out.put_u8(head.language.0);
    out.put_i16(version);
    out.put_i32(head.opaque);
    out.put_i32(head.flag);
    let remark = head.remark.unwrap_or_default();
    put_len(out, remark.len());
    out.put_slice(remark.as_bytes());
    let len_at = out.len();
    out.put_u32(0);
    let mut sink = BinarySink { out, error: None };
    ext.write_ext(&mut sink);
    if let Some(error) = sink.error {
        return Err(error);
    }
    let len = out.len() - len_at - 4;
    out[len_at..len_at + 4].copy_from_slice(&(len as u32).to_be_bytes());
    Ok(())
}

/// A length that may be cut here makes a header that [`encode_frame`](super::encode_frame) finds too long.
fn put_len(out: &mut BytesMut, len: usize) {
    out.put_u32(len as u32);
}

/// Writes ext fields as entries (wire §3.1).
struct BinarySink<'a> {
    out: &'a mut BytesMut,
    error: Option<EncodeError>,
}

impl BinarySink<'_> {
    fn name(&mut self, name: &str) {
        if name.len() > MAX_NAME_LEN {
            let error = EncodeError::NameTooLong { length: name.len(), max: MAX_NAME_LEN };
            self.error.get_or_insert(error);
            return;
        }
        self.out.put_u16(name.len() as u16);
        self.out.put_slice(name.as_bytes());
    }
}

impl ExtSink for BinarySink<'_> {
    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        put_len(self.out, value.len());
        self.out.put_slice(value.as_bytes());
    }

    fn integer(&mut self, name: &str, value: i64) {
        self.name(name);
        let len_at = self.out.len();
        put_len(self.out, 0);
        put_integer(self.out, value);
        let len = self.out.len() - len_at - 4;
        self.out[len_at..len_at + 4].copy_from_slice(&(len as u32).to_be_bytes());
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.text(name, if value { "true" } else { "false" });
    }
}
