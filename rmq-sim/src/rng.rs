//! Chance that a seed decides.

use std::ops::Range;
use std::time::Duration;

/// A sequence of numbers that its seed decides, the same on every platform and in every release (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A sequence of its own, for a part that must not disturb the others by how often it draws.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.next_u64())
    }

    /// The next number.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// An index below `len`; 0 when `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// True so many times in a thousand.
    pub fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1_000) < u64::from(per_mille)
    }

    /// A number of `range`; its start when it is empty.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end.saturating_sub(range.start))
    }

    /// A time of `range`, in whole microseconds; its start when it is empty.
    pub fn duration(&mut self, range: &Range<Duration>) -> Duration {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.within(micros(range.start)..micros(range.end)))
    }

    /// One of `items`; `None` when there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        let mut rng = Rng::new(42);
        assert_eq!([rng.next_u64(), rng.next_u64()], [13_679_457_532_755_275_413, 2_949_826_092_126_892_291]);
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut rng = Rng::new(7);
        assert_eq!((rng.below(0), rng.within(5..5), rng.pick::<u8>(&[])), (0, 5, None));
        assert!((0..1_000).all(|_| (3..9).contains(&rng.within(3..9))));
        assert!((0..1_000).all(|_| !rng.chance(0) && rng.chance(1_000)));
    }
}
