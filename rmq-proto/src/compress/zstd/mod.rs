//! Zstandard frames (RFC 8878).
//!
//! Read by our own code. The decoder of `ruzstd` takes memory for what a frame declares, a window of 2 MiB for any small
//! body of a Java producer, and holds the output twice; a firm limit is worth more here. As all of the output is kept, it is
//! the window too: a window costs nothing, however large, and an offset beyond it that the frame has output for is let pass.
//! `ruzstd` does the writing.

mod bits;
mod block;
mod codes;
mod fse;
mod huffman;
mod literals;
mod sequences;

use alloc::vec::Vec;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use twox_hash::XxHash64;

use self::block::Blocks;
use super::input::{Input, check, decompress_frames};
use super::output::{Output, Room};
use super::{Compression, DecompressError};

const KIND: Compression = Compression::Zstd;

const MAGIC: u32 = 0xFD2F_B528;

// The first byte of a frame's header.
const SINGLE_SEGMENT: u8 = 0x20;
const RESERVED: u8 = 0x08;
const CHECKSUM: u8 = 0x04;

pub(super) fn decompress(input: &[u8], room: Room) -> Result<Vec<u8>, DecompressError> {
    decompress_frames(KIND, MAGIC, input, room, frame)
}

/// What the header of a frame says (RFC 8878, 3.1.1.1).
struct Header {
    window_size: u64,
    content_size: Option<u64>,
    has_checksum: bool,
}

impl Header {
    fn read(input: &mut Input<'_>) -> Result<Self, DecompressError> {
        let start = input.offset();
        let flags = input.u8()?;
        if flags & RESERVED != 0 {
            return Err(input.corrupt(start, "a reserved bit of the frame is set"));
        }
        let is_single = flags & SINGLE_SEGMENT != 0;
        let window_size = if is_single { None } else { Some(window_size(input.u8()?)) };
        if number(input.take([0, 1, 2, 4][usize::from(flags & 3)])?) != 0 {
            return Err(DecompressError::Dictionary { kind: KIND });
        }
        let content_size = match flags >> 6 {
            0 if is_single => Some(number(input.take(1)?)),
            0 => None,
            1 => Some(number(input.take(2)?) + 256),
            2 => Some(number(input.take(4)?)),
            _ => Some(number(input.take(8)?)),
        };
        // A frame of a single segment has its content for a window, and says how large it is.
        let window_size = window_size.or(content_size).unwrap_or(0);
        Ok(Self { window_size, content_size, has_checksum: flags & CHECKSUM != 0 })
    }
}

fn window_size(descriptor: u8) -> u64 {
    let base = 1 << (10 + (descriptor >> 3));
    base + base / 8 * u64::from(descriptor & 7)
}

/// A number of up to eight bytes, the first one least significant.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn frame(input: &mut Input<'_>, out: &mut Output) -> Result<(), DecompressError> {
    let start = input.offset();
    let header = Header::read(input)?;
    let content_start = out.len();
    // Below 2^63 bytes are in memory, so widening what is left loses nothing.
    if header.content_size.is_some_and(|size| size > out.left() as u64) {
        return Err(out.too_long());
    }
    let mut blocks = Blocks::new(header.window_size, content_start);
    while blocks.next(input, out)? {}
    let content = out.since(content_start);
    if header.content_size.is_some_and(|size| size != content.len() as u64) {
        return Err(input.corrupt(start, "the content has not the size that the frame says"));
    }
    if header.has_checksum {
        // The lower half is what is written.
        check(input, "content", XxHash64::oneshot(0, content) as u32)?;
    }
    Ok(())
}

pub(super) fn compress(level: u8, plain: &[u8]) -> Vec<u8> {
    let level = if level == 0 { CompressionLevel::Uncompressed } else { CompressionLevel::Fastest };
    compress_to_vec(plain, level)
}
