//! Bodies that are compressed: wire §6.1, §6.3, A10, A11.

use bytes::Bytes;
use rmq_proto::compress::{self, Compression, DEFAULT_LEVEL, DEFAULT_MAX_LEN};
use rmq_proto::message::{InflateError, StoredMessage, SysFlag, body_crc};

use crate::support::*;

const PLAIN: &[u8] = b"HelloHelloHelloHello";

/// Bits that have nothing to do with compression.
const OTHERS: SysFlag = SysFlag(0x1038);

fn compressed(kind: Compression, plain: &[u8], sys_flag: i32) -> StoredMessage {
    let body = compress::compress(kind, DEFAULT_LEVEL, plain).expect("it is built in");
    let hosts = with_hosts("[fd00::2]:1", "[fd00::1]:10911");
    StoredMessage { body_crc: body_crc(&body), body, sys_flag: SysFlag(sys_flag).with(OTHERS), ..hosts }
}

#[test]
fn each_kind_by_its_bits() {
    let rows = [
        (Compression::Zlib, 0x001),
        (Compression::Zlib, 0x301),
        (Compression::Lz4, 0x101),
        (Compression::Zstd, 0x201),
    ];
    for (kind, bits) in rows {
        let stored = compressed(kind, PLAIN, bits);
        // As broker and client see it, in a record.
        let mut message = StoredMessage::decode(&record(&stored)).expect("a record");
        assert!(message.crc_matches(), "the checksum is of what is stored");
        assert_eq!(message.inflate(PLAIN.len()), Ok(()), "{bits:#x}");
        // Only the one bit goes.
        let sys_flag = SysFlag(bits & !1).with(OTHERS);
        let plain = StoredMessage { body: Bytes::from_static(PLAIN), sys_flag, ..stored };
        assert_eq!(message, plain, "{bits:#x}");
        // It is plain now, and stays so.
        assert_eq!(message.inflate(0), Ok(()));
        assert_eq!(message, plain);
    }
}

#[test]
fn the_example() {
    let mut message = StoredMessage::decode(&hex(E11)).expect("a record");
    assert_eq!(message.inflate(DEFAULT_MAX_LEN), Ok(()));
    assert_eq!((message.body, message.sys_flag), (vec![b'A'; 64].into(), SysFlag(0x300)));
}

#[test]
fn what_cannot_be_inflated_stays_as_it_is() {
    let good = compressed(Compression::Zlib, PLAIN, 0x301);
    let with_bits =
        |bits| StoredMessage { sys_flag: good.sys_flag.with_compression_bits(bits), ..good.clone() };
    let cut = StoredMessage { body: good.body.slice(..good.body.len() - 1), ..good.clone() };
    let none = StoredMessage { body: Bytes::new(), ..good.clone() };
    let rows = [
        (with_bits(4), DEFAULT_MAX_LEN),
        (with_bits(5), DEFAULT_MAX_LEN),
        (with_bits(6), DEFAULT_MAX_LEN),
        (with_bits(7), DEFAULT_MAX_LEN),
        // Of another kind than the bits say.
        (with_bits(1), DEFAULT_MAX_LEN),
        (with_bits(2), DEFAULT_MAX_LEN),
        (cut, DEFAULT_MAX_LEN),
        (none, DEFAULT_MAX_LEN),
        // A byte too long.
        (good.clone(), PLAIN.len() - 1),
    ];
    for (message, max_len) in rows {
        let mut read = message.clone();
        let error = read.inflate(max_len).expect_err("it cannot be inflated");
        assert_eq!(read, message, "{error}");
        let bits = message.sys_flag.compression_bits();
        assert_eq!(error == InflateError::Unknown { bits }, bits > 3, "{error}");
    }
}

#[test]
fn a_batch_that_is_compressed_as_a_whole() {
    let elements = [element("a", "", 1), element("b", "", 2)];
    let both = inner_batch(&[]).sys_flag;
    let mut message = compressed(Compression::Zlib, &batch(&elements), 0x301);
    message.sys_flag = message.sys_flag.with(both);
    message.inflate(DEFAULT_MAX_LEN).expect("a body");
    let bodies: Vec<_> = message.unbatch().map(|message| message.expect("a message").body).collect();
    assert_eq!(bodies, ["a", "b"]);
}
