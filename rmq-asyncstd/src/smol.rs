//! Clients for smol. `start()` works anywhere, and the client's futures can be awaited anywhere: under `smol::block_on`, in a
//! `smol::spawn`, or in an executor of one's own.
//!
//! Sockets and timers are those of [async-io](async_io), smol's own reactor. The client's task has a thread of its own, which
//! waits for the reactor as `smol::block_on` does: whatever a program does in its tasks, heartbeats go out, and no executor
//! stands between a socket and the client. The thread ends with the client.

use std::future::Future;
use std::io;
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use async_io::{Async, Timer};
use rmq_driver::rmq_core::{Address, Instant};
use rmq_driver::{Runtime, SpawnError, connect_each, resolve};

use crate::clock::{self, Clock};

/// A client whose sockets and timers are smol's.
pub type Client = rmq_driver::Client<Smol>;

/// A builder of such clients.
pub type ClientBuilder = rmq_driver::ClientBuilder<Smol>;

/// Smol, as the driver needs it. Its time begins when it is made.
#[derive(Clone, Copy, Debug)]
pub struct Smol(Clock);

impl Default for Smol {
    fn default() -> Self {
        Self(Clock::start())
    }
}

/// A [`Timer`] that says nothing but that it is over.
#[derive(Debug)]
pub struct Sleep(Timer);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}

impl Runtime for Smol {
    type Stream = Async<TcpStream>;
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        self.0.now()
    }

    fn unix_ms(&self) -> u64 {
        clock::unix_ms()
    }

    fn seed(&self) -> u64 {
        clock::seed()
    }

    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static {
        connect(address.clone())
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        Sleep(Timer::at(self.0.at(at)))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        let thread = thread::Builder::new().name(THREAD.to_owned());
        match thread.spawn(move || async_io::block_on(task)) {
            Ok(_) => Ok(()),
            Err(error) => Err(SpawnError::new(format!("the system starts no thread: {error}"))),
        }
    }
}

/// The name of a client's thread.
const THREAD: &str = "rmq-client";

async fn connect(address: Address) -> io::Result<Async<TcpStream>> {
    let resolved = resolve(&address).await;
    connect_each(&address, resolved, async |peer| {
        let stream = Async::<TcpStream>::connect(peer).await?;
        stream.get_ref().set_nodelay(true)?;
        Ok(stream)
    })
    .await
}
