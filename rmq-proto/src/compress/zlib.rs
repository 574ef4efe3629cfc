//! zlib streams (RFC 1950).

use alloc::boxed::Box;
use alloc::vec::Vec;

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress as inflate};

use super::input::{format_error, is_zlib_header};
use super::output::{Output, Room};
use super::{Compression, DecompressError};

const KIND: Compression = Compression::Zlib;

/// The bit of the second byte that says that a dictionary is needed.
const DICTIONARY: u8 = 0x20;

const MAX_LEVEL: u8 = 9;

pub(super) fn decompress(input: &[u8], room: Room) -> Result<Vec<u8>, DecompressError> {
    check_header(input)?;
    let mut state = Box::<DecompressorOxide>::default();
    let mut out = Output::new(room, input.len());
    let mut read = 0;
    loop {
        // At the limit there may still be the end of the stream to read.
        let room = if out.left() == 0 { 0 } else { out.reserve(1)? };
        let rest = input.get(read..).unwrap_or_default();
        let (status, taken) = out.write_with(room, |bytes, start| {
            let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
            let (status, taken, written) = inflate(&mut state, rest, bytes, start, flags);
            (written, (status, taken))
        })?;
        read += taken;
        match status {
            TINFLStatus::Done => return Ok(out.into_vec()),
            TINFLStatus::HasMoreOutput if out.left() == 0 => return Err(out.too_long()),
            TINFLStatus::HasMoreOutput => {}
            TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => {
                return Err(DecompressError::Truncated { kind: KIND, len: input.len() });
            }
            TINFLStatus::Adler32Mismatch => return Err(checksum_error(&state)),
            _ => {
                let what = "the deflate stream breaks its own rules";
                return Err(DecompressError::Corrupt { kind: KIND, offset: read, what });
            }
        }
    }
}

fn check_header(input: &[u8]) -> Result<(), DecompressError> {
    match *input {
        [first, second, ..] if !is_zlib_header(first, second) => Err(format_error(KIND, input)),
        [_, second, ..] if second & DICTIONARY != 0 => Err(DecompressError::Dictionary { kind: KIND }),
        [_, _, ..] => Ok(()),
        _ => Err(DecompressError::Truncated { kind: KIND, len: input.len() }),
    }
}

fn checksum_error(state: &DecompressorOxide) -> DecompressError {
    let (stated, found) = (state.adler32_header().unwrap_or_default(), state.adler32().unwrap_or_default());
    DecompressError::Checksum { kind: KIND, part: "content", stated, found }
}

pub(super) fn compress(level: u8, plain: &[u8]) -> Vec<u8> {
    let level = level.min(MAX_LEVEL);
    let mut out = compress_to_vec_zlib(plain, level);
    // The second byte tells roughly what the level was. Java's zlib has its own idea of that.
    if let [_, second, ..] = &mut *out {
        *second = match level {
            0..=1 => 0x01,
            2..=5 => 0x5E,
            6 => 0x9C,
            _ => 0xDA,
        };
    }
    out
}
