use core::fmt;

use thiserror::Error;

use super::Compression;

/// Why a body cannot be decompressed. The body itself is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecompressError {
    /// This build cannot read the format.
    #[error("a body is compressed with {kind}; to read it, turn on the feature `{}` of rmq-proto", .kind.feature())]
    Disabled {
        /// The format.
        kind: Compression,
    },
    /// The body begins as the format never does.
    #[error("a body is said to be compressed with {kind}, and does not begin so{}", Instead(*.found))]
    Format {
        /// The format that was expected.
        kind: Compression,
        /// The format that the first bytes belong to, where they tell.
        found: Option<&'static str>,
    },
    /// The body ends where the format has more to come. An empty body is one of these.
    #[error("a body compressed with {kind} is cut off after {len} bytes")]
    Truncated {
        /// The format.
        kind: Compression,
        /// Length of the compressed body in bytes.
        len: usize,
    },
    /// The body breaks a rule of its format.
    #[error("a body compressed with {kind} is damaged at byte {offset}: {what}")]
    Corrupt {
        /// The format.
        kind: Compression,
        /// Where in the compressed body: the field, or the block that it is in.
        offset: usize,
        /// The rule that is broken.
        what: &'static str,
    },
    /// A checksum is not that of the bytes it stands for.
    #[error(
        "a body compressed with {kind} is damaged: the checksum of the {part} is {found:#x}, not {stated:#x}"
    )]
    Checksum {
        /// The format.
        kind: Compression,
        /// What the checksum is of.
        part: &'static str,
        /// The checksum in the body.
        stated: u32,
        /// The checksum of what is there.
        found: u32,
    },
    /// The body was compressed with the help of a dictionary, and messages carry none.
    #[error("a body compressed with {kind} needs a dictionary, and none comes with a message")]
    Dictionary {
        /// The format.
        kind: Compression,
    },
    /// The decompressed body would be over the limit.
    #[error("a compressed body is longer than the limit of {max} bytes when it is decompressed")]
    TooLong {
        /// The limit in bytes.
        max: usize,
    },
    /// There is no memory for a decompressed body that is within the limit.
    #[error("there is no memory for {len} bytes of a decompressed body")]
    OutOfMemory {
        /// How many bytes were asked for.
        len: usize,
    },
}

/// What is wrong within a block, as long as it is not known where the block is.
pub(super) enum Flaw {
    /// The rule that is broken.
    Rule(&'static str),
    /// What is no matter of place.
    Other(DecompressError),
}

impl Flaw {
    pub(super) fn at(self, kind: Compression, offset: usize) -> DecompressError {
        match self {
            Self::Rule(what) => DecompressError::Corrupt { kind, offset, what },
            Self::Other(error) => error,
        }
    }
}

impl From<DecompressError> for Flaw {
    fn from(error: DecompressError) -> Self {
        Self::Other(error)
    }
}

/// Why a body cannot be compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompressError {
    /// This build cannot write the format.
    #[error("to compress with {kind}, turn on the feature `{}` of rmq-proto", .kind.feature())]
    Disabled {
        /// The format.
        kind: Compression,
    },
}

struct Instead(Option<&'static str>);

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(found) => write!(f, "; it looks like {found}"),
            None => Ok(()),
        }
    }
}
