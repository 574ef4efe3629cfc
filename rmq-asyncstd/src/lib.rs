//! A RocketMQ client for smol and for async-std.
//!
#![cfg_attr(feature = "smol", doc = "```no_run")]
#![cfg_attr(not(feature = "smol"), doc = "```ignore")]
//! use rmq_asyncstd::{Message, smol::Client};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! smol::block_on(async {
//!     let client = Client::builder().name_server("127.0.0.1:9876").start()?;
//!     let producer = client.producer("order-service")?;
//!     let sent = producer.send(Message::new("orders", "hello").tag("created").key("order-42")).await?;
//!     println!("{} in {} at offset {}", sent.message_id, sent.queue, sent.queue_offset);
//!     client.shutdown().await?;
//!     Ok(())
//! })
//! # }
//! ```
//!
//! The feature `smol`, on by default, adds the module `smol`; the feature `async-std` adds `async_std`, and both together
//! both. async-std was discontinued in March 2025 in favour of smol: it is here for programs that have not moved yet.
//! The feature `tls` adds TLS, by `TlsConfig`. All other types are those of [`rmq_driver`], whose page says how it works.

#![forbid(unsafe_code)]

#[cfg(feature = "async-std")]
pub mod async_std;
#[cfg(any(feature = "smol", feature = "async-std"))]
mod clock;
#[cfg(feature = "smol")]
pub mod smol;

pub use rmq_driver::*;
