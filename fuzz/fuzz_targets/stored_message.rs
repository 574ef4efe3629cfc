//! Any bytes, as one record in store format.

#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use rmq_proto::message::{RecordVersion, StoredMessage};

fuzz_target!(|data: &[u8]| {
    let record = Bytes::copy_from_slice(data);
    match StoredMessage::decode(&record) {
        Ok(message) => check(&record, &message),
        Err(error) => {
            assert_eq!((error.offset, error.len), (0, record.len()));
            let _ = format!("{error} {error:?}");
        }
    }
});

fn check(record: &Bytes, message: &StoredMessage) {
    assert!(message.body.is_empty() || is_part_of(&message.body, record));
    let mut out = BytesMut::new();
    message.encode(&mut out).expect("what was read can be written");
    let written = out.freeze();
    assert_eq!(written.len(), message.encoded_len());
    assert_eq!(StoredMessage::decode(&written).as_ref(), Ok(message));
    // Bytes behind the last field are not kept.
    assert!(written.len() <= record.len());
    if written.len() == record.len() {
        assert_eq!(written, without_negative_lengths(record, message));
    }

    let _ = format!("{message:?} {} {}", message.message_id(), message.offset_message_id());
    let _ = (message.tags(), message.keys().count(), message.crc_matches());
}

/// The record with 0 for each length below 0: both say that there is nothing.
fn without_negative_lengths(record: &[u8], message: &StoredMessage) -> Vec<u8> {
    let v6_hosts = [message.born_host, message.store_host].iter().filter(|host| host.is_ipv6()).count();
    let topic_len_len = if message.version == RecordVersion::V1 { 1 } else { 2 };
    let body_len_at = 84 + 12 * v6_hosts;
    let properties_len_at = body_len_at + 4 + message.body.len() + topic_len_len + message.topic.len();
    let mut record = record.to_vec();
    for (at, len) in [(body_len_at, 4), (properties_len_at, 2)] {
        if record[at] & 0x80 != 0 {
            record[at..at + len].fill(0);
        }
    }
    record
}

fn is_part_of(part: &[u8], whole: &[u8]) -> bool {
    let (part, whole) = (part.as_ptr_range(), whole.as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}
