//! Which bodies are compressed before they are sent, and how (producer §5.4 step 5, wire §6.3).

use bytes::Bytes;

use super::SysFlag;
use crate::compress::{self, Compression};

/// How bodies are compressed before they are sent. Consumers inflate them by the message's system flag, in whatever format
/// they are; those older than 4.9.4 know zlib alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyCompression {
    /// Bodies with at least so many bytes are compressed; 4,096 by default. Java: `compressMsgBodyOverHowmuch`.
    pub min_len: usize,
    /// The format; `None` sends bodies as they are. zlib by default, in a build that has it. Java: `compressType`.
    pub kind: Option<Compression>,
    /// How hard to try, as [`compress`](compress::compress) has it; 5 by default. Java: `compressLevel`.
    pub level: u8,
}

impl BodyCompression {
    /// No body is compressed, as it has to be for the elements of a batch.
    pub const NONE: Self = Self { min_len: 4_096, kind: None, level: compress::DEFAULT_LEVEL };

    /// The body as it is sent, and the bits of the system flag that say what was done to it.
    ///
    /// The compressed form is taken even if it is longer, as it is in Java, unless that makes it longer than `max_len`, so that
    /// brokers would refuse it. A body that cannot be compressed goes out as it is.
    pub(super) fn apply(&self, body: Bytes, max_len: usize) -> (Bytes, SysFlag) {
        let plain = SysFlag::default();
        let Some(kind) = self.kind.filter(|_| body.len() >= self.min_len) else { return (body, plain) };
        match compress::compress(kind, self.level, &body) {
            Ok(compressed) if compressed.len() <= max_len => (compressed, plain.with_compression(kind)),
            Ok(_) | Err(_) => (body, plain),
        }
    }
}

impl Default for BodyCompression {
    fn default() -> Self {
        Self { kind: Some(Compression::Zlib).filter(|kind| kind.is_enabled()), ..Self::NONE }
    }
}
