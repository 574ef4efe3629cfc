use thiserror::Error;

use super::MAX_DEPTH;

/// Why a text is not the JSON that was asked for. Offsets are in bytes, from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not UTF-8.
    #[error("the JSON text is not UTF-8 at byte {offset}")]
    Utf8 {
        /// Where the first bad byte lies.
        offset: usize,
    },
    /// The text ends in the middle of something.
    #[error("the JSON text ends early, at byte {offset}")]
    End {
        /// The length of the text.
        offset: usize,
    },
    /// Something else than `expected` stands there.
    #[error("expected {expected} at byte {offset} of the JSON text")]
    Unexpected {
        /// Where.
        offset: usize,
        /// What should have stood there.
        expected: &'static str,
    },
    /// A backslash is followed by what is no escape.
    #[error("bad escape at byte {offset} of the JSON text")]
    Escape {
        /// Where the backslash lies.
        offset: usize,
    },
    /// A value is no whole number, or does not fit the type that was asked for.
    #[error("no number of {bits} bits at byte {offset} of the JSON text")]
    Number {
        /// Where the value begins.
        offset: usize,
        /// The size that was asked for.
        bits: u32,
    },
    /// Objects and arrays lie more than [`MAX_DEPTH`] deep.
    #[error("JSON text nested deeper than {MAX_DEPTH} at byte {offset}")]
    Depth {
        /// Where the first bracket too many lies.
        offset: usize,
    },
    /// More follows after the end of the value.
    #[error("the JSON value ends before byte {offset}, and something follows")]
    Trailing {
        /// Where it begins.
        offset: usize,
    },
}
