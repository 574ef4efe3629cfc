//! The scenarios that all runtimes share, on both of tokio's; and what only tokio has.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing step fails the test; one that runs against the model says so"
)]

#[path = "runtimes/own.rs"]
mod own;
#[path = "../../rmq-driver/tests/runtimes/mod.rs"]
mod suite;

use std::future::Future;

use rmq_tokio::Tokio;
use tokio::runtime::{Builder, Runtime};

use suite::on;

struct MultiThread(Runtime);

impl suite::Host for MultiThread {
    type Runtime = Tokio;

    fn start() -> Self {
        Self(Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap())
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }
}

struct CurrentThread(Runtime);

impl suite::Host for CurrentThread {
    type Runtime = Tokio;

    fn start() -> Self {
        Self(Builder::new_current_thread().enable_all().build().unwrap())
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }
}

on! { multi_thread, MultiThread }
on! { current_thread, CurrentThread }
