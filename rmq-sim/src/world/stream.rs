//! Connections of async code into the world's network.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};

use super::World;
use super::ledger::Acknowledged;
use super::state::{Socket, State, keep};
use crate::net::{Ended, StreamId, StreamState};

/// Most bytes that one write offers to the network.
const OFFER: usize = 256 * 1024;

fn error(how: Ended) -> io::Error {
    let kind = match how {
        Ended::Refused => io::ErrorKind::ConnectionRefused,
        Ended::PeerClosed => io::ErrorKind::BrokenPipe,
        Ended::Reset => io::ErrorKind::ConnectionReset,
    };
    io::Error::new(kind, how.to_string())
}

/// A stream that is being opened. Never ends where the network swallows it; dropping it gives up.
#[derive(Debug)]
#[must_use = "nobody dials before the first poll"]
pub struct Connecting {
    world: World,
    client: u32,
    address: String,
    stream: Option<StreamId>,
}

impl Connecting {
    pub(super) const fn new(world: World, client: u32, address: String) -> Self {
        Self { world, client, address, stream: None }
    }
}

impl Future for Connecting {
    type Output = io::Result<SimStream>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { world, client, address, stream } = self.get_mut();
        let opened = world.with(|state, now| {
            let id = *stream.get_or_insert_with(|| {
                let id = state.network.connect(now, *client, address);
                state.sockets.insert(id, Socket::default());
                id
            });
            match state.network.state(id) {
                Some(StreamState::Dialing) => {
                    wait(state, id, cx, |socket| &mut socket.reader);
                    Poll::Pending
                }
                Some(StreamState::Ended(Ended::Refused)) | None => Poll::Ready(Err(error(Ended::Refused))),
                Some(StreamState::Open | StreamState::Ended(_)) => Poll::Ready(Ok(id)),
            }
        });
        opened.map_ok(|id| {
            *stream = None;
            SimStream { world: world.clone(), id }
        })
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        if let Some(id) = self.stream {
            close(&self.world, id);
        }
    }
}

/// A stream to a server of a [`World`]. Dropping it closes it; what was written still arrives.
///
/// Errors are those of sockets: `ConnectionReset` when it was reset, `BrokenPipe` for a write after the server closed it.
/// Reads and writes may be partial: bytes arrive in the network's pieces, and a write takes what fits into its buffer.
#[derive(Debug)]
pub struct SimStream {
    world: World,
    id: StreamId,
}

impl SimStream {
    fn write(&self, cx: &Context<'_>, data: &[Bytes]) -> Poll<io::Result<usize>> {
        let wanted = data.iter().map(Bytes::len).sum::<usize>();
        self.world.with(|state, now| {
            let taken = match state.network.write(now, self.id, data) {
                Ok(0) if wanted > 0 => {
                    wait(state, self.id, cx, |socket| &mut socket.writer);
                    return Poll::Pending;
                }
                Ok(taken) => taken,
                Err(how) => return Poll::Ready(Err(error(how))),
            };
            if let Some(socket) = state.sockets.get_mut(&self.id) {
                let mut left = taken;
                for part in data {
                    let len = part.len().min(left);
                    left -= len;
                    socket.tap.wrote(part.slice(..len));
                }
            }
            Poll::Ready(Ok(taken))
        })
    }
}

impl AsyncRead for SimStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let id = self.id;
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.world.with(|state, now| {
            if let Some(data) = state.network.read(id, buf.len()) {
                buf[..data.len()].copy_from_slice(&data);
                let len = data.len();
                let learned = state.sockets.get_mut(&id).map(|socket| socket.tap.read(data));
                for message in learned.into_iter().flatten() {
                    state.ledger.acknowledge(now, Acknowledged::MessageId(message));
                }
                return Poll::Ready(Ok(len));
            }
            match state.network.state(id) {
                Some(StreamState::Dialing | StreamState::Open) => {
                    wait(state, id, cx, |socket| &mut socket.reader);
                    Poll::Pending
                }
                Some(StreamState::Ended(Ended::PeerClosed)) | None => Poll::Ready(Ok(0)),
                Some(StreamState::Ended(how)) => Poll::Ready(Err(error(how))),
            }
        })
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let offered = &buf[..buf.len().min(OFFER)];
        self.write(cx, &[Bytes::copy_from_slice(offered)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut room = OFFER;
        let parts = bufs.iter().map(|buf| {
            let len = buf.len().min(room);
            room -= len;
            Bytes::copy_from_slice(&buf[..len])
        });
        let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        self.write(cx, &parts)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Closes both directions.
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        close(&self.world, self.id);
        Poll::Ready(Ok(()))
    }
}

impl Drop for SimStream {
    fn drop(&mut self) {
        close(&self.world, self.id);
    }
}

fn wait(
    state: &mut State,
    id: StreamId,
    cx: &Context<'_>,
    slot: impl FnOnce(&mut Socket) -> &mut Option<Waker>,
) {
    if let Some(socket) = state.sockets.get_mut(&id) {
        keep(slot(socket), cx, &mut state.discarded);
    }
}

fn close(world: &World, id: StreamId) {
    world.with(|state, now| {
        if let Some(socket) = state.sockets.remove(&id) {
            state.network.close(now, id);
            state.discarded.extend(socket.reader);
            state.discarded.extend(socket.writer);
        }
    });
}
