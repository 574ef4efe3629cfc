//! Commands: what a frame says, in both header formats (wire §1.4, §2, §3).

mod binary;
mod encode;
mod error;
mod head;
mod json;
mod language;

use alloc::string::String;
use core::fmt;
use core::ops::Range;

use bytes::{Buf, BufMut, Bytes, BytesMut};

pub use encode::encode_frame;
pub use error::{DecodeError, EncodeError};
pub use head::{CommandHead, HeaderFormat};
pub use language::Language;

use crate::code::{RequestCode, ResponseCode};
use crate::ext::{ExtFields, HeaderError, ReadExt, WriteExt};
use crate::frame::Frame;

/// The bit of `flag` that tells a response from a request (wire §1.4).
pub const FLAG_RESPONSE: i32 = 1;

/// The bit of `flag` of a request that is not answered (wire §1.4).
pub const FLAG_ONEWAY: i32 = 2;

/// The version that we say we are: 5.3.3, by the numbers of wire §1.6.
pub const CURRENT_VERSION: i32 = 479;

/// One request or response. Its texts are slices of the frame that it was read from, as far as they can be.
#[derive(Clone, PartialEq)]
pub struct RemotingCommand {
    /// What is asked for, or how it went: a [`RequestCode`] or a [`ResponseCode`].
    pub code: i32,
    /// What the sender is written in; `None` if that is unknown.
    pub language: Option<Language>,
    /// The sender's version, by the numbers of wire §1.6.
    pub version: i32,
    /// Ties a response to its request. Each side of a connection counts for itself (wire §1.4).
    pub opaque: i32,
    /// [`FLAG_RESPONSE`], [`FLAG_ONEWAY`] or neither.
    pub flag: i32,
    /// Words for a person. Success and failure are told apart by `code` alone.
    pub remark: Option<String>,
    /// The fields of the command's own header.
    pub ext: ExtFields,
    /// The body; empty means none.
    pub body: Bytes,
}

impl RemotingCommand {
    /// A request of ours: language [`Language::RUST`], version [`CURRENT_VERSION`], opaque 0, and an empty map of ext fields,
    /// as some brokers fail on requests without (wire §2.3).
    pub fn request(code: impl Into<RequestCode>) -> Self {
        Self {
            code: code.into().0,
            language: Some(Language::RUST),
            version: CURRENT_VERSION,
            opaque: 0,
            flag: 0,
            remark: None,
            ext: ExtFields::new(),
            body: Bytes::new(),
        }
    }

    /// Our response to `request`, without ext fields.
    pub fn response_to(request: &Self, code: impl Into<ResponseCode>) -> Self {
        let code = code.into().0;
        let ext = ExtFields::absent();
        Self { opaque: request.opaque, flag: FLAG_RESPONSE, ext, ..Self::request(code) }
    }

    /// The same command with the fields of `header` added to its ext fields. Those that are there stay, unless `header` has
    /// them, too.
    #[must_use]
    pub fn with_ext(mut self, header: &impl WriteExt) -> Self {
        self.ext.extend_from(header);
        self
    }

    /// The same command with another body.
    #[must_use]
    pub fn with_body(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    /// The same command with another remark.
    #[must_use]
    pub fn with_remark(mut self, remark: impl Into<String>) -> Self {
        self.remark = Some(remark.into());
        self
    }

    /// Whether this is a response.
    pub fn is_response(&self) -> bool {
        self.flag & FLAG_RESPONSE != 0
    }

    /// Whether this is a request that is not answered.
    pub fn is_oneway(&self) -> bool {
        !self.is_response() && self.flag & FLAG_ONEWAY != 0
    }

    /// Reads the ext fields as a typed header, in one pass over the bytes of the frame. Look at `code` first: a response that
    /// refuses has none of the fields.
    ///
    /// # Errors
    ///
    /// A field that `H` needs is missing, or says what it cannot.
    pub fn header<'a, H: ReadExt<'a>>(&'a self) -> Result<H, HeaderError> {
        H::read_ext(&self.ext)
    }

    /// Reads the header of a frame, in the frame's own format.
    ///
    /// # Errors
    ///
    /// The header breaks a rule of wire §2.2 or §3.2. Java closes the connection then, and so should the caller.
    #[inline(always)]
    pub fn decode(frame: Frame) -> Result<Self, DecodeError> {
        match frame.format {
            HeaderFormat::Json => json::decode(frame.header, frame.body),
            HeaderFormat::RocketMq => binary::decode(frame.header, frame.body),
        }
    }

    /// Appends the whole frame to `out`, in `format` if that can hold it, else as JSON (see [`encode_frame`]). Returns the
    /// format used.
    ///
    /// # Errors
    ///
    /// Those of [`encode_frame`]; `out` is then as it was.
    pub fn encode(&self, format: HeaderFormat, out: &mut BytesMut) -> Result<HeaderFormat, EncodeError> {
        let head = CommandHead {
            code: self.code,
            language: self.language.unwrap_or(Language::UNKNOWN),
            version: self.version,
            opaque: self.opaque,
            flag: self.flag,
            remark: self.remark.as_deref(),
        };
        let used = encode_frame(out, format, &head, &self.ext, self.body.len())?;
        out.put_slice(&self.body);
        Ok(used)
    }
}

impl fmt::Debug for RemotingCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemotingCommand")
            .field("code", &self.code)
            .field("language", &self.language)
            .field("version", &self.version)
            .field("opaque", &self.opaque)
            .field("flag", &self.flag)
            .field("remark", &self.remark)
            .field("ext", &self.ext)
            .field("body_len", &self.body.len())
            .finish()
    }
}

/// What lies at `range` of a header, without another count of who uses it.
fn cut(mut header: Bytes, range: Range<usize>) -> Bytes {
    header.truncate(range.end);
    header.advance(range.start);
    header
}
