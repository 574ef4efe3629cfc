//! Messages in store format, inner batches and batch bodies: wire §6.

mod batch;
mod captured;
mod damaged;
mod examples;
mod golden;
#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod inflate;
mod inner_batch;
mod records;
mod refused;
mod round_trips;
mod support;
mod sys_flag;
