//! Settings of a client.

use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;
use core::time::Duration;

use rmq_proto::command::{CURRENT_VERSION, HeaderFormat};
use rmq_proto::compress::Compression;
use rmq_proto::message::MessageRules;
use rmq_proto::names::namespace;
use rmq_proto::sign::Credentials;

use super::{ConfigError, at_least_a_millisecond};
use crate::address::Address;
use crate::hook::{Hooks, RequestHook};
use crate::limits::Limits;
use crate::time::Instant;

/// What a [`Client`](crate::Client) starts from besides its configuration: everything that differs from run to run.
/// The same `Start` and the same calls give the same outputs.
#[derive(Clone, Debug)]
pub struct Start {
    /// The time of the call.
    pub now: Instant,
    /// The wall clock at `now`, in milliseconds since the Unix epoch.
    pub unix_ms: u64,
    /// Seeds every random choice. Two clients must not share it: message ids carry 32 bits of it.
    pub seed: u64,
    /// Who this client is.
    pub identity: Identity,
}

/// What brokers are told about this process (producer §1.4).
#[derive(Clone, Debug)]
pub struct Identity {
    /// An address of this host; part of the client id and of message ids.
    pub ip: IpAddr,
    /// The process id.
    pub pid: u32,
}

/// Settings shared by all producers of a client. Made by [`ClientConfig::builder`].
#[derive(Clone, Debug)]
pub struct ClientConfig {
    pub(crate) name_servers: Vec<Address>,
    pub(crate) name_servers_follow: bool,
    pub(crate) connect_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) heartbeat_interval: Duration,
    pub(crate) route_refresh_interval: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) write_stall: Duration,
    pub(crate) close_on_timeout: CloseOnTimeout,
    pub(crate) reconnect_on_go_away: bool,
    pub(crate) header_format: HeaderFormat,
    pub(crate) version: i32,
    pub(crate) rules: MessageRules,
    pub(crate) namespace_v2: Option<Arc<str>>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) hooks: Hooks,
    pub(crate) limits: Limits,
}

impl ClientConfig {
    /// A builder with the defaults that each of its methods states.
    pub fn builder() -> ClientConfigBuilder {
        ClientConfigBuilder::default()
    }

    /// The name servers, in the order given.
    pub fn name_servers(&self) -> &[Address] {
        &self.name_servers
    }

    /// Says that [`Client::set_name_servers`](crate::Client::set_name_servers) will bring a list of name servers: while there
    /// is none, operations wait for it, as they wait for an answer, in place of failing with
    /// [`NoNameServer`](crate::SendErrorKind::NoNameServer).
    #[must_use]
    pub fn name_servers_follow(mut self) -> Self {
        self.name_servers_follow = true;
        self
    }

    /// The rules that [`Message::prepare`](rmq_proto::message::Message::prepare) is to check messages for this client
    /// against.
    pub fn message_rules(&self) -> &MessageRules {
        &self.rules
    }

    /// The bounds of everything that can grow.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    fn check_namespaces(&self) -> Result<(), ConfigError> {
        match (self.rules.namespace.as_deref(), self.namespace_v2.as_deref()) {
            (Some(_), Some(_)) => Err(ConfigError::TwoNamespaces),
            (Some(name), None) if !namespace::is_valid(name) => {
                Err(ConfigError::Namespace { namespace: name.to_string() })
            }
            (None, Some(name)) if name.len() > MAX_NAMESPACE_V2 => {
                Err(ConfigError::TooLarge { name: "namespace_v2", maximum: "1024 bytes" })
            }
            _ => Ok(()),
        }
    }
}

/// Most bytes of a namespace of version 2.
const MAX_NAMESPACE_V2: usize = 1_024;

/// When a request that timed out closes its connection (decided by [`ClientConfigBuilder::close_on_timeout`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseOnTimeout {
    /// Only if nothing at all was received since the request was written, for the second time in a row: a slow
    /// answer does not take its neighbours' connection away.
    #[default]
    Silent,
    /// The official client's rule (producer §8.4): if more than 100 ms, or more than a quarter of the request's time,
    /// was left when it was written.
    Java,
}

/// Builds a [`ClientConfig`].
#[derive(Clone, Debug)]
pub struct ClientConfigBuilder {
    config: ClientConfig,
    problem: Option<ConfigError>,
}

impl Default for ClientConfigBuilder {
    fn default() -> Self {
        let config = ClientConfig {
            name_servers: Vec::new(),
            name_servers_follow: false,
            connect_timeout: Duration::from_secs(3),
            request_timeout: Duration::from_secs(3),
            heartbeat_interval: Duration::from_secs(30),
            route_refresh_interval: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(120),
            write_stall: Duration::from_secs(3),
            close_on_timeout: CloseOnTimeout::Silent,
            reconnect_on_go_away: true,
            header_format: HeaderFormat::Json,
            version: CURRENT_VERSION,
            rules: MessageRules::default(),
            namespace_v2: None,
            credentials: None,
            hooks: Hooks::default(),
            limits: Limits::default(),
        };
        Self { config, problem: None }
    }
}

impl ClientConfigBuilder {
    /// Adds name servers: one `host:port`, or several joined by `;`. Java: `namesrvAddr`. None by default.
    #[must_use]
    pub fn name_server(mut self, addresses: &str) -> Self {
        match Address::parse_list(addresses) {
            Ok(list) => self.config.name_servers.extend(list),
            Err(error) => self.problem = self.problem.or(Some(ConfigError::NameServer(error))),
        }
        self
    }

