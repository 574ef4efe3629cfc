//! Finite state entropy (RFC 8878, 4.1): symbols by how probable they are.

use alloc::vec::Vec;

use super::bits::{Backward, Forward};
use crate::compress::error::Flaw;

/// What a state says: its symbol, and how to get from it to the next state.
#[derive(Clone, Copy, Default)]
struct Entry {
    symbol: u8,
    /// How many bits are read.
    bits: u8,
    /// What is added to them.
    base: u16,
}

/// The states of one kind of symbols: two to the power of `log`.
pub(super) struct Table {
    log: u32,
    entries: Vec<Entry>,
}

impl Table {
    /// The table that always says the same symbol.
    pub(super) fn of_one(symbol: u8) -> Self {
        Self { log: 0, entries: Vec::from([Entry { symbol, bits: 0, base: 0 }]) }
    }

    /// Reads a description of probabilities (RFC 8878, 4.1.1). Returns how many bytes it takes, too.
    pub(super) fn read(bytes: &[u8], max_log: u32, max_symbol: u8) -> Result<(Self, usize), Flaw> {
        const CUT_OFF: Flaw = Flaw::Rule("a table of probabilities is cut off");
        const WRONG_SUM: Flaw = Flaw::Rule("the probabilities of a table do not add up");
        let mut bits = Forward::new(bytes);
        let log = bits.read(4).ok_or(CUT_OFF)? + 5;
        if log > max_log {
            return Err(Flaw::Rule("a table of probabilities has more states than it may"));
        }
        let mut probabilities = Vec::with_capacity(usize::from(max_symbol) + 1);
        let mut left = 1 << log;
        while left > 0 {
            if probabilities.len() > max_symbol.into() {
                return Err(Flaw::Rule("a table of probabilities has symbols that do not exist"));
            }
            let probability = read_probability(&mut bits, left).ok_or(CUT_OFF)?;
            probabilities.push(probability);
            left = left.checked_sub(probability.unsigned_abs().into()).ok_or(WRONG_SUM)?;
            if probability == 0 {
                read_zeros(&mut bits, &mut probabilities, max_symbol).ok_or(CUT_OFF)?;
            }
        }
        Ok((Self::of(log, &probabilities), bits.bytes_read()))
    }

    /// The table of these probabilities, which add up to two to the power of `log`, at most 512; -1 counts as 1.
    pub(super) fn of(log: u32, probabilities: &[i16]) -> Self {
        let size = 1 << log;
        let mut entries = Vec::from_iter(core::iter::repeat_n(Entry::default(), size));
        // There are at most 256 symbols.
        let symbols = || probabilities.iter().enumerate().map(|(symbol, &of)| (symbol as u8, of));
        // Symbols that are hardly ever there have one state each, from the end on.
        let mut end = size;
        for (symbol, _) in symbols().filter(|(_, probability)| *probability == -1) {
            end -= 1;
            entries[end].symbol = symbol;
        }
        let step = (size >> 1) + (size >> 3) + 3;
        let mut at = 0;
        for (symbol, probability) in symbols() {
            for _ in 0..probability {
                entries[at].symbol = symbol;
                at = (at + step) & (size - 1);
                while at >= end {
                    at = (at + step) & (size - 1);
                }
            }
        }
        let mut next: Vec<_> = probabilities.iter().map(|of| u32::from(of.unsigned_abs())).collect();
        for entry in &mut entries {
            let next = &mut next[usize::from(entry.symbol)];
            let bits = log - next.ilog2();
            // Both are below the size of the table.
            (entry.bits, entry.base) = (bits as u8, ((*next << bits) - size as u32) as u16);
            *next += 1;
        }
        Self { log, entries }
    }
}

/// The next probability, where `left` is what the ones that follow add up to.
fn read_probability(bits: &mut Forward<'_>, left: u32) -> Option<i16> {
    // Of 0 to left + 1, the lower numbers take one bit less.
    let count = (left + 1).ilog2() + 1;
    let value = bits.read(count)?;
    let half = 1 << (count - 1);
    let short = (1 << count) - 1 - (left + 1);
    let low = value & (half - 1);
    let value = if low < short {
        bits.unread_bit();
        low
    } else if value >= half {
        value - short
    } else {
        value
    };
    // At most 513.
    Some(value as i16 - 1)
}

/// Zeros that follow a zero are counted, in steps of three.
fn read_zeros(bits: &mut Forward<'_>, probabilities: &mut Vec<i16>, max_symbol: u8) -> Option<()> {
    loop {
        let count = bits.read(2)?;
        let len = probabilities.len() + count as usize;
        // Longer than it may be is found by the caller.
        probabilities.resize(len.min(usize::from(max_symbol) + 1), 0);
        if count < 3 {
            return Some(());
        }
    }
}

/// A walk over the states of a table.
pub(super) struct State<'a> {
    table: &'a Table,
    entry: Entry,
}

impl<'a> State<'a> {
    pub(super) fn begin(table: &'a Table, bits: &mut Backward<'_>) -> Self {
        Self { table, entry: table.entries[bits.read(table.log) as usize] }
    }

    pub(super) fn symbol(&self) -> u8 {
        self.entry.symbol
    }

    pub(super) fn advance(&mut self, bits: &mut Backward<'_>) {
        // The states that a state leads to are all in the table.
        let next = u32::from(self.entry.base) + bits.read(self.entry.bits.into());
        self.entry = self.table.entries[next as usize];
    }
}
