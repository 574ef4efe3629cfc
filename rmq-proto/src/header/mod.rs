//! Typed headers: the ext fields of one kind of command each, under our names and with their types (wire §5).
//!
//! Reading is one pass over the ext fields of the frame, and borrows text from it; writing goes straight into the frame.

#[macro_use]
mod macros;
mod client;
mod heartbeat;
mod route;
mod send;

use crate::ext::{FieldKind, WriteExt};

pub use client::UnregisterHeader;
pub use heartbeat::HeartbeatResponseHeader;
pub use route::GetRouteHeader;
pub use send::{SendMessageHeader, SendMessageV2Header, SendResponseHeader};

/// What a typed header can have.
pub trait TypedHeader: WriteExt {
    /// Its fields, in the order of writing.
    const FIELDS: &'static [FieldSpec];
}

/// One field of a [`TypedHeader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// The ext field's name on the wire.
    pub name: &'static str,
    /// What its text means.
    pub kind: FieldKind,
    /// Whether the header cannot be read without it.
    pub required: bool,
}
