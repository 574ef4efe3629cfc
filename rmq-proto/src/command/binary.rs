//! The ROCKETMQ binary header (wire §3).

use core::ops::Range;

use bytes::{Buf, Bytes, BytesMut};

use super::{CommandHead, DecodeError, EncodeError, Language, RemotingCommand, cut};
use crate::ext::{ExtFields, ExtSink, FieldName, PlainBinary, WriteExt};
use crate::pen::Pen;

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
        checked(text, start)
    }
}

/// Text, of bytes that lie at `offset`.
fn checked(bytes: &[u8], offset: usize) -> Result<&str, DecodeError> {
    core::str::from_utf8(bytes).map_err(|error| DecodeError::Utf8 { offset: offset + error.valid_up_to() })
}

#[inline(always)]
#[expect(
    clippy::needless_question_mark,
    reason = "returned as it came, the command would be moved once more"
)]
pub(super) fn decode(mut header: Bytes, body: Bytes) -> Result<RemotingCommand, DecodeError> {
    let Some([c0, c1, language, v0, v1, opaque @ .., f0, f1, f2, f3]) =
        header.first_chunk().copied().filter(|_: &[u8; 13]| is_plain(&header))
    else {
        return Ok(decode_any(header, body)?);
    };
    header.advance(FIXED_LEN);
    Ok(RemotingCommand {
        code: i16::from_be_bytes([c0, c1]).into(),
        language: Language::known(language),
        version: i16::from_be_bytes([v0, v1]).into(),
        opaque: i32::from_be_bytes(opaque),
        flag: i32::from_be_bytes([f0, f1, f2, f3]),
        remark: None,
        ext: ExtFields::from_plain_binary(header),
        body,
    })
}

/// Bytes of a header besides remark and ext fields.
const FIXED_LEN: usize = 21;

/// Whether a header is as nearly all are: without remark, and its ext fields fill what is left with ASCII text.
fn is_plain(header: &[u8]) -> bool {
    let Some(([.., r0, r1, r2, r3, e0, e1, e2, e3], fields)) = header.split_first_chunk::<FIXED_LEN>() else {
        return false;
    };
    let remark_len = u32::from_be_bytes([*r0, *r1, *r2, *r3]);
    let ext_len = usize::try_from(u32::from_be_bytes([*e0, *e1, *e2, *e3]));
    remark_len == 0 && !fields.is_empty() && ext_len == Ok(fields.len()) && PlainBinary::are_in(fields)
}

/// Reads a header of any form.
#[cold]
#[inline(never)]
fn decode_any(header: Bytes, body: Bytes) -> Result<RemotingCommand, DecodeError> {
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
    while entries.left() > 0 {
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
    let mut pen = Pen::new(out);
    let remark = head.remark.unwrap_or_default();
    let ([c0, c1], [v0, v1]) = (code.to_be_bytes(), version.to_be_bytes());
    let ([o0, o1, o2, o3], [f0, f1, f2, f3]) = (head.opaque.to_be_bytes(), head.flag.to_be_bytes());
    let [r0, r1, r2, r3] = length(remark.len());
    pen.put(&[c0, c1, head.language.0, v0, v1, o0, o1, o2, o3, f0, f1, f2, f3, r0, r1, r2, r3]);
    pen.put_slice(remark.as_bytes());
    let len_at = pen.len();
    pen.put(&length(0));
    let mut sink = BinarySink { pen, error: None };
    ext.write_ext(&mut sink);
    let BinarySink { mut pen, error } = sink;
    let len = pen.len() - len_at - 4;
    pen.overwrite(len_at, length(len));
    error.map_or(Ok(()), Err)
}

/// A length that may be cut here makes a header that [`encode_frame`](super::encode_frame) finds too long.
#[inline]
fn length(len: usize) -> [u8; 4] {
    (len as u32).to_be_bytes()
}

/// Writes ext fields as entries (wire §3.1).
struct BinarySink<'a> {
    pen: Pen<'a>,
    error: Option<EncodeError>,
}

impl BinarySink<'_> {
    fn name(&mut self, name: &str) {
        if name.len() > MAX_NAME_LEN {
            let error = EncodeError::NameTooLong { length: name.len(), max: MAX_NAME_LEN };
            self.error.get_or_insert(error);
            return;
        }
        self.pen.put(&(name.len() as u16).to_be_bytes());
        self.pen.put_slice(name.as_bytes());
    }

    #[inline]
    fn known_name(&mut self, name: &FieldName) {
        match name.binary() {
            Some(entry) => self.pen.put_part(entry.bytes(), entry.len()),
            None => self.name(name.as_str()),
        }
    }

    #[inline]
    fn value(&mut self, value: &str) {
        self.pen.put(&length(value.len()));
        self.pen.put_slice(value.as_bytes());
    }

    #[inline]
    fn number(&mut self, value: i64) {
        let len_at = self.pen.len();
        self.pen.put(&length(0));
        let len = self.pen.put_integer(value);
        self.pen.overwrite(len_at, length(len));
    }
}

// Known fields are written without a call: a send has fourteen of them. JSON's are longer, and slower so.
impl ExtSink for BinarySink<'_> {
    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.value(value);
    }

    fn integer(&mut self, name: &str, value: i64) {
        self.name(name);
        self.number(value);
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.text(name, if value { "true" } else { "false" });
    }

    #[inline(always)]
    fn known_text(&mut self, name: &FieldName, value: &str) {
        match name.binary() {
            Some(form) => {
                self.pen.put_part_and(form.bytes(), form.len(), &length(value.len()));
                self.pen.put_slice(value.as_bytes());
            }
            None => self.text(name.as_str(), value),
        }
    }

    #[inline(always)]
    fn known_integer(&mut self, name: &FieldName, value: i64) {
        match (name.binary(), u8::try_from(value)) {
            (Some(form), Ok(digit @ 0..=9)) => {
                self.pen.put_part_and(form.bytes(), form.len(), &[0, 0, 0, 1, b'0' + digit]);
            }
            _ => {
                self.known_name(name);
                self.number(value);
            }
        }
    }

    #[inline(always)]
    fn known_boolean(&mut self, name: &FieldName, value: bool) {
        match (name.binary(), value) {
            (Some(form), true) => self.pen.put_part_and(form.bytes(), form.len(), b"\0\0\0\x04true"),
            (Some(form), false) => self.pen.put_part_and(form.bytes(), form.len(), b"\0\0\0\x05false"),
            (None, _) => self.boolean(name.as_str(), value),
        }
    }
}
