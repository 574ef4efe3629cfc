//! Clients on async-std, which starts its threads by itself: `start()` works anywhere.
//!
//! async-std was discontinued by its authors in March 2025, and gets no fixes. This is for programs that are on it still; new
//! ones take [smol](https://docs.rs/smol), which has the same parts, and the module `smol` here.

use std::future::Future;
use std::io;
use std::pin::Pin;

use async_std::net::{TcpStream, ToSocketAddrs};
use rmq_driver::rmq_core::{Address, Instant};
use rmq_driver::{Runtime, SpawnError, connect_each};

use crate::clock::{self, Clock};

/// A client whose task runs on async-std.
pub type Client = rmq_driver::Client<AsyncStd>;

/// A builder of such clients.
pub type ClientBuilder = rmq_driver::ClientBuilder<AsyncStd>;

/// async-std, as the driver needs it. Its time begins when it is made.
#[derive(Clone, Copy, Debug)]
pub struct AsyncStd(Clock);

impl Default for AsyncStd {
    fn default() -> Self {
        Self(Clock::start())
    }
}

impl Runtime for AsyncStd {
    type Stream = TcpStream;
    type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

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

    fn sleep_until(&self, at: Instant) -> Self::Sleep {
        Box::pin(async_std::task::sleep(at.saturating_since(self.0.now())))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        async_std::task::spawn(task);
        Ok(())
    }
}

async fn connect(address: Address) -> io::Result<TcpStream> {
    let resolved = (address.host(), address.port()).to_socket_addrs().await;
    connect_each(&address, resolved.map(Iterator::collect), async |peer| {
        let stream = TcpStream::connect(peer).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    })
    .await
}
