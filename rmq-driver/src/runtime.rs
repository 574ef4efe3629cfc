//! What the driver asks of an async runtime.

use std::borrow::Cow;
use std::fmt::Display;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use futures_io::{AsyncRead, AsyncWrite};
use rmq_core::{Address, Identity, Instant};

/// An async runtime, and everything else that comes from outside: clocks, streams, tasks, chance.
///
/// The driver reads no clock and opens no socket but through this trait. So it runs on any runtime, and a test can hand
/// it one whose time stands still. All methods but [`spawn`](Self::spawn), [`identity`](Self::identity) and the clocks
/// are called from within the spawned task.
pub trait Runtime: Send + Sync + 'static {
    /// A byte stream to a server. Dropping it closes it.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// What [`sleep_until`](Self::sleep_until) returns.
    type Sleep: Future<Output = ()> + Send + 'static;

    /// Time since an epoch that the runtime picks; never goes back.
    fn now(&self) -> Instant;

    /// The wall clock: milliseconds since the Unix epoch.
    fn unix_ms(&self) -> u64;

    /// A number that no other client has, for all random choices of one client. Asked for once per client.
    fn seed(&self) -> u64;

    /// Opens a stream. A host name is resolved anew at each call, and each of its addresses is tried.
    ///
    /// The future is dropped when the client's connect timeout is over. The text of an error should say what failed; the
    /// address is added to it.
    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static;

    /// Ends at `at`, or soon after; at once when that has passed.
    ///
    /// When it ends, streams must have learned what arrived before: a client that was suspended reads all that waits,
    /// and only then looks at its deadlines. Runtimes with one reactor for sockets and timers do that by themselves.
    fn sleep_until(&self, at: Instant) -> Self::Sleep;

    /// Starts a task. The driver's task bounds its own turns: a runtime that meters its tasks should exempt it.
    ///
    /// # Errors
    ///
    /// No task can be started here, for example because no runtime runs.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError>;

    /// Who this client is to the servers. By default this process' id, and the address of this host that packets to
    /// `name_server` (the first one, if its address is a number) would leave from, or 127.0.0.1.
    fn identity(&self, name_server: Option<IpAddr>) -> Identity {
        let ip = name_server.and_then(|peer| local_address(peer).ok());
        Identity { ip: ip.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), pid: std::process::id() }
    }
}

/// Connecting a datagram socket sends nothing: the system only looks up its routes.
fn local_address(peer: IpAddr) -> io::Result<IpAddr> {
    const ANY_PORT: u16 = 9;
    let unspecified: IpAddr = match peer {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((unspecified, 0))?;
    socket.connect((peer, ANY_PORT))?;
    Ok(socket.local_addr()?.ip())
}

/// For a [`Runtime::connect`]: tries each address that a host was resolved to, and tells of the last failure what failed.
///
/// # Errors
///
/// The host was not resolved, or has no address, or none of them can be connected to.
pub async fn connect_each<S, F>(
    address: &Address,
    resolved: io::Result<Vec<SocketAddr>>,
    connect: impl Fn(SocketAddr) -> F,
) -> io::Result<S>
where
    F: Future<Output = io::Result<S>>,
{
    let named =
        |what: &dyn Display, error: io::Error| io::Error::new(error.kind(), format!("{what}: {error}"));
    let resolved = resolved.map_err(|error| named(&"cannot resolve the host", error))?;
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for peer in resolved {
        match connect(peer).await {
            Ok(stream) => return Ok(stream),
            // The client adds the address, but a host's name does not say which of its own it was.
            Err(error) if peer.ip().to_string() == address.host() => failure = error,
            Err(error) => failure = named(&peer, error),
        }
    }
    Err(failure)
}

/// A task could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SpawnError {
    reason: Cow<'static, str>,
}

impl SpawnError {
    /// An error with a reason that says what to do.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: reason.into() }
    }
}

/// The one part of a runtime that handles use. They have no type parameter for the runtime, so that they are the same
/// types whatever it is.
pub(crate) trait Clock: Send + Sync {
    fn now(&self) -> Instant;
}

impl<R: Runtime> Clock for R {
    fn now(&self) -> Instant {
        Runtime::now(self)
    }
}