    /// Time for opening a connection; 3 s by default. Java: `connectTimeoutMillis`.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.config.connect_timeout = timeout;
        self
    }

    /// Time for a request that the client makes for itself: route, heartbeat, unregister; 3 s by default. Java:
    /// `mqClientApiTimeout`.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.config.request_timeout = timeout;
        self
    }

    /// Time between two heartbeats to a broker; 30 s by default. A broker forgets a client after 120 s. Java:
    /// `heartbeatBrokerInterval`.
    #[must_use]
    pub fn heartbeat_interval(mut self, interval: Duration) -> Self {
        self.config.heartbeat_interval = interval;
        self
    }

    /// Time between two looks at a topic's route; 30 s by default. Java: `pollNameServerInterval`.
    #[must_use]
    pub fn route_refresh_interval(mut self, interval: Duration) -> Self {
        self.config.route_refresh_interval = interval;
        self
    }

    /// A connection with no traffic for so long is closed; 120 s by default. Java: `clientChannelMaxIdleTimeSeconds`.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.config.idle_timeout = timeout;
        self
    }

    /// A connection that takes no byte of a write for so long is closed; 3 s by default. No Java counterpart.
    #[must_use]
    pub fn write_stall(mut self, timeout: Duration) -> Self {
        self.config.write_stall = timeout;
        self
    }

    /// When a timeout closes the connection; [`CloseOnTimeout::Silent`] by default. Java:
    /// `clientCloseSocketIfTimeout`.
    #[must_use]
    pub fn close_on_timeout(mut self, rule: CloseOnTimeout) -> Self {
        self.config.close_on_timeout = rule;
        self
    }

    /// Whether a request that a server which goes away did not act on is sent once more, on a new connection to its address;
    /// yes by default. If not, it has failed, and the connection is used until the server closes it. Java:
    /// `enableReconnectForGoAway`.
    #[must_use]
    pub fn reconnect_on_go_away(mut self, reconnect: bool) -> Self {
        self.config.reconnect_on_go_away = reconnect;
        self
    }

    /// Format of the headers written; JSON by default. Answers are read in either. Java:
    /// `rocketmq.serialize.type`.
    #[must_use]
    pub fn header_format(mut self, format: HeaderFormat) -> Self {
        self.config.header_format = format;
        self
    }

    /// The protocol version that requests state; 479 (5.3.3) by default. Brokers choose some answers by it
    /// (wire §1.6).
    #[must_use]
    pub fn version(mut self, version: i32) -> Self {
        self.config.version = version;
        self
    }

    /// Longest body of a message before it is compressed, in bytes; 4 MiB by default, as brokers have it. Java: `maxMessageSize`.
    #[must_use]
    pub fn max_message_len(mut self, bytes: usize) -> Self {
        self.config.rules.max_body_len = bytes;
        self
    }

    /// Signs every request, those to name servers included, for brokers with ACL of version 1 or 2 (wire §8); none by default.
    /// [`Client::set_credentials`](crate::Client::set_credentials) replaces them. Java: `AclClientRPCHook`.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.config.credentials = Some(credentials);
        self
    }

    /// Puts all topics and groups into a namespace of version 1: on the wire they are called `namespace%name`, and messages have
    /// it as property `INSTANCE_ID` (producer §1.5). Users of the client see their own names. None by default; empty text
    /// is none. Java: `namespace`.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.config.rules.namespace = Some(namespace.into()).filter(|name: &Arc<str>| !name.is_empty());
        self
    }

    /// Names a namespace of version 2 in every request, in the ext fields `ns` and `nsd`, and changes no name. Servers of
    /// vendors go by it, others do not (wire §7.4). None by default; empty text is none. Java: `namespaceV2`.
    #[must_use]
    pub fn namespace_v2(mut self, namespace: &str) -> Self {
        self.config.namespace_v2 = Some(namespace.into()).filter(|name: &Arc<str>| !name.is_empty());
        self
    }

    /// Adds a hook, to be called after those added before. Java: the client's `RPCHook`, and `registerCheckForbiddenHook`.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn RequestHook>) -> Self {
        self.config.hooks.push(hook);
        self
    }

    /// Bodies with at least so many bytes are compressed; 4,096 by default. Java: `compressMsgBodyOverHowmuch`.
    #[must_use]
    pub fn compress_from(mut self, bytes: usize) -> Self {
        self.config.rules.compression.min_len = bytes;
        self
    }

    /// The format that bodies are compressed in, `None` for not at all; zlib by default, in a build with the cargo feature
    /// `zlib`. Consumers older than 4.9.4 know zlib alone. Java: `compressType`.
    #[must_use]
    pub fn compression(mut self, kind: impl Into<Option<Compression>>) -> Self {
        self.config.rules.compression.kind = kind.into();
        self
    }

    /// How hard to compress; 5 by default. For zlib 0 to 9, for LZ4 nothing, for zstd 0 (stored) or anything else. Java:
    /// `compressLevel`.
    #[must_use]
    pub fn compression_level(mut self, level: u8) -> Self {
        self.config.rules.compression.level = level;
        self
    }

    /// Bounds of everything that can grow.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// The configuration, checked.
    ///
    /// # Errors
    ///
    /// The first value that cannot work, by name.
    pub fn build(self) -> Result<ClientConfig, ConfigError> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let config = self.config;
        for (name, value) in [
            ("connect_timeout", config.connect_timeout),
            ("request_timeout", config.request_timeout),
            ("heartbeat_interval", config.heartbeat_interval),
            ("route_refresh_interval", config.route_refresh_interval),
            ("idle_timeout", config.idle_timeout),
            ("write_stall", config.write_stall),
        ] {
            at_least_a_millisecond(name, value)?;
        }
        config.check_namespaces()?;
        if let Some(kind) = config.rules.compression.kind.filter(|kind| !kind.is_enabled()) {
            return Err(ConfigError::CompressionDisabled { kind });
        }
        config.limits.check()?;
        Ok(config)
    }
}
