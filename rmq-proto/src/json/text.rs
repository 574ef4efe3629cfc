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
        if self.escaped {
            Cow::Owned(unescape(self.raw))
        } else {
            Cow::Borrowed(self.raw)
        }
    }
}

/// Reads the text that begins at `start`, right after a quote. Also returns where its end quote lies.
#[inline]
pub(super) fn scan<'a>(json: &'a str, start: usize, quote: u8) -> Result<(RawText<'a>, usize), JsonError> {
    let bytes = json.as_bytes();
    let mut at = find_either(bytes, start, quote, b'\\');
    let mut escaped = false;
    while bytes.get(at) == Some(&b'\\') {
        escaped = true;
        at = find_either(bytes, at + escape_len(bytes, at)?, quote, b'\\');
    }
    if at >= bytes.len() {
        return Err(JsonError::End { offset: bytes.len() });
    }
    Ok((
        RawText {
            raw: &json[start..at],
            escaped,
        },
        at,
    ))
}

/// The index of the first `a` or `b` from `at` on, or the length. Eight bytes a step.
#[inline]
fn find_either(bytes: &[u8], mut at: usize, a: u8, b: u8) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
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

/// The length of the escape whose backslash lies at `at`.
fn escape_len(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    let digits = match bytes.get(at + 1) {
        None => return Err(JsonError::End { offset: bytes.len() }),
        Some(b'u') => 4,
        Some(b'x') => 2,
        Some(byte) if simple_escape(*byte).is_some() => 0,
        Some(_) => return Err(JsonError::Escape { offset: at }),
    };
    let len = 2 + digits;
    match bytes.get(at + 2..at + len) {
        None => Err(JsonError::End { offset: bytes.len() }),
        Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => Ok(len),
        Some(_) => Err(JsonError::Escape { offset: at }),
    }
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
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = rest.find('\\') {
        out.push_str(&rest[..backslash]);
        rest = &rest[backslash + 1..];
        let (meant, len) = match rest.as_bytes().first() {
            Some(b'u') => utf16(rest),
            Some(b'x') => (char::from_u32(hex(rest, 1, 2)), 3),
            Some(byte) => (simple_escape(*byte), 1),
            None => break,
        };
        out.push(meant.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = rest.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Reads `uXXXX`, and the `\uXXXX` after it if the two are a surrogate pair.
fn utf16(text: &str) -> (Option<char>, usize) {
    let first = hex(text, 1, 4);
    if (0xD800..0xDC00).contains(&first) && text.get(5..7) == Some("\\u") {
        let second = hex(text, 7, 4);
        if (0xDC00..0xE000).contains(&second) {
            return (
                char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)),
                11,
            );
        }
    }
    (char::from_u32(first), 5)
}

fn hex(text: &str, at: usize, digits: usize) -> u32 {
    let digits = text.get(at..at + digits).unwrap_or_default();
    u32::from_str_radix(digits, 16).unwrap_or(0xD800)
}
