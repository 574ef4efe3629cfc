//! A RocketMQ client for tokio.
//!
//! ```no_run
//! use rmq_tokio::{Client, Message};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::builder().name_server("127.0.0.1:9876").start()?;
//! let producer = client.producer("order-service")?;
//! let sent = producer.send(Message::new("orders", "hello").tag("created").key("order-42")).await?;
//! println!("{} in {} at offset {}", sent.message_id, sent.queue, sent.queue_offset);
//! client.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! A client needs a runtime with its I/O and time drivers on, which `#[tokio::main]` gives; `start()` must be called from
//! within it. One thread is enough. The feature `tls` adds TLS, by `TlsConfig`. Services are tested without a broker by the
//! feature `sim`, which adds a module of that name. All types but [`Tokio`] are those of [`rmq_driver`], whose page says how
//! it works.

#![forbid(unsafe_code)]

#[cfg(feature = "sim")]
pub mod sim;
mod stream;

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmq_driver::rmq_core::Instant;
pub use rmq_driver::*;
pub use stream::Stream;
use tokio::net::{TcpStream, lookup_host};
use tokio::runtime::Handle;

/// A client whose task runs on tokio.
pub type Client = rmq_driver::Client<Tokio>;

/// A builder of such clients.
pub type ClientBuilder = rmq_driver::ClientBuilder<Tokio>;

/// Tokio, as the driver needs it. Its time begins when it is made, and stands still with tokio's own under
/// `tokio::time::pause`.
#[derive(Clone, Copy, Debug)]
pub struct Tokio {
    epoch: tokio::time::Instant,
}

impl Default for Tokio {
    fn default() -> Self {
        Self { epoch: tokio::time::Instant::now() }
    }
}

impl Runtime for Tokio {
    type Stream = Stream;
    type Sleep = tokio::time::Sleep;

    fn now(&self) -> Instant {
        Instant::from_micros(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn seed(&self) -> u64 {
        RandomState::new().hash_one(self.unix_ms())
    }

    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static {
        connect(address.clone())
    }

    fn sleep_until(&self, at: Instant) -> Self::Sleep {
        tokio::time::sleep_until(self.epoch + Duration::from_micros(at.as_micros()))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        let handle = Handle::try_current().map_err(|_| {
            SpawnError::new("no tokio runtime here; call start() within one, such as #[tokio::main] makes")
        })?;
        // The loop yields by itself. Tokio's budget would make streams say that nothing is ready when something is, and
        // deadlines would then win over answers that are there.
        handle.spawn(tokio::task::unconstrained(task));
        Ok(())
    }
}

async fn connect(address: Address) -> io::Result<Stream> {
    let resolved = lookup_host((address.host(), address.port())).await.map(Iterator::collect);
    connect_each(&address, resolved, async |peer| {
        let stream = TcpStream::connect(peer).await?;
        stream.set_nodelay(true)?;
        Ok(Stream::new(stream))
    })
    .await
}

/// The code of the project's first page compiles, too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
