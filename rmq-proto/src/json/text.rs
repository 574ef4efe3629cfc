//! Quoted text: finding its end, and taking its escapes back.

use alloc::borrow::Cow;

use super::JsonError;
use super::unescape::unescape;

/// What stands between two quotes, with its escapes checked but not taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawText<'a> {
    pub(crate) raw: &'a str,
    pub(crate) escaped: bool,
}

impl<'a> RawText<'a> {
    /// Text that means itself.
    #[inline]
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
        Some((end_of_escaped(json, end, quote)?, true))
    }
}

/// Where the end quote of a text lies whose first backslash lies at `at`. A call of its own, which most texts do without.
#[inline(never)]
fn end_of_escaped(json: &[u8], at: usize, quote: u8) -> Option<usize> {
    end_after_separators(json, at, quote).or_else(|| end_after_escapes(json, at, quote))
}

/// The same as [`end_after_escapes`] where each escape is a separator of properties, as nearly all are; `None` where one is
/// not. No step waits for where the one before it ended.
fn end_after_separators(json: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    while let Some(chunk) = json.get(at..)?.first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let ends = exact_zero_bytes(word ^ (ONES * u64::from(quote)));
        let mut escapes = exact_zero_bytes(word ^ (ONES * u64::from(b'\\'))) & before_first(ends);
        while escapes != 0 {
            if !is_separator(json, at + first_byte(escapes)) {
                return None;
            }
            escapes &= escapes - 1;
        }
        if ends != 0 {
            return Some(at + first_byte(ends));
        }
        at += 8;
    }
    None
}

/// Whether `\u0001` or `\u0002` is at this place, and something behind it.
#[inline]
fn is_separator(bytes: &[u8], at: usize) -> bool {
    const FIRST: u64 = u64::from_le_bytes(*b"\\u0001\0\0");
    const STEP: u64 = 1 << 40;
    let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return false };
    let beyond = (u64::from_le_bytes(*word) & (u64::MAX >> 16)).wrapping_sub(FIRST);
    beyond & !STEP == 0
}

/// Where the end quote of a text lies whose first backslash lies at `at`.
fn end_after_escapes(json: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    while *json.get(at)? == b'\\' {
        at = find_either(json, at + escape_len(json, at)?, quote, b'\\');
    }
    Some(at)
}

/// Whether bytes are ASCII. For some hundred of them quicker than the library's.
#[inline]
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let all = words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word));
    let rest = rest.iter().fold(0, |all, byte| all | byte);
    all & (ONES << 7) == 0 && rest.is_ascii()
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

/// Fewer than eight bytes as a word, with `fill` behind them. Put together in a register: to read a word that was just written
/// in pieces takes long.
#[inline]
pub(super) fn short_word(bytes: &[u8], fill: u8) -> u64 {
    let len = bytes.len();
    let fill = (ONES * u64::from(fill)).checked_shl(8 * len as u32).unwrap_or(0);
    let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            fill | u64::from(first) | u64::from(last) << (8 * (len - 4))
        }
        _ if len == 0 => fill,
        _ => fill | byte(0) | byte(len / 2) | byte(len - 1),
    }
}

/// The top bits of the bytes that are zero. Above the lowest of them, others may be set falsely.
#[inline]
pub(super) const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

/// The top bits of all bytes that are zero, and of no others.
#[inline]
const fn exact_zero_bytes(word: u64) -> u64 {
    const LOW: u64 = ONES * 0x7F;
    !(((word & LOW) + LOW) | word | LOW)
}

/// The bits below the lowest one of `hits`; all if there is none.
#[inline]
const fn before_first(hits: u64) -> u64 {
    !hits & hits.wrapping_sub(1)
}

/// The index of the byte that the lowest bit is in.
#[inline]
const fn first_byte(hits: u64) -> usize {
    hits.trailing_zeros() as usize / 8
}

/// The index of the first `a` or `b` from `at` on, or the length.
#[inline]
fn find_either(bytes: &[u8], at: usize, a: u8, b: u8) -> usize {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        // Most texts are short.
        Some(chunk) => match first_of(*chunk, a, b) {
            Some(len) => at + len,
            None => find_further(bytes, at + 8, a, b),
        },
        None => find_further(bytes, at, a, b),
    }
}

/// The same for longer texts, and where the bytes end. Eight of them a step.
#[inline(never)]
fn find_further(bytes: &[u8], mut at: usize, a: u8, b: u8) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        if let Some(len) = first_of(*chunk, a, b) {
            return at + len;
        }
        at += 8;
    }
    while at < bytes.len() && bytes[at] != a && bytes[at] != b {
        at += 1;
    }
    at.min(bytes.len())
}

/// The index of the first `a` or `b`, both ASCII.
#[inline]
fn first_of(bytes: [u8; 8], a: u8, b: u8) -> Option<usize> {
    let word = u64::from_le_bytes(bytes);
    let [below_a, below_b] = [a, b].map(|byte| (word ^ (ONES * u64::from(byte))).wrapping_sub(ONES));
    let hits = (below_a | below_b) & !word & (ONES << 7);
    // Bits above the lowest one may be false hits; the lowest never is.
    (hits != 0).then(|| first_byte(hits))
}

/// The length of the escape whose backslash lies at `at`; `None` if it is none.
#[inline]
fn escape_len(bytes: &[u8], at: usize) -> Option<usize> {
    // The control characters that separate properties.
    if let [b'\\', b'u', b'0', b'0', b'0', b'0'..=b'9', ..] = bytes.get(at..)? {
        return Some(6);
    }
    let digits = match bytes.get(at + 1)? {
        b'u' => 4,
        b'x' => 2,
        byte => return simple_escape(*byte).map(|_| 2),
    };
    let hex = bytes.get(at + 2..at + 2 + digits)?;
    hex.iter().all(u8::is_ascii_hexdigit).then_some(2 + digits)
}

/// What a backslash and this byte mean. fastjson knows some that JSON does not.
pub(super) const fn simple_escape(byte: u8) -> Option<char> {
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
