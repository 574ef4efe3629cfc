//! When a message is delivered, if not at once (producer §10.2).

use alloc::string::{String, ToString};
use core::time::Duration;

use super::{Message, MessageError};
use crate::properties;

/// One of the delays that brokers know, from 1 to 18. How long each is, the broker's configuration says
/// (`messageDelayLevel`); as brokers come:
///
/// | level | delay | level | delay | level | delay  |
/// |-------|-------|-------|-------|-------|--------|
/// | 1     | 1 s   | 7     | 3 min | 13    | 9 min  |
/// | 2     | 5 s   | 8     | 4 min | 14    | 10 min |
/// | 3     | 10 s  | 9     | 5 min | 15    | 20 min |
/// | 4     | 30 s  | 10    | 6 min | 16    | 30 min |
/// | 5     | 1 min | 11    | 7 min | 17    | 1 h    |
/// | 6     | 2 min | 12    | 8 min | 18    | 2 h    |
///
/// Java's clients check nothing, and brokers take a number beyond their last level for the last.
///
/// ```
/// use rmq_proto::message::DelayLevel;
/// use std::time::Duration;
///
/// let level = DelayLevel::try_from(3)?;
/// assert_eq!(level.usual_delay(), Duration::from_secs(10));
/// assert!(DelayLevel::try_from(19).is_err());
/// assert_eq!(DelayLevel::or_none(0)?, None);
/// # Ok::<(), rmq_proto::message::DelayLevelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DelayLevel(u8);

/// Seconds of each level, from 1, as brokers come.
const USUAL_SECONDS: [u64; 18] =
    [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1_200, 1_800, 3_600, 7_200];

/// A number that is no delay level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no delay level {number}: levels are 1 (1 s) to 18 (2 h), and without one there is no delay"
)]
pub struct DelayLevelError {
    /// The number.
    pub number: i32,
}

impl DelayLevel {
    /// The shortest.
    pub const MIN: Self = Self(1);
    /// The longest.
    pub const MAX: Self = Self(18);

    /// The level of that number; `None` unless it is from 1 to 18.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= Self::MIN.0 && number <= Self::MAX.0 { Some(Self(number)) } else { None }
    }

    /// The level of a number as Java's `setDelayTimeLevel` takes it: 0 is no delay.
    ///
    /// # Errors
    ///
    /// The number is below 0 or over 18.
    pub fn or_none(number: i32) -> Result<Option<Self>, DelayLevelError> {
        if number == 0 { Ok(None) } else { Self::try_from(number).map(Some) }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// How long it is at a broker that was not told otherwise.
    pub const fn usual_delay(self) -> Duration {
        Duration::from_secs(USUAL_SECONDS[self.0 as usize - 1])
    }
}

impl TryFrom<i32> for DelayLevel {
    type Error = DelayLevelError;

    /// The level of that number, which must be from 1 to 18. See [`or_none`](Self::or_none) where 0 is to mean none.
    fn try_from(number: i32) -> Result<Self, DelayLevelError> {
        u8::try_from(number).ok().and_then(Self::new).ok_or(DelayLevelError { number })
    }
}

/// When a broker's timer delivers a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryTime {
    /// So long after the broker has it, in whole milliseconds.
    After(Duration),
    /// At this time of the broker's clock.
    At {
        /// In milliseconds since the Unix epoch.
        unix_ms: u64,
    },
}

/// Longest time of a timer, in milliseconds: a broker's sum of it and its clock must not overflow.
const MAX_TIMER_MS: u64 = (i64::MAX / 2) as u64;

/// What a [`Message`] was told of its delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Delay {
    level: Option<DelayLevel>,
    timer: Option<DeliveryTime>,
}

impl Message {
    /// Delays the message by one of the broker's delays, which brokers of all versions have; `None`, the default, is no
    /// delay. A [timer](Self::deliver_after) besides is an error. Java: `setDelayTimeLevel`.
    ///
    /// ```
    /// use rmq_proto::message::{DelayLevel, Message};
    ///
    /// let message = Message::new("orders", "hello").delay_level(DelayLevel::new(3));
    /// assert!(message.is_delayed());
    /// ```
    #[must_use]
    pub fn delay_level(mut self, level: impl Into<Option<DelayLevel>>) -> Self {
        self.delay.level = level.into();
        self
    }

    /// Has the broker deliver the message so long after it got it. Brokers know timers from 5.0 on; **an older one ignores
    /// this and delivers at once**. A broker refuses what is over its limit, 3 days unless configured otherwise, with
    /// code 13, and delivers at whole seconds, rounded down. Of this and [`deliver_at`](Self::deliver_at) the last call
    /// counts; a [delay level](Self::delay_level) besides is an error.
    ///
    /// Sent in milliseconds (`TIMER_DELAY_MS`), rounded up; `TIMER_DELAY_SEC` could say no more. Java: `setDelayTimeMs`.
    #[must_use]
    pub fn deliver_after(mut self, delay: Duration) -> Self {
        self.delay.timer = Some(DeliveryTime::After(delay));
        self
    }

    /// Has the broker deliver the message at a time of its clock, in milliseconds since the Unix epoch; one that is over
    /// is at once. Otherwise as [`deliver_after`](Self::deliver_after). Java: `setDeliverTimeMs`.
    #[must_use]
    pub fn deliver_at(mut self, unix_ms: u64) -> Self {
        self.delay.timer = Some(DeliveryTime::At { unix_ms });
        self
    }

    /// Whether [`delay_level`](Self::delay_level), [`deliver_after`](Self::deliver_after) or
    /// [`deliver_at`](Self::deliver_at) was set.
    pub fn is_delayed(&self) -> bool {
        self.delay != Delay::default()
    }

    /// The level set by [`delay_level`](Self::delay_level).
    pub fn level(&self) -> Option<DelayLevel> {
        self.delay.level
    }

    /// What [`deliver_after`](Self::deliver_after) or [`deliver_at`](Self::deliver_at) set.
    pub fn delivery_time(&self) -> Option<DeliveryTime> {
        self.delay.timer
    }

    pub(super) fn check_delay(&self) -> Result<(), MessageError> {
        if self.delay.level.is_some() && self.delay.timer.is_some() {
            return Err(MessageError::TwoDelays { topic: self.topic.clone() });
        }
        if self.delay.timer.is_some_and(|timer| timer.millis() > u128::from(MAX_TIMER_MS)) {
            return Err(MessageError::DelayTooLong { topic: self.topic.clone() });
        }
        Ok(())
    }

    /// The property that tells the broker.
    pub(super) fn delay_property(&self) -> Option<(&'static str, String)> {
        let Delay { level, timer } = self.delay;
        match (level, timer) {
            (None, None) => None,
            (Some(level), _) => Some((properties::DELAY, level.0.to_string())),
            (None, Some(timer)) => Some((timer.property(), timer.millis().to_string())),
        }
    }
}

impl DeliveryTime {
    const fn property(self) -> &'static str {
        match self {
            Self::After(_) => properties::TIMER_DELAY_MS,
            Self::At { .. } => properties::TIMER_DELIVER_MS,
        }
    }

    fn millis(self) -> u128 {
        match self {
            Self::After(delay) => delay.as_nanos().div_ceil(1_000_000),
            Self::At { unix_ms } => u128::from(unix_ms),
        }
    }
}
