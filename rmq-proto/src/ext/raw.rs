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
        match self.raw.as_bytes() {
            [digit @ b'0'..=b'9'] => Some(i64::from(digit - b'0')),
            _ => self.long_integer(),
        }
    }

    #[inline(never)]
    fn long_integer(self) -> Option<i64> {
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
    let (mut number, mut rest) = (0, digits);
    if let Some((eight, after)) = digits.split_first_chunk() {
        (number, rest) = (eight_digits(*eight)?, after);
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(number)
}

/// The number that eight digits make, two, four and eight of them put together at a time.
#[inline]
fn eight_digits(digits: [u8; 8]) -> Option<i64> {
    const HIGH: u64 = 0xF0F0_F0F0_F0F0_F0F0;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let word = u64::from_le_bytes(digits);
    // Six more than a digit still begins with 3.
    if word & HIGH != ZEROS || word.wrapping_add(0x0606_0606_0606_0606) & HIGH != ZEROS {
        return None;
    }
    let pairs = (word - ZEROS).wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    Some((fours.wrapping_mul(10_000 << 32 | 1) >> 32) as i64)
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
