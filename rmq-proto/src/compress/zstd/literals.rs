//! The literals of a block (RFC 8878, 3.1.1.3.1).

use alloc::vec::Vec;

use super::huffman::Table;
use super::number;
use crate::compress::error::Flaw;
use crate::compress::output::Output;

/// The bytes of a block that are not repetitions, and how long their section is.
pub(super) struct Literals<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) section_len: usize,
}

/// What the first bytes of the section say.
struct Header {
    len: usize,
    form: Form,
    /// How many literals there are.
    count: usize,
}

enum Form {
    Stored,
    /// One byte over and over.
    Repeated,
    Coded {
        /// Length of what follows the header.
        len: usize,
        streams: usize,
        /// Whether the codes are described here, or are those of the block before.
        has_table: bool,
    },
}

impl Header {
    fn read(section: &[u8]) -> Option<Self> {
        let first = *section.first()?;
        let header = |len: usize| section.get(..len).map(number);
        let size_format = first >> 2 & 3;
        if let form @ (0 | 1) = first & 3 {
            let (len, shift) = match size_format {
                0 | 2 => (1, 3),
                1 => (2, 4),
                _ => (3, 4),
            };
            let form = if form == 0 { Form::Stored } else { Form::Repeated };
            // Less than 2^20.
            return Some(Self { len, form, count: (header(len)? >> shift) as usize });
        }
        let (len, streams, bits) = match size_format {
            0 => (3, 1, 10),
            1 => (3, 4, 10),
            2 => (4, 4, 14),
            _ => (5, 4, 18),
        };
        // Both less than 2^18.
        let field = |shift| Some((header(len)? >> shift & ((1_u64 << bits) - 1)) as usize);
        let (count, coded_len) = (field(4)?, field(4 + bits)?);
        Some(Self { len, form: Form::Coded { len: coded_len, streams, has_table: first & 3 == 2 }, count })
    }
}

/// Reads the section that the block begins with. There are at most `max` literals, and room for all of them in the output;
/// they lie in the block or in `buffer`. The codes are kept for blocks that do without a table.
pub(super) fn read<'a>(
    block: &'a [u8],
    max: usize,
    out: &Output,
    codes: &mut Option<Table>,
    buffer: &'a mut Vec<u8>,
) -> Result<Literals<'a>, Flaw> {
    const CUT_OFF: Flaw = Flaw::Rule("literals are cut off");
    let header = Header::read(block).ok_or(CUT_OFF)?;
    if header.count > max {
        return Err(Flaw::Rule("there are more literals than a block can have"));
    }
    if header.count > out.left() {
        return Err(out.too_long().into());
    }
    let rest = block.get(header.len..).unwrap_or_default();
    let (bytes, len) = match header.form {
        Form::Stored => (rest.get(..header.count).ok_or(CUT_OFF)?, header.count),
        Form::Repeated => {
            buffer.clear();
            buffer.resize(header.count, *rest.first().ok_or(CUT_OFF)?);
            (&buffer[..], 1)
        }
        Form::Coded { len, streams, has_table } => {
            let mut coded = rest.get(..len).ok_or(CUT_OFF)?;
            if has_table {
                let (table, table_len) = Table::read(coded)?;
                coded = coded.get(table_len..).unwrap_or_default();
                *codes = Some(table);
            }
            let codes = codes
                .as_ref()
                .ok_or(Flaw::Rule("literals use codes of a block before, and there is none"))?;
            buffer.clear();
            decode(coded, streams, header.count, codes, buffer)?;
            (&buffer[..], len)
        }
    };
    Ok(Literals { bytes, section_len: header.len + len })
}

/// Decodes one stream, or four whose lengths are written before them, all but the last.
fn decode(
    coded: &[u8],
    streams: usize,
    count: usize,
    codes: &Table,
    buffer: &mut Vec<u8>,
) -> Result<(), Flaw> {
    const CUT_OFF: Flaw = Flaw::Rule("the streams of literals are cut off");
    // A literal takes at least one bit.
    if count > coded.len().saturating_mul(8) {
        return Err(CUT_OFF);
    }
    buffer.reserve_exact(count);
    if streams == 1 {
        return codes.decode(coded, count, buffer);
    }
    let (lengths, mut rest) = coded.split_first_chunk::<6>().ok_or(CUT_OFF)?;
    let each = count.div_ceil(4);
    for length in lengths.chunks_exact(2) {
        // Of two bytes.
        let length = number(length) as usize;
        let (stream, behind) = rest.split_at_checked(length).ok_or(CUT_OFF)?;
        codes.decode(stream, each, buffer)?;
        rest = behind;
    }
    let last = count.checked_sub(3 * each).ok_or(CUT_OFF)?;
    codes.decode(rest, last, buffer)
}
