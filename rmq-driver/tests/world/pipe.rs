//! Streams in memory whose every step a test controls.

use std::collections::{BTreeSet, VecDeque};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};

/// All streams that were ever opened, in that order.
#[derive(Clone, Default)]
pub(crate) struct Pipes {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    ends: Vec<End>,
    refused: BTreeSet<String>,
    silent: BTreeSet<String>,
    chunk: Option<usize>,
    room: Option<usize>,
}

pub(crate) struct End {
    pub(crate) address: String,
    /// What the client wrote and the peer has not taken.
    pub(crate) written: Vec<u8>,
    /// What the peer answered and the client has not read.
    pub(crate) unread: VecDeque<u8>,
    /// Bytes that are taken before the writer has to wait.
    pub(crate) room: usize,
    /// Most bytes per read and write.
    pub(crate) chunk: usize,
    pub(crate) peer_closed: bool,
    /// Writes fail; what was answered can still be read.
    pub(crate) broken: bool,
    /// Writes panic.
    pub(crate) cursed: bool,
    /// The client dropped it.
    pub(crate) dropped: bool,
    pub(crate) writes: usize,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipes {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn refuse(&self, address: &str) {
        self.lock().refused.insert(address.into());
    }

    /// Connects to the address succeed again.
    #[allow(dead_code, reason = "the tests of what is told need it")]
    pub(crate) fn accept(&self, address: &str) {
        let mut state = self.lock();
        state.refused.remove(address);
        state.silent.remove(address);
    }

    /// Connects to the address never end.
    pub(crate) fn swallow(&self, address: &str) {
        self.lock().silent.insert(address.into());
    }

    /// New streams carry so many bytes at a time.
    pub(crate) fn chunk(&self, bytes: usize) {
        self.lock().chunk = Some(bytes);
    }

    /// New streams take so many bytes before their writers have to wait.
    pub(crate) fn room(&self, bytes: usize) {
        self.lock().room = Some(bytes);
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().ends.len()
    }

    pub(crate) fn open(&self) -> usize {
        self.lock().ends.iter().filter(|end| !end.dropped).count()
    }

    pub(crate) fn connect(&self, address: String) -> impl Future<Output = io::Result<Pipe>> + Send + 'static {
        let pipes = self.clone();
        poll_fn(move |_| {
            let mut state = pipes.lock();
            if state.silent.contains(&address) {
                return Poll::Pending;
            }
            if state.refused.contains(&address) {
                return Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into()));
            }
            let index = state.ends.len();
            let end = End {
                address: address.clone(),
                written: Vec::new(),
                unread: VecDeque::new(),
                room: state.room.unwrap_or(usize::MAX),
                chunk: state.chunk.unwrap_or(usize::MAX),
                peer_closed: false,
                broken: false,
                cursed: false,
                dropped: false,
                writes: 0,
                reader: None,
                writer: None,
            };
            state.ends.push(end);
            Poll::Ready(Ok(Pipe { pipes: pipes.clone(), index }))
        })
    }

    /// Looks at a stream, or changes it, and wakes the client if it has reason to look too.
    pub(crate) fn with<T>(&self, index: usize, look: impl FnOnce(&mut End) -> T) -> T {
        let mut state = self.lock();
        let end = &mut state.ends[index];
        let result = look(end);
        let readable = !end.unread.is_empty() || end.peer_closed;
        let writable = end.room > 0 || end.broken;
        let wakers = [readable.then(|| end.reader.take()), writable.then(|| end.writer.take())];
        drop(state);
        wakers.into_iter().flatten().flatten().for_each(Waker::wake);
        result
    }
}

/// The client's end.
pub(crate) struct Pipe {
    pipes: Pipes,
    index: usize,
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut state = self.pipes.lock();
        let end = &mut state.ends[self.index];
        if end.unread.is_empty() && !end.peer_closed {
            end.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let len = end.unread.len().min(buf.len()).min(end.chunk);
        for (slot, byte) in buf.iter_mut().zip(end.unread.drain(..len)) {
            *slot = byte;
        }
        Poll::Ready(Ok(len))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.pipes.lock();
        if state.ends[self.index].cursed {
            drop(state);
            panic!("the stream is cursed");
        }
        let end = &mut state.ends[self.index];
        if end.broken {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let all = bufs.iter().map(|buf| buf.len()).sum::<usize>();
        let len = all.min(end.room).min(end.chunk);
        if len == 0 {
            end.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        end.writes += 1;
        end.room -= len;
        end.written.extend(bufs.iter().flat_map(|buf| buf.iter()).take(len));
        Poll::Ready(Ok(len))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.pipes.lock().ends[self.index].dropped = true;
    }
}
