//! LZ4 frames, version 1.

use alloc::vec::Vec;

use lz4_flex::block::{self, DecompressError as BlockError};
use twox_hash::XxHash32;

use super::error::Flaw;
use super::input::{Input, check, decompress_frames};
use super::output::{Output, Room};
use super::{Compression, DecompressError};

const KIND: Compression = Compression::Lz4;

const MAGIC: u32 = 0x184D_2204;

// The first byte of a frame's descriptor.
const VERSION_MASK: u8 = 0xC0;
const VERSION: u8 = 0x40;
const INDEPENDENT: u8 = 0x20;
const BLOCK_CHECKSUM: u8 = 0x10;
const CONTENT_SIZE: u8 = 0x08;
const CONTENT_CHECKSUM: u8 = 0x04;
const RESERVED: u8 = 0x02;
const DICTIONARY: u8 = 0x01;

/// The bits of the second byte that are not the size of the blocks.
const SECOND_RESERVED: u8 = 0x8F;

/// Sizes of the largest block, by number: 4 to 7.
const BLOCK_SIZES: [(u8, usize); 4] = [(4, 64 << 10), (5, 256 << 10), (6, 1 << 20), (7, 4 << 20)];

/// The bit of a block's length word that says that the block is stored as it is.
const STORED: u32 = 1 << 31;

/// How far back a block can refer.
const WINDOW: usize = 64 << 10;

pub(super) fn decompress(input: &[u8], room: Room) -> Result<Vec<u8>, DecompressError> {
    decompress_frames(KIND, MAGIC, input, room, frame)
}

/// What the descriptor of a frame says.
struct Descriptor {
    flags: u8,
    block_size: usize,
    content_size: Option<u64>,
}

impl Descriptor {
    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn read(input: &mut Input<'_>) -> Result<Self, DecompressError> {
        let start = input.offset();
        let [flags, second] = input.array()?;
        if flags & VERSION_MASK != VERSION {
            return Err(input.corrupt(start, "the version of the frame is not 1"));
        }
        let block_size = BLOCK_SIZES.iter().find(|(number, _)| second & !SECOND_RESERVED == number << 4);
        let Some(&(_, block_size)) = block_size.filter(|_| second & SECOND_RESERVED == 0) else {
            return Err(input.corrupt(start + 1, "there are no blocks of that size"));
        };
        let content_size = match flags & CONTENT_SIZE {
            0 => None,
            _ => Some(u64::from_le_bytes(input.array()?)),
        };
        if flags & DICTIONARY != 0 {
            input.u32()?;
        }
        let found = second_byte(XxHash32::oneshot(0, input.since(start)));
        let stated = input.u8()?;
        if stated != found {
            let (stated, found) = (stated.into(), found.into());
            return Err(DecompressError::Checksum { kind: KIND, part: "frame header", stated, found });
        }
        if flags & RESERVED != 0 {
            return Err(input.corrupt(start, "a reserved bit is set"));
        }
        if flags & DICTIONARY != 0 {
            return Err(DecompressError::Dictionary { kind: KIND });
        }
        Ok(Self { flags, block_size, content_size })
    }
}

/// What of a descriptor's checksum is written.
fn second_byte(hash: u32) -> u8 {
    let [_, second, _, _] = hash.to_le_bytes();
    second
}

fn frame(input: &mut Input<'_>, out: &mut Output) -> Result<(), DecompressError> {
    let start = input.offset();
    let descriptor = Descriptor::read(input)?;
    let content_start = out.len();
    // Below 2^63 bytes are in memory, so widening what is left loses nothing.
    if descriptor.content_size.is_some_and(|size| size > out.left() as u64) {
        return Err(out.too_long());
    }
    while block(input, out, &descriptor, content_start)? {}
    let content = out.since(content_start);
    if descriptor.content_size.is_some_and(|size| size != content.len() as u64) {
        return Err(input.corrupt(start, "the content has not the size that the frame says"));
    }
    if descriptor.has(CONTENT_CHECKSUM) {
        check(input, "content", XxHash32::oneshot(0, content))?;
    }
    Ok(())
}

/// Reads one block; `false` when it is the mark that ends the frame.
fn block(
    input: &mut Input<'_>,
    out: &mut Output,
    descriptor: &Descriptor,
    content_start: usize,
) -> Result<bool, DecompressError> {
    let start = input.offset();
    let word = input.u32()?;
    if word == 0 {
        return Ok(false);
    }
    let len = usize::try_from(word & !STORED).unwrap_or(usize::MAX);
    if len > descriptor.block_size {
        return Err(input.corrupt(start, "a block is larger than the frame allows"));
    }
    let bytes = input.take(len)?;
    if descriptor.has(BLOCK_CHECKSUM) {
        check(input, "block", XxHash32::oneshot(0, bytes))?;
    }
    if word & STORED != 0 {
        out.extend(bytes)?;
    } else {
        let history = if descriptor.has(INDEPENDENT) { out.len() } else { content_start };
        decompress_block(bytes, out, descriptor.block_size, history).map_err(|flaw| flaw.at(KIND, start))?;
    }
    Ok(true)
}

/// Decompresses a block that can refer to the output from `history` on. A block does not say how long it gets, so it is
/// tried with room that grows, each time fourfold.
fn decompress_block(
    compressed: &[u8],
    out: &mut Output,
    block_size: usize,
    history: usize,
) -> Result<(), Flaw> {
    let mut wanted = compressed.len();
    loop {
        wanted = wanted.saturating_mul(4).min(block_size);
        let room = wanted.min(out.left());
        let result = out.write_with(room, |bytes, start| {
            let (before, room) = bytes.split_at_mut(start);
            let history = history.max(start.saturating_sub(WINDOW));
            let history = before.get(history..).unwrap_or_default();
            match block::decompress_into_with_dict(compressed, room, history) {
                Ok(written) => (written, Ok(())),
                Err(error) => (0, Err(error)),
            }
        })?;
        return match result {
            Ok(()) => Ok(()),
            Err(BlockError::OutputTooSmall { .. }) if room < wanted => Err(out.too_long().into()),
            Err(BlockError::OutputTooSmall { .. }) if wanted < block_size => continue,
            Err(BlockError::OutputTooSmall { .. }) => {
                Err(Flaw::Rule("a block becomes larger than the frame allows"))
            }
            Err(BlockError::OffsetZero | BlockError::OffsetOutOfBounds) => {
                Err(Flaw::Rule("a block repeats what is not there"))
            }
            Err(_) => Err(Flaw::Rule("a block ends in the middle of a sequence")),
        };
    }
}

/// One frame of independent blocks of the smallest size that holds all, or of the largest size.
pub(super) fn compress(plain: &[u8]) -> Vec<u8> {
    let [.., largest] = BLOCK_SIZES;
    let fitting = BLOCK_SIZES.into_iter().find(|(_, size)| plain.len() <= *size);
    let (number, block_size) = fitting.unwrap_or(largest);
    let descriptor = [VERSION | INDEPENDENT, number << 4];
    let mut out = Vec::with_capacity(plain.len() / 2 + 16);
    out.extend(MAGIC.to_le_bytes());
    out.extend(descriptor);
    out.push(second_byte(XxHash32::oneshot(0, &descriptor)));
    for plain in plain.chunks(block_size) {
        let compressed = block::compress(plain);
        let (bytes, stored) =
            if compressed.len() < plain.len() { (&*compressed, 0) } else { (plain, STORED) };
        // A block has at most 4 MiB.
        out.extend((bytes.len() as u32 | stored).to_le_bytes());
        out.extend_from_slice(bytes);
    }
    out.extend([0; 4]);
    out
}
