//! Typed headers: the ext fields of one kind of command each, under our names and with their types (wire §5).
//!
//! Reading is one pass over the ext fields of the frame, and borrows text from it; writing goes straight into the frame.

#[macro_use]
mod macros;
mod client;
mod heartbeat;
mod route;
mod send;

pub use client::UnregisterHeader;
pub use heartbeat::HeartbeatResponseHeader;
pub use route::GetRouteHeader;
pub use send::{SendMessageHeader, SendMessageV2Header, SendResponseHeader};
