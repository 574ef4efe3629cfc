//! The only randomness there is: a sequence that the seed decides.

use core::time::Duration;

/// SplitMix64: enough for jitter, shuffles and ids, in three lines and reproducible everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// `base`, give or take a tenth of it.
    pub(crate) fn jitter(&mut self, base: Duration) -> Duration {
        let micros = u64::try_from(base.as_micros()).unwrap_or(u64::MAX);
        let tenth = micros / 10;
        Duration::from_micros((micros - tenth).saturating_add(self.below(2 * tenth + 1)))
    }
}
