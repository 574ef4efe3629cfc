use thiserror::Error;

use super::StoredMessage;
use crate::compress::{self, DecompressError};
use crate::message::SysFlag;

/// Why the body of a message cannot be inflated. The message is as it was, its body as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InflateError {
    /// The bits of the system flag that say how the body is compressed have a value without a meaning.
    #[error(
        "the body is compressed in a way that has no name: the system flag says {bits}, known are 0 to 3"
    )]
    Unknown {
        /// The value of bits 8 to 10.
        bits: u8,
    },
    /// The body is not what the system flag says, or too long.
    #[error(transparent)]
    Body(#[from] DecompressError),
}

impl StoredMessage {
    /// Puts the plain body of at most `max_len` bytes in the place of a compressed one, and takes the mark
    /// [`COMPRESSED`](SysFlag::COMPRESSED) off (wire §6.1); the bits that say how it was compressed stay, and so does the
    /// checksum, which is that of the compressed body: ask [`crc_matches`](Self::crc_matches) before.
    /// [`DEFAULT_MAX_LEN`](compress::DEFAULT_MAX_LEN) fits what brokers take. A body that is not compressed stays.
    ///
    /// A batch whose body was compressed as a whole can be [taken apart](Self::unbatch) after it.
    ///
    /// # Errors
    ///
    /// The body cannot be inflated. The message is then as it was.
    ///
    /// ```
    /// use rmq_proto::compress::{self, Compression};
    /// use rmq_proto::message::{StoredMessage, SysFlag};
    ///
    /// let mut message = StoredMessage {
    ///     body: compress::compress(Compression::Zlib, compress::DEFAULT_LEVEL, b"hello")?,
    ///     sys_flag: SysFlag::default().with_compression(Compression::Zlib),
    ///     ..StoredMessage::default()
    /// };
    /// message.inflate(compress::DEFAULT_MAX_LEN)?;
    /// assert_eq!(message.body, "hello");
    /// assert!(!message.sys_flag.is_compressed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inflate(&mut self, max_len: usize) -> Result<(), InflateError> {
        if !self.sys_flag.is_compressed() {
            return Ok(());
        }
        let bits = self.sys_flag.compression_bits();
        let kind = self.sys_flag.compression().ok_or(InflateError::Unknown { bits })?;
        self.body = compress::decompress(kind, &self.body, max_len)?;
        self.sys_flag = self.sys_flag.without(SysFlag::COMPRESSED);
        Ok(())
    }
}
