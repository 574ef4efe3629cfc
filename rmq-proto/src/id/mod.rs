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
        let mut text = HexText { digits: [0; V6_DIGITS], len: self.len * 2 };
        let (words, _) = self.bytes.as_chunks();
        let (texts, _) = text.digits.as_chunks_mut();
        for (text, word) in texts.iter_mut().zip(words) {
            *text = hex_digits(u32::from_be_bytes(*word));
        }
        text
    }
}

/// A number as eight upper-case hexadecimal digits.
fn hex_digits(number: u32) -> [u8; 8] {
    const ONES: u64 = u64::MAX / 255;
    // Each half of a part goes to the low half of one twice as wide, until there are eight bytes of four bits.
    let halves = u64::from(number);
    let pairs = (halves | halves << 16) & 0x0000_FFFF_0000_FFFF;
    let bytes = (pairs | pairs << 8) & 0x00FF_00FF_00FF_00FF;
    let values = (bytes | bytes << 4) & (ONES * 0x0F);
    let letters = (values + ONES * 6) >> 4 & ONES;
    (values + ONES * u64::from(b'0') + letters * u64::from(b'A' - b'9' - 1)).to_be_bytes()
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

    /// Writes 48 bits over the last 12 digits.
    fn set_end(&mut self, bits: u64) {
        if let Some(end) = self.digits[..self.len].last_chunk_mut::<12>() {
            end[..8].copy_from_slice(&hex_digits((bits >> 16) as u32));
            end[4..].copy_from_slice(&hex_digits(bits as u32));
        }
    }
}
