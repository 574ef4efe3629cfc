//! A runtime of one's own, and its adapter: what [`Runtime`] asks for, over nothing but the standard library.
//!
//! [`Own`] is one thread that runs tasks. The standard library cannot tell which of many sockets has something, so this one has all
//! their tasks look every millisecond; a runtime of yours asks the system (epoll, kqueue, IOCP) at that place. All else is as
//! it would be anywhere: see `docs/adapters.md`.
//!
//! `cargo run -p rmq-driver --example own_runtime` runs on a model; with `-- --name-server 127.0.0.1:9876`, or
//! `RMQ_NAME_SERVER=127.0.0.1:9876` before it, on a cluster.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what an example is for")]
#![expect(
    clippy::disallowed_methods,
    reason = "an adapter brings the clocks; it is the driver that has none"
)]

mod common;
mod executor;

use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::time::{self, Duration, SystemTime, UNIX_EPOCH};

use common::{Cluster, Failure};
use executor::{Executor, Sleep, on_thread};
use futures_io::{AsyncRead, AsyncWrite};
use rmq_core::{Address, Instant};
use rmq_driver::{Client, Message, Runtime, SpawnError, connect_each, resolve};

const TOPIC: &str = "ExampleOwnRuntime";
const SENDS: usize = 100;

/// The adapter. Its time begins when it is made.
#[derive(Clone)]
struct Own {
    executor: Executor,
    epoch: time::Instant,
}

impl Runtime for Own {
    type Stream = Stream;
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        Instant::ZERO + self.epoch.elapsed()
    }

    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn seed(&self) -> u64 {
        RandomState::new().hash_one(self.unix_ms())
    }

    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<Stream>> + Send + 'static {
        let (executor, address) = (self.executor.clone(), address.clone());
        async move {
            let resolved = resolve(&address).await;
            // Connecting blocks here. A runtime that does it by itself needs no thread.
            let tcp =
                connect_each(&address, resolved, |peer| on_thread(move || TcpStream::connect(peer))).await?;
            tcp.set_nodelay(true)?;
            tcp.set_nonblocking(true)?;
            Ok(Stream { executor, tcp })
        }
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        self.executor.sleep_until(self.epoch + Duration::from_micros(at.as_micros()))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        self.executor
            .spawn(task)
            .map_err(|error| SpawnError::new(format!("the system starts no thread: {error}")))
    }
}

/// A socket that does not block. It is asked each time it is polled, so whatever arrived before a timer went off is read first.
struct Stream {
    executor: Executor,
    tcp: TcpStream,
}

impl Stream {
    fn unless_blocked<T>(&self, cx: &Context<'_>, done: io::Result<T>) -> Poll<io::Result<T>> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.executor.wake_at_tick(cx.waker());
                Poll::Pending
            }
            done => Poll::Ready(done),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let done = self.tcp.read(buf);
        self.unless_blocked(cx, done)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let done = self.tcp.write(buf);
        self.unless_blocked(cx, done)
    }

    /// Worth having: the driver hands over all that waits in one call, large bodies uncopied.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = self.tcp.write_vectored(bufs);
        self.unless_blocked(cx, done)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.tcp.shutdown(Shutdown::Write))
    }
}

async fn run(executor: Executor) -> Result<(), Failure> {
    let cluster = Cluster::open()?;
    // An adapter that is a crate has an alias for `Client<Own>`, and `Own: Default`, for `start()`.
    let own = Own { executor: executor.clone(), epoch: time::Instant::now() };
    let client = Client::<Own>::builder().name_server(&cluster.name_server).start_on(own)?;
    let producer = client.producer("example-own-runtime")?;

    let sent = producer.send(Message::new(TOPIC, "hello")).await?;
    println!("{}: {} in {} at offset {}", sent.status, sent.message_id, sent.queue, sent.queue_offset);

    // All at a time: a send begins when it is first polled.
    let mut sends: Vec<_> = (0..SENDS).map(|n| producer.send(Message::new(TOPIC, format!("{n}")))).collect();
    poll_fn(|cx| {
        let mut failure = None;
        sends.retain_mut(|send| match Pin::new(send).poll(cx) {
            Poll::Pending => true,
            Poll::Ready(sent) => {
                failure = sent.err().or_else(|| failure.take());
                false
            }
        });
        match failure {
            Some(error) => Poll::Ready(Err(error)),
            None if sends.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
    .await?;
    println!("{SENDS} more are stored");

    client.shutdown().await?;
    Ok(())
}

fn main() -> ExitCode {
    let executor = Executor::default();
    let (tell, told) = mpsc::channel();
    let running = run(executor.clone());
    let spawned = executor.spawn(async move {
        // It is listened to until it is told.
        let _ = tell.send(running.await);
    });
    common::exit(spawned.map_err(Failure::from).and_then(|()| told.recv()?))
}
