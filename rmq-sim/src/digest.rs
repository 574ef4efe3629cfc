//! Telling things apart by a number.

/// For telling runs apart: FNV-1a by words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) const fn value(self) -> u64 {
        self.0
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        for word in words.chain(rest.iter().map(|byte| u64::from(*byte))) {
            self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        }
    }
}

impl core::fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}
