//! Cutting a stream of bytes into frames (wire §1).

use core::fmt;

use bytes::{Buf, Bytes, BytesMut};
use thiserror::Error;

use crate::command::HeaderFormat;

/// Default limit of a whole frame, its length word included: 16 MiB (wire §1.2).
pub const MAX_FRAME_LEN: usize = 16 * 1024 * 1024;

/// Size of the length word and of the header word, each.
const WORD: usize = 4;

/// One frame, its header not yet read.
///
/// Its `Debug` text tells sizes alone: a header may hold a signature.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// What the header is written in.
    pub format: HeaderFormat,
    /// The header.
    pub header: Bytes,
    /// The body. Empty means that there is none: the wire cannot tell the two apart (wire §1.1).
    pub body: Bytes,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("format", &self.format)
            .field("header_len", &self.header.len())
            .field("body_len", &self.body.len())
            .finish()
    }
}

/// Why bytes are not a stream of frames. Nothing after them can be read: the connection has to be closed (wire §1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The length word is negative.
    #[error("a frame says its length is {0}, which is negative: these bytes are no frame")]
    NegativeLength(i32),
    /// The frame is over the limit.
    #[error(
        "a frame says its length is {length}; with the length word that is over the limit of {max} bytes"
    )]
    TooLong {
        /// The length word: what follows it.
        length: usize,
        /// Limit of the whole frame, the length word included.
        max: usize,
    },
    /// The frame has no room for the header word.
    #[error("a frame says its length is {length}, less than the 4 bytes that each has")]
    TooShort {
        /// The length word.
        length: usize,
    },
    /// The header does not fit the frame.
    #[error("a frame says its header has {header} bytes where {available} are")]
    HeaderTooLong {
        /// The header's length as the header word has it.
        header: usize,
        /// What the frame has besides the header word.
        available: usize,
    },
    /// The header is written in neither of the two formats.
    #[error("a frame says its header has the unknown format {0}")]
    UnknownFormat(u8),
}

/// Cuts a stream of bytes, in pieces of any size, into frames.
///
/// When a whole frame lies in one piece, the frame is a slice of it and nothing is copied. Else the decoder keeps what has
/// arrived of that one frame and no more, in memory that grows with what arrives, never with what a length word promises.
///
/// ```
/// use bytes::Bytes;
/// use rmq_proto::frame::{FrameDecoder, FrameError};
///
/// let frame = b"\0\0\0\x0e\0\0\0\x0a{\"code\":1}";
/// let stream = frame.repeat(3);
/// let mut decoder = FrameDecoder::default();
/// let mut frames = 0;
/// for read in stream.chunks(20) {
///     // Of a BytesMut that was read into, `split().freeze()` gives the same without a copy.
///     let mut piece = Bytes::copy_from_slice(read);
///     // A piece may end one frame and hold others: it has to live until there are no more.
///     while let Some(frame) = decoder.decode(&mut piece)? {
///         frames += 1;
///     }
/// }
/// assert_eq!(frames, 3);
/// // When the stream ends, this says whether it was cut.
/// assert_eq!(decoder.buffered(), 0);
/// # Ok::<(), FrameError>(())
/// ```
#[derive(Clone)]
pub struct FrameDecoder {
    max_frame_len: usize,
    /// The beginning of one frame.
    partial: BytesMut,
    failed: Option<FrameError>,
}

impl fmt::Debug for FrameDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameDecoder")
            .field("max_frame_len", &self.max_frame_len)
            .field("buffered", &self.partial.len())
            .field("failed", &self.failed)
            .finish()
    }
}

impl Default for FrameDecoder {
    /// A decoder with the limit [`MAX_FRAME_LEN`].
    fn default() -> Self {
        Self::new(MAX_FRAME_LEN)
    }
}

impl FrameDecoder {
    /// A decoder that refuses frames of more than `max_frame_len` bytes, the length word included.
    pub fn new(max_frame_len: usize) -> Self {
        Self { max_frame_len, partial: BytesMut::new(), failed: None }
    }

    /// Takes bytes from the front of `input`. After `Some` there may be more: call again. `None` means that all of `input`
    /// was taken and the next frame is not yet whole.
    ///
    /// # Errors
    ///
    /// The bytes break a rule of wire §1.3. The decoder then stays failed, and `input` is as it was or shorter.
    #[inline(always)]
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<Frame>, FrameError> {
        match self.decode_whole(input) {
            Some(frame) => Ok(Some(frame)),
            None => self.decode_any(input),
        }
    }

