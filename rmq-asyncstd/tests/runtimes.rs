//! The scenarios that all runtimes share, on smol and on async-std.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing step fails the test; one that runs against the model says so"
)]
#![cfg(any(feature = "smol", feature = "async-std"))]

#[path = "../../rmq-driver/tests/runtimes/mod.rs"]
mod suite;

use std::future::Future;

use suite::on;

#[cfg(feature = "smol")]
struct Smol;

#[cfg(feature = "smol")]
impl suite::Host for Smol {
    type Runtime = rmq_asyncstd::smol::Smol;

    fn start() -> Self {
        Self
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        smol::block_on(future)
    }
}

#[cfg(feature = "smol")]
on! { on_smol, Smol }

#[cfg(feature = "async-std")]
struct AsyncStd;

#[cfg(feature = "async-std")]
impl suite::Host for AsyncStd {
    type Runtime = rmq_asyncstd::async_std::AsyncStd;

    fn start() -> Self {
        Self
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        async_std::task::block_on(future)
    }
}

#[cfg(feature = "async-std")]
on! { on_async_std, AsyncStd }
