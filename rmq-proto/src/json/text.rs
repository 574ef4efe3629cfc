//! Quoted text: finding its end, and taking its escapes back.

use alloc::borrow::Cow;
use alloc::string::String;

use super::JsonError;

/// What stands between two quotes, with its escapes checked but not taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawText<'a> {
    pub(crate) raw: &'a str,
    pub(crate) escaped: bool,
}

impl<'a> RawText<'a> {
    /// Text that means itself.
    pub(crate) const fn plain(raw: &'a str) -> Self {
        Self { raw, escaped: false }
    }

    /// The text meant; borrowed when it has no escape.
    #[inline]
    pub(crate) fn text(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(unescape(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

/// Reads the text that begins at `start`, right after a quote. Also returns where its end quote lies.
#[inline]
pub(crate) fn scan(json: &str, start: usize, quote: u8) -> Option<(RawText<'_>, usize)> {
    let (end, escaped) = end_of_text(json.as_bytes(), start, quote)?;
    Some((RawText { raw: json.get(start..end)?, escaped }, end))
}

/// Where the end quote of a text lies, and whether the text has escapes.
#[inline]
pub(crate) fn end_of_text(json: &[u8], start: usize, quote: u8) -> Option<(usize, bool)> {
    let end = find_either(json, start, quote, b'\\');
    if *json.get(end)? == quote {
        Some((end, false))
    } else {
        Some((end_after_escapes(json, end, quote)?, true))
    }
}

/// Where the end quote of a text lies whose first backslash lies at `at`.
fn end_after_escapes(json: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    while *json.get(at)? == b'\\' {
        at = find_either(json, at + escape_len(json, at)?, quote, b'\\');
    }
    Some(at)
}

/// Why [`scan`] found no text. On its own, as an error would weigh on each text that is fine.
#[cold]
pub(crate) fn scan_error(json: &str, start: usize, quote: u8) -> JsonError {
    let bytes = json.as_bytes();
    let mut at = find_either(bytes, start, quote, b'\\');
    while let Some(len) = escape_len(bytes, at) {
        at = find_either(bytes, at + len, quote, b'\\');
    }
    let is_cut = match bytes.get(at + 1..) {
        None | Some([]) => true,
        Some([b'u', digits @ ..]) => digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit),
        Some([b'x', digits @ ..]) => digits.len() < 2 && digits.iter().all(u8::is_ascii_hexdigit),
        Some(_) => false,
    };
    if is_cut { JsonError::End { offset: bytes.len() } } else { JsonError::Escape { offset: at } }
}

/// A word whose eight bytes are each 1.
pub(super) const ONES: u64 = u64::MAX / 255;

/// The top bits of the bytes that are zero. Above the lowest of them, others may be set falsely.
#[inline]
pub(super) const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

/// The index of the first `a` or `b` from `at` on, or the length. Eight bytes a step.
#[inline]
fn find_either(bytes: &[u8], mut at: usize, a: u8, b: u8) -> usize {
    let (a_word, b_word) = (ONES * u64::from(a), ONES * u64::from(b));
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*chunk);
        let hits = zero_bytes(word ^ a_word) | zero_bytes(word ^ b_word);
        if hits != 0 {
            // Bits above the lowest one may be false hits; the lowest never is.
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < bytes.len() && bytes[at] != a && bytes[at] != b {
        at += 1;
    }
    at.min(bytes.len())
}

/// The length of the escape whose backslash lies at `at`; `None` if it is none.
#[inline]
fn escape_len(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = match bytes.get(at + 1)? {
        b'u' => 4,
        b'x' => 2,
        byte => return simple_escape(*byte).map(|_| 2),
    };
    let hex = bytes.get(at + 2..at + 2 + digits)?;
    hex.iter().all(u8::is_ascii_hexdigit).then_some(2 + digits)
}

/// What a backslash and this byte mean. fastjson knows some that JSON does not.
const fn simple_escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'"' | b'\'' | b'\\' | b'/' => byte as char,
        b'b' => '\u{8}',
        b'f' | b'F' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\u{b}',
        b'0'..=b'7' => (byte - b'0') as char,
        _ => return None,
    })
}

/// Takes back the escapes of a text that [`scan`] accepted. A half of a surrogate pair that stands alone becomes U+FFFD.
fn unescape(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(raw.len());
    let mut copied = 0;
    loop {
        let at = find_either(bytes, copied, b'\\', b'\\');
        out.push_str(&raw[copied..at]);
        let (meant, len) = match bytes.get(at + 1) {
            Some(b'u') => utf16(bytes, at),
            Some(b'x') => (char::from_u32(hex(bytes, at + 2, 2)), 4),
            Some(byte) => (simple_escape(*byte), 2),
            None => return out,
        };
        out.push(meant.unwrap_or(char::REPLACEMENT_CHARACTER));
        copied = at + len;
    }
}

/// Reads `\uXXXX`, and another one after it if the two are a surrogate pair. Also returns their length.
fn utf16(bytes: &[u8], at: usize) -> (Option<char>, usize) {
    let first = hex(bytes, at + 2, 4);
    if (0xD800..0xDC00).contains(&first) && bytes[at + 6..].starts_with(b"\\u") {
        let second = hex(bytes, at + 8, 4);
        if (0xDC00..0xE000).contains(&second) {
            return (char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)), 12);
        }
    }
    (char::from_u32(first), 6)
}

fn hex(bytes: &[u8], at: usize, digits: usize) -> u32 {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0);
    bytes[at..at + digits].iter().fold(0, |number, byte| number << 4 | digit(byte))
}
