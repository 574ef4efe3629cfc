//! The sequences of a block (RFC 8878, 3.1.1.3.2): some literals, then a repetition of what came before, and so on.

use super::bits::Backward;
use super::codes::{Code, LITERAL_LENGTH, LITERAL_LENGTHS, MATCH_LENGTH, MATCH_LENGTHS, OFFSET};
use super::fse::{State, Table};
use crate::compress::error::Flaw;
use crate::compress::output::Output;

/// What the sequences of a block take from the blocks before it in its frame.
pub(super) struct History {
    tables: Tables,
    recent: Recent,
}

impl History {
    pub(super) fn new() -> Self {
        let tables = Tables { literal_lengths: None, offsets: None, match_lengths: None };
        Self { tables, recent: Recent([1, 4, 8]) }
    }
}

/// The tables used last.
struct Tables {
    literal_lengths: Option<Table>,
    offsets: Option<Table>,
    match_lengths: Option<Table>,
}

impl Tables {
    /// Reads the tables that the byte `modes` tells of. Returns how many bytes they take.
    fn read(&mut self, modes: u8, bytes: &[u8]) -> Result<usize, Flaw> {
        let mut at = 0;
        let kinds = [
            (LITERAL_LENGTH, &mut self.literal_lengths),
            (OFFSET, &mut self.offsets),
            (MATCH_LENGTH, &mut self.match_lengths),
        ];
        for ((kind, table), shift) in kinds.into_iter().zip([6, 4, 2]) {
            at += kind.read(modes >> shift & 3, bytes.get(at..).unwrap_or_default(), table)?;
        }
        Ok(at)
    }
}

/// The offsets used last, the latest first.
struct Recent([u32; 3]);

impl Recent {
    /// The offset that a value stands for (RFC 8878, 3.1.1.5).
    fn offset(&mut self, value: u32, literal_length: u32) -> u32 {
        let [first, second, third] = self.0;
        // Without literals the latest offset would only make the repetition before it longer, so counting begins behind it.
        let recent = match (value, literal_length) {
            (1..=3, 0) => value + 1,
            (1..=3, _) => value,
            _ => 0,
        };
        self.0 = match recent {
            1 => [first, second, third],
            2 => [second, first, third],
            3 => [third, first, second],
            // May be 0, which nothing can be repeated from.
            4 => [first.saturating_sub(1), first, second],
            _ => [value.saturating_sub(3), first, second],
        };
        self.0[0]
    }
}

struct Sequence {
    literals: usize,
    distance: usize,
    len: usize,
}

/// The bits of a block's sequences.
struct Reader<'a> {
    bits: Backward<'a>,
    literal_length: State<'a>,
    offset: State<'a>,
    match_length: State<'a>,
}

impl<'a> Reader<'a> {
    fn begin(stream: &'a [u8], tables: &'a Tables) -> Option<Self> {
        let mut bits = Backward::new(stream)?;
        Some(Self {
            literal_length: State::begin(tables.literal_lengths.as_ref()?, &mut bits),
            offset: State::begin(tables.offsets.as_ref()?, &mut bits),
            match_length: State::begin(tables.match_lengths.as_ref()?, &mut bits),
            bits,
        })
    }

    fn read(&mut self, recent: &mut Recent) -> Sequence {
        let offset_bits = u32::from(self.offset.symbol());
        let value = (1 << offset_bits) + self.bits.read(offset_bits);
        let len = self.extended(MATCH_LENGTHS[usize::from(self.match_length.symbol())]);
        let literals = self.extended(LITERAL_LENGTHS[usize::from(self.literal_length.symbol())]);
        let distance = recent.offset(value, literals);
        Sequence { literals: literals as usize, distance: distance as usize, len: len as usize }
    }

    fn extended(&mut self, (lowest, bits): Code) -> u32 {
        lowest + self.bits.read(bits.into())
    }

    fn advance(&mut self) {
        self.literal_length.advance(&mut self.bits);
        self.match_length.advance(&mut self.bits);
        self.offset.advance(&mut self.bits);
    }
}

/// Writes a block's output.
pub(super) struct Writer<'a> {
    pub(super) out: &'a mut Output,
    /// Where the frame begins in the output. Nothing before it can be repeated.
    pub(super) frame_start: usize,
    /// How much longer the block may get.
    pub(super) room: usize,
    /// The literals that no sequence has taken yet.
    pub(super) literals: &'a [u8],
}

impl Writer<'_> {
    fn write(&mut self, sequence: &Sequence) -> Result<(), Flaw> {
        self.write_literals(sequence.literals)?;
        self.take_room(sequence.len)?;
        if sequence.distance > self.out.len() - self.frame_start
            || !self.out.repeat(sequence.distance, sequence.len)?
        {
            return Err(Flaw::Rule("a sequence repeats what is not there"));
        }
        Ok(())
    }

    fn write_literals(&mut self, count: usize) -> Result<(), Flaw> {
        self.take_room(count)?;
        let taken = self.literals.split_at_checked(count);
        let (these, left) = taken.ok_or(Flaw::Rule("sequences take more literals than there are"))?;
        self.literals = left;
        Ok(self.out.extend(these)?)
    }

    fn take_room(&mut self, len: usize) -> Result<(), Flaw> {
        let left = self.room.checked_sub(len);
        self.room = left.ok_or(Flaw::Rule("a block becomes larger than it may"))?;
        Ok(())
    }
}

/// Reads the section of sequences and writes what they say; the literals that are left over follow the last sequence.
pub(super) fn run(section: &[u8], history: &mut History, mut writer: Writer<'_>) -> Result<(), Flaw> {
    const CUT_OFF: Flaw = Flaw::Rule("sequences are cut off");
    let (count, rest) = read_count(section).ok_or(CUT_OFF)?;
    if count > 0 {
        let (modes, rest) = rest.split_first().ok_or(CUT_OFF)?;
        if modes & 3 != 0 {
            return Err(Flaw::Rule("a reserved bit of the sequences is set"));
        }
        let History { tables, recent } = history;
        let len = tables.read(*modes, rest)?;
        let stream = rest.get(len..).unwrap_or_default();
        let mut reader = Reader::begin(stream, tables).ok_or(CUT_OFF)?;
        for left in (0..count).rev() {
            writer.write(&reader.read(recent))?;
            if left > 0 {
                reader.advance();
            }
        }
        if !reader.bits.is_spent() {
            return Err(Flaw::Rule("sequences end before or behind the end of their bits"));
        }
    } else if !rest.is_empty() {
        return Err(Flaw::Rule("there are bytes behind a block without sequences"));
    }
    writer.write_literals(writer.literals.len())
}

/// How many sequences there are: one to three bytes.
fn read_count(section: &[u8]) -> Option<(u32, &[u8])> {
    let (&first, rest) = section.split_first()?;
    match first {
        0..128 => Some((first.into(), rest)),
        128..255 => {
            let (&second, rest) = rest.split_first()?;
            Some((u32::from_be_bytes([0, 0, first - 128, second]), rest))
        }
        255 => {
            let (&[low, high], rest) = rest.split_first_chunk()?;
            Some((u32::from(u16::from_le_bytes([low, high])) + 0x7F00, rest))
        }
    }
}
