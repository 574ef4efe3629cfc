//! Message ids: the one that a client makes before it sends, and the one that says where a broker stored a message
//! (wire §6.5). Both are hexadecimal digits, 32 with an IPv4 address and 56 with an IPv6 address; their text does not
//! tell which of the two it is. Besides them the id that joins a reply to its request.

mod correlation;
mod offset;
mod unique;

pub(crate) use correlation::CORRELATION_ID_LEN;
pub use correlation::{CorrelationId, CorrelationIdError};
pub use offset::{MessageIdError, OffsetMessageId};
pub use unique::{UniqueKey, UniqueKeyGenerator};

/// Hexadecimal digits of an id with an IPv4 address.
pub const V4_DIGITS: usize = 32;

/// Hexadecimal digits of an id with an IPv6 address: the longest id.
pub const V6_DIGITS: usize = 56;

const V4_BYTES: usize = V4_DIGITS / 2;
const V6_BYTES: usize = V6_DIGITS / 2;

/// The bytes of an id on their way to text or back.
#[derive(Clone, Copy)]
struct RawId {
    bytes: [u8; V6_BYTES],
    len: usize,
}

impl RawId {
    const fn new() -> Self {
        Self { bytes: [0; V6_BYTES], len: 0 }
    }

    /// Both kinds of id have parts of constant length that fill an id exactly, so no part is ever cut.
    fn push(&mut self, part: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(self.len).zip(part) {
            *to = *from;
            self.len += 1;
        }
    }

    fn push_ip(&mut self, ip: core::net::IpAddr) {
        match ip {
            core::net::IpAddr::V4(ip) => self.push(&ip.octets()),
            core::net::IpAddr::V6(ip) => self.push(&ip.octets()),
        }
    }

    fn to_hex(self) -> HexText {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let mut text = HexText { digits: [0; V6_DIGITS], len: self.len * 2 };
        for (pair, byte) in text.digits.chunks_exact_mut(2).zip(&self.bytes) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        text
    }
}

/// Upper-case hexadecimal digits without a heap. What lies past `len` is constant for equal bytes, so the derived
/// comparisons hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct HexText {
    digits: [u8; V6_DIGITS],
    len: usize,
}

impl HexText {
    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.digits[..self.len]).unwrap_or_default()
    }
}
