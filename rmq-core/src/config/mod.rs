//! What a user chooses, checked when it is handed over.

mod auto_batch;
mod client;
mod fault;
mod in_flight;
mod producer;
mod send_back;
mod trace;

pub use auto_batch::AutoBatch;
pub use client::{ClientConfig, ClientConfigBuilder, CloseOnTimeout, Identity, Start};
pub use fault::FaultTolerance;
pub use in_flight::InFlight;
pub use producer::{AttemptTimeout, ProducerConfig, RetryPolicy, SendOptions};
pub use send_back::SendBackOptions;
pub use trace::Trace;

use alloc::string::{String, ToString};
use core::time::Duration;

use rmq_proto::compress::Compression;
use rmq_proto::message::MessageError;
use rmq_proto::names::NameError;

use crate::address::AddressError;

/// A configuration that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A name server's address cannot be read.
    #[error("name server: {0}")]
    NameServer(AddressError),
    /// The group name breaks a rule, with the client's namespace if it has one.
    #[error("producer group `{group}`: {error}")]
    Group {
        /// The name given.
        group: String,
        /// The rule.
        error: NameError,
    },
    /// This client has a producer of that group already.
    #[error(
        "this client already has a producer of group `{group}`: clone that one; it stays until the client shuts down"
    )]
    DuplicateGroup {
        /// The group.
        group: String,
    },
    /// Names cannot be put into a namespace of version 1 that is called so.
    #[error(
        "namespace `{namespace}`: use 1 to {} of letters a-z and A-Z, digits and |_-",
        rmq_proto::names::namespace::MAX_LEN
    )]
    Namespace {
        /// The name given.
        namespace: String,
    },
    /// There is a namespace of either version.
    #[error("the client has a namespace of version 1 and one of version 2: choose")]
    TwoNamespaces,
    /// As many producers as [`Limits::producers`](crate::Limits::producers) allows exist.
    #[error("{limit} producers exist, the limit (Limits::producers)")]
    TooManyProducers {
        /// The limit.
        limit: usize,
    },
    /// A value is below what can work.
    #[error("`{name}` must be at least {minimum}")]
    TooSmall {
        /// Which.
        name: &'static str,
        /// The least.
        minimum: &'static str,
    },
    /// A value is above what can work.
    #[error("`{name}` must be at most {maximum}")]
    TooLarge {
        /// Which.
        name: &'static str,
        /// The most.
        maximum: &'static str,
    },
    /// The two tables of [`FaultTolerance`] differ in length.
    #[error(
        "`latency_max` has {thresholds} thresholds and `not_available_duration` {durations} times: each threshold needs one"
    )]
    UnequalTables {
        /// Thresholds given.
        thresholds: usize,
        /// Times given.
        durations: usize,
    },
    /// Values that have to ascend do not.
    #[error("`{name}` must ascend: each value above the one before")]
    NotAscending {
        /// Which.
        name: &'static str,
    },
    /// Bodies are to be compressed in a format that this build leaves out.
    #[error("bodies cannot be compressed with {kind}: the cargo feature `{}` is off in this build", .kind.feature())]
    CompressionDisabled {
        /// The format.
        kind: Compression,
    },
    /// No name server was given.
    #[error("no name server is given: name_server(\"host:9876\") adds one")]
    NoNameServer,
    /// The topic of [`Trace`] is none that messages can be sent to.
    #[error("message trace: {0}")]
    TraceTopic(MessageError),
    /// The client is shut down.
    #[error("the client is shut down: start another one")]
    ShutDown,
}

impl ConfigError {
    pub(crate) fn duplicate(group: &str) -> Self {
        Self::DuplicateGroup { group: group.to_string() }
    }
}

fn at_least_a_millisecond(name: &'static str, value: Duration) -> Result<(), ConfigError> {
    if value < Duration::from_millis(1) {
        return Err(ConfigError::TooSmall { name, minimum: "1 ms" });
    }
    Ok(())
}
