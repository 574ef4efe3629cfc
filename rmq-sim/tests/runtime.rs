//! The decorator that leads a driver's connections into the model.

use std::future::{self, Future};
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rmq_core::{Address, Instant};
use rmq_driver::{Runtime, SpawnError};
use rmq_sim::memory::{MemoryStream, ModelNetwork};
use rmq_sim::model::ClusterConfig;

/// A runtime that must not be asked to connect.
struct Inner;

impl Runtime for Inner {
    type Stream = MemoryStream;
    type Sleep = future::Ready<()>;

    fn now(&self) -> Instant {
        Instant::ZERO
    }

    fn unix_ms(&self) -> u64 {
        1_234
    }

    fn seed(&self) -> u64 {
        42
    }

    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<MemoryStream>> + Send + 'static {
        let text = format!("{address} was to be opened for real");
        future::ready(Err(io::Error::other(text)))
    }

    fn sleep_until(&self, _: Instant) -> future::Ready<()> {
        future::ready(())
    }

    fn spawn(&self, _: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        Err(SpawnError::new("nothing runs here"))
    }
}

#[test]
fn connections_lead_into_the_model_and_nowhere_else() {
    let network = ModelNetwork::new(ClusterConfig::default(), || 0);
    let runtime = network.runtime(Inner);
    assert_eq!((runtime.unix_ms(), runtime.seed(), runtime.now()), (1_234, 42, Instant::ZERO));
    assert!(runtime.spawn(async {}).is_err());
    for (address, expected) in [
        ("127.0.0.1:9876", None),
        ("127.0.0.1:9877", None),
        ("127.0.0.1:9878", Some(io::ErrorKind::ConnectionRefused)),
        ("rocketmq.example:9876", Some(io::ErrorKind::ConnectionRefused)),
    ] {
        let connecting = pin!(runtime.connect(&address.parse().unwrap()));
        let Poll::Ready(opened) = connecting.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("{address}: the model is there at once");
        };
        assert_eq!(opened.err().map(|error| error.kind()), expected, "{address}");
    }
}
