use bytes::{BufMut, BytesMut};

use super::{CommandHead, EncodeError, HeaderFormat, binary, json};
use crate::ext::WriteExt;

/// Longest header whose length fits the header word.
const MAX_HEADER_LEN: usize = (1 << 24) - 1;

/// Longest frame, without its length word, whose length fits the length word.
const MAX_LENGTH: usize = i32::MAX as usize;

/// Appends the length word, the header word and the header of a frame to `out`; the caller appends the body, of exactly
/// `body_len` bytes: any other number, and the peer takes what follows for something else. To write a body that is at hand, use
/// [`RemotingCommand::encode`](super::RemotingCommand::encode). All is written in place, no map or text of its own in between.
///
/// A code or version that does not fit 16 bits cannot be written in the binary format: such a frame is written as JSON
/// whatever `format` says (wire §3.2). Returns the format used.
///
/// # Errors
///
/// The header or the frame is too long for its length, or a name is, in the binary format. `out` is then as it was, as
/// it is when `ext` panics. The peer's own limit of a frame, usually [`MAX_FRAME_LEN`](crate::frame::MAX_FRAME_LEN), is not
/// checked.
pub fn encode_frame<H: WriteExt + ?Sized>(
    out: &mut BytesMut,
    format: HeaderFormat,
    head: &CommandHead<'_>,
    ext: &H,
    body_len: usize,
) -> Result<HeaderFormat, EncodeError> {
    let start = out.len();
    let mut frame = Whole { out, len: start };
    let out = &mut *frame.out;
    let narrow = i16::try_from(head.code).ok().zip(i16::try_from(head.version).ok());
    out.put_u64(0);
    let format = match (format, narrow) {
        (HeaderFormat::RocketMq, Some((code, version))) => {
            binary::encode(out, code, version, head, ext)?;
            HeaderFormat::RocketMq
        }
        _ => {
            json::encode(out, head, ext);
            HeaderFormat::Json
        }
    };
    let words = words(format, out.len() - start - 8, body_len)?;
    out[start..start + 8].copy_from_slice(&words.to_be_bytes());
    frame.len = frame.out.len();
    Ok(format)
}

/// A buffer that never keeps a part of a frame, even if the ext fields panic while they are written.
struct Whole<'a> {
    out: &'a mut BytesMut,
    /// How much of the buffer is whole.
    len: usize,
}

impl Drop for Whole<'_> {
    fn drop(&mut self) {
        self.out.truncate(self.len);
    }
}

/// The length word and the header word (wire §1.1).
fn words(format: HeaderFormat, header_len: usize, body_len: usize) -> Result<u64, EncodeError> {
    if header_len > MAX_HEADER_LEN {
        return Err(EncodeError::HeaderTooLong { length: header_len, max: MAX_HEADER_LEN });
    }
    let length = body_len.saturating_add(4 + header_len);
    if length > MAX_LENGTH {
        return Err(EncodeError::FrameTooLong { length, max: MAX_LENGTH });
    }
    Ok((length as u64) << 32 | u64::from(format.to_byte()) << 24 | header_len as u64)
}
