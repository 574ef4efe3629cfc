//! Settings of fault tolerance.

use alloc::vec::Vec;
use core::time::Duration;

use super::{ConfigError, at_least_a_millisecond};

/// What a broker that failed counts as having taken (producer §4.4).
const FAILURE: Duration = Duration::from_secs(10);
/// Most rows of the table.
const MAX_ROWS: usize = 64;

/// How a producer leaves brokers alone that were slow or failed (producer §4). Off unless it is given to
/// [`ProducerConfig::fault_tolerance`](crate::ProducerConfig::fault_tolerance).
///
/// Each attempt says how long its broker took. By a table of thresholds and times, that broker then gets no more sends for a
/// while, unless there is no other:
///
/// | took at least | is left alone for |
/// |---------------|-------------------|
/// | 0 and 50 and 100 ms | not at all  |
/// | 550 ms        | 2 s               |
/// | 1.8 s         | 5 s               |
/// | 3 s           | 6 s               |
/// | 5 s           | 10 s              |
/// | 15 s          | 30 s              |
///
/// An attempt that failed at the connection, got no answer, or was answered with an error code counts as one of 10 s. The
/// time is lengthened by later attempts, never shortened. A broker that answered with an error code (with the
/// [detector](Self::detector), one that could not be reached, too) is besides taken to be unreachable, until an attempt there
/// succeeds: of brokers that are all left alone, the others come first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultTolerance {
    latency_max: Vec<Duration>,
    not_available: Vec<Duration>,
    detector: bool,
    pub(crate) detect_timeout: Duration,
    pub(crate) detect_interval: Duration,
}

impl Default for FaultTolerance {
    /// The same as [`FaultTolerance::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl FaultTolerance {
    /// The defaults that each method states. Java: `sendLatencyFaultEnable`.
    pub fn new() -> Self {
        let millis = |values: [u64; 7]| values.map(Duration::from_millis).to_vec();
        Self {
            latency_max: millis([50, 100, 550, 1_800, 3_000, 5_000, 15_000]),
            not_available: millis([0, 0, 2_000, 5_000, 6_000, 10_000, 30_000]),
            detector: false,
            detect_timeout: Duration::from_millis(200),
            detect_interval: Duration::from_secs(3),
        }
    }

    /// The thresholds, ascending; 50, 100 and 550 ms, 1.8, 3, 5 and 15 s by default. Java: `latencyMax`.
    #[must_use]
    pub fn latency_max(mut self, thresholds: impl Into<Vec<Duration>>) -> Self {
        self.latency_max = thresholds.into();
        self
    }

    /// How long a broker is left alone that reached the threshold of the same place; 0, 0, 2, 5, 6, 10 and 30 s by
    /// default. Java: `notAvailableDuration`.
    #[must_use]
    pub fn not_available_duration(mut self, durations: impl Into<Vec<Duration>>) -> Self {
        self.not_available = durations.into();
        self
    }

    /// Whether brokers taken to be unreachable are asked for a queue's end now and then, so that one that answers counts as
    /// reachable again without a message being risked; off by default. Whether it is left alone does not change by that.
    /// Java: `startDetectorEnable`.
    #[must_use]
    pub fn detector(mut self, on: bool) -> Self {
        self.detector = on;
        self
    }

    /// Time that the detector waits for an answer; 200 ms by default. Java: `detectTimeout`.
    #[must_use]
    pub fn detect_timeout(mut self, timeout: Duration) -> Self {
        self.detect_timeout = timeout;
        self
    }

    /// Time between two questions of the detector to one broker, give or take a tenth; 3 s by default. Java:
    /// `detectInterval`, whose 2 s its rounds of 3 s make 3 s.
    #[must_use]
    pub fn detect_interval(mut self, interval: Duration) -> Self {
        self.detect_interval = interval;
        self
    }

    pub(crate) fn has_detector(&self) -> bool {
        self.detector
    }

    /// How long a broker is left alone that took `latency`.
    pub(crate) fn isolation(&self, latency: Duration) -> Duration {
        let rows = self.latency_max.iter().zip(&self.not_available);
        rows.rev().find(|(threshold, _)| latency >= **threshold).map_or(Duration::ZERO, |(_, time)| *time)
    }

    /// How long a broker is left alone that failed.
    pub(crate) fn isolation_of_failure(&self) -> Duration {
        self.isolation(FAILURE)
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let (thresholds, durations) = (self.latency_max.len(), self.not_available.len());
        if thresholds != durations {
            return Err(ConfigError::UnequalTables { thresholds, durations });
        }
        if thresholds == 0 {
            return Err(ConfigError::TooSmall { name: "latency_max", minimum: "one threshold" });
        }
        if thresholds > MAX_ROWS {
            return Err(ConfigError::TooLarge { name: "latency_max", maximum: "64 thresholds" });
        }
        if !self.latency_max.is_sorted_by(|one, next| one < next) {
            return Err(ConfigError::NotAscending { name: "latency_max" });
        }
        at_least_a_millisecond("detect_timeout", self.detect_timeout)?;
        at_least_a_millisecond("detect_interval", self.detect_interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Rows 33 to 35, and what a failure counts as (row 36).
    #[test]
    fn isolation_rows() {
        let tolerance = FaultTolerance::new();
        let rows = [
            (0, 0),
            (49, 0),
            (50, 0),
            (549, 0),
            (550, 2_000),
            (1_799, 2_000),
            (1_800, 5_000),
            (2_999, 5_000),
            (3_000, 6_000),
            (4_999, 6_000),
            (5_000, 10_000),
            (14_999, 10_000),
            (15_000, 30_000),
        ];
        for (latency, isolation) in rows {
            assert_eq!(tolerance.isolation(ms(latency)), ms(isolation), "{latency} ms");
        }
        assert_eq!(tolerance.isolation_of_failure(), ms(10_000));
    }

    #[test]
    fn tables_are_checked() {
        let tables = |thresholds: &[u64], durations: &[u64]| {
            let millis = |values: &[u64]| values.iter().copied().map(ms).collect::<Vec<_>>();
            FaultTolerance::new()
                .latency_max(millis(thresholds))
                .not_available_duration(millis(durations))
                .check()
        };
        assert_eq!(tables(&[5, 10], &[1, 0]), Ok(()));
        assert_eq!(tables(&[5, 10], &[1]), Err(ConfigError::UnequalTables { thresholds: 2, durations: 1 }));
        assert_eq!(tables(&[5, 5], &[1, 2]), Err(ConfigError::NotAscending { name: "latency_max" }));
        assert!(matches!(tables(&[], &[]), Err(ConfigError::TooSmall { name: "latency_max", .. })));
        let many: Vec<u64> = (0..65).collect();
        assert!(matches!(tables(&many, &many), Err(ConfigError::TooLarge { name: "latency_max", .. })));
        let never = FaultTolerance::new().detect_interval(ms(0)).check();
        assert!(matches!(never, Err(ConfigError::TooSmall { name: "detect_interval", .. })));
    }
}
