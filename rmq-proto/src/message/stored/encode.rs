use bytes::{BufMut, BytesMut};
use core::net::{IpAddr, SocketAddr};

use super::{RecordVersion, StoredMessage, V6_EXTRA};
use crate::message::{RecordField, SysFlag};
use crate::properties;

/// Most bytes in a record: its length has 32 bits and a sign.
const MAX_LEN: usize = i32::MAX as usize;

/// Why a message cannot be written as a record. Nothing is ever cut to fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordEncodeError {
    /// The topic is too long for the record's version.
    #[error("the topic has {len} bytes; a record of version {version:?} takes {max}")]
    TopicTooLong {
        /// The topic's length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
        /// The record's version.
        version: RecordVersion,
    },
    /// The properties are too long for any record.
    #[error("the properties have {len} bytes; a record takes {max}")]
    PropertiesTooLong {
        /// Length of the text in bytes.
        len: usize,
        /// The limit in bytes: [`properties::MAX_LEN`](crate::properties::MAX_LEN).
        max: usize,
    },
    /// The record would be longer than its length can say.
    #[error("a record of {len} bytes is over the limit of {max}")]
    TooLong {
        /// The record's length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The sys flag says of a host that its address is IPv6 when it is IPv4, or the other way round;
    /// [`SysFlag::with_hosts`] makes it fit.
    #[error("the sys flag {:#x} does not fit the {field} {host}", .sys_flag.0)]
    HostFamily {
        /// Which host.
        field: RecordField,
        /// The host.
        host: SocketAddr,
        /// The flags.
        sys_flag: SysFlag,
    },
}

impl StoredMessage {
    /// How many bytes the record has.
    pub fn encoded_len(&self) -> usize {
        let mut len = self.version.fixed_len();
        for host in [self.born_host, self.store_host] {
            if host.is_ipv6() {
                len += V6_EXTRA;
            }
        }
        len + self.body.len() + self.topic.len() + self.properties.len()
    }

    /// Appends the record to `out`. All fields are written as they are, the checksum too, and the sys flag's host bits,
    /// which have to fit the hosts.
    ///
    /// # Errors
    ///
    /// A field cannot be written; then `out` is as it was.
    pub fn encode(&self, out: &mut BytesMut) -> Result<(), RecordEncodeError> {
        let len = self.check()?;
        out.reserve(len);
        // `check` saw to it that this and the lengths below fit.
        out.put_u32(len as u32);
        out.put_u32(self.version.magic());
        out.put_u32(self.body_crc);
        out.put_i32(self.queue_id);
        out.put_i32(self.flag);
        out.put_i64(self.queue_offset);
        out.put_i64(self.commit_log_offset);
        out.put_i32(self.sys_flag.0);
        out.put_i64(self.born_timestamp);
        put_host(out, &self.born_host);
        out.put_i64(self.store_timestamp);
        put_host(out, &self.store_host);
        out.put_i32(self.reconsume_times);
        out.put_i64(self.prepared_transaction_offset);
        out.put_u32(self.body.len() as u32);
        out.put_slice(&self.body);
        match self.version {
            RecordVersion::V1 => out.put_u8(self.topic.len() as u8),
            RecordVersion::V2 => out.put_u16(self.topic.len() as u16),
        }
        out.put_slice(self.topic.as_bytes());
        out.put_u16(self.properties.len() as u16);
        out.put_slice(self.properties.as_bytes());
        Ok(())
    }

    /// The record's length, if it can be written.
    fn check(&self) -> Result<usize, RecordEncodeError> {
        let sys_flag = self.sys_flag;
        for (field, host, bit) in [
            (RecordField::BornHost, self.born_host, SysFlag::BORN_HOST_V6),
            (RecordField::StoreHost, self.store_host, SysFlag::STORE_HOST_V6),
        ] {
            if host.is_ipv6() != sys_flag.contains(bit) {
                return Err(RecordEncodeError::HostFamily { field, host, sys_flag });
            }
        }
        let (len, max, version) = (self.topic.len(), self.version.max_topic_len(), self.version);
        if len > max {
            return Err(RecordEncodeError::TopicTooLong { len, max, version });
        }
        let (len, max) = (self.properties.len(), properties::MAX_LEN);
        if len > max {
            return Err(RecordEncodeError::PropertiesTooLong { len, max });
        }
        let (len, max) = (self.encoded_len(), MAX_LEN);
        if len > max {
            return Err(RecordEncodeError::TooLong { len, max });
        }
        Ok(len)
    }
}

fn put_host(out: &mut BytesMut, host: &SocketAddr) {
    match host.ip() {
        IpAddr::V4(ip) => out.put_slice(&ip.octets()),
        IpAddr::V6(ip) => out.put_slice(&ip.octets()),
    }
    out.put_u32(host.port().into());
}
