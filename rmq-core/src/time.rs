//! The core's own clock reading: a number handed in by the driver.

use core::ops::Add;
use core::time::Duration;

/// Microseconds since an epoch that the driver picks, monotonic.
///
/// There is no `now()`: the core learns the time only from its calls. A reading smaller than one seen before is
/// clamped to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The epoch itself.
    pub const ZERO: Self = Self(0);

    /// The last instant there is; a deadline there never comes.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    /// The instant `micros` microseconds after the epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant `millis` milliseconds after the epoch; saturates.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Time since `earlier`; zero when `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// Saturates, at an instant that never comes. Fractions of a microsecond are rounded up, so that a deadline never lies before its time.
    fn add(self, rhs: Duration) -> Self {
        let fraction = u64::from(rhs.subsec_nanos().div_ceil(1_000));
        let micros = rhs.as_secs().saturating_mul(1_000_000).saturating_add(fraction);
        Self(self.0.saturating_add(micros))
    }
}

/// Relates [`Instant`] to the wall clock, which message ids and born timestamps carry. Timers never read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    at: Instant,
    unix_ms: u64,
}

impl WallClock {
    pub(crate) const fn new(at: Instant, unix_ms: u64) -> Self {
        Self { at, unix_ms }
    }

    /// Milliseconds since the Unix epoch at `now`.
    pub(crate) fn unix_ms(&self, now: Instant) -> u64 {
        self.unix_ms.saturating_add(now.saturating_since(self.at).as_micros() as u64 / 1_000)
    }
}
