//! The bodies of requests and answers that are JSON, as typed values.
//!
//! Read leniently: members in any order, unknown ones passed over, lists that are absent or `null` taken as empty
//! (wire §2.4). Written strictly, with the members that Java writes in the order it writes them (wire §2.5).

mod heartbeat;
mod route;

use alloc::string::String;
use alloc::vec::Vec;

pub use heartbeat::{
    ConsumeFromWhere, ConsumeType, ConsumerData, EXPRESSION_SQL92, EXPRESSION_TAG, HeartbeatData,
    MessageModel, SubscriptionData,
};
pub use route::{BrokerData, MASTER_ID, PERM_READ, PERM_WRITE, QueueData, TopicRouteData};

use crate::json::{JsonError, Kind, Reader};

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
    /// A `$ref` that leads to nothing that was read before it, or to something too large to be repeated.
    #[error("the body has a reference before byte {offset} that cannot be followed")]
    Reference {
        /// Where the reference ends.
        offset: usize,
    },
}

/// A reader inside the one object that `body` is.
fn enter(body: &[u8]) -> Result<Reader<'_>, BodyError> {
    if body.is_empty() {
        return Err(BodyError::Empty);
    }
    let mut json = Reader::new(body)?;
    if json.peek()? == Kind::Null {
        json.skip()?;
        json.finish()?;
        return Err(BodyError::Null);
    }
    json.object()?;
    Ok(json)
}

/// The array that comes next, or nothing for `null`. `element` also gets what was read before it.
fn list<'a, T>(
    json: &mut Reader<'a>,
    mut element: impl FnMut(&mut Reader<'a>, &[T]) -> Result<T, BodyError>,
) -> Result<Vec<T>, BodyError> {
    let mut elements = Vec::new();
    if json.array()? {
        while json.element()? {
            let next = element(json, &elements)?;
            elements.push(next);
        }
    }
    Ok(elements)
}

fn text(json: &mut Reader<'_>) -> Result<Option<String>, BodyError> {
    Ok(json.text()?.map(Into::into))
}

fn required<T>(value: Option<T>, member: &'static str, json: &Reader<'_>) -> Result<T, BodyError> {
    value.ok_or_else(|| BodyError::Missing { member, offset: json.offset() })
}
