use core::net::SocketAddr;

use crate::compress::Compression;

/// What was done to a message and how its record is laid out: the bits of wire §6.3. An open set: bits without a name
/// are legal, and kept.
///
/// ```
/// use rmq_proto::message::{SysFlag, TransactionType};
///
/// let flag = SysFlag(0x304);
/// assert_eq!(flag.transaction(), TransactionType::Prepared);
/// assert_eq!(flag.compression_bits(), 3);
/// assert!(!flag.is_compressed());
/// assert_eq!(flag.with(SysFlag::COMPRESSED), SysFlag(0x305));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SysFlag(pub i32);

impl SysFlag {
    /// The body is compressed; [`compression_bits`](Self::compression_bits) say how.
    pub const COMPRESSED: Self = Self(0x1);
    /// The message has several tags.
    pub const MULTI_TAGS: Self = Self(0x2);
    /// The host that the message was born at has an IPv6 address. Brokers set it, not producers.
    pub const BORN_HOST_V6: Self = Self(0x10);
    /// The host that stored the message has an IPv6 address. Brokers set it, not producers.
    pub const STORE_HOST_V6: Self = Self(0x20);
    /// With [`INNER_BATCH`](Self::INNER_BATCH): the batch in the body is yet to be taken apart.
    pub const NEEDS_UNWRAP: Self = Self(0x40);
    /// The body is, or came out of, a batch that was stored as one record.
    pub const INNER_BATCH: Self = Self(0x80);

    const TRANSACTION_MASK: i32 = 0xC;
    const COMPRESSION_SHIFT: u32 = 8;
    const COMPRESSION_MASK: i32 = 0x700;

    /// Whether all of `bits` are set.
    pub const fn contains(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// These flags and `bits`.
    #[must_use]
    pub const fn with(self, bits: Self) -> Self {
        Self(self.0 | bits.0)
    }

    /// These flags without `bits`.
    #[must_use]
    pub const fn without(self, bits: Self) -> Self {
        Self(self.0 & !bits.0)
    }

    /// Whether the body is compressed.
    pub const fn is_compressed(self) -> bool {
        self.contains(Self::COMPRESSED)
    }

    /// Whether the body is a batch that was stored as one record and is yet to be taken apart: both bits are set.
    pub const fn is_inner_batch(self) -> bool {
        self.contains(Self::NEEDS_UNWRAP.with(Self::INNER_BATCH))
    }

    /// The message's part in a transaction.
    pub const fn transaction(self) -> TransactionType {
        match self.0 & Self::TRANSACTION_MASK {
            0x4 => TransactionType::Prepared,
            0x8 => TransactionType::Commit,
            0xC => TransactionType::Rollback,
            _ => TransactionType::None,
        }
    }

    /// These flags with another part in a transaction.
    #[must_use]
    pub const fn with_transaction(self, transaction: TransactionType) -> Self {
        Self(self.0 & !Self::TRANSACTION_MASK | transaction.bits())
    }

    /// How the body is compressed, if it is; `None` if the number has no meaning.
    pub const fn compression(self) -> Option<Compression> {
        Compression::from_bits(self.compression_bits())
    }

    /// These flags of a body that is compressed so.
    #[must_use]
    pub const fn with_compression(self, kind: Compression) -> Self {
        self.with(Self::COMPRESSED).with_compression_bits(kind.bits())
    }

    /// How the body is compressed, if it is, as a number from 0 to 7: 0 and 3 are zlib, 1 is LZ4, 2 is ZSTD, the others
    /// nothing that is known.
    pub const fn compression_bits(self) -> u8 {
        // The mask leaves three bits.
        ((self.0 & Self::COMPRESSION_MASK) >> Self::COMPRESSION_SHIFT) as u8
    }

    /// These flags with another way of compression; of `bits` the lowest three count. Whether the body is compressed
    /// does not change.
    #[must_use]
    pub const fn with_compression_bits(self, bits: u8) -> Self {
        let bits = (bits as i32) << Self::COMPRESSION_SHIFT & Self::COMPRESSION_MASK;
        Self(self.0 & !Self::COMPRESSION_MASK | bits)
    }

    /// These flags with the two host bits as these hosts need them.
    #[must_use]
    pub const fn with_hosts(self, born: &SocketAddr, store: &SocketAddr) -> Self {
        let mut flag = self.without(Self::BORN_HOST_V6.with(Self::STORE_HOST_V6));
        if born.is_ipv6() {
            flag = flag.with(Self::BORN_HOST_V6);
        }
        if store.is_ipv6() {
            flag = flag.with(Self::STORE_HOST_V6);
        }
        flag
    }
}

impl From<i32> for SysFlag {
    fn from(bits: i32) -> Self {
        Self(bits)
    }
}

impl From<SysFlag> for i32 {
    fn from(flag: SysFlag) -> Self {
        flag.0
    }
}

/// A message's part in a transaction: two bits of its [`SysFlag`], and `commitOrRollback` of END_TRANSACTION
/// (wire §5.14, §6.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransactionType {
    /// No part. Where a transaction ends: nothing is known of its outcome.
    #[default]
    None,
    /// A half message, which no consumer sees yet.
    Prepared,
    /// The transaction was committed.
    Commit,
    /// The transaction was rolled back.
    Rollback,
}

impl TransactionType {
    /// The bits: 0x0, 0x4, 0x8 or 0xC.
    pub const fn bits(self) -> i32 {
        match self {
            Self::None => 0x0,
            Self::Prepared => 0x4,
            Self::Commit => 0x8,
            Self::Rollback => 0xC,
        }
    }
}
