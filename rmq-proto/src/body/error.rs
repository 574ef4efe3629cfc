use crate::json::JsonError;

/// A body that is not what it should be. Offsets are in bytes, from the start of the body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// There is no body.
    #[error("the body is empty")]
    Empty,
    /// The body is the word `null`.
    #[error("the body is `null`")]
    Null,
    /// The body is no JSON, or a member is of another kind than it should be.
    #[error("the body cannot be read: {0}")]
    Json(#[from] JsonError),
    /// A member without which its object is of no use.
    #[error("the body has no `{member}` in the object that ends at byte {offset}")]
    Missing {
        /// The member.
        member: &'static str,
        /// Where the object ends.
        offset: usize,
    },
    /// A member has a name as its value that means nothing to it.
    #[error("the body has an unknown value of `{member}` before byte {offset}")]
    UnknownValue {
        /// The member.
        member: &'static str,
        /// Where the value ends.
        offset: usize,
    },
    /// A broker's id is no number.
    #[error("the body has a broker id before byte {offset} that is no number of 64 bits")]
    BrokerId {
        /// Where the id ends.
        offset: usize,
    },
    /// Another key that should be a number or a message queue is none.
    #[error("the body has a key before byte {offset} that means nothing to its map")]
    Key {
        /// Where the key ends.
        offset: usize,
    },
    /// The bits of an acknowledgement are no base64, or more than [`MAX_ACK_BITS`](super::MAX_ACK_BITS).
    #[error("the body has bits before byte {offset} that are no base64 or too many")]
    AckBits {
        /// Where they end.
        offset: usize,
    },
    /// A `$ref` that leads to no object that ends before it, or to more than may be read again.
    #[error("the body has a reference before byte {offset} that cannot be followed")]
    Reference {
        /// Where the reference ends.
        offset: usize,
    },
}
