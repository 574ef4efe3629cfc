use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::str::FromStr;

use super::{RawId, V4_BYTES, V4_DIGITS, V6_BYTES, V6_DIGITS};

/// Where a broker stored a message: its host and the offset in its commit log (wire §6.5).
///
/// Its text is what a broker answers to a send as `msgId`: upper-case hexadecimal digits; any case is read.
///
/// ```
/// # fn main() -> Result<(), rmq_proto::id::MessageIdError> {
/// use rmq_proto::id::OffsetMessageId;
///
/// let id: OffsetMessageId = "0A00000100002A9F0000000000000400".parse()?;
/// assert_eq!((id.host.to_string().as_str(), id.offset), ("10.0.0.1:10911", 1024));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffsetMessageId {
    /// The address the broker stores with its messages. Of an IPv6 address neither flow nor scope is in the text.
    pub host: SocketAddr,
    /// Offset in the commit log, in bytes.
    pub offset: i64,
}

impl fmt::Display for OffsetMessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut raw = RawId::new();
        raw.push_ip(self.host.ip());
        raw.push(&u32::from(self.host.port()).to_be_bytes());
        raw.push(&self.offset.to_be_bytes());
        f.pad(raw.to_hex().as_str())
    }
}

/// A text that is no [`OffsetMessageId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageIdError {
    /// Neither the length of an id with an IPv4 address nor that of one with an IPv6 address.
    #[error("a message id has {V4_DIGITS} or {V6_DIGITS} hexadecimal digits, this text has {len} bytes")]
    Length {
        /// Length of the text in bytes.
        len: usize,
    },
    /// Something else than a hexadecimal digit.
    #[error("a message id has hexadecimal digits only, this text has {found:?} at byte {at}")]
    Digit {
        /// Byte offset of the character.
        at: usize,
        /// The character.
        found: char,
    },
    /// The id was made by a client, or is damaged.
    #[error("the port in this message id is {port}, which no host has: is it the id that a client makes?")]
    Port {
        /// The port.
        port: i32,
    },
}

impl FromStr for OffsetMessageId {
    type Err = MessageIdError;

    fn from_str(text: &str) -> Result<Self, MessageIdError> {
        let bad_length = MessageIdError::Length { len: text.len() };
        match text.len() {
            V4_DIGITS => {
                let [a, b, c, d, rest @ ..]: [u8; V4_BYTES] = from_hex(text, bad_length)?;
                Self::of_parts([a, b, c, d].into(), rest)
            }
            V6_DIGITS => {
                let bytes: [u8; V6_BYTES] = from_hex(text, bad_length)?;
                let (ip, rest) = split(bytes);
                Self::of_parts(ip.into(), rest)
            }
            _ => Err(bad_length),
        }
    }
}

impl OffsetMessageId {
    fn of_parts(ip: IpAddr, rest: [u8; 12]) -> Result<Self, MessageIdError> {
        let [a, b, c, d, offset @ ..] = rest;
        let port = i32::from_be_bytes([a, b, c, d]);
        let host_port = u16::try_from(port).map_err(|_| MessageIdError::Port { port })?;
        Ok(Self { host: SocketAddr::new(ip, host_port), offset: i64::from_be_bytes(offset) })
    }
}

fn split(bytes: [u8; V6_BYTES]) -> ([u8; 16], [u8; 12]) {
    (core::array::from_fn(|i| bytes[i]), core::array::from_fn(|i| bytes[16 + i]))
}

fn from_hex<const N: usize>(text: &str, bad_length: MessageIdError) -> Result<[u8; N], MessageIdError> {
    let mut bytes = [0; N];
    let mut digits = text.char_indices();
    for byte in &mut bytes {
        for _ in 0..2 {
            let (at, found) = digits.next().ok_or_else(|| bad_length.clone())?;
            let digit = found.to_digit(16).ok_or(MessageIdError::Digit { at, found })?;
            // A hexadecimal digit is below 16.
            *byte = *byte << 4 | digit as u8;
        }
    }
    Ok(bytes)
}
