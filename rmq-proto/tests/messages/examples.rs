//! The worked examples of wire §12, the two records of A8, and what can be asked of a message.

use bytes::Bytes;
use rmq_proto::message::{BatchElements, RecordVersion, StoredMessage, SysFlag, body_crc};
use rmq_proto::properties;

use crate::support::*;

fn assert_is(record_hex: &str, expected: &StoredMessage) {
    let bytes = hex(record_hex);
    let message = StoredMessage::decode(&bytes).expect("a record");
    assert_eq!(message, *expected);
    assert_eq!(record(&message), bytes, "written as it was");
    assert_eq!(message.encoded_len(), bytes.len());
    assert!(message.crc_matches());
    assert!(message.body.is_empty() || is_part_of(&message.body, &bytes), "the body is not copied");
}

#[test]
fn e7_version_1() {
    let expected = hello();
    assert_is(E7, &expected);
    assert_eq!(expected.body_crc, 0x77d1_8982);
    assert_eq!(expected.offset_message_id().to_string(), "0A00000100002A9F0000000000000400");
}

#[test]
fn e8_hosts_with_ipv6_addresses() {
    let expected = StoredMessage {
        properties: "TAGS\u{1}TagA\u{2}".into(),
        ..with_hosts("[2001:db8::9]:54321", "[2001:db8::1]:10911")
    };
    assert_eq!(expected.sys_flag, SysFlag(0x30));
    assert_is(E8, &expected);
    assert_eq!(
        expected.offset_message_id().to_string(),
        "20010DB800000000000000000000000100002A9F0000000000000400"
    );
}

#[test]
fn e9_version_2() {
    let expected = StoredMessage {
        body: Bytes::from_static(b"x"),
        body_crc: body_crc(b"x"),
        properties: String::new(),
        ..long_topic()
    };
    assert_eq!(expected.topic.len(), 130);
    assert_is(E9, &expected);
}

#[test]
fn e10_batch() {
    let bytes = hex(E10);
    let expected = [element("Hello", "TAGS\u{1}TagA\u{2}", 0), element("World!", "KEYS\u{1}k1\u{2}", 5)];
    let elements: Vec<_> = BatchElements::new(bytes.clone()).map(|element| element.unwrap()).collect();
    assert_eq!(elements, expected);
    assert_eq!(batch(&elements), bytes);
    assert_eq!(elements.iter().map(|element| element.encoded_len()).collect::<Vec<_>>(), [37, 36]);
    assert!(elements.iter().all(|element| is_part_of(&element.body, &bytes)), "bodies are not copied");
}

#[test]
fn e11_compressed() {
    let body = hex("785e7374a40c0000107e1041");
    let expected = StoredMessage {
        body_crc: 0x6fa2_9995,
        sys_flag: SysFlag(0x301),
        body,
        topic: "T".into(),
        properties: String::new(),
        ..hello()
    };
    assert_is(E11, &expected);
    assert!(expected.sys_flag.is_compressed());
}

#[test]
fn either_host_alone_may_have_an_ipv6_address() {
    // A8: both records are the reporter's; the other two are made from them, host by host.
    const V4: &str = "0000005edaa320a758932aac0000000000000000000000000000000500000000000004000000000000000000000000017f000001000004d200000000000000027f00000100002a9f00000000000000000000000000000002686901540000";
    const V6: &str = "00000076daa320a758932aac000000000000000000000000000000050000000000000400000000300000000000000001fd000000000000000000000000000002000004d20000000000000002fd00000000000000000000000000000100002a9f00000000000000000000000000000002686901540000";
    const BORN_V6: &str = "0000006adaa320a758932aac000000000000000000000000000000050000000000000400000000100000000000000001fd000000000000000000000000000002000004d200000000000000027f00000100002a9f00000000000000000000000000000002686901540000";
    const STORE_V6: &str = "0000006adaa320a758932aac0000000000000000000000000000000500000000000004000000002000000000000000017f000001000004d20000000000000002fd00000000000000000000000000000100002a9f00000000000000000000000000000002686901540000";
    const ID_V4: &str = "7F00000100002A9F0000000000000400";
    const ID_V6: &str = "FD00000000000000000000000000000100002A9F0000000000000400";
    let rows = [
        (V4, "127.0.0.1:1234", "127.0.0.1:10911", ID_V4),
        (V6, "[fd00::2]:1234", "[fd00::1]:10911", ID_V6),
        (BORN_V6, "[fd00::2]:1234", "127.0.0.1:10911", ID_V4),
        (STORE_V6, "127.0.0.1:1234", "[fd00::1]:10911", ID_V6),
    ];
    for (bytes, born, store, id) in rows {
        let expected = StoredMessage {
            body_crc: 0x5893_2aac,
            queue_id: 0,
            queue_offset: 5,
            born_timestamp: 1,
            store_timestamp: 2,
            body: Bytes::from_static(b"hi"),
            topic: "T".into(),
            properties: String::new(),
            ..with_hosts(born, store)
        };
        assert_is(bytes, &expected);
        assert_eq!(expected.message_id(), id, "without a unique key");
    }
}

