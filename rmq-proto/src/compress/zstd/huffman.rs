//! Huffman codes of literals (RFC 8878, 4.2).

use alloc::vec::Vec;

use super::bits::Backward;
use super::fse;
use crate::compress::error::Flaw;

/// No code has more bits.
const MAX_BITS: u32 = 11;

/// The last symbol has no weight written, and there are 256 at most.
const MAX_WEIGHTS: usize = 255;

/// A description that begins with this or more has weights of four bits each, and says how many.
const DIRECT: u8 = 128;

/// The symbol of a code, and how many bits the code has.
#[derive(Clone, Copy, Default)]
struct Entry {
    symbol: u8,
    bits: u8,
}

/// By the next `max_bits` bits, the symbol that they begin with.
pub(super) struct Table {
    max_bits: u32,
    entries: Vec<Entry>,
}

impl Table {
    /// Reads a description (RFC 8878, 4.2.1). Returns how many bytes it takes, too.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, usize), Flaw> {
        const CUT_OFF: Flaw = Flaw::Rule("a Huffman table is cut off");
        let (&first, rest) = bytes.split_first().ok_or(CUT_OFF)?;
        let (len, weights) = if first < DIRECT {
            let len = first.into();
            (len, read_compressed_weights(rest.get(..len).ok_or(CUT_OFF)?)?)
        } else {
            let count = usize::from(first - DIRECT) + 1;
            let len = count.div_ceil(2);
            let pairs = rest.get(..len).ok_or(CUT_OFF)?;
            let weights = pairs.iter().flat_map(|pair| [pair >> 4, pair & 0xF]);
            (len, weights.take(count).collect())
        };
        Ok((Self::of(weights)?, 1 + len))
    }

    /// The table of these weights and the one that they lack. A symbol with a weight has two to the power of it, less one,
    /// entries; the weights fill the table.
    fn of(mut weights: Vec<u8>) -> Result<Self, Flaw> {
        let entries_of = |weight: u8| if weight == 0 { 0 } else { 1_u32 << (weight - 1) };
        if weights.iter().any(|weight| u32::from(*weight) > MAX_BITS) {
            return Err(Flaw::Rule("a Huffman code is longer than it may be"));
        }
        let sum: u32 = weights.iter().copied().map(entries_of).sum();
        let max_bits = sum.checked_ilog2().ok_or(Flaw::Rule("a Huffman table is empty"))? + 1;
        if max_bits > MAX_BITS {
            return Err(Flaw::Rule("a Huffman code is longer than it may be"));
        }
        let size = 1 << max_bits;
        let missing: u32 = size - sum;
        if !missing.is_power_of_two() {
            return Err(Flaw::Rule("the weights of a Huffman table do not add up"));
        }
        // At most 11.
        weights.push(missing.ilog2() as u8 + 1);
        let mut entries = Vec::with_capacity(size as usize);
        for weight in 1..=max_bits as u8 {
            let bits = max_bits as u8 + 1 - weight;
            for (symbol, _) in weights.iter().enumerate().filter(|(_, of)| **of == weight) {
                // There are at most 256 symbols.
                let entry = Entry { symbol: symbol as u8, bits };
                entries.extend(core::iter::repeat_n(entry, entries_of(weight) as usize));
            }
        }
        Ok(Self { max_bits, entries })
    }

    /// Reads `count` symbols, which must be all that there are in `stream`.
    pub(super) fn decode(&self, stream: &[u8], count: usize, out: &mut Vec<u8>) -> Result<(), Flaw> {
        const WRONG_END: Flaw = Flaw::Rule("literals end before or behind the end of their bits");
        let mut bits = Backward::new(stream).ok_or(WRONG_END)?;
        for _ in 0..count {
            // The table has an entry for all numbers of so many bits.
            let entry = self.entries[bits.peek(self.max_bits) as usize];
            bits.skip(entry.bits.into());
            out.push(entry.symbol);
        }
        if bits.is_spent() { Ok(()) } else { Err(WRONG_END) }
    }
}

/// Weights written by two states that take turns (RFC 8878, 4.2.1.2).
fn read_compressed_weights(bytes: &[u8]) -> Result<Vec<u8>, Flaw> {
    const MAX_LOG: u32 = 6;
    // A larger weight is refused with the weights that are written out.
    const MAX_SYMBOL: u8 = 255;
    let (table, len) = fse::Table::read(bytes, MAX_LOG, MAX_SYMBOL)?;
    let stream = bytes.get(len..).unwrap_or_default();
    const CUT_OFF: Flaw = Flaw::Rule("the weights of a Huffman table are cut off");
    let mut bits = Backward::new(stream).ok_or(CUT_OFF)?;
    let mut state = fse::State::begin(&table, &mut bits);
    let mut other = fse::State::begin(&table, &mut bits);
    if bits.is_overdrawn() {
        return Err(CUT_OFF);
    }
    let mut weights = Vec::with_capacity(MAX_WEIGHTS + 1);
    while weights.len() < MAX_WEIGHTS {
        weights.push(state.symbol());
        state.advance(&mut bits);
        // The bits end when one state cannot go on; the other still has a symbol.
        if bits.is_overdrawn() {
            weights.push(other.symbol());
            break;
        }
        core::mem::swap(&mut state, &mut other);
    }
    if bits.is_overdrawn() && weights.len() <= MAX_WEIGHTS {
        Ok(weights)
    } else {
        Err(Flaw::Rule("a Huffman table has too many weights"))
    }
}
