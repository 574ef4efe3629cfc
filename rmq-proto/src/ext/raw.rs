use alloc::borrow::Cow;

use crate::json::text::RawText;

/// A name or a value as it lies in a frame or in a map. Its bytes are text, which was checked where they came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a> {
    bytes: &'a [u8],
    /// Whether the text of a JSON header has escapes that are not taken back.
    escaped: bool,
}

impl<'a> Raw<'a> {
    #[inline]
    pub(super) const fn plain(bytes: &'a [u8]) -> Self {
        Self { bytes, escaped: false }
    }

    #[inline]
    pub(super) const fn json(bytes: &'a [u8], escaped: bool) -> Self {
        Self { bytes, escaped }
    }

    #[inline]
    pub(super) const fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// The text meant; borrowed when it has no escape.
    #[inline]
    pub(super) fn text(self) -> Cow<'a, str> {
        let raw = core::str::from_utf8(self.bytes).unwrap_or_default();
        RawText { raw, escaped: self.escaped }.text()
    }

    /// Whether this is the text meant. Most names differ in their length or their first byte.
    #[inline]
    pub(super) fn is(self, text: &str) -> bool {
        if self.escaped {
            return self.text() == text;
        }
        let (bytes, text) = (self.bytes, text.as_bytes());
        bytes.len() == text.len() && bytes.first() == text.first() && (text.len() < 2 || bytes == text)
    }

    /// The decimal number that this is, with or without a sign.
    #[inline]
    pub(super) fn integer(self) -> Option<i64> {
        /// So many digits always fit.
        const SHORT: usize = 18;
        let (negative, digits) = match self.bytes {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        if digits.is_empty() || digits.len() > SHORT {
            return self.text().parse().ok();
        }
        let mut number = 0;
        for byte in digits {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return self.text().parse().ok();
            }
            number = number * 10 + i64::from(digit);
        }
        Some(if negative { -number } else { number })
    }
}
