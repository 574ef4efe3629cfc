//! A RocketMQ client for smol, for async-std, and for programs without async code.
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
//! Each feature adds a module or a type, and none changes what another one means:
//!
//! | feature | adds | for |
//! |---|---|---|
//! | `smol`, on by default | module `smol` | smol, and executors that need no runtime of their own around them |
//! | `blocking`, with `smol` | module `blocking` | programs without async code: `producer.send(message).wait()` |
//! | `async-std` | module `async_std` | programs that are on async-std still, which was discontinued in March 2025 in favour of smol |
//! | `tls` | `TlsConfig` | TLS |
//!
//! All other types are those of [`rmq_driver`], whose page says how it works.

#![forbid(unsafe_code)]

#[cfg(feature = "async-std")]
pub mod async_std;
#[cfg(feature = "blocking")]
pub mod blocking;
#[cfg(any(feature = "smol", feature = "async-std"))]
mod clock;
#[cfg(feature = "smol")]
pub mod smol;

pub use rmq_driver::*;
