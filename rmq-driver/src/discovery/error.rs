//! Why there is no list of name servers.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use rmq_core::{Address, AddressError};

/// Why a [`NameServerSource`](crate::NameServerSource) gave no list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameServerSourceError {
    /// The address server gave none.
    #[error("address server {address}: {problem}")]
    AddressServer {
        /// Where it listens.
        address: Address,
        /// What went wrong.
        problem: AddressServerProblem,
    },
    /// The list has no entry.
    #[error("the list of name servers is empty")]
    Empty,
    /// An entry of the list cannot be read.
    #[error("the list of name servers: {0}")]
    List(#[from] AddressError),
    /// What a user's own source says.
    #[error("{0}")]
    Other(Arc<str>),
}

impl NameServerSourceError {
    /// An error of a user's own source.
    pub fn other(reason: impl Display) -> Self {
        Self::Other(reason.to_string().into())
    }
}

/// What went wrong between this client and an address server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressServerProblem {
    /// No connection could be opened.
    #[error("cannot connect: {0}")]
    Connect(Arc<str>),
    /// The connection was lost before the whole answer was there.
    #[error("connection lost: {0}")]
    Lost(Arc<str>),
    /// It did not open a connection, or answer, in time.
    #[error("nothing within {after:?}")]
    TimedOut {
        /// How long was waited.
        after: Duration,
    },
    /// Its answer has another status than 200.
    #[error("status {0}")]
    Status(u16),
    /// What it said cannot be read as an answer of HTTP/1.1.
    #[error("not an answer of HTTP/1.1: {0}")]
    NotHttp(&'static str),
    /// Its answer is longer than any list.
    #[error("an answer of more than {limit} bytes")]
    TooLong {
        /// The most that is read.
        limit: usize,
    },
}
