use alloc::vec::Vec;

use super::output::{Output, Room};
use super::{Compression, DecompressError};

/// Frames with this number, the last digit left out, carry nothing of the body. LZ4 and zstd have them in common.
const SKIPPABLE: u32 = 0x184D_2A50;

/// What all the frames of a body become, each of which begins with `magic` and is read by `frame`.
pub(super) fn decompress_frames(
    kind: Compression,
    magic: u32,
    input: &[u8],
    room: Room,
    frame: impl Fn(&mut Input<'_>, &mut Output) -> Result<(), DecompressError>,
) -> Result<Vec<u8>, DecompressError> {
    let mut out = Output::new(room, input.len());
    let mut input = Input::new(kind, input);
    while input.next_frame(magic)? {
        frame(&mut input, &mut out)?;
    }
    Ok(out.into_vec())
}

/// The compressed body, read from its front.
pub(super) struct Input<'a> {
    kind: Compression,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(kind: Compression, bytes: &'a [u8]) -> Self {
        Self { kind, bytes, offset: 0 }
    }

    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    pub(super) fn is_empty(&self) -> bool {
        self.offset == self.bytes.len()
    }

    pub(super) fn truncated(&self) -> DecompressError {
        DecompressError::Truncated { kind: self.kind, len: self.bytes.len() }
    }

    pub(super) fn corrupt(&self, offset: usize, what: &'static str) -> DecompressError {
        DecompressError::Corrupt { kind: self.kind, offset, what }
    }

    /// What was read since `offset`.
    pub(super) fn since(&self, offset: usize) -> &'a [u8] {
        self.bytes.get(offset..self.offset).unwrap_or_default()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.offset..).unwrap_or_default()
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], DecompressError> {
        let bytes = self.rest().get(..len).ok_or_else(|| self.truncated())?;
        self.offset += len;
        Ok(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecompressError> {
        let bytes = *self.rest().first_chunk().ok_or_else(|| self.truncated())?;
        self.offset += N;
        Ok(bytes)
    }

    pub(super) fn u8(&mut self) -> Result<u8, DecompressError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, DecompressError> {
        self.array().map(u32::from_le_bytes)
    }

    /// Goes behind the magic number of the next frame, past all that can be skipped; `false` when there is no frame more.
    pub(super) fn next_frame(&mut self, magic: u32) -> Result<bool, DecompressError> {
        while self.offset == 0 || !self.is_empty() {
            let found = *self.rest().first_chunk().ok_or_else(|| self.no_magic(magic))?;
            let found = u32::from_le_bytes(found);
            if found != magic && found & !0xF != SKIPPABLE {
                return Err(self.no_magic(magic));
            }
            self.take(size_of::<u32>())?;
            if found == magic {
                return Ok(true);
            }
            let len = self.u32()?;
            // A length that no memory could hold is longer than what is there.
            self.take(usize::try_from(len).unwrap_or(usize::MAX))?;
        }
        Ok(false)
    }

    /// Why no frame begins here.
    fn no_magic(&self, magic: u32) -> DecompressError {
        let rest = self.rest();
        let may_become = |magic: u32| magic.to_le_bytes().starts_with(rest);
        let skippable = SKIPPABLE | u32::from(rest.first().copied().unwrap_or_default() & 0xF);
        if may_become(magic) || may_become(skippable) {
            return self.truncated();
        }
        match self.offset {
            0 => format_error(self.kind, self.bytes),
            offset => self.corrupt(offset, "what follows a frame is not another"),
        }
    }
}

/// Compares the checksum that is next in `input` with that of what is there.
pub(super) fn check(input: &mut Input<'_>, part: &'static str, found: u32) -> Result<(), DecompressError> {
    let stated = input.u32()?;
    if stated != found {
        return Err(DecompressError::Checksum { kind: input.kind, part, stated, found });
    }
    Ok(())
}

/// The body does not begin as `kind` does; it may begin as something else.
pub(super) fn format_error(kind: Compression, body: &[u8]) -> DecompressError {
    let found = match body {
        [0x1F, 0x8B, ..] => Some("gzip"),
        [0x04, 0x22, 0x4D, 0x18, ..] => Some("LZ4"),
        [0x02, 0x21, 0x4C, 0x18, ..] => Some("LZ4 of the legacy kind"),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some("zstd"),
        [first, second, ..] if is_zlib_header(*first, *second) => Some("zlib"),
        _ => None,
    };
    DecompressError::Format { kind, found }
}

/// Whether a zlib stream can begin so (RFC 1950, 2.2): deflate, a window of at most 32 KiB, a multiple of 31.
pub(super) fn is_zlib_header(first: u8, second: u8) -> bool {
    first & 0x0F == 8 && first >> 4 <= 7 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}
