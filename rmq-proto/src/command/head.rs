use super::{CURRENT_VERSION, FLAG_RESPONSE, Language};
use crate::code::{RequestCode, ResponseCode};

/// How a header is written. Each frame states its own format; a peer may answer in the other one (wire §3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum HeaderFormat {
    /// JSON text (wire §2.1). What Java uses by default.
    #[default]
    Json = 0,
    /// The binary layout of wire §3.1.
    RocketMq = 1,
}

impl HeaderFormat {
    /// The format that the top byte of a header word names.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Json),
            1 => Some(Self::RocketMq),
            _ => None,
        }
    }

    /// The top byte of a header word.
    pub const fn to_byte(self) -> u8 {
        self as u8
    }
}

/// What the header of each command says, besides its ext fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandHead<'a> {
    /// Request or response code.
    pub code: i32,
    /// What the sender is written in.
    pub language: Language,
    /// The sender's version (wire §1.6).
    pub version: i32,
    /// Ties a response to its request.
    pub opaque: i32,
    /// [`FLAG_RESPONSE`](super::FLAG_RESPONSE), [`FLAG_ONEWAY`](super::FLAG_ONEWAY) or neither.
    pub flag: i32,
    /// Words for a person.
    pub remark: Option<&'a str>,
}

impl CommandHead<'_> {
    /// The head of a request of ours that wants an answer.
    pub fn request(code: impl Into<RequestCode>, opaque: i32) -> Self {
        let code = code.into().0;
        Self { code, language: Language::RUST, version: CURRENT_VERSION, opaque, flag: 0, remark: None }
    }

    /// The head of our response to the request with this opaque.
    pub fn response(code: impl Into<ResponseCode>, opaque: i32) -> Self {
        Self { flag: FLAG_RESPONSE, ..Self::request(code.into().0, opaque) }
    }
}
