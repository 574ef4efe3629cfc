use thiserror::Error;

use crate::json::JsonError;

/// Why a header cannot be read. Java closes the connection on each of these (wire §1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The JSON header is not JSON, or a field of it is not of its type.
    #[error("bad JSON header: {0}")]
    Json(#[from] JsonError),
    /// The JSON header is a value, but no object.
    #[error("the JSON header is no object")]
    NotAnObject,
    /// The ext fields of a JSON header are no object.
    #[error("`extFields` is no object at byte {offset} of the JSON header")]
    ExtNotAnObject {
        /// Where it begins, in bytes from the start of the header.
        offset: usize,
    },
    /// A JSON header has a number for the language that no language has. (A name that none has is fine.)
    #[error("the JSON header says the language is {0}, a number that no language has")]
    Language(i64),
    /// The binary header ends inside a number, or inside an ext field's length.
    #[error("the header ends early: {needed} bytes needed at byte {offset}, {available} there")]
    Cut {
        /// Where the number begins, in bytes from the start of the header.
        offset: usize,
        /// Its size.
        needed: usize,
        /// What is there of it.
        available: usize,
    },
    /// The remark's length is negative or more than the header has.
    #[error("the header says its remark has {length} bytes where {available} are")]
    RemarkLength {
        /// The length stated.
        length: i32,
        /// What is left of the header.
        available: usize,
    },
    /// The ext fields' length is more than the header has.
    #[error("the header says its ext fields have {length} bytes where {available} are")]
    ExtLength {
        /// The length stated.
        length: i32,
        /// What is left of the header.
        available: usize,
    },
    /// The length of an ext field's name is negative or more than the ext fields have.
    #[error("the header says the name of an ext field has {length} bytes where {available} are")]
    NameLength {
        /// The length stated.
        length: i16,
        /// What is left of the ext fields.
        available: usize,
    },
    /// The length of an ext field's value is negative or more than the ext fields have.
    #[error("the header says the value of an ext field has {length} bytes where {available} are")]
    ValueLength {
        /// The length stated.
        length: i32,
        /// What is left of the ext fields.
        available: usize,
    },
    /// A text of a binary header is not UTF-8.
    #[error("the header is not UTF-8 at byte {offset}")]
    Utf8 {
        /// Where the first bad byte lies, in bytes from the start of the header.
        offset: usize,
    },
}

/// Why a command cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The header does not fit the 24 bits that its length has (wire §1.2).
    #[error("a header of {length} bytes is over the limit of {max}")]
    HeaderTooLong {
        /// The header's length.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// The frame does not fit the length word.
    #[error("a frame of {length} bytes is over the limit of {max}")]
    FrameTooLong {
        /// What would stand in the length word.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// The name of an ext field does not fit the 16 bits that its length has in a binary header (wire §3.2).
    #[error("the name of an ext field has {length} bytes; a binary header takes {max}")]
    NameTooLong {
        /// The name's length in bytes.
        length: usize,
        /// The limit.
        max: usize,
    },
}
