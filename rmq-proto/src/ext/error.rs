use alloc::string::String;

use thiserror::Error;

/// Why ext fields are not those of a typed header.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// A field that must be there is not.
    #[error("{header} needs the ext field `{field}`, which is missing")]
    Missing {
        /// The typed header.
        header: &'static str,
        /// The field's name on the wire.
        field: &'static str,
    },
    /// A field's text is not what its type can be.
    #[error("the ext field `{field}` of {header} cannot be `{value}`")]
    Invalid {
        /// The typed header.
        header: &'static str,
        /// The field's name on the wire.
        field: &'static str,
        /// The text found there, its end left out if it is long.
        value: String,
    },
}

impl HeaderError {
    /// Characters of a bad value that are kept.
    const SHOWN: usize = 64;

    pub(crate) fn invalid(header: &'static str, field: &'static str, value: &str) -> Self {
        Self::Invalid { header, field, value: value.chars().take(Self::SHOWN).collect() }
    }
}
