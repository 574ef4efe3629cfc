//! The blocks of a frame (RFC 8878, 3.1.1.2).

use alloc::vec::Vec;

use super::sequences::{self, History, Writer};
use super::{KIND, huffman, literals, number};
use crate::compress::DecompressError;
use crate::compress::error::Flaw;
use crate::compress::input::Input;
use crate::compress::output::Output;

/// No block is longer, compressed or not.
const MAX_LEN: usize = 128 * 1024;

/// What the blocks of a frame have in common.
pub(super) struct Blocks {
    max_len: usize,
    /// Where the frame begins in the output.
    start: usize,
    codes: Option<huffman::Table>,
    history: History,
    /// For the literals of one block.
    buffer: Vec<u8>,
}

impl Blocks {
    pub(super) fn new(window_size: u64, start: usize) -> Self {
        let max_len = usize::try_from(window_size).map_or(MAX_LEN, |size| size.min(MAX_LEN));
        Self { max_len, start, codes: None, history: History::new(), buffer: Vec::new() }
    }

    /// Reads one block and writes its output; `false` when it is the last.
    pub(super) fn next(&mut self, input: &mut Input<'_>, out: &mut Output) -> Result<bool, DecompressError> {
        let start = input.offset();
        // Three bytes.
        let header = number(input.take(3)?) as u32;
        let len = (header >> 3) as usize;
        if len > self.max_len {
            return Err(input.corrupt(start, "a block is larger than it may be"));
        }
        match header >> 1 & 3 {
            0 => out.extend(input.take(len)?)?,
            1 => {
                let byte = input.u8()?;
                out.fill(byte, len)?;
            }
            2 => {
                let block = input.take(len)?;
                self.decompress(block, out).map_err(|flaw| flaw.at(KIND, start))?;
            }
            _ => return Err(input.corrupt(start, "a block has a type that does not exist")),
        }
        Ok(header & 1 == 0)
    }

    fn decompress(&mut self, block: &[u8], out: &mut Output) -> Result<(), Flaw> {
        let literals = literals::read(block, self.max_len, out, &mut self.codes, &mut self.buffer)?;
        let section = block.get(literals.section_len..).unwrap_or_default();
        let (frame_start, room) = (self.start, self.max_len);
        let writer = Writer { out, frame_start, room, literals: literals.bytes };
        sequences::run(section, &mut self.history, writer)
    }
}