    /// Takes a frame that lies at the front of `input`, whole and good; else nothing.
    #[inline(always)]
    fn decode_whole(&self, input: &mut Bytes) -> Option<Frame> {
        let words = u64::from_be_bytes(*input.first_chunk()?);
        let length = usize::try_from((words >> 32) as i32).ok()?;
        let [_, _, _, _, format, ..] = words.to_be_bytes();
        let header_len = (words & 0xFF_FFFF) as usize;
        let is_good = self.failed.is_none()
            && self.partial.is_empty()
            && length <= self.max_frame_len.saturating_sub(WORD)
            && length >= WORD + header_len;
        let shape =
            Shape { len: WORD + length, header: Some((HeaderFormat::from_byte(format)?, header_len)) };
        if is_good { shape.split(input) } else { None }
    }

    /// What [`decode`](Self::decode) does when no whole frame lies at the front of `input`.
    #[cold]
    #[inline(never)]
    fn decode_any(&mut self, input: &mut Bytes) -> Result<Option<Frame>, FrameError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let decoded = if self.partial.is_empty() { self.keep(input) } else { self.decode_split(input) };
        if let Err(error) = decoded {
            self.failed = Some(error);
            self.partial = BytesMut::new();
        }
        decoded
    }

    /// How many bytes of an incomplete frame are kept.
    pub fn buffered(&self) -> usize {
        self.partial.len()
    }

    /// Keeps the beginning of a frame.
    fn keep(&mut self, input: &mut Bytes) -> Result<Option<Frame>, FrameError> {
        self.shape(input)?;
        self.partial.extend_from_slice(&input.split_off(0));
        Ok(None)
    }

    /// Completes the frame whose beginning is kept.
    fn decode_split(&mut self, input: &mut Bytes) -> Result<Option<Frame>, FrameError> {
        // Each word is checked before a byte behind it is kept.
        for words_end in [WORD, 2 * WORD] {
            if self.partial.len() < words_end {
                self.take(input, words_end);
                self.shape(&self.partial)?;
            }
        }
        let Some(shape) = self.shape(&self.partial)? else {
            return Ok(None);
        };
        self.take(input, shape.len);
        if self.partial.len() < shape.len {
            return Ok(None);
        }
        Ok(shape.split(&mut core::mem::take(&mut self.partial).freeze()))
    }

    /// Keeps of `input` what is missing up to `end` bytes.
    fn take(&mut self, input: &mut Bytes, end: usize) {
        let missing = end.saturating_sub(self.partial.len()).min(input.len());
        self.partial.extend_from_slice(&input.split_to(missing));
    }

    /// What the two words that `bytes` begins with say, as far as they are there; `None` while the first is not.
    #[inline]
    fn shape(&self, bytes: &[u8]) -> Result<Option<Shape>, FrameError> {
        let Some((word, rest)) = bytes.split_first_chunk() else {
            return Ok(None);
        };
        let word = i32::from_be_bytes(*word);
        let length = usize::try_from(word).map_err(|_| FrameError::NegativeLength(word))?;
        if length < WORD {
            return Err(FrameError::TooShort { length });
        }
        if length > self.max_frame_len.saturating_sub(WORD) {
            return Err(FrameError::TooLong { length, max: self.max_frame_len });
        }
        let header = rest.first_chunk().map(|word| header_word(*word, length - WORD)).transpose()?;
        Ok(Some(Shape { len: WORD + length, header }))
    }
}

/// Reads the header word of a frame that has `available` bytes behind it.
#[inline]
fn header_word(word: [u8; WORD], available: usize) -> Result<(HeaderFormat, usize), FrameError> {
    let [format, len @ ..] = word;
    let format = HeaderFormat::from_byte(format).ok_or(FrameError::UnknownFormat(format))?;
    let header = len.into_iter().fold(0, |len, byte| len << 8 | usize::from(byte));
    if header > available {
        return Err(FrameError::HeaderTooLong { header, available });
    }
    Ok((format, header))
}

/// What the two words of a frame say.
struct Shape {
    /// Length of the whole frame.
    len: usize,
    /// Format and length of the header, once the header word is there.
    header: Option<(HeaderFormat, usize)>,
}

impl Shape {
    /// Takes the frame off the front of `bytes`; `None` if it is not whole.
    #[inline(always)]
    fn split(&self, bytes: &mut Bytes) -> Option<Frame> {
        let (format, header_len) = self.header.filter(|_| self.len <= bytes.len())?;
        let header_end = 2 * WORD + header_len;
        let is_all = self.len == bytes.len();
        let mut header = if is_all { core::mem::take(bytes) } else { bytes.split_to(self.len) };
        // An empty slice could keep all of the memory alive for nothing.
        let body = if header_end < self.len { header.split_off(header_end) } else { Bytes::new() };
        header.advance(2 * WORD);
        Some(Frame { format, header, body })
    }
}
