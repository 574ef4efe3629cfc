//! Compressed bodies (wire §6.3): zlib, LZ4 and zstd.
//!
//! Each format is a cargo feature (`zlib`, `lz4`, `zstd`, all of them on by default). Without it the format is still known
//! by name, and reading or writing it is an error that names the feature.
//!
//! What a body says about its own size is never believed: memory grows with what comes out, up to a limit that the caller
//! sets. At any moment [`decompress`] holds no more than that limit and [`WORKING_LEN`] besides.

// With a format left out, what only that format uses is left over.
#![cfg_attr(not(all(feature = "zlib", feature = "lz4", feature = "zstd")), allow(dead_code, unused))]

mod error;
mod input;
#[cfg(feature = "lz4")]
mod lz4;
mod output;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;

use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

pub use self::error::{CompressError, DecompressError};
use self::output::Room;

/// Default limit of a decompressed body: 16 MiB, the limit of a frame (wire §1.2).
pub const DEFAULT_MAX_LEN: usize = 16 * 1024 * 1024;

/// Level that Java producers compress with unless told otherwise (wire §6.3).
pub const DEFAULT_LEVEL: u8 = 5;

/// What decompressing takes at most, in bytes, besides the output: tables, and the literals of one block of zstd.
pub const WORKING_LEN: usize = 160 * 1024;

/// A format of compressed bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// A zlib stream (RFC 1950). The only format that consumers older than 4.9.4 know.
    Zlib,
    /// LZ4 frames.
    Lz4,
    /// Zstandard frames (RFC 8878).
    Zstd,
}

impl Compression {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Zlib, Self::Lz4, Self::Zstd];

    /// The format that bits 8 to 10 of a message's system flag say; `None` for 4 to 7, and for what is no such number.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            // 0 is what producers write that know nothing but zlib.
            0 | 3 => Some(Self::Zlib),
            1 => Some(Self::Lz4),
            2 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The number that producers write for the format: 1 to 3.
    pub const fn bits(self) -> u8 {
        match self {
            Self::Zlib => 3,
            Self::Lz4 => 1,
            Self::Zstd => 2,
        }
    }

    /// The format's own name: `zlib`, `LZ4` or `zstd`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zlib => "zlib",
            Self::Lz4 => "LZ4",
            Self::Zstd => "zstd",
        }
    }

    /// The cargo feature that brings the format.
    pub const fn feature(self) -> &'static str {
        match self {
            Self::Zlib => "zlib",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// Whether this build can read and write the format.
    pub const fn is_enabled(self) -> bool {
        match self {
            Self::Zlib => cfg!(feature = "zlib"),
            Self::Lz4 => cfg!(feature = "lz4"),
            Self::Zstd => cfg!(feature = "zstd"),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The plain bytes of a compressed body of at most `max_len` bytes; [`DEFAULT_MAX_LEN`] fits what brokers take.
///
/// - zlib: one stream, its checksum verified. Bytes behind the end of the stream are ignored, as Java ignores them. gzip
///   and raw deflate are refused, as Java refuses them: raw deflate has no checksum, so damage, or a plain body that was
///   flagged as compressed, could pass for a body.
/// - LZ4: one or more frames, with the checksums that they have verified; skippable frames are skipped. Nothing but
///   another frame may follow a frame.
/// - zstd: as LZ4.
///
/// # Errors
///
/// The bytes are not a whole and sound body of that format, the plain body has more than `max_len` bytes, or this build
/// cannot read the format.
pub fn decompress(kind: Compression, compressed: &[u8], max_len: usize) -> Result<Bytes, DecompressError> {
    // Output that grows moves, and then takes its old place and its new one. So what is longer than half the limit is
    // begun anew, in a place that it need not leave.
    let half = Room { max: max_len / 2, whole: false };
    let plain = match decompress_into(half, kind, compressed) {
        Err(DecompressError::TooLong { .. }) => {
            decompress_into(Room { max: max_len, whole: true }, kind, compressed)?
        }
        plain => plain?,
    };
    Ok(plain.into())
}

fn decompress_into(room: Room, kind: Compression, compressed: &[u8]) -> Result<Vec<u8>, DecompressError> {
    match kind {
        #[cfg(feature = "zlib")]
        Compression::Zlib => zlib::decompress(compressed, room),
        #[cfg(feature = "lz4")]
        Compression::Lz4 => lz4::decompress(compressed, room),
        #[cfg(feature = "zstd")]
        Compression::Zstd => zstd::decompress(compressed, room),
        #[cfg(not(all(feature = "zlib", feature = "lz4", feature = "zstd")))]
        _ => Err(DecompressError::Disabled { kind }),
    }
}

/// A compressed body of these bytes.
///
/// What `level` means is up to the format:
///
/// - zlib: 0 (stored) to 9 (smallest), as in Java; more means 9.
/// - LZ4: nothing, as in Java. One frame of independent blocks, without the checksums that a frame may leave out.
/// - zstd: 0 stores, anything else compresses in the one way there is, about as well as level 1 of the reference encoder.
///   One frame, without a checksum.
///
/// # Errors
///
/// This build cannot write the format.
pub fn compress(kind: Compression, level: u8, plain: &[u8]) -> Result<Bytes, CompressError> {
    let compressed: Vec<u8> = match kind {
        #[cfg(feature = "zlib")]
        Compression::Zlib => zlib::compress(level, plain),
        #[cfg(feature = "lz4")]
        Compression::Lz4 => lz4::compress(plain),
        #[cfg(feature = "zstd")]
        Compression::Zstd => zstd::compress(level, plain),
        #[cfg(not(all(feature = "zlib", feature = "lz4", feature = "zstd")))]
        _ => return Err(CompressError::Disabled { kind }),
    };
    Ok(compressed.into())
}
