use core::fmt;
use core::str::FromStr;

/// What joins a reply to its request, the property `CORRELATION_ID`: a UUID of version 4, as text 36 characters long
/// (producer §10.1).
///
/// ```
/// use rmq_proto::id::CorrelationId;
///
/// let id = CorrelationId::from_random(0x84dc_de7b_f56a_ed59_f22a_f814_155a_45ed);
/// assert_eq!(id.to_string(), "84dcde7b-f56a-4d59-b22a-f814155a45ed");
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CorrelationId(u128);

/// Characters of the text.
pub(crate) const CORRELATION_ID_LEN: usize = 36;

impl CorrelationId {
    /// The id that has these bits, but for the six that say what kind of UUID it is.
    pub const fn from_random(bits: u128) -> Self {
        Self(bits & !(0xF << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62))
    }
}

impl fmt::Display for CorrelationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |shift: u32, mask: u64| (self.0 >> shift) as u64 & mask;
        let (first, last) = (part(96, 0xFFFF_FFFF), part(0, 0xFFFF_FFFF_FFFF));
        let [second, third, fourth] = [80, 64, 48].map(|shift| part(shift, 0xFFFF));
        write!(f, "{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-{last:012x}")
    }
}

impl fmt::Debug for CorrelationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a UUID has 32 hexadecimal digits in five groups, such as 84dcde7b-f56a-4d59-b22a-f814155a45ed")]
pub struct CorrelationIdError;

impl FromStr for CorrelationId {
    type Err = CorrelationIdError;

    /// Reads a UUID of any version, its digits in either case.
    fn from_str(text: &str) -> Result<Self, CorrelationIdError> {
        if text.len() != CORRELATION_ID_LEN {
            return Err(CorrelationIdError);
        }
        let mut bits = 0;
        for (at, c) in text.char_indices() {
            let is_dash = matches!(at, 8 | 13 | 18 | 23);
            match c.to_digit(16) {
                Some(digit) if !is_dash => bits = bits << 4 | u128::from(digit),
                None if is_dash && c == '-' => {}
                _ => return Err(CorrelationIdError),
            }
        }
        Ok(Self(bits))
    }
}
