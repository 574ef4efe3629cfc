use alloc::string::String;

use thiserror::Error;

/// Why ext fields are not those of a typed header.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// A field that must be there is not.
    #[error("the ext field `{field}` is missing")]
    Missing {
        /// The field's name on the wire.
        field: &'static str,
    },
    /// A field's text is not what its type can be.
    #[error("the ext field `{field}` cannot be `{value}`")]
    Invalid {
        /// The field's name on the wire.
        field: &'static str,
        /// The text found there, its end left out if it is long.
        value: String,
    },
}

impl HeaderError {
    /// Characters of a bad value that are kept.
    const SHOWN: usize = 64;

    pub(crate) fn invalid(field: &'static str, value: &str) -> Self {
        Self::Invalid { field, value: value.chars().take(Self::SHOWN).collect() }
    }
}
