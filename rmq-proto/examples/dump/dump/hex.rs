//! Hex that comes in pieces.

use thiserror::Error;

/// Why a text is not hex. Offsets are in bytes, from the start of the text.
#[derive(Debug, Error)]
pub(super) enum HexError {
    #[error(
        "bad hex: no digit at offset {offset} but `{}` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        .found.escape_ascii()
    )]
    Digit { offset: u64, found: u8 },
    #[error("bad hex: the text ends in the middle of a byte, at offset {offset}")]
    End { offset: u64 },
}

/// Takes a text piece by piece.
#[derive(Default)]
pub(super) struct HexDecoder {
    /// The first digit of a byte.
    high: Option<u8>,
    /// Where the next piece begins.
    offset: u64,
}

impl HexDecoder {
    /// Appends to `out` the bytes that end in this piece; after an error, those before it.
    pub(super) fn decode(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), HexError> {
        for byte in text {
            // A digit has four bits.
            let digit = char::from(*byte).to_digit(16).map(|digit| digit as u8);
            match (self.high.take(), digit, *byte) {
                (None, Some(digit), _) => self.high = Some(digit),
                (Some(high), Some(digit), _) => out.push(high << 4 | digit),
                (Some(0), None, b'x' | b'X') => {}
                (None, None, b':' | b',') => {}
                (None, None, blank) if blank.is_ascii_whitespace() => {}
                (_, None, found) => return Err(HexError::Digit { offset: self.offset, found }),
            }
            self.offset += 1;
        }
        Ok(())
    }

    /// Ends the text.
    pub(super) fn finish(self) -> Result<(), HexError> {
        match self.high {
            Some(_) => Err(HexError::End { offset: self.offset }),
            None => Ok(()),
        }
    }
}

/// Bytes as hex, in lower case.
pub(super) fn encode(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xF)]).collect()
}
