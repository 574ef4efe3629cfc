//! What a client tells about itself in `tracing` events. With the feature `tracing`, which `rmq-tokio` and `rmq-asyncstd`
//! have on by default; without it no code of this is there.
//!
//! A library writes no files and prints nothing: without a subscriber nothing is told. Any subscriber will do, such as that of
//! the crate `tracing-subscriber`, with its feature `env-filter`:
//!
//! ```ignore
//! tracing_subscriber::fmt().with_env_filter(tracing_subscriber::EnvFilter::from_default_env()).init();
//! ```
//!
//! and `RUST_LOG=info`, or `RUST_LOG=warn,rmq=info,rmq::send=debug`: all targets begin with `rmq::`.
//!
//! # What is told
//!
//! | target | level | message | fields besides `client_id` |
//! |---|---|---|---|
//! | `rmq::client` | INFO | client started | |
//! | | INFO | shutting down | `within_ms` |
//! | | INFO | client shut down | |
//! | | WARN | last handle dropped without shutdown(): ... | |
//! | | ERROR | the client's task was lost: ... | |
//! | | INFO | name servers changed | `name_servers` |
//! | | WARN | no list of name servers | `cause`, `failures`, `lasted_ms` |
//! | | INFO | a list of name servers again | `failures`, `lasted_ms` |
//! | `rmq::connection` | INFO | connected | `addr` |
//! | | WARN | cannot connect | `addr`, `cause`, `failures`, `lasted_ms` |
//! | | WARN | connection lost | `addr`, `cause`, `failures`, `lasted_ms` |
//! | | INFO | connected again | `addr`, `failures`, `lasted_ms` |
//! | | INFO | connection closed | `addr`, `cause` |
//! | | INFO | server goes away, another connection takes its place | `addr` |
//! | `rmq::route` | INFO | route learned, route changed | `topic`, `brokers`, `queues` |
//! | | WARN, INFO | route lost | `topic`, `cause`; WARN when the topic is denied |
//! | | WARN | no name server answers | `topic`, `name_servers`, `failures`, `lasted_ms` |
//! | | INFO | name servers answer again | `failures`, `lasted_ms` |
//! | | INFO | another name server is asked first | `addr`, `failures` |
//! | `rmq::broker` | WARN | heartbeat refused | `addr`, `cause`, `failures`, `lasted_ms` |
//! | | INFO | heartbeat accepted again | `addr`, `failures`, `lasted_ms` |
//! | | WARN | broker left alone | `broker`, `span_ms`, `failures`, `lasted_ms` |
//! | | INFO | broker recovered | `broker`, `failures`, `lasted_ms` |
//! | `rmq::send` | WARN | operation failed | `operation`, `topic`, `kind`, `cause`, `broker`, `addr`, `attempts`, `failures`, `lasted_ms` |
//! | | INFO | sends succeed again | `topic`, `failures`, `lasted_ms` |
//! | | WARN | trace records lost | `cause`, `failures`, `lasted_ms` |
//! | | WARN | nobody answers checks of transactions: ... | `failures`, `lasted_ms` |
//! | | DEBUG | operation ended in failure | `operation`, `topic`, `message_id`, `attempts`, `took_ms`, `tried` |
//! | | DEBUG | stored after retries | `topic`, `broker`, `queue_id`, `queue_offset`, `message_id`, `attempts` |
//! | | DEBUG | not accepted | `cause` |
//! | | TRACE | stored | as for "stored after retries" |
//! | all but the first | WARN | lines left out | `left_out` |
//!
//! `addr` is `host:port`; `operation` is `send`, `queues`, `send-back`, `recall`, `request` or `transaction-end`; `attempts` are
//! those of the one operation told; `failures` counts all since the trouble began, `lasted_ms` ago. Names of targets and fields
//! stay as they are; texts may be put better.
//!
//! # What keeps it short
//!
//! A trouble (an address that cannot be connected to, a topic and one kind of failure) is told when it begins, again with its
//! count after 10 s, 20 s and so on up to each 10 minutes, and when it is over. What begins anew within a minute is the
//! same trouble. Of one target no more than 64 lines in a minute are told at INFO and above; how many were left out is told with
//! the next one. Levels below tell of each operation. Up to 256 troubles are told apart; of more, the one heard of least recently
//! is forgotten.
//!
//! # What is never told
//!
//! Bodies, keys, tags, properties, credentials and signatures, and what others say in words of their own: a broker's remark or a
//! hook's reason may quote any of these. Errors that callers get have the remark.
//!
//! Subscribers are called without any lock of the client, in its task or the caller's.

#[cfg(feature = "tracing")]
mod cause;
#[cfg(feature = "tracing")]
mod fold;
#[cfg(feature = "tracing")]
mod handles;
#[cfg(feature = "tracing")]
mod lines;
#[cfg(feature = "tracing")]
mod log;
#[cfg(not(feature = "tracing"))]
mod off;

#[cfg(feature = "tracing")]
pub(crate) use handles::{List, Source, dropped, lost, rejected, shutting_down, started};
#[cfg(feature = "tracing")]
pub(crate) use log::Log;
#[cfg(not(feature = "tracing"))]
pub(crate) use off::{List, Log, Source, dropped, lost, rejected, shutting_down, started};

/// What the names of all targets begin with, for filters that are made in code.
pub const TARGET: &str = "rmq";
