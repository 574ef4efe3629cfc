//! How much memory messages take. On its own, because the allocator that counts touches all that it hands out.

use bytes::{Bytes, BytesMut};
use rmq_proto::message::{
    BatchElement, Messages, RecordVersion, Records, StoredMessage, SysFlag, encode_batch,
};

fn record(message: &StoredMessage) -> Bytes {
    let mut out = BytesMut::new();
    message.encode(&mut out).expect("it can be written");
    out.freeze()
}

#[test]
fn a_long_topic_is_not_copied_for_each_message() {
    // 20,000 messages of 22 bytes under a topic of 32,767: copies would be 655 MB.
    let elements = vec![BatchElement::default(); 20_000];
    let mut body = BytesMut::new();
    encode_batch(&elements, &mut body).expect("a batch");
    let message = StoredMessage {
        version: RecordVersion::V2,
        sys_flag: SysFlag::NEEDS_UNWRAP.with(SysFlag::INNER_BATCH),
        body: body.freeze(),
        topic: "t".repeat(32_767).into(),
        ..StoredMessage::default()
    };
    let record = record(&message);
    let mut count = 0;
    let allocations = allocation_counter::measure(|| {
        count =
            Messages::new(record.clone()).flatten().filter(|message| message.topic.len() == 32_767).count();
    });
    assert_eq!(count, elements.len());
    assert!(allocations.bytes_total < 100_000, "{allocations:?}");
}

#[test]
fn no_body_is_copied_and_no_length_is_believed() {
    let message =
        StoredMessage { body: vec![7; 1 << 20].into(), topic: "t".into(), ..StoredMessage::default() };
    let good = record(&message);
    let mut said_longer = good.to_vec();
    said_longer[84..88].copy_from_slice(&i32::MAX.to_be_bytes());
    for body in [good, said_longer.into()] {
        let allocations = allocation_counter::measure(|| {
            assert_eq!(Records::new(body.clone()).count(), 1);
        });
        assert!(allocations.bytes_total < 1_000, "{allocations:?}");
    }
}
