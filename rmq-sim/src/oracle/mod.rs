//! What can be found wrong with a run.

use std::fmt;

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the promise.
    pub oracle: &'static str,
    /// How it was broken.
    pub detail: String,
}

impl Violation {
    /// That `oracle` found `detail`.
    pub fn new(oracle: &'static str, detail: impl Into<String>) -> Self {
        Self { oracle, detail: detail.into() }
    }

    /// An error unless `holds`; `detail` is only made then.
    ///
    /// # Errors
    ///
    /// When it does not hold.
    pub fn unless(holds: bool, oracle: &'static str, detail: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { oracle, detail: detail() }) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.oracle, self.detail)
    }
}

impl std::error::Error for Violation {}
