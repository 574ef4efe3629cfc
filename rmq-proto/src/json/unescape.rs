use alloc::string::String;
use alloc::vec;

use super::text::{ONES, short_word, simple_escape, zero_bytes};

/// Takes back the escapes of a text that [`scan`](super::text::scan) accepted. A half of a surrogate pair that stands alone
/// becomes U+FFFD.
pub(super) fn unescape(raw: &str) -> String {
    let bytes = raw.as_bytes();
    // No escape is shorter than what it means. Whole words are copied, the last one past its end.
    let mut out = vec![0; bytes.len() + WORD];
    let (mut at, mut len) = (0, 0);
    while at < bytes.len() {
        let plain = copy_plain(&bytes[at..], &mut out[len..]);
        at += plain;
        len += plain;
        if plain < WORD && bytes.get(at) == Some(&b'\\') {
            let (meant, escape_len) = escape(&bytes[at..]);
            at += escape_len;
            match u8::try_from(meant) {
                Ok(byte) if byte.is_ascii() => {
                    out[len] = byte;
                    len += 1;
                }
                _ => len += meant.encode_utf8(&mut out[len..]).len(),
            }
        }
    }
    out.truncate(len);
    // Text without its escapes is text.
    String::from_utf8(out).unwrap_or_default()
}

const WORD: usize = size_of::<u64>();

/// Copies a word of what stands before the first backslash, or less: the length.
#[inline]
fn copy_plain(from: &[u8], to: &mut [u8]) -> usize {
    let word = from.first_chunk().copied().unwrap_or_else(|| short_word(from, b'\\').to_le_bytes());
    to[..WORD].copy_from_slice(&word);
    zero_bytes(u64::from_le_bytes(word) ^ (ONES * u64::from(b'\\'))).trailing_zeros() as usize / 8
}

/// What the escape that text begins with means, and its length.
#[inline]
fn escape(bytes: &[u8]) -> (char, usize) {
    let (meant, len) = match bytes {
        // Control characters, which separate properties.
        [b'\\', b'u', b'0', b'0', b'0', last, ..] => (char::from_u32(digit(*last)), 6),
        [b'\\', b'u', ..] => utf16(bytes),
        [b'\\', b'x', ..] => (char::from_u32(hex(bytes, 2, 2)), 4),
        [b'\\', byte, ..] => (simple_escape(*byte), 2),
        _ => (None, 1),
    };
    (meant.unwrap_or(char::REPLACEMENT_CHARACTER), len)
}

/// Reads `\uXXXX`, and another one after it if the two are a surrogate pair. Also returns their length.
fn utf16(bytes: &[u8]) -> (Option<char>, usize) {
    let first = hex(bytes, 2, 4);
    if (0xD800..0xDC00).contains(&first) && bytes[6..].starts_with(b"\\u") {
        let second = hex(bytes, 8, 4);
        if (0xDC00..0xE000).contains(&second) {
            return (char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)), 12);
        }
    }
    (char::from_u32(first), 6)
}

#[inline]
fn hex(bytes: &[u8], at: usize, digits: usize) -> u32 {
    bytes[at..at + digits].iter().fold(0, |number, byte| number << 4 | digit(*byte))
}

/// The value of a hexadecimal digit.
#[inline]
const fn digit(byte: u8) -> u32 {
    // Letters of either case are 1, 2, ... in their low bits.
    (byte as u32 & 0xF) + 9 * (byte as u32 >> 6)
}
