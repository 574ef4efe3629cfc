//! A driver's runtime whose connections lead into the model.

use std::future::{self, Future};
use std::io;
use std::net::IpAddr;

use rmq_core::{Address, Identity, Instant};
use rmq_driver::{Runtime, SpawnError};

use crate::memory::{MemoryStream, ModelNetwork};

impl ModelNetwork {
    /// The runtime `inner`, but for connections: those lead to this network's servers, and nowhere else.
    pub fn runtime<R: Runtime>(&self, inner: R) -> WithModel<R> {
        WithModel { inner, network: self.clone() }
    }
}

/// A runtime whose connections lead into a [`ModelNetwork`]. Made by [`ModelNetwork::runtime`].
#[derive(Clone, Debug)]
pub struct WithModel<R> {
    inner: R,
    network: ModelNetwork,
}

impl<R: Runtime> Runtime for WithModel<R> {
    type Stream = MemoryStream;
    type Sleep = R::Sleep;

    fn now(&self) -> Instant {
        self.inner.now()
    }

    fn unix_ms(&self) -> u64 {
        self.inner.unix_ms()
    }

    fn seed(&self) -> u64 {
        self.inner.seed()
    }

    /// Names are not resolved: the model knows its servers by the addresses that it says.
    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<MemoryStream>> + Send + 'static {
        future::ready(self.network.connect(&address.to_string()))
    }

    fn sleep_until(&self, at: Instant) -> R::Sleep {
        self.inner.sleep_until(at)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        self.inner.spawn(task)
    }

    fn identity(&self, name_server: Option<IpAddr>) -> Identity {
        self.inner.identity(name_server)
    }
}
