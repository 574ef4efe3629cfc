//! Delays of messages.

/// One of the delays that brokers know, from 1 to 18. As brokers are set up: 1, 5, 10, 30 s, 1 to 10, 20, 30 min, 1, 2 h.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DelayLevel(u8);

impl DelayLevel {
    /// The shortest.
    pub const MIN: Self = Self(1);
    /// The longest.
    pub const MAX: Self = Self(18);

    /// The level of that number; `None` unless it is from 1 to 18.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= Self::MIN.0 && number <= Self::MAX.0 { Some(Self(number)) } else { None }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}
