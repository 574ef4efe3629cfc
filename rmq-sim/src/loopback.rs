//! The model behind real sockets on loopback, a thread per connection.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::model::{Cluster, ClusterConfig, ModelEvent, PeerConn, PeerOutput};

/// Bytes that are read at a time.
const READ_LEN: usize = 256 * 1024;

/// Most connections at a time; one more is closed at once.
const MAX_CONNECTIONS: usize = 4_096;

/// A client that takes nothing for so long is dropped.
const WRITE_STALL: Duration = Duration::from_secs(30);

/// Who is told what happens.
pub type Watcher = Box<dyn Fn(&ModelEvent) + Send + Sync>;

/// What a [`Server`] serves.
pub struct ServerConfig {
    /// The cluster. With port 0, the default here, the system picks free ports for all that
    /// [`more_name_server_ports`](ClusterConfig::more_name_server_ports) and
    /// [`broker_ports`](ClusterConfig::broker_ports) say nothing of; otherwise servers listen where the configuration
    /// says.
    pub cluster: ClusterConfig,
    /// Is called with each event, by the thread that brought it about. Default: none.
    pub watcher: Option<Watcher>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { cluster: ClusterConfig { port: 0, ..ClusterConfig::default() }, watcher: None }
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

/// A running model. Dropping it closes all connections and ends its threads.
///
/// An address that is told to [refuse](crate::model::Fault::Refuse) or [is down](Cluster::stop) still accepts here, and
/// closes at once.
pub struct Server {
    shared: Arc<Shared>,
    name_servers: Vec<SocketAddr>,
    acceptors: Vec<(SocketAddr, JoinHandle<()>)>,
}

struct Shared {
    state: Mutex<State>,
    watcher: Option<Watcher>,
    stopping: AtomicBool,
}

struct State {
    cluster: Cluster,
    links: BTreeMap<PeerConn, Arc<Link>>,
    threads: Vec<JoinHandle<()>>,
}

struct Link {
    stream: TcpStream,
    /// Held while writing, so that answers do not mix.
    writing: Mutex<()>,
}

impl Server {
    /// Listens on all addresses, and serves until it is dropped.
    ///
    /// # Errors
    ///
    /// An address that cannot be listened on, named in the error's text; the kind is the system's. A port beyond 65,535.
    pub fn start(config: ServerConfig) -> io::Result<Self> {
        let ServerConfig { mut cluster, watcher } = config;
        let (mut listeners, mut name_servers) = (Vec::new(), Vec::new());
        for index in 0..cluster.name_server_count() {
            let what = if index == 0 { "the name server".into() } else { format!("name server {index}") };
            let port = cluster.more_name_server_ports.get(index.wrapping_sub(1));
            let listener = listen(&cluster, port.copied(), index, &what)?;
            name_servers.push(listener.local_addr()?);
            listeners.push(listener);
        }
        let mut broker_ports = Vec::new();
        for index in 0..cluster.brokers {
            let port = cluster.broker_ports.get(index);
            let place = cluster.name_server_count() + index;
            let listener = listen(&cluster, port.copied(), place, &format!("broker {index}"))?;
            broker_ports.push(listener.local_addr()?.port());
            listeners.push(listener);
        }
        cluster.port = name_servers[0].port();
        cluster.more_name_server_ports = name_servers[1..].iter().map(SocketAddr::port).collect();
        cluster.broker_ports = broker_ports;
        let state = State { cluster: Cluster::new(cluster), links: BTreeMap::new(), threads: Vec::new() };
        let shared = Arc::new(Shared { state: Mutex::new(state), watcher, stopping: AtomicBool::new(false) });
        let mut server = Self { shared, name_servers, acceptors: Vec::new() };
        for listener in listeners {
            let address = listener.local_addr()?;
            let shared = Arc::clone(&server.shared);
            let acceptor = thread::Builder::new()
                .name(format!("model {address}"))
                .spawn(move || accept(&shared, &listener, address))?;
            server.acceptors.push((address, acceptor));
        }
        Ok(server)
    }

    /// Where clients find the first name server.
    pub fn name_server(&self) -> SocketAddr {
        self.name_servers[0]
    }

    /// Where clients find the name servers, in the order of their numbers.
    pub fn name_servers(&self) -> &[SocketAddr] {
        &self.name_servers
    }

