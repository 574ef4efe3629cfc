//! One stream: opening it, reading it, writing it.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use futures_io::{AsyncRead, AsyncWrite};
use rmq_core::{CloseReason, ConnId, Input, WriteData};

use crate::read_buffer::ReadBuffer;
use crate::stats::DriverStats;

/// Segments handed to one vectored write. Large bodies are segments of their own, small frames share one.
const SEGMENTS: usize = 64;

/// Reads of a stream that takes no more bytes: all that systems keep of one.
const LAST_READS: usize = 256;

/// A future that opens a stream.
pub(crate) type Connecting<S> = Pin<Box<dyn Future<Output = io::Result<S>> + Send>>;

/// What all connections of a loop share while they are polled.
pub(crate) struct Io<'a> {
    pub(crate) buffer: &'a mut ReadBuffer,
    pub(crate) inputs: &'a mut Vec<Input>,
    pub(crate) stats: &'a mut DriverStats,
}

pub(crate) struct Connection<S> {
    conn: ConnId,
    stage: Stage<S>,
    /// What the stream is polled with.
    waker: Waker,
    /// It is to be polled in the next turn.
    pub(crate) is_queued: bool,
}

enum Stage<S> {
    Connecting(Connecting<S>),
    Open(Open<S>),
}

struct Open<S> {
    stream: S,
    /// May have something to read: nobody said since it woke that it has not.
    readable: bool,
    /// May take bytes.
    writable: bool,
    /// What is left of the core's write.
    unwritten: VecDeque<Bytes>,
    /// Took bytes that it may not have passed on.
    unflushed: bool,
}

/// Nothing more comes of the stream.
struct Ended(CloseReason);

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self(CloseReason::Failed(error.to_string().into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(crate) fn new(conn: ConnId, connecting: Connecting<S>, waker: Waker) -> Self {
        Self { conn, stage: Stage::Connecting(connecting), waker, is_queued: false }
    }

    /// The stream woke, or may have something to say without.
    pub(crate) fn woken(&mut self) {
        if let Stage::Open(open) = &mut self.stage {
            open.readable = true;
            open.writable = true;
        }
    }

    /// Whether polling it again, without being woken, may bring something.
    pub(crate) fn is_ready(&self) -> bool {
        match &self.stage {
            Stage::Connecting(_) => false,
            Stage::Open(open) => open.readable || (open.writable && open.wants_write()),
        }
    }

    pub(crate) fn write(&mut self, data: WriteData) {
        if let Stage::Open(open) = &mut self.stage {
            open.unwritten.extend(data.into_segments());
        }
    }

    /// Does what can be done now, with so many reads at most. False when the connection has ended, which was then
    /// reported.
    pub(crate) fn poll(&mut self, io: &mut Io<'_>, reads: usize) -> bool {
        let conn = self.conn;
        let cx = &mut Context::from_waker(&self.waker);
        if let Stage::Connecting(connecting) = &mut self.stage {
            match connecting.as_mut().poll(cx) {
                Poll::Pending => return true,
                Poll::Ready(Ok(stream)) => {
                    io.inputs.push(Input::Connected { conn });
                    self.stage = Stage::Open(Open::new(stream));
                }
                Poll::Ready(Err(error)) => {
                    let Ended(reason) = error.into();
                    io.inputs.push(Input::Closed { conn, reason });
                    return false;
                }
            }
        }
        let Stage::Open(open) = &mut self.stage else { return true };
        match open.poll(conn, cx, io, reads) {
            Ok(()) => true,
            Err(Ended(reason)) => {
                io.inputs.push(Input::Closed { conn, reason });
                false
            }
        }
    }

    /// Closes the stream. It is asked once to say goodbye, as TLS does, and not waited for.
    pub(crate) fn close(self) {
        if let Stage::Open(mut open) = self.stage {
            let _ = Pin::new(&mut open.stream).poll_close(&mut Context::from_waker(&self.waker));
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Open<S> {
    fn new(stream: S) -> Self {
        Self { stream, readable: true, writable: true, unwritten: VecDeque::new(), unflushed: false }
    }

    fn wants_write(&self) -> bool {
        self.unflushed || !self.unwritten.is_empty()
    }

    fn poll(
        &mut self,
        conn: ConnId,
        cx: &mut Context<'_>,
        io: &mut Io<'_>,
        reads: usize,
    ) -> Result<(), Ended> {
        self.poll_read(conn, cx, io, reads)?;
        let written = self.poll_write(conn, cx, io);
        if written.is_err() {
            // The peer may have answered before it closed: those answers count, whatever the write says.
            self.readable = true;
            self.poll_read(conn, cx, io, LAST_READS)?;
        }
        written
    }

    fn poll_read(
        &mut self,
        conn: ConnId,
        cx: &mut Context<'_>,
        io: &mut Io<'_>,
        reads: usize,
    ) -> Result<(), Ended> {
        for _ in 0..reads {
            if !self.readable {
                break;
            }
            match Pin::new(&mut self.stream).poll_read(cx, io.buffer.space()) {
                Poll::Ready(Ok(0)) => {
                    io.stats.reads += 1;
                    return Err(Ended(CloseReason::PeerClosed));
                }
                Poll::Ready(Ok(len)) => {
                    io.stats.reads += 1;
                    io.inputs.push(Input::Received { conn, data: io.buffer.take(len) });
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error.into()),
                Poll::Pending => {
                    io.stats.empty_reads += 1;
                    self.readable = false;
                }
            }
        }
        Ok(())
    }

    fn poll_write(&mut self, conn: ConnId, cx: &mut Context<'_>, io: &mut Io<'_>) -> Result<(), Ended> {
        while self.writable && !self.unwritten.is_empty() {
            match self.write_some(cx) {
                Poll::Ready(Ok(0)) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Poll::Ready(Ok(bytes)) => {
                    io.stats.writes += 1;
                    self.unflushed = true;
                    self.advance(bytes);
                    io.inputs.push(Input::Written { conn, bytes });
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error.into()),
                Poll::Pending => {
                    io.stats.blocked_writes += 1;
                    self.writable = false;
                }
            }
        }
        if self.writable && self.unflushed {
            match Pin::new(&mut self.stream).poll_flush(cx) {
                Poll::Ready(flushed) => {
                    self.unflushed = false;
                    flushed?;
                }
                Poll::Pending => self.writable = false,
            }
        }
        Ok(())
    }

    fn write_some(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        if let [segment] = self.unwritten.make_contiguous() {
            return stream.poll_write(cx, segment);
        }
        let mut slices = [IoSlice::new(&[]); SEGMENTS];
        let mut count = 0;
        for (slice, segment) in slices.iter_mut().zip(&self.unwritten) {
            *slice = IoSlice::new(segment);
            count += 1;
        }
        stream.poll_write_vectored(cx, &slices[..count])
    }

    fn advance(&mut self, mut bytes: usize) {
        while let Some(segment) = self.unwritten.front_mut() {
            let len = segment.len().min(bytes);
            segment.advance(len);
            bytes -= len;
            if !segment.is_empty() {
                break;
            }
            self.unwritten.pop_front();
        }
    }
}
