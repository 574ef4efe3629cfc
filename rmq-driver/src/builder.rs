//! Configuring and starting a client.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use rmq_core::proto::command::HeaderFormat;
use rmq_core::proto::compress::Compression;
use rmq_core::proto::sign::Credentials;
use rmq_core::{
    Client as Core, ClientConfig, ClientConfigBuilder, CloseOnTimeout, ConfigError, Limits, RequestHook,
    Start,
};

use crate::client::Client;
use crate::discovery::{self, AddressServer, NameServerSource};
use crate::error::StartError;
use crate::logging;
use crate::runtime::Runtime;
use crate::shared::{Owner, Shared};
use crate::task::Loop;
#[cfg(feature = "tls")]
use crate::transport::TlsConfig;
use crate::transport::{Dialer, Socks5};

/// Where name servers are looked up.
enum Source {
    AddressServer(String),
    Other(Box<dyn NameServerSource>),
}

impl Source {
    fn open<S: Runtime>(self, runtime: &Arc<S>) -> Result<Box<dyn NameServerSource>, StartError> {
        match self {
            Self::Other(source) => Ok(source),
            Self::AddressServer(url) => match url.parse() {
                Ok(url) => Ok(Box::new(AddressServer::new(Arc::clone(runtime), url))),
                Err(problem) => Err(StartError::AddressServer { url, problem }),
            },
        }
    }
}

/// Configures a [`Client`]. The defaults, and what each setting is called in Java, are those of
/// [`ClientConfigBuilder`], whose settings are all here.
pub struct ClientBuilder<R> {
    config: ClientConfigBuilder,
    checked: Option<ClientConfig>,
    source: Option<Source>,
    dialer: Dialer,
    runtime: PhantomData<fn() -> R>,
}

impl<R> ClientBuilder<R> {
    pub(crate) fn new() -> Self {
        let config = ClientConfigBuilder::default();
        Self { config, checked: None, source: None, dialer: Dialer::default(), runtime: PhantomData }
    }

    fn set(mut self, set: impl FnOnce(ClientConfigBuilder) -> ClientConfigBuilder) -> Self {
        self.config = set(self.config);
        self
    }

    /// Adds name servers: one `host:port`, or several joined by `;`.
    #[must_use]
    pub fn name_server(self, addresses: impl ToString) -> Self {
        self.set(|config| config.name_server(&addresses.to_string()))
    }

    /// Asks an address server for the name servers: a text of `host:port`s, joined by `;`, at a plain
    /// `http://host[:port]/path`. It is asked as each [source](NameServerSource) is, with 3 s for connecting and 3 s for an
    /// answer, of at most 64 KiB.
    ///
    /// Until the first list comes, those given to [`name_server`](Self::name_server) serve; if there are none, sends wait for
    /// it within their time. Java has this when no `namesrvAddr` is set: its default is
    /// `http://jmenv.tbsite.net:8080/rocketmq/nsaddr`.
    #[must_use]
    pub fn address_server(mut self, url: impl ToString) -> Self {
        self.source = Some(Source::AddressServer(url.to_string()));
        self
    }

    /// Asks a user's own source for the name servers, in place of an [address server](Self::address_server).
    #[must_use]
    pub fn name_server_source(mut self, source: impl NameServerSource) -> Self {
        self.source = Some(Source::Other(Box::new(source)));
        self
    }

