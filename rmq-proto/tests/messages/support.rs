//! What the tests share.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use rmq_proto::json::Reader;
use rmq_proto::message::{BatchElement, RecordVersion, StoredMessage, SysFlag, body_crc, encode_batch};

// Wire §12.
pub(crate) const E7: &str = "
00 00 00 7d da a3 20 a7 77 d1 89 82 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 07 00 00 00 00
00 00 04 00 00 00 00 00 00 00 01 8b cf e5 68 00 0a 00 00 09 00 00 d4 31 00 00 01 8b cf e5 68 05
0a 00 00 01 00 00 2a 9f 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 05 48 65 6c 6c 6f 09 54 6f
70 69 63 54 65 73 74 00 14 54 41 47 53 01 54 61 67 41 02 57 41 49 54 01 74 72 75 65 02";
pub(crate) const E8: &str = "
00 00 00 8b da a3 20 a7 77 d1 89 82 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 07 00 00 00 00
00 00 04 00 00 00 00 30 00 00 01 8b cf e5 68 00 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 09
00 00 d4 31 00 00 01 8b cf e5 68 05 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 01 00 00 2a 9f
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 05 48 65 6c 6c 6f 09 54 6f 70 69 63 54 65 73 74 00
0a 54 41 47 53 01 54 61 67 41 02";
pub(crate) const E9: &str = "
00 00 00 df da a3 20 ab 0c dc 16 83 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 07 00 00 00 00
00 00 04 00 00 00 00 00 00 00 01 8b cf e5 68 00 0a 00 00 09 00 00 d4 31 00 00 01 8b cf e5 68 05
0a 00 00 01 00 00 2a 9f 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 78 00 82 25 52 45 54 52
59 25 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47
47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47
47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47
47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 47 00 00";
pub(crate) const E10: &str = "
00 00 00 25 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 05 48 65 6c 6c 6f 00 0a 54 41 47 53 01
54 61 67 41 02 00 00 00 24 00 00 00 00 00 00 00 00 00 00 00 05 00 00 00 06 57 6f 72 6c 64 21 00
08 4b 45 59 53 01 6b 31 02";
pub(crate) const E11: &str = "
00 00 00 68 da a3 20 a7 6f a2 99 95 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 07 00 00 00 00
00 00 04 00 00 00 03 01 00 00 01 8b cf e5 68 00 0a 00 00 09 00 00 d4 31 00 00 01 8b cf e5 68 05
0a 00 00 01 00 00 2a 9f 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 0c 78 5e 73 74 a4 0c 00 00
10 7e 10 41 01 54 00 00";

/// What the examples of wire §12 have in common, with the checksum of its body.
pub(crate) fn hello() -> StoredMessage {
    StoredMessage {
        body_crc: body_crc(b"Hello"),
        queue_id: 1,
        queue_offset: 7,
        commit_log_offset: 1024,
        born_timestamp: 1_700_000_000_000,
        born_host: host("10.0.0.9:54321"),
        store_timestamp: 1_700_000_000_005,
        store_host: host("10.0.0.1:10911"),
        body: Bytes::from_static(b"Hello"),
        topic: "TopicTest".into(),
        properties: "TAGS\u{1}TagA\u{2}WAIT\u{1}true\u{2}".into(),
        ..StoredMessage::default()
    }
}

/// The message with the topic `%RETRY%` and 123 times `G`, which takes version 2.
pub(crate) fn long_topic() -> StoredMessage {
    StoredMessage {
        version: RecordVersion::V2,
        topic: format!("%RETRY%{}", "G".repeat(123)).into(),
        ..hello()
    }
}

fn host(text: &str) -> SocketAddr {
    text.parse().expect("a host")
}

/// A message with these hosts, and the flags that they need.
pub(crate) fn with_hosts(born: &str, store: &str) -> StoredMessage {
    let (born_host, store_host) = (host(born), host(store));
    let sys_flag = SysFlag::default().with_hosts(&born_host, &store_host);
    StoredMessage { born_host, store_host, sys_flag, ..hello() }
}

/// A record that is this batch.
pub(crate) fn inner_batch(elements: &[BatchElement]) -> StoredMessage {
    let sys_flag = SysFlag::NEEDS_UNWRAP.with(SysFlag::INNER_BATCH);
    StoredMessage { sys_flag, body: batch(elements), body_crc: 0, ..hello() }
}

pub(crate) fn element(body: &'static str, properties: &str, flag: i32) -> BatchElement {
    BatchElement { flag, body: body.into(), properties: properties.to_owned() }
}

pub(crate) fn batch(elements: &[BatchElement]) -> Bytes {
    let mut out = BytesMut::new();
    encode_batch(elements, &mut out).expect("it can be written");
    out.freeze()
}

pub(crate) fn record(message: &StoredMessage) -> Bytes {
    let mut out = BytesMut::new();
    message.encode(&mut out).expect("it can be written");
    out.freeze()
}

/// The records of these messages, one after the other.
pub(crate) fn records<'a>(messages: impl IntoIterator<Item = &'a StoredMessage>) -> Bytes {
    let mut out = BytesMut::new();
    for message in messages {
        message.encode(&mut out).expect("it can be written");
    }
    out.freeze()
}

/// `bytes` with others from `at` on.
pub(crate) fn patched(bytes: &[u8], at: usize, with: &[u8]) -> Bytes {
    let mut bytes = bytes.to_vec();
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes.into()
}

pub(crate) fn is_part_of(part: &[u8], whole: &[u8]) -> bool {
    let (part, whole) = (part.as_ptr_range(), whole.as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}

/// Bytes from hex, with or without blanks.
pub(crate) fn hex(text: &str) -> Bytes {
    let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// A line of a file of golden vectors: its members, each as JSON text.
pub(crate) struct Line(BTreeMap<String, String>);

impl Line {
    pub(crate) fn of(line: &str) -> Self {
        let mut members = BTreeMap::new();
        let mut json = Reader::of(line);
        json.object().expect("an object");
        while let Some(name) = json.key().expect("a key") {
            members.insert(name.into_owned(), json.skip_raw().expect("a value").to_owned());
        }
        json.finish().expect("nothing more");
        Self(members)
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        Some(Reader::of(self.0.get(name)?).text().expect("text")?.into_owned())
    }

    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        Reader::of(self.0.get(name)?).i64().expect("a number")
    }
}
