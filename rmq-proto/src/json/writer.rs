use bytes::{BufMut, BytesMut};

use super::text::{ONES, short_word, zero_bytes};
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
    const WORD: usize = size_of::<u64>();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // A short end is filled up with blanks, which mean nothing here.
        let word = rest.first_chunk().copied().unwrap_or_else(|| short_word(rest, b' ').to_le_bytes());
        let clean = clean_len(word).min(rest.len());
        match rest.get(clean) {
            // What separates properties, by far the most frequent.
            Some(special @ (0x01 | 0x02)) if clean < WORD => {
                pen.put_part_and(&word, clean, &[b'\\', b'u', b'0', b'0', b'0', b'0' + special]);
                rest = &rest[clean + 1..];
            }
            special => {
                pen.put_part(&word, clean);
                rest = &rest[clean..];
                if special.is_some() && clean < WORD {
                    rest = &rest[put_escape(pen, rest)..];
                }
            }
        }
    }
}

/// How many bytes from the front on are ASCII that text can hold as it is: no control characters, no quote and no backslash.
#[inline]
fn clean_len(bytes: [u8; 8]) -> usize {
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(bytes);
    // This puts the quote, 0x22, in the place of the blank, next to the control characters, and the blank behind it.
    let turned = word ^ (ONES * 2);
    let low = turned.wrapping_sub(ONES * 0x21) & !turned;
    let backslash = word ^ (ONES * u64::from(b'\\'));
    let high = word.wrapping_add(ONES) | word;
    // Bits above the lowest one may be false hits; the lowest never is.
    let hits = (low | high) & HIGH | zero_bytes(backslash);
    hits.trailing_zeros() as usize / 8
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