    /// Speaks TLS with name servers and brokers; plaintext by default. Java: `tls.enable`, and what [`TlsConfig`] tells of.
    /// An address server is asked over plain HTTP.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: TlsConfig) -> Self {
        self.dialer.tls = Some(tls);
        self
    }

    /// Connects to name servers and brokers through a proxy; to an address server directly. Java: `socksProxyConfig`.
    #[must_use]
    pub fn socks5(mut self, proxy: Socks5) -> Self {
        self.dialer.proxy = Some(proxy);
        self
    }

    /// Time for opening a connection, a proxy's and TLS's part included; 3 s by default.
    #[must_use]
    pub fn connect_timeout(self, timeout: Duration) -> Self {
        self.set(|config| config.connect_timeout(timeout))
    }

    /// Time for a request that the client makes for itself; 3 s by default.
    #[must_use]
    pub fn request_timeout(self, timeout: Duration) -> Self {
        self.set(|config| config.request_timeout(timeout))
    }

    /// Time between two heartbeats to a broker; 30 s by default.
    #[must_use]
    pub fn heartbeat_interval(self, interval: Duration) -> Self {
        self.set(|config| config.heartbeat_interval(interval))
    }

    /// Time between two looks at a topic's route; 30 s by default.
    #[must_use]
    pub fn route_refresh_interval(self, interval: Duration) -> Self {
        self.set(|config| config.route_refresh_interval(interval))
    }

    /// A connection with no traffic for so long is closed; 120 s by default.
    #[must_use]
    pub fn idle_timeout(self, timeout: Duration) -> Self {
        self.set(|config| config.idle_timeout(timeout))
    }

    /// A connection that takes no byte of a write for so long is closed; 3 s by default.
    #[must_use]
    pub fn write_stall(self, timeout: Duration) -> Self {
        self.set(|config| config.write_stall(timeout))
    }

    /// When a request that timed out closes its connection; [`CloseOnTimeout::Silent`] by default.
    #[must_use]
    pub fn close_on_timeout(self, rule: CloseOnTimeout) -> Self {
        self.set(|config| config.close_on_timeout(rule))
    }

    /// Whether what a server that goes away did not act on is sent once more on a new connection; yes by default.
    #[must_use]
    pub fn reconnect_on_go_away(self, reconnect: bool) -> Self {
        self.set(|config| config.reconnect_on_go_away(reconnect))
    }

    /// Format of the headers written; JSON by default.
    #[must_use]
    pub fn header_format(self, format: HeaderFormat) -> Self {
        self.set(|config| config.header_format(format))
    }

    /// The protocol version that requests state; 479 by default.
    #[must_use]
    pub fn version(self, version: i32) -> Self {
        self.set(|config| config.version(version))
    }

    /// Longest body of a message before it is compressed, in bytes; 4 MiB by default.
    #[must_use]
    pub fn max_message_len(self, bytes: usize) -> Self {
        self.set(|config| config.max_message_len(bytes))
    }

    /// Signs every request, for brokers with access control; none by default. [`Client::set_credentials`] replaces them.
    #[must_use]
    pub fn credentials(self, credentials: Credentials) -> Self {
        self.set(|config| config.credentials(credentials))
    }

    /// Puts all topics and groups into a namespace of version 1; none by default.
    #[must_use]
    pub fn namespace(self, namespace: &str) -> Self {
        self.set(|config| config.namespace(namespace))
    }

    /// Names a namespace of version 2 in every request; none by default.
    #[must_use]
    pub fn namespace_v2(self, namespace: &str) -> Self {
        self.set(|config| config.namespace_v2(namespace))
    }

    /// Adds a hook around requests, to be called after those added before. It runs inside the client: mind what
    /// [`RequestHook`] asks of it.
    #[must_use]
    pub fn hook(self, hook: Arc<dyn RequestHook>) -> Self {
        self.set(|config| config.hook(hook))
    }

    /// Bodies with at least so many bytes are compressed, in the caller's task; 4,096 by default.
    #[must_use]
    pub fn compress_from(self, bytes: usize) -> Self {
        self.set(|config| config.compress_from(bytes))
    }

    /// The format that bodies are compressed in, `None` for not at all; zlib by default.
    #[must_use]
    pub fn compression(self, kind: impl Into<Option<Compression>>) -> Self {
        self.set(|config| config.compression(kind))
    }

    /// How hard to compress; 5 by default.
    #[must_use]
    pub fn compression_level(self, level: u8) -> Self {
        self.set(|config| config.compression_level(level))
    }

    /// Bounds of everything that can grow.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.set(|config| config.limits(limits))
    }

    /// Takes this configuration instead of all other settings made here, but for how connections are opened and where name
    /// servers are looked up.
    #[must_use]
    pub fn config(mut self, config: ClientConfig) -> Self {
        self.checked = Some(config);
        self
    }

    /// Starts the client's task on the runtime that runs here. Nothing is connected until there is something to send.
    ///
    /// # Errors
    ///
    /// A configuration that cannot work, neither a name server nor a source of them, or no runtime here.
    pub fn start(self) -> Result<Client<R>, StartError>
    where
        R: Runtime + Default,
    {
        self.start_on(R::default())
    }

    /// Starts the client's task on this runtime, which may be of another type: one with a clock of its own, say, or one
    /// whose streams lead into a model.
    ///
    /// # Errors
    ///
    /// A configuration that cannot work, neither a name server nor a source of them, or a task that cannot be started.
    pub fn start_on<S: Runtime>(self, runtime: S) -> Result<Client<R>, StartError> {
        let config = match self.checked {
            Some(config) => config,
            None => self.config.build()?,
        };
        let runtime = Arc::new(runtime);
        let source = self.source.map(|source| source.open(&runtime)).transpose()?;
        let config = match &source {
            Some(_) => config.name_servers_follow(),
            None if config.name_servers().is_empty() => return Err(ConfigError::NoNameServer.into()),
            None => config,
        };
        let (now, unix_ms) = (runtime.now(), runtime.unix_ms());
        // The way to a name server shows which of its addresses this host is known by.
        let peer = config.name_servers().first().and_then(|address| address.host().parse().ok());
        let identity = runtime.identity(peer);
        let start = Start { now, unix_ms, seed: runtime.seed(), identity };
        let clock = Arc::clone(&runtime);
        let shared = Arc::new(Shared::new(Core::new(config, start), clock));
        let task = Loop::new(Arc::clone(&runtime), Arc::clone(&shared), self.dialer, now, unix_ms);
        runtime.spawn(task)?;
        // From here on a failure ends the task.
        let owner = Owner::new(Arc::clone(&shared));
        if let Some(source) = source {
            runtime.spawn(discovery::watch(Arc::clone(&runtime), shared, source))?;
        }
        logging::started(owner.client_id());
        Ok(Client::new(owner))
    }
}

impl<R> fmt::Debug for ClientBuilder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder").finish_non_exhaustive()
    }
}
