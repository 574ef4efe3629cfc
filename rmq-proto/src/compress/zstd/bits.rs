//! Bits of a byte slice, from its front and from its back. The least significant bit of a byte is its first.

/// The eight bytes from `index` on, as far as there are bytes, the first one least significant.
fn word(bytes: &[u8], index: usize) -> u64 {
    let rest = bytes.get(index..).unwrap_or_default();
    match rest.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// `count` bits from bit `start` on. `count` is at most 32, so they lie in eight bytes.
fn bits(bytes: &[u8], start: usize, count: u32) -> u32 {
    let word = word(bytes, start / 8) >> (start % 8);
    // The mask leaves at most 32 bits.
    (word & ((1 << count) - 1)) as u32
}

/// Bits read from the front.
pub(super) struct Forward<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Forward<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// `None` when there are fewer bits left.
    pub(super) fn read(&mut self, count: u32) -> Option<u32> {
        let end = self.at + count as usize;
        if end > self.bytes.len() * 8 {
            return None;
        }
        let value = bits(self.bytes, self.at, count);
        self.at = end;
        Some(value)
    }

    /// Gives the last bit back.
    pub(super) fn unread_bit(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// How many bytes have been read from, the last one maybe in part.
    pub(super) fn bytes_read(&self) -> usize {
        self.at.div_ceil(8)
    }
}

/// Bits read from the back, below the highest bit that is set in the last byte. The bits that come last in the slice are
/// read first, and are the most significant of a number.
pub(super) struct Backward<'a> {
    bytes: &'a [u8],
    left: usize,
    overdrawn: bool,
}

impl<'a> Backward<'a> {
    /// `None` when the last byte has no bit that is set.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let padding = bytes.last()?.checked_ilog2()?;
        Some(Self { bytes, left: (bytes.len() - 1) * 8 + padding as usize, overdrawn: false })
    }

    /// The next bits, not taken. Bits that are not there are 0.
    pub(super) fn peek(&self, count: u32) -> u32 {
        match self.left.checked_sub(count as usize) {
            Some(start) => bits(self.bytes, start, count),
            // Fewer than 32 bits are left here.
            None => bits(self.bytes, 0, self.left as u32) << (count - self.left as u32),
        }
    }

    pub(super) fn skip(&mut self, count: u32) {
        let left = self.left.checked_sub(count as usize);
        self.overdrawn |= left.is_none();
        self.left = left.unwrap_or(0);
    }

    pub(super) fn read(&mut self, count: u32) -> u32 {
        let value = self.peek(count);
        self.skip(count);
        value
    }

    /// Whether more bits were taken than there were.
    pub(super) fn is_overdrawn(&self) -> bool {
        self.overdrawn
    }

    /// Whether all bits were taken, and no more.
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0 && !self.overdrawn
    }
}