#[test]
fn versions_by_topic() {
    for (len, version) in [
        (0, RecordVersion::V1),
        (127, RecordVersion::V1),
        (128, RecordVersion::V2),
        (32_767, RecordVersion::V2),
    ] {
        let topic = "t".repeat(len);
        assert_eq!(RecordVersion::for_topic(&topic), version, "{len}");
        // A9: a long topic comes back whole.
        let message = StoredMessage { version, topic: topic.into(), ..hello() };
        assert_eq!(StoredMessage::decode(&record(&message)), Ok(message));
    }
}

#[test]
fn a_body_of_no_length_is_empty() {
    // F10, wire §6.1: 0 and all below it.
    let message = StoredMessage { body: Bytes::new(), body_crc: 0, ..hello() };
    let bytes = record(&message);
    for length in [0_i32, -1, i32::MIN] {
        let read = StoredMessage::decode(&patched(&bytes, 84, &length.to_be_bytes())).expect("a record");
        assert_eq!(read, message, "{length}");
        assert!(read.crc_matches());
    }
    // The same of the properties.
    let message = StoredMessage { properties: String::new(), ..hello() };
    let bytes = record(&message);
    for length in [0_i16, -1, i16::MIN] {
        let read = StoredMessage::decode(&patched(&bytes, bytes.len() - 2, &length.to_be_bytes()));
        assert_eq!(read.as_ref(), Ok(&message), "{length}");
    }
}

#[test]
fn bytes_behind_the_last_field_are_passed_over() {
    let slack = [record(&hello()).as_ref(), &[7; 9]].concat();
    let slack = patched(&slack, 0, &(slack.len() as u32).to_be_bytes());
    assert_eq!(StoredMessage::decode(&slack), Ok(hello()));
}

#[test]
fn checksums() {
    // A13. The last two bodies have the CRCs 0 and 0x80000000.
    let rows: [(&[u8], u32); 5] = [
        (b"", 0),
        (b"hi", 0x5893_2aac),
        (b"Hello", 0x77d1_8982),
        (&[0x9d, 0x0a, 0xd9, 0x6d], 0),
        (&[0x4e, 0x85, 0xec, 0x36], 0),
    ];
    for (body, crc) in rows {
        assert_eq!(body_crc(body), crc);
        let message = StoredMessage { body: Bytes::from_static(body), body_crc: crc, ..hello() };
        assert!(StoredMessage::decode(&record(&message)).unwrap().crc_matches(), "{body:?}");
        for wrong in [crc ^ 1, crc | 0x8000_0000] {
            let message = StoredMessage { body_crc: wrong, ..message.clone() };
            let read = StoredMessage::decode(&record(&message)).expect("reading does not ask");
            assert_eq!(read, message);
            assert!(!read.crc_matches(), "{wrong:#x} for {body:?}");
        }
    }
    assert!(!StoredMessage { body_crc: 0, ..hello() }.crc_matches(), "0 is no way around the check");
}

#[test]
fn what_the_properties_say() {
    // Wire §6.4 and rows 8, 36 and 37 of wire §10: the text of a message of a client's batch, whose own properties come
    // first, without the last separator and without what only newer brokers write.
    let text = "UNIQ_KEY\u{1}0A000009\u{2}KEYS\u{1}k1  订单 🎉\u{2}TAGS\u{1}标签\u{2}WAIT\u{1}false\u{2}UNIQ_KEY\u{1}0A00000A\u{2}WAIT\u{1}true";
    let message = StoredMessage { properties: text.into(), ..hello() };
    let message = StoredMessage::decode(&record(&message)).expect("a record");
    assert_eq!(message.tags(), Some("标签"));
    assert_eq!(message.keys().collect::<Vec<_>>(), ["k1", "订单", "🎉"]);
    assert_eq!(message.property(properties::WAIT), Some("true"));
    assert_eq!(message.unique_key(), Some("0A00000A"));
    assert_eq!(message.message_id(), "0A00000A");
    assert_eq!(properties::first_value(&message.properties, properties::UNIQ_KEY), Some("0A000009"));
    assert_eq!(properties::first_value(&message.properties, properties::MSG_REGION), None);
    assert_eq!(message.property(properties::MSG_REGION), None);

    let bare = StoredMessage { properties: String::new(), ..hello() };
    assert_eq!((bare.tags(), bare.keys().count(), bare.unique_key()), (None, 0, None));
    assert_eq!(bare.message_id(), "0A00000100002A9F0000000000000400");
}

#[test]
fn bodies_are_not_logged() {
    let shown = format!("{:?} {:?}", hello(), element("Hello", "", 0));
    assert!(!shown.contains("Hello") && shown.contains("5 bytes"), "{shown}");
}