    /// Looks at the cluster, or changes it. Clients wait meanwhile, so `look` must not wait for them.
    pub fn cluster<R>(&self, look: impl FnOnce(&mut Cluster) -> R) -> R {
        let mut state = self.shared.lock();
        state.cluster.advance(unix_ms());
        let result = look(&mut state.cluster);
        self.shared.settle(state);
        result
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        for (address, acceptor) in self.acceptors.drain(..) {
            // The acceptor waits for a connection: it gets one, and sees that it is to stop.
            drop(TcpStream::connect(address));
            drop(acceptor.join());
        }
        let mut state = self.shared.lock();
        for link in state.links.values() {
            drop(link.stream.shutdown(Shutdown::Both));
        }
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        for thread in threads {
            drop(thread.join());
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name_servers", &self.name_servers).finish_non_exhaustive()
    }
}

/// Listens on `port`, or else at its place in the row of ports that begins with the cluster's.
fn listen(cluster: &ClusterConfig, port: Option<u16>, place: usize, what: &str) -> io::Result<TcpListener> {
    let by_rule = usize::from(cluster.port) + place;
    let port = match port {
        Some(port) => port,
        None if cluster.port == 0 => 0,
        None => u16::try_from(by_rule).map_err(|_| {
            let text = format!("{what} would need port {by_rule}, beyond 65535");
            io::Error::new(io::ErrorKind::InvalidInput, text)
        })?,
    };
    let address = SocketAddr::new(cluster.host, port);
    TcpListener::bind(address).map_err(|error| {
        let text = match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("port {} for {what} is taken on {}", address.port(), address.ip())
            }
            _ => format!("cannot listen on {address} for {what}: {error}"),
        };
        io::Error::new(error.kind(), text)
    })
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener, address: SocketAddr) {
    let address = address.to_string();
    while !shared.stopping.load(Ordering::Acquire) {
        let opened = listener.accept().and_then(|(stream, from)| shared.open(&address, stream, from));
        if opened.is_err() {
            // Out of descriptors or threads, perhaps: some time for connections to end.
            thread::park_timeout(Duration::from_millis(10));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the servers' clock; real clients are connected")]
fn unix_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(self: &Arc<Self>, address: &str, stream: TcpStream, from: SocketAddr) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_STALL))?;
        let mut state = self.lock();
        if state.links.len() >= MAX_CONNECTIONS || self.stopping.load(Ordering::Acquire) {
            return Ok(());
        }
        let Some(conn) = state.cluster.connect_from(address, from) else {
            return Ok(());
        };
        let link = Arc::new(Link { stream, writing: Mutex::new(()) });
        let (shared, served) = (Arc::clone(self), Arc::clone(&link));
        let spawned =
            thread::Builder::new().name(conn.to_string()).spawn(move || shared.serve(conn, &served));
        match spawned {
            Ok(thread) => {
                state.threads.retain(|thread| !thread.is_finished());
                state.threads.push(thread);
                state.links.insert(conn, link);
            }
            Err(_) => state.cluster.disconnect(conn),
        }
        self.settle(state);
        Ok(())
    }

    fn serve(&self, conn: PeerConn, link: &Link) {
        let mut buffer = vec![0; READ_LEN];
        loop {
            let data = match (&link.stream).read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => Bytes::copy_from_slice(&buffer[..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let now = unix_ms();
            let mut state = self.lock();
            state.cluster.receive(now, conn, data);
            self.settle(state);
        }
        let mut state = self.lock();
        state.cluster.disconnect(conn);
        state.links.remove(&conn);
        self.settle(state);
    }

    /// Carries out what the cluster wants, and tells the watcher, both without the lock.
    fn settle(&self, mut state: MutexGuard<'_, State>) {
        let mut outputs = Vec::new();
        while let Some(output) = state.cluster.poll_output() {
            let (PeerOutput::Write { conn, .. } | PeerOutput::Close { conn }) = output;
            if let Some(link) = state.links.get(&conn) {
                outputs.push((Arc::clone(link), output));
            }
        }
        let mut events = Vec::new();
        while let Some(event) = state.cluster.poll_event() {
            events.push(event);
        }
        drop(state);
        for (link, output) in outputs {
            link.carry_out(&output);
        }
        if let Some(watcher) = &self.watcher {
            events.iter().for_each(watcher);
        }
    }
}

impl Link {
    /// A stream that cannot be written is shut down, which its reading thread notices.
    fn carry_out(&self, output: &PeerOutput) {
        let written = match output {
            PeerOutput::Write { data, .. } => {
                let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
                (&self.stream).write_all(data)
            }
            PeerOutput::Close { .. } => Err(io::ErrorKind::ConnectionAborted.into()),
        };
        if written.is_err() {
            drop(self.stream.shutdown(Shutdown::Both));
        }
    }
}
