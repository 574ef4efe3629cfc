//! A RocketMQ client as a state machine: bytes, completions and time go in; bytes, orders and events come out.
//!
//! No socket, no clock, no thread, no randomness but a seed: [`Client`] runs under any async runtime, under none, and
//! in a simulation, and always the same way. `rmq-driver` has the loop that most users want; to write one yourself, this
//! is all there is to it:
//!
//! ```
//! use rmq_core::{Client, ClientConfig, Identity, Input, Instant, Output, ProducerConfig, SendOptions, Start};
//! use rmq_proto::message::Message;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = ClientConfig::builder().name_server("127.0.0.1:9876").build()?;
//! let message = Message::new("orders", "hello").tag("created").prepare(config.message_rules())?;
//! let identity = Identity { ip: [127, 0, 0, 1].into(), pid: 4711 };
//! let mut now = Instant::ZERO;
//! let mut client = Client::new(config, Start { now, unix_ms: 1_700_000_000_000, seed: 42, identity });
//! let producer = client.add_producer(now, ProducerConfig::new("order-service"))?;
//! let op = client.send(now, producer, message, SendOptions::default())?;
//!
//! // One turn. First what there is to do:
//! while let Some(output) = client.poll_output() {
//!     match output {
//!         Output::Connect { conn, address } => {
//!             // Open a stream, then report Connected or, as here, Closed.
//!             let reason = rmq_core::CloseReason::Failed("connection refused".into());
//!             client.handle_input(now, Input::Closed { conn, reason });
//!         }
//!         Output::Write { conn, data } => {
//!             // Write it all, then (or bit by bit) report it.
//!             let bytes = data.len();
//!             client.handle_input(now, Input::Written { conn, bytes });
//!         }
//!         Output::Close { conn } => { /* close it */ }
//!         Output::Event(event) => println!("{event:?}"),
//!     }
//! }
//! // Then wait for input until `poll_timeout`, feed all of it, and let time pass:
//! if let Some(deadline) = client.poll_timeout() {
//!     now = deadline;
//! }
//! client.handle_timeout(now);
//! # let _ = op;
//! # Ok(())
//! # }
//! ```
//!
//! Any monotonic clock will do, such as `Instant::ZERO + start.elapsed()`. Feed [`Input::WallClock`] each minute, as message
//! ids carry it. [`Client::shutdown`] ends in [`Event::ShutDown`], after which nothing more comes. `rmq_proto` is re-exported
//! as [`proto`].
//!
//! # The contract
//!
//! 1. Any call is legal at any time, in any order. Nothing has to be drained before anything else.
//! 2. [`Client::handle_input`] and [`Client::handle_timeout`] cannot fail. Bad bytes close their connection and are
//!    told by an event; a driver's mistake is counted in [`Stats::misuses`].
//! 3. After all ready input was fed, `handle_timeout(now)` called and [`Client::poll_output`] drained,
//!    [`Client::poll_timeout`] is `None` or later than `now`: no driver can spin. Input and commands never fire timers:
//!    an answer that is fed before `handle_timeout` wins, even past its deadline.
//! 4. Every accepted operation ends in exactly one of [`Event::Sent`], [`Event::OnewayWritten`], [`Event::QueuesFound`],
//!    [`Event::SendFailed`], [`Event::SentBack`], [`Event::SendBackFailed`], [`Event::Replied`],
//!    [`Event::RequestFailed`], [`Event::Recalled`], [`Event::RecallFailed`], [`Event::TransactionEnded`],
//!    [`Event::EndTransactionFailed`] and [`Event::Cancelled`], whatever happens to connections and time.
//! 5. At most one [`Output::Write`] of a connection is outstanding, and its size is bounded. [`Input::Written`] reports
//!    progress; the next write comes when all is reported. So a driver needs no queue.
//! 6. The same [`Start`] and the same calls give the same outputs, byte for byte, on every platform. With other
//!    chunks or another drain order, each operation still gets the same events, and each connection the same bytes, except
//!    that control frames (heartbeats, routes) overtake whatever waits at the moment. A clock that goes back is clamped.
//!    [Hooks](RequestHook), the only code of a user in here, have to be pure for that.
//! 7. Everything is bounded: each collection has its limit in [`Limits`]. A command over a limit is rejected and hands
//!    back what it was given.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
mod mutated;

mod address;
mod client;
mod config;
mod deadlines;
mod error;
mod event;
mod fault;
mod hook;
mod io;
mod limits;
mod link;
mod metric;
#[cfg(rmq_mutate)]
#[doc(hidden)]
pub mod mutate;
mod producer;
mod recall;
mod rising;
mod rng;
mod route;
mod send_back;
mod slab;
mod stats;
mod time;
mod trace;
mod transaction;

pub use address::{Address, AddressError};
pub use client::Client;
pub use config::{
    AttemptTimeout, AutoBatch, ClientConfig, ClientConfigBuilder, CloseOnTimeout, ConfigError,
    FaultTolerance, Identity, InFlight, ProducerConfig, RetryPolicy, SendBackOptions, SendOptions, Start,
    Trace,
};
pub use error::{
    Attempt, CloseCause, EndTransactionError, NoReplyError, NoReplyErrorKind, RecallError, RejectReason,
    Rejected, RequestError, SendBackAttempt, SendBackError, SendBackErrorKind, SendError, SendErrorKind,
    ServerOutcome,
};
pub use event::{
    Event, MessageQueue, OpId, ProducerId, Replied, Resolution, RouteLoss, SendResult, SendStatus,
};
pub use hook::{
    AddFieldError, Forbidden, OutgoingRequest, ReceivedAnswer, RequestFields, RequestHook, SendAttempt,
};
pub use io::{CloseReason, ConnId, Input, Output, WriteData};
pub use limits::Limits;
pub use metric::{Metric, MetricKind};
pub use recall::{Recall, RecallInvalid};
pub use rmq_proto as proto;
pub use rmq_proto::message::{DelayLevel, DelayLevelError};
pub use send_back::{Redelivery, SendBack, SendBackInvalid, SentBack};
pub use stats::Stats;
pub use time::Instant;
pub use transaction::CheckToken;
