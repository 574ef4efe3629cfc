use bytes::Bytes;

use super::{RecordVersion, StoredMessage};
use crate::message::fields::{Fields, Window, record_len};
use crate::message::{RecordError, RecordErrorKind, RecordField, SysFlag};

/// The magic number of what fills a file of the commit log up to its end.
const FILLER_MAGIC: u32 = 0xCBD4_3194;

/// The fewest bytes of a filler: length and magic number.
const MIN_FILLER_LEN: usize = 8;

/// The fewest bytes of a message.
const MIN_LEN: usize = RecordVersion::V1.fixed_len();

/// Where the queue offset begins.
const QUEUE_OFFSET_AT: usize = 20;

impl StoredMessage {
    /// Reads the one record that `record` is. The body shares its memory. Neither the checksum nor the properties are
    /// looked at.
    ///
    /// Bytes that the record's length includes and no field has are passed over: a version to come may append fields
    /// (wire §6.1).
    ///
    /// # Errors
    ///
    /// The bytes are no record, or more than one.
    pub fn decode(record: &Bytes) -> Result<Self, RecordError> {
        let whole = Window { offset: 0, bytes: record.clone() };
        let error = |kind| whole.error(queue_offset(record), kind);
        let len = record_len(record, min_len(record)).map_err(error)?;
        if len < record.len() {
            return Err(error(RecordErrorKind::TrailingBytes { len: record.len() - len }));
        }
        read(record).map_err(error)
    }
}

/// The fewest bytes that a record with this beginning has.
pub(super) fn min_len(beginning: &[u8]) -> usize {
    if magic(beginning) == Some(FILLER_MAGIC) { MIN_FILLER_LEN } else { MIN_LEN }
}

/// The queue offset of a record, of which the end may be missing. What does not even look like a message has none.
pub(super) fn queue_offset(record: &[u8]) -> Option<i64> {
    RecordVersion::of_magic(magic(record)?)?;
    record.get(QUEUE_OFFSET_AT..)?.first_chunk().copied().map(i64::from_be_bytes)
}

fn magic(record: &[u8]) -> Option<u32> {
    record.get(4..)?.first_chunk().copied().map(u32::from_be_bytes)
}

/// Reads the fields of wire §6.1 in their order. That the record's length is its first field was seen before.
pub(super) fn read(record: &Bytes) -> Result<StoredMessage, RecordErrorKind> {
    let mut fields = Fields::behind_length(record);
    let magic = fields.u32()?;
    if magic == FILLER_MAGIC {
        return Err(RecordErrorKind::Filler);
    }
    let version = RecordVersion::of_magic(magic).ok_or(RecordErrorKind::UnknownMagic(magic))?;
    let body_crc = fields.u32()?;
    let queue_id = fields.i32()?;
    let flag = fields.i32()?;
    let queue_offset = fields.i64()?;
    let commit_log_offset = fields.i64()?;
    let sys_flag = SysFlag(fields.i32()?);
    let born_timestamp = fields.i64()?;
    let born_host = fields.host(RecordField::BornHost, sys_flag.contains(SysFlag::BORN_HOST_V6))?;
    let store_timestamp = fields.i64()?;
    let store_host = fields.host(RecordField::StoreHost, sys_flag.contains(SysFlag::STORE_HOST_V6))?;
    let reconsume_times = fields.i32()?;
    let prepared_transaction_offset = fields.i64()?;
    let body = fields.body()?;
    // A negative length is an error in both versions; Java reads the byte of version 1 with its sign, too.
    let topic_len = match version {
        RecordVersion::V1 => fields.i8()?.into(),
        RecordVersion::V2 => fields.i16()?.into(),
    };
    let topic = fields.text(RecordField::Topic, topic_len)?.into();
    let properties = fields.properties()?.into();
    Ok(StoredMessage {
        version,
        body_crc,
        queue_id,
        flag,
        queue_offset,
        commit_log_offset,
        sys_flag,
        born_timestamp,
        born_host,
        store_timestamp,
        store_host,
        reconsume_times,
        prepared_transaction_offset,
        body,
        topic,
        properties,
    })
}
