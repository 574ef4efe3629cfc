//! The one loop that feeds [`rmq_core`], and the handles that its users hold. Names no async runtime.
//!
//! Users take `rmq-tokio` or `rmq-asyncstd`, which name one and re-export all this. To run on another runtime, implement
//! [`Runtime`]: clocks, streams, timers and tasks, in about a hundred lines of code. `docs/adapters.md` says what to mind;
//! `examples/own_runtime.rs` is one over the standard library alone, and `examples/own_loop.rs` does without this crate.
//!
//! ```
//! # use rmq_driver::{Client, Error, Message, Runtime};
//! # async fn example<R: Runtime + Default>() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::<R>::builder().name_server("127.0.0.1:9876").start()?;
//! let producer = client.producer("order-service")?;
//! let sent = producer.send(Message::new("orders", "hello").tag("created").key("order-42")).await?;
//! println!("{} in {} at offset {}", sent.message_id, sent.queue, sent.queue_offset);
//! client.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! Each client has one task, which serves all its connections. Handles share the core with it under one lock: a call
//! locks, hands its command to the core, unlocks, and wakes the task if it sleeps. The task reads and writes streams
//! without the lock. Neither a user's code nor a system call runs under it.
//!
//! With the feature `tracing` a client tells what happens to it: see [`logging`]. What it counts is in [`Client::stats`].
//!
//! A future that is dropped breaks no connection: bytes belong to the task, which writes whole frames whatever its callers
//! do.

#![forbid(unsafe_code)]

mod batch;
mod builder;
mod checks;
mod client;
mod connection;
mod connections;
mod discovery;
mod error;
mod listeners;
pub mod logging;
mod operation;
mod producer;
mod queues;
mod read_buffer;
mod ready;
mod recall;
mod request;
mod resolve;
mod runtime;
mod send_back;
mod shared;
mod stats;
mod task;
mod timer;
mod transaction;
mod transport;
mod waiters;

pub use builder::ClientBuilder;
pub use checks::{AnswerFuture, TransactionCheck, TransactionChecks};
pub use client::{Client, ShutdownFuture};
pub use discovery::{AddressServerProblem, Fetched, NameServerSource, NameServerSourceError};
pub use error::{Error, StartError};
#[cfg(feature = "tls")]
pub use futures_rustls::rustls;
pub use producer::{OnewayFuture, Producer, SendFuture};
pub use queues::QueuesFuture;
pub use recall::RecallFuture;
pub use request::{ReplyFuture, RequestFuture};
pub use resolve::resolve;
pub use rmq_core;
pub use rmq_core::proto::code::ResponseCode;
pub use rmq_core::proto::command::HeaderFormat;
pub use rmq_core::proto::compress::Compression;
pub use rmq_core::proto::message::{
    BatchError, DelayLevelError, DeliveryTime, InflateError, Message, MessageError, Reply, ReplyError,
    StoredMessage,
};
pub use rmq_core::proto::sign::{Credentials, CredentialsError};
pub use rmq_core::{
    AddFieldError, Address, AddressError, Attempt, AttemptTimeout, AutoBatch, ClientConfig, CloseCause,
    CloseOnTimeout, ConfigError, DelayLevel, EndTransactionError, FaultTolerance, Forbidden, InFlight,
    Limits, MessageQueue, Metric, MetricKind, NoReplyError, NoReplyErrorKind, OutgoingRequest,
    ProducerConfig, RecallError, RecallInvalid, ReceivedAnswer, Redelivery, RejectReason, RequestError,
    RequestFields, RequestHook, Resolution, RetryPolicy, SendAttempt, SendBack, SendBackAttempt,
    SendBackError, SendBackErrorKind, SendBackInvalid, SendBackOptions, SendError, SendErrorKind,
    SendOptions, SendResult, SendStatus, SentBack, ServerOutcome, Stats, Trace,
};
pub use runtime::{Runtime, SpawnError, connect_each};
pub use send_back::SendBackFuture;
pub use stats::DriverStats;
pub use transaction::{IntoResolution, TransactionResult};
pub use transport::{Socks5, Socks5LoginError};
#[cfg(feature = "tls")]
pub use transport::{TlsConfig, TlsConfigBuilder, TlsConfigError};

/// What the public types promise, checked when this is compiled.
const _: () = {
    const fn handle<T: Clone + Send + Sync + 'static>() {}
    const fn future<T: Future + Send + 'static>() {}
    const fn error<T: std::error::Error + Clone + Send + Sync + 'static>() {}
    const fn core<T: Clone + Send>() {}
    core::<rmq_core::Client>();
    handle::<Client<*const ()>>();
    handle::<Producer>();
    future::<SendFuture>();
    future::<OnewayFuture>();
    future::<SendBackFuture>();
    future::<RequestFuture>();
    future::<ReplyFuture>();
    future::<QueuesFuture>();
    future::<RecallFuture>();
    future::<ShutdownFuture>();
    future::<AnswerFuture>();
    error::<Error>();
    error::<StartError>();
    error::<NameServerSourceError>();
    error::<ConfigError>();
    error::<MessageError>();
    error::<BatchError>();
    error::<SendError>();
    error::<SendBackError>();
    error::<SendBackInvalid>();
    error::<RecallError>();
    error::<RecallInvalid>();
    error::<DelayLevelError>();
    error::<EndTransactionError>();
    error::<NoReplyError>();
    error::<ReplyError>();
    error::<Socks5LoginError>();
    #[cfg(feature = "tls")]
    error::<TlsConfigError>();
};
