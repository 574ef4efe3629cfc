//! Good records with bytes missing or changed.

use bytes::Bytes;
use rmq_proto::message::{Messages, RecordVersion, Records, StoredMessage, SysFlag};

use crate::support::*;

fn good() -> Vec<Bytes> {
    let mut records: Vec<_> = [E7, E8, E9, E11].map(hex).to_vec();
    let captured = include_str!("../golden/vectors.jsonl").lines().map(Line::of);
    let captured = captured.filter(|line| line.text("kind").as_deref() == Some("stored-message"));
    records.extend(captured.map(|line| hex(&line.text("hex").expect("a record"))));
    records.push(record(&inner_batch(&[element("a", "k\u{1}v\u{2}", 1), element("b", "", 0)])));
    records
}

#[test]
fn cut_at_every_byte() {
    for record in good() {
        assert!(StoredMessage::decode(&record).is_ok());
        for len in 0..record.len() {
            let cut = record.slice(..len);
            let error = StoredMessage::decode(&cut).expect_err("a part of a record is none");
            assert_eq!((error.offset, error.len), (0, len));
            // With a length that fits, what is missing is missed in the fields.
            if len >= 4 {
                let shortened = patched(&cut, 0, &(len as u32).to_be_bytes());
                let error = StoredMessage::decode(&shortened).expect_err("the fields are cut");
                assert_eq!((error.offset, error.len), (0, len));
            }
        }
    }
}

/// Where the lengths of body, topic and properties lie, and how many bytes each has.
fn lengths(message: &StoredMessage) -> [(usize, usize); 3] {
    let v6_hosts = [message.born_host, message.store_host].iter().filter(|host| host.is_ipv6()).count();
    let body = 84 + 12 * v6_hosts;
    let topic = body + 4 + message.body.len();
    let topic_len = if message.version == RecordVersion::V1 { 1 } else { 2 };
    let properties = topic + topic_len + message.topic.len();
    [(body, 4), (topic, topic_len), (properties, 2)]
}

#[test]
fn a_length_with_one_byte_changed() {
    for record in good() {
        let message = StoredMessage::decode(&record).expect("a record");
        for at in 0..4 {
            for byte in (0..=u8::MAX).filter(|byte| *byte != record[at]) {
                let changed = patched(&record, at, &[byte]);
                let error = StoredMessage::decode(&changed).expect_err("not the record's length");
                assert_eq!(error.len, record.len());
            }
        }
        for (start, len) in lengths(&message) {
            for at in start..start + len {
                for byte in (0..=u8::MAX).filter(|byte| *byte != record[at]) {
                    let changed = patched(&record, at, &[byte]);
                    // Two lengths below 0 say the same. Else the lengths do not add up any more, and either a field is
                    // cut or bytes are left over.
                    if let Ok(read) = StoredMessage::decode(&changed)
                        && read != message
                    {
                        assert!(read.encoded_len() < record.len(), "byte {at} as {byte}: {read:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn any_byte_changed() {
    for record in good() {
        let between = Bytes::from([&hex(E7)[..], &record, &hex(E8)].concat());
        let start = hex(E7).len();
        for at in 0..record.len() {
            for change in [0x01, 0x40, 0x80, 0xFF] {
                let changed = patched(&between, start + at, &[record[at] ^ change]);
                let read: Vec<_> = Records::new(changed.clone()).collect();
                assert!(read[0].is_ok());
                // With its length the record stays in its place, whatever else is wrong with it.
                if at >= 4 && read.len() == 3 {
                    assert!(read[2].as_ref().is_ok_and(|last| last.sys_flag == SysFlag(0x30)));
                }
                assert!(at < 4 || read.len() == 3);
                assert!(Messages::new(changed).count() >= 2);
            }
        }
    }
}
