use bytes::{BufMut, BytesMut};

use super::text::{ONES, short_word};
use crate::pen::Pen;

/// Writes compact JSON, one value or key after the other, commas and colons included; the [module](super) shows how.
///
/// Text is escaped byte for byte as fastjson does it (wire §2.1). Calls must nest as JSON does; that is not checked.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut BytesMut,
    /// Whether a value was written in this object or array, so that a comma is due.
    comma: bool,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `out`.
    pub fn new(out: &'a mut BytesMut) -> Self {
        Self { out, comma: false }
    }

    /// Writes `{`.
    pub fn begin_object(&mut self) {
        self.begin(b'{');
    }

    /// Writes `}`.
    pub fn end_object(&mut self) {
        self.end(b'}');
    }

    /// Writes `[`.
    pub fn begin_array(&mut self) {
        self.begin(b'[');
    }

    /// Writes `]`.
    pub fn end_array(&mut self) {
        self.end(b']');
    }

    /// Writes a key; its value has to follow.
    pub fn key(&mut self, key: &str) {
        self.separate();
        put_text(self.out, key);
        self.end_key();
    }

    /// Ends a key that is no text: a number or object that was just written as if it were a value (wire §2.4). Its value
    /// has to follow.
    pub fn end_key(&mut self) {
        self.out.put_u8(b':');
        self.comma = false;
    }

    /// Writes text, in quotes.
    pub fn text(&mut self, text: &str) {
        self.separate();
        put_text(self.out, text);
    }

    /// Writes a number.
    pub fn integer(&mut self, number: i64) {
        self.separate();
        put_integer(self.out, number);
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.separate();
        self.out.put_slice(if value { b"true" } else { b"false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.separate();
        self.out.put_slice(b"null");
    }

    /// Writes a value that is JSON already.
    pub(super) fn raw(&mut self, json: &str) {
        self.separate();
        self.out.put_slice(json.as_bytes());
    }

    fn begin(&mut self, bracket: u8) {
        self.separate();
        self.out.put_u8(bracket);
        self.comma = false;
    }

    fn end(&mut self, bracket: u8) {
        self.out.put_u8(bracket);
        self.comma = true;
    }

    fn separate(&mut self) {
        if self.comma {
            self.out.put_u8(b',');
        }
        self.comma = true;
    }
}

/// Writes text with its quotes and escapes (wire §2.1).
pub(crate) fn put_text(out: &mut BytesMut, text: &str) {
    let mut pen = Pen::new(out);
    pen.put(b"\"");
    put_escaped(&mut pen, text);
    pen.put(b"\"");
}

/// Writes a number in decimal.
pub(crate) fn put_integer(out: &mut BytesMut, number: i64) {
    Pen::new(out).put_integer(number);
}

/// Writes text with its escapes and without quotes (wire §2.1).
pub(crate) fn put_escaped(pen: &mut Pen<'_>, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let read = put_plain(pen, rest);
        rest = &rest[read..];
        if rest.is_empty() {
            return;
        }
        rest = &rest[put_escape(pen, rest)..];
    }
}

/// Writes bytes up to the first one that needs an escape, other than the separators of properties; returns how many were read.
#[inline]
fn put_plain(pen: &mut Pen<'_>, bytes: &[u8]) -> usize {
    let (words, end) = bytes.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let read = pen.put_with(|room| put_word(room, u64::from_le_bytes(*word), WORD));
        if read < WORD {
            return index * WORD + read;
        }
    }
    if end.is_empty() {
        return bytes.len();
    }
    // A short end is filled up with blanks, which mean nothing here.
    let word = match bytes.last_chunk() {
        Some(last) => end_word(*last, end.len()),
        None => short_word(end, b' '),
    };
    bytes.len() - end.len() + pen.put_with(|room| put_word(room, word, end.len()))
}

const WORD: usize = size_of::<u64>();
/// `\u0001` or `\u0002`.
const ESCAPE: usize = 6;

/// The last `len` bytes of a word, fewer than eight and at least one, with blanks behind them.
#[inline]
fn end_word(last: [u8; WORD], len: usize) -> u64 {
    let blanks = ONES * u64::from(b' ');
    u64::from_le_bytes(last) >> (8 * (WORD - len)) | blanks << (8 * len)
}

/// Writes the first `len` bytes of a word up to one that needs an escape, other than the separators of properties: these are by
/// far the most frequent. Returns how many bytes were written, and read.
#[inline]
fn put_word(room: &mut [u8; WORD * ESCAPE + WORD], mut word: u64, len: usize) -> (usize, usize) {
    let (mut written, mut read) = (0, 0);
    let mut hits = special_bytes(word);
    loop {
        room[written..written + WORD].copy_from_slice(&word.to_le_bytes());
        if hits == 0 {
            return (written + len - read, len);
        }
        let at = hits.trailing_zeros() & !7;
        let clean = at as usize / 8;
        let special = word >> at & 0xFF;
        (written, read) = (written + clean, read + clean);
        if !matches!(special, 0x01 | 0x02) {
            return (written, read);
        }
        let escape = u64::from_le_bytes(*b"\\u0000\0\0") | special << 40;
        room[written..written + WORD].copy_from_slice(&escape.to_le_bytes());
        (written, read) = (written + ESCAPE, read + 1);
        (word, hits) = (word >> at >> 8, hits >> at >> 8);
    }
}

/// The top bits of the bytes that text cannot hold as they are, or that are not ASCII: control characters, the quote, the
/// backslash.
#[inline]
const fn special_bytes(word: u64) -> u64 {
    const HIGH: u64 = ONES << 7;
    const LOW: u64 = !HIGH;
    // This puts the quote, 0x22, in the place of the blank, next to the control characters, and the blank behind it.
    let above_quote = ((word ^ (ONES * 2)) & LOW) + ONES * (0x80 - 0x21);
    let no_backslash = ((word ^ (ONES * b'\\' as u64)) & LOW) + LOW;
    let high = ((word & LOW) + ONES) | word;
    (!(above_quote & no_backslash) | high) & HIGH
}

/// Writes the character that `rest` begins with, or others that are not ASCII and need no escape; returns their length.
fn put_escape(pen: &mut Pen<'_>, rest: &[u8]) -> usize {
    let short = match rest {
        [b'"', ..] => b'"',
        [b'\\', ..] => b'\\',
        [0x08, ..] => b'b',
        [0x0C, ..] => b'f',
        [b'\n', ..] => b'n',
        [b'\r', ..] => b'r',
        [b'\t', ..] => b't',
        [0xE2, 0x80, last @ (0xA8 | 0xA9), ..] => {
            put_unicode_escape(pen, 0x2028 | u16::from(last & 1));
            return 3;
        }
        [first, others @ ..] if *first >= 0x80 => {
            // 0xE2 may begin U+2028 or U+2029, line ends to JavaScript.
            let len = others.iter().position(|byte| *byte < 0x80 || *byte == 0xE2);
            let (plain, _) = rest.split_at(len.map_or(rest.len(), |len| 1 + len));
            pen.put_slice(plain);
            return plain.len();
        }
        [byte, ..] => {
            put_unicode_escape(pen, u16::from(*byte));
            return 1;
        }
        [] => return 0,
    };
    pen.put(&[b'\\', short]);
    1
}

fn put_unicode_escape(pen: &mut Pen<'_>, unit: u16) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |shift: u16| HEX[usize::from(unit >> shift & 0xF)];
    pen.put(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
}
