//! A hash that is the same on every platform.

use std::fmt;
use std::hash::Hasher;

/// FNV-1a over 64-bit words, mixed at the end. Lengths are hashed as 64 bits whatever the platform's are.
#[derive(Clone, Debug)]
pub(crate) struct StableHasher(u64);

const PRIME: u64 = 0x0000_0100_0000_01B3;

impl Default for StableHasher {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl StableHasher {
    const fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(PRIME).rotate_left(23);
    }

    pub(crate) const fn value(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }
}

impl fmt::Write for StableHasher {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text.as_bytes());
        Ok(())
    }
}

impl Hasher for StableHasher {
    fn finish(&self) -> u64 {
        self.value()
    }

    fn write(&mut self, bytes: &[u8]) {
        // All that happens in a simulation comes through here, mostly in builds that nobody optimizes.
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.word(u64::from_be_bytes(*word));
        }
        self.word(rest.iter().fold(rest.len() as u64, |word, byte| word << 8 | u64::from(*byte)));
    }

    fn write_u8(&mut self, value: u8) {
        self.word(value.into());
    }

    fn write_u16(&mut self, value: u16) {
        self.word(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.word(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.word(value as u64);
    }

    fn write_i32(&mut self, value: i32) {
        self.word(value as u64);
    }

    fn write_i64(&mut self, value: i64) {
        self.word(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.word(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hash;

    use super::*;

    fn hash(value: impl Hash) -> u64 {
        let mut hasher = StableHasher::default();
        value.hash(&mut hasher);
        hasher.value()
    }

    #[test]
    fn what_differs_hashes_differently() {
        let values = ["", "a", "b", "ab", "ba", "aaaaaaaa", "aaaaaaaaa", "aaaaaaab"];
        let mut hashes: Vec<_> = values.iter().map(hash).collect();
        hashes.extend([hash(0_u64), hash(1_u64), hash((1_u64, 0_u64)), hash((0_u64, 1_u64))]);
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }

    #[test]
    fn the_hash_of_a_value_never_changes() {
        assert_eq!(hash("rocketmq"), hash(String::from("rocketmq")));
    }
}
