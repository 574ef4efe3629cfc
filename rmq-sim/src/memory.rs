//! The model behind streams in memory.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes, BytesMut};
use futures_io::{AsyncRead, AsyncWrite, IoSlice, IoSliceMut};

use crate::model::{Cluster, ClusterConfig, PeerConn, PeerOutput};

/// Unread answers of a stream, in bytes, beyond which its writer has to wait.
const UNREAD_LIMIT: usize = 4 * 1024 * 1024;

/// A [`Cluster`] that is reached through [`MemoryStream`]s. Clones share the cluster.
///
/// What is written to a stream is carried out within the write, so that an answer is there as soon as its request is.
#[derive(Clone)]
pub struct ModelNetwork {
    shared: Arc<Mutex<Shared>>,
    unix_ms: Arc<dyn Fn() -> u64 + Send + Sync>,
}

struct Shared {
    cluster: Cluster,
    pipes: BTreeMap<PeerConn, Pipe>,
}

/// The client's end of a connection.
#[derive(Default)]
struct Pipe {
    unread: VecDeque<Bytes>,
    unread_len: usize,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl ModelNetwork {
    /// A new cluster. `unix_ms` is the servers' clock: milliseconds since the Unix epoch.
    pub fn new(config: ClusterConfig, unix_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        let shared = Shared { cluster: Cluster::new(config), pipes: BTreeMap::new() };
        Self { shared: Arc::new(Mutex::new(shared)), unix_ms: Arc::new(unix_ms) }
    }

    /// Opens a stream to a server.
    ///
    /// # Errors
    ///
    /// `ConnectionRefused` when no server of the cluster has this address, or the one that has it refuses.
    pub fn connect(&self, address: &str) -> io::Result<MemoryStream> {
        let mut shared = lock(&self.shared);
        let Some(conn) = shared.cluster.connect(address) else {
            let text = format!("nobody listens at {address} in the model");
            return Err(io::Error::new(io::ErrorKind::ConnectionRefused, text));
        };
        shared.pipes.insert(conn, Pipe::default());
        Ok(MemoryStream { network: self.clone(), conn })
    }

    /// Looks at the cluster, or changes it. Streams stand still meanwhile, so `look` must not use the network or them.
    pub fn cluster<R>(&self, look: impl FnOnce(&mut Cluster) -> R) -> R {
        let unix_ms = (self.unix_ms)();
        let mut shared = lock(&self.shared);
        shared.cluster.advance(unix_ms);
        let result = look(&mut shared.cluster);
        let wakers = shared.deliver();
        drop(shared);
        wake(wakers);
        result
    }
}

impl fmt::Debug for ModelNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelNetwork").finish_non_exhaustive()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakers are woken without the lock: they may poll the stream at once.
fn wake(wakers: Vec<Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}

impl Shared {
    /// Hands the cluster's outputs to the streams and returns whom to wake.
    fn deliver(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        while let Some(output) = self.cluster.poll_output() {
            match output {
                PeerOutput::Write { conn, data } => {
                    if let Some(pipe) = self.pipes.get_mut(&conn) {
                        pipe.unread_len += data.len();
                        pipe.unread.push_back(data);
                        wakers.extend(pipe.reader.take());
                    }
                }
                PeerOutput::Close { conn } => {
                    if let Some(pipe) = self.pipes.get_mut(&conn) {
                        pipe.closed = true;
                        wakers.extend(pipe.reader.take());
                        wakers.extend(pipe.writer.take());
                    }
                }
            }
        }
        wakers
    }
}

/// A client's stream to a server of a [`ModelNetwork`]. Dropping it disconnects.
#[derive(Debug)]
pub struct MemoryStream {
    network: ModelNetwork,
    conn: PeerConn,
}

impl MemoryStream {
    /// `data` is only called when the bytes are taken.
    fn write(&self, cx: &Context<'_>, data: impl FnOnce() -> Bytes) -> Poll<io::Result<usize>> {
        let unix_ms = (self.network.unix_ms)();
        let mut shared = lock(&self.network.shared);
        let Shared { cluster, pipes } = &mut *shared;
        let pipe = match pipes.get_mut(&self.conn) {
            Some(pipe) if !pipe.closed => pipe,
            _ => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        };
        if pipe.unread_len > UNREAD_LIMIT {
            pipe.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let data = data();
        let len = data.len();
        cluster.receive(unix_ms, self.conn, data);
        let wakers = shared.deliver();
        drop(shared);
        wake(wakers);
        Poll::Ready(Ok(len))
    }

    fn disconnect(&self) {
        let mut shared = lock(&self.network.shared);
        shared.cluster.disconnect(self.conn);
        shared.pipes.remove(&self.conn);
        let wakers = shared.deliver();
        drop(shared);
        wake(wakers);
    }
}

impl AsyncRead for MemoryStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_read_vectored(cx, &mut [IoSliceMut::new(buf)])
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut shared = lock(&self.network.shared);
        let Some(pipe) = shared.pipes.get_mut(&self.conn) else {
            return Poll::Ready(Ok(0));
        };
        if pipe.unread_len == 0 && !pipe.closed {
            pipe.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let read = bufs.iter_mut().map(|buf| pipe.read(buf)).sum();
        let writer = if pipe.unread_len > UNREAD_LIMIT { None } else { pipe.writer.take() };
        drop(shared);
        wake(writer.into_iter().collect());
        Poll::Ready(Ok(read))
    }
}

impl Pipe {
    fn read(&mut self, buf: &mut [u8]) -> usize {
        let mut read = 0;
        while let Some(front) = self.unread.front_mut() {
            let len = front.len().min(buf.len() - read);
            front.copy_to_slice(&mut buf[read..read + len]);
            read += len;
            if !front.is_empty() {
                break;
            }
            self.unread.pop_front();
        }
        self.unread_len -= read;
        read
    }
}

impl AsyncWrite for MemoryStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.write(cx, || Bytes::copy_from_slice(buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, || {
            let mut all = BytesMut::with_capacity(bufs.iter().map(|buf| buf.len()).sum());
            bufs.iter().for_each(|buf| all.extend_from_slice(buf));
            all.freeze()
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.disconnect();
        Poll::Ready(Ok(()))
    }
}

impl Drop for MemoryStream {
    fn drop(&mut self) {
        self.disconnect();
    }
}
