//! The client's handle.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rmq_core::proto::sign::Credentials;
use rmq_core::{Address, ConfigError, ProducerConfig, Stats};

use crate::builder::ClientBuilder;
use crate::discovery::NameServerSourceError;
use crate::error::Error;
use crate::producer::Producer;
use crate::shared::{EndKey, Owner};
use crate::stats::DriverStats;

/// A client of one cluster: the connections that its producers share, and the task that serves them.
///
/// The handle is cheap to clone. `R` only says which runtime [`ClientBuilder::start`] starts it on; adapters name the
/// type for their runtime, so users do not see it.
///
/// # The end
///
/// [`shutdown`](Self::shutdown) ends a client in order. When the last of its handles is dropped instead, the client ends
/// at once: sends under way are cancelled, brokers are not told, and a [warning](crate::logging) says so. Handles are [`Client`]s, [`Producer`]s and the futures
/// of their calls. Dropping them is legal anywhere, outside any runtime too.
pub struct Client<R> {
    owner: Arc<Owner>,
    runtime: PhantomData<fn() -> R>,
}

impl<R> Client<R> {
    /// A builder; it needs a name server, and has a default for all else.
    pub fn builder() -> ClientBuilder<R> {
        ClientBuilder::new()
    }

    pub(crate) fn new(owner: Arc<Owner>) -> Self {
        Self { owner, runtime: PhantomData }
    }

    /// Adds a producer with the defaults of [`ProducerConfig`]. It costs no connection of its own. A client has one
    /// producer per group; clone the [`Producer`] to use it in several places.
    ///
    /// # Errors
    ///
    /// A group name that breaks a rule, a group that this client has already, one producer too many, or a client that is
    /// shut down.
    pub fn producer(&self, group: impl Into<String>) -> Result<Producer, ConfigError> {
        self.producer_with(ProducerConfig::new(group))
    }

    /// Adds a producer.
    ///
    /// # Errors
    ///
    /// As [`producer`](Self::producer), and any value that cannot work.
    pub fn producer_with(&self, config: ProducerConfig) -> Result<Producer, ConfigError> {
        let (group, timeout) = (config.group().into(), config.timeout());
        let id = self.owner.add_producer(config)?;
        Ok(Producer::new(Arc::clone(&self.owner), id, group, timeout))
    }

    /// Signs requests with these credentials from now on, or none any more: what is written to a connection after this call,
    /// further attempts of sends under way included. Connections stay open.
    pub fn set_credentials(&self, credentials: Option<Credentials>) {
        self.owner.set_credentials(credentials);
    }

    /// Takes another list of name servers: one `host:port`, or several joined by `;`. True if it holds others than those
    /// known. Sends under way go on with it; the connection to a server that is not in it is closed. Java:
    /// `updateNameServerAddressList`.
    ///
    /// # Errors
    ///
    /// An address that cannot be read, or none at all; a client that is shut down. The list is as it was.
    pub fn set_name_servers(&self, addresses: &str) -> Result<bool, ConfigError> {
        let list = Address::parse_list(addresses).map_err(ConfigError::NameServer)?;
        self.owner.set_name_servers(list)
    }

    /// Why the last look for name servers brought none, with an [address
    /// server](ClientBuilder::address_server) or another [source](crate::NameServerSource). None when it brought a list, or
    /// there was no look yet.
    pub fn name_server_source_error(&self) -> Option<NameServerSourceError> {
        self.owner.lock().source_error.clone()
    }

    /// The id that brokers know this client by.
    pub fn client_id(&self) -> &str {
        self.owner.client_id()
    }

    /// What the client did and holds. [`Stats::metrics`] makes exporting all of it one loop.
    pub fn stats(&self) -> Stats {
        self.owner.lock().core.stats()
    }

    /// What its loop did.
    pub fn driver_stats(&self) -> DriverStats {
        self.owner.lock().stats
    }

    /// [`shutdown_within`](Self::shutdown_within) three seconds.
    pub fn shutdown(&self) -> ShutdownFuture {
        self.shutdown_within(Duration::from_secs(3))
    }

    /// Shuts the client down: nothing new is accepted, sends under way finish, brokers are told that the producers are
    /// gone, and all connections are closed. What is not done after `within` is given up; zero gives up at once.
    pub fn shutdown_within(&self, within: Duration) -> ShutdownFuture {
        ShutdownFuture { owner: Arc::clone(&self.owner), within: Some(within), key: None }
    }
}

/// A client that shuts down; ends when all its connections are closed.
///
/// It begins with the first poll. Whoever calls later waits for the same end, whatever time was named.
///
/// # Cancel safety
///
/// Once it was polled, the client shuts down whether the future lives or not. Dropping it loses the news alone, which another
/// [`shutdown`](Client::shutdown) brings.
///
/// # Errors
///
/// [`Error::TaskLost`] when the client ended before, because its runtime did.
#[must_use = "shutting down begins when the future is first polled"]
pub struct ShutdownFuture {
    owner: Arc<Owner>,
    /// Taken by the first poll.
    within: Option<Duration>,
    key: Option<EndKey>,
}

impl Future for ShutdownFuture {
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Some(within) = this.within.take() {
            crate::logging::shutting_down(&this.owner, within);
            this.owner.shut_down(within);
        }
        this.owner.poll_end(&mut this.key, cx)
    }
}

impl Drop for ShutdownFuture {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.owner.leave_end(key);
        }
    }
}

impl fmt::Debug for ShutdownFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownFuture").finish_non_exhaustive()
    }
}

impl<R> Clone for Client<R> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.owner))
    }
}

impl<R> fmt::Debug for Client<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("client_id", &self.client_id()).finish_non_exhaustive()
    }
}
