//! What a name or a value means, as it lies in a frame or in a map.

use crate::json::text::RawText;

impl RawText<'_> {
    /// Whether this says that something is so: only `true`, in any case, does (wire §2.3).
    #[inline]
    pub(super) fn is_true(self) -> bool {
        self.text().eq_ignore_ascii_case("true")
    }

    /// Whether this is the text meant.
    #[inline]
    pub(super) fn is(self, text: &str) -> bool {
        if self.escaped { self.text() == text } else { is_same(self.raw.as_bytes(), text.as_bytes()) }
    }

    /// The decimal number that this is, with or without a sign.
    #[inline]
    pub(super) fn integer(self) -> Option<i64> {
        let (negative, digits) = match self.raw.as_bytes() {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        match short_number(digits) {
            Some(number) => Some(if negative { -number } else { number }),
            None => self.odd_integer(),
        }
    }

    #[cold]
    fn odd_integer(self) -> Option<i64> {
        self.text().parse().ok()
    }
}

/// The number that a few digits make; so few always fit.
#[inline]
fn short_number(digits: &[u8]) -> Option<i64> {
    const SHORT: usize = 18;
    if digits.is_empty() || digits.len() > SHORT {
        return None;
    }
    let mut number = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(number)
}

/// Compares names, for which a call would cost more than the comparison.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len()
        && match a.len() {
            0 => true,
            1 => a[0] == b[0],
            2..4 => ends::<2>(a) == ends::<2>(b),
            4..8 => ends::<4>(a) == ends::<4>(b),
            8..=16 => ends::<8>(a) == ends::<8>(b),
            _ => a == b,
        }
}

/// The first and the last N bytes.
#[inline]
fn ends<const N: usize>(bytes: &[u8]) -> (Option<&[u8; N]>, Option<&[u8; N]>) {
    (bytes.first_chunk(), bytes.last_chunk())
}
