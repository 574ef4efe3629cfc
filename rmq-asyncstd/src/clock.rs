//! What both runtimes take from the standard library.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use rmq_driver::rmq_core::Instant;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: std::time::Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { epoch: std::time::Instant::now() }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_micros(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    #[cfg(feature = "smol")]
    pub(crate) fn at(&self, at: Instant) -> std::time::Instant {
        self.epoch + std::time::Duration::from_micros(at.as_micros())
    }
}

pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one(unix_ms())
}
