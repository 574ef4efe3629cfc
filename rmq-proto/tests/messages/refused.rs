//! What one record can neither be read from nor written as.

use bytes::{Bytes, BytesMut};
use rmq_proto::message::{
    RecordEncodeError, RecordErrorKind, RecordField, RecordVersion, StoredMessage, SysFlag,
};

use crate::support::*;

#[test]
fn what_cannot_be_written_leaves_the_output_as_it_was() {
    use RecordEncodeError::*;
    let topic = |len, version| StoredMessage { topic: "t".repeat(len).into(), version, ..hello() };
    let topic_too_long = |len, max, version| TopicTooLong { len, max, version };
    let (v1, v2) = (RecordVersion::V1, RecordVersion::V2);
    let v6 = with_hosts("[fd00::2]:1", "[fd00::1]:2");
    let family = |field, message: &StoredMessage, bits| HostFamily {
        field,
        host: if field == RecordField::BornHost { message.born_host } else { message.store_host },
        sys_flag: SysFlag(bits),
    };
    let flagged =
        |message: &StoredMessage, bits| StoredMessage { sys_flag: SysFlag(bits), ..message.clone() };
    let (born, store) = (RecordField::BornHost, RecordField::StoreHost);
    // 2 GiB that no page of memory is used for.
    let huge = vec![0; i32::MAX as usize + 1 - (125 - 5)];
    let rows = [
        // A9.
        (topic(128, v1), topic_too_long(128, 127, v1)),
        (topic(300, v1), topic_too_long(300, 127, v1)),
        (topic(32_768, v2), topic_too_long(32_768, 32_767, v2)),
        (
            StoredMessage { properties: "p".repeat(32_768), ..hello() },
            PropertiesTooLong { len: 32_768, max: 32_767 },
        ),
        (
            StoredMessage { properties: "p".repeat(65_536), ..hello() },
            PropertiesTooLong { len: 65_536, max: 32_767 },
        ),
        (flagged(&hello(), 0x10), family(born, &hello(), 0x10)),
        (flagged(&hello(), 0x20), family(store, &hello(), 0x20)),
        (flagged(&v6, 0x20), family(born, &v6, 0x20)),
        (flagged(&v6, 0x10), family(store, &v6, 0x10)),
        (
            StoredMessage { body: huge.into(), ..hello() },
            TooLong { len: i32::MAX as usize + 1, max: i32::MAX as usize },
        ),
    ];
    for (message, error) in rows {
        let mut out = BytesMut::from(&b"before"[..]);
        assert_eq!(message.encode(&mut out), Err(error));
        assert_eq!(out, b"before"[..]);
    }
}

#[test]
fn the_longest_texts_are_written() {
    for (topic, version) in [(127, RecordVersion::V1), (32_767, RecordVersion::V2)] {
        let message = StoredMessage {
            topic: "t".repeat(topic).into(),
            properties: "p".repeat(32_767),
            version,
            ..hello()
        };
        assert_eq!(StoredMessage::decode(&record(&message)), Ok(message));
    }
}

#[test]
fn what_is_no_record() {
    use RecordErrorKind::*;
    let good = record(&hello());
    let at = |at, bytes: &[u8]| patched(&good, at, bytes);
    let field = |field, length, available| FieldLength { field, length, available };
    let twice = Bytes::from([&good[..], &good].concat());
    // The shortest record, all 0, with the flags of two hosts with IPv6 addresses.
    let short = StoredMessage { queue_offset: 7, ..StoredMessage::default() };
    let short = patched(&record(&short), 36, &[0, 0, 0, 0x30]);
    let known = Some(7);
    let rows = [
        (Bytes::new(), None, Cut { at: 0, needed: 4, available: 0 }),
        (twice, known, TrailingBytes { len: 125 }),
        (Bytes::from([&good[..], &[0]].concat()), known, TrailingBytes { len: 1 }),
        (at(0, &[0, 0, 0, 126]), known, Length { length: 126, min: 91, available: 125 }),
        (at(4, &[0xDA, 0xA3, 0x20, 0xA8]), None, UnknownMagic(0xDAA3_20A8)),
        (at(4, &[0xCB, 0xD4, 0x31, 0x94]), None, Filler),
        // A9: Java would read a length below 0.
        (at(93, &[0x80]), known, field(RecordField::Topic, -128, 31)),
        (at(93, &[0xFF]), known, field(RecordField::Topic, -1, 31)),
        (at(93, &[32]), known, field(RecordField::Topic, 32, 31)),
        (at(84, &[0, 0, 0, 38]), known, field(RecordField::Body, 38, 37)),
        (at(84, &[0x7F, 0xFF, 0xFF, 0xFF]), known, field(RecordField::Body, i32::MAX, 37)),
        (at(84, &[0, 0, 0, 37]), known, Cut { at: 125, needed: 1, available: 0 }),
        (at(103, &[0, 21]), known, field(RecordField::Properties, 21, 20)),
        (at(52, &[0, 1, 0, 0]), known, Port { field: RecordField::BornHost, port: 65_536 }),
        (at(68, &[0x80, 0, 0, 0]), known, Port { field: RecordField::StoreHost, port: i32::MIN }),
        (at(102, &[0xC0]), known, Utf8 { field: RecordField::Topic, at: 102 }),
        (at(105, &[0xF0, 0x9F]), known, Utf8 { field: RecordField::Properties, at: 105 }),
        (short, known, Cut { at: 76, needed: 16, available: 15 }),
    ];
    for (bytes, queue_offset, kind) in rows {
        let error = StoredMessage::decode(&bytes).expect_err("no record");
        assert_eq!(
            (error.offset, error.len, error.queue_offset, error.kind),
            (0, bytes.len(), queue_offset, kind)
        );
        assert!(!error.to_string().is_empty());
    }
}
