//! Compressed bodies, seen from the outside.

mod kinds;

#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod damaged;
#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod limits;
#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod lz4;
#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod round_trips;
#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod support;
#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod vectors;
#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod zlib;
#[cfg(all(feature = "zlib", feature = "lz4", feature = "zstd"))]
mod zstd;
