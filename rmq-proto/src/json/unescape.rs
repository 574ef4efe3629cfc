use alloc::string::String;
use alloc::vec;

use super::text::{ONES, simple_escape, zero_bytes};

/// Takes back the escapes of a text that [`scan`](super::text::scan) accepted. A half of a surrogate pair that stands alone
/// becomes U+FFFD.
pub(super) fn unescape(raw: &str) -> String {
    let bytes = raw.as_bytes();
    // No escape is shorter than what it means. Whole words are copied, the last one past its end.
    let mut out = vec![0; raw.len() + size_of::<u64>()];
    let (mut at, mut len) = (0, 0);
    while at < bytes.len() {
        let plain = copy_plain(&bytes[at..], &mut out[len..]);
        at += plain;
        len += plain;
        if bytes.get(at) == Some(&b'\\') {
            let (meant, escape_len) = escape(bytes, at);
            at += escape_len;
            len += meant.encode_utf8(&mut out[len..]).len();
        }
    }
    out.truncate(len);
    // Text without its escapes is text.
    String::from_utf8(out).unwrap_or_default()
}

/// Copies a part of what stands before the first backslash: none only if that is the first byte.
#[inline]
fn copy_plain(from: &[u8], to: &mut [u8]) -> usize {
    let mut word = [b'\\'; 8];
    match from.first_chunk() {
        Some(chunk) => word = *chunk,
        None => word.iter_mut().zip(from).for_each(|(to, from)| *to = *from),
    }
    to[..word.len()].copy_from_slice(&word);
    zero_bytes(u64::from_le_bytes(word) ^ (ONES * u64::from(b'\\'))).trailing_zeros() as usize / 8
}

/// What the escape at `at` means, and its length.
#[inline]
fn escape(bytes: &[u8], at: usize) -> (char, usize) {
    let (meant, len) = match bytes.get(at + 1) {
        Some(b'u') => utf16(bytes, at),
        Some(b'x') => (char::from_u32(hex(bytes, at + 2, 2)), 4),
        Some(byte) => (simple_escape(*byte), 2),
        None => (None, 1),
    };
    (meant.unwrap_or(char::REPLACEMENT_CHARACTER), len)
}

/// Reads `\uXXXX`, and another one after it if the two are a surrogate pair. Also returns their length.
#[inline]
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
