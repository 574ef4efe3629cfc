//! Any bytes, as the body of an answer to a pull, and as a batch.

#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use rmq_proto::message::{
    BatchElement, BatchElements, Messages, RecordError, Records, StoredMessage, SysFlag, encode_batch,
};

fuzz_target!(|data: &[u8]| {
    let body = Bytes::copy_from_slice(data);
    let records = records(&body);
    let of_records: Vec<_> = records.into_iter().flat_map(unbatched).collect();
    let messages: Vec<_> = Messages::new(body.clone()).collect();
    assert_eq!(messages.len(), of_records.len());
    for (message, of_record) in messages.iter().zip(&of_records) {
        match (message, of_record) {
            (Ok(message), Ok(same)) => assert_eq!(message, same),
            // The place of an error in a batch is one in the body, or one in the batch.
            (Err(error), Err(same)) => {
                assert_eq!(
                    (error.len, error.queue_offset, error.kind),
                    (same.len, same.queue_offset, same.kind)
                );
                assert!(error.offset >= same.offset && error.offset + error.len <= body.len());
            }
            _ => panic!("{message:?} is not {of_record:?}"),
        }
        let _ = format!("{message:?}");
    }
    for message in messages.iter().flatten() {
        assert!(message.body.is_empty() || is_part_of(&message.body, &body));
    }
    batch(&body);
});

/// Each byte belongs to one record or to one error, in order.
fn records(body: &Bytes) -> Vec<Result<StoredMessage, RecordError>> {
    let mut records = Records::new(body.clone());
    let (mut read, mut end) = (Vec::new(), 0);
    while let Some(record) = records.next() {
        match &record {
            Ok(message) => assert!(records.offset() >= end + message.encoded_len()),
            Err(error) => assert_eq!((error.offset, error.len), (end, records.offset() - end)),
        }
        assert!(records.offset() > end, "it comes to an end");
        end = records.offset();
        read.push(record);
    }
    assert_eq!(end, body.len());
    assert!(records.next().is_none());
    read
}

fn unbatched(record: Result<StoredMessage, RecordError>) -> Vec<Result<StoredMessage, RecordError>> {
    let Ok(record) = record else { return vec![record] };
    let is_batch = record.sys_flag.is_inner_batch() && !record.sys_flag.is_compressed();
    let messages: Vec<_> = record.clone().unbatch().collect();
    assert!(!messages.is_empty(), "no record is lost");
    if !is_batch {
        assert_eq!(messages, [Ok(record)]);
        return messages;
    }
    for (index, message) in (0..).zip(&messages) {
        match message {
            Ok(message) => {
                assert_eq!(Some(message.queue_offset), record.queue_offset.checked_add(index));
                assert!(!message.sys_flag.contains(SysFlag::NEEDS_UNWRAP));
            }
            Err(error) => assert_eq!(error.queue_offset, record.queue_offset.checked_add(index)),
        }
    }
    messages
}

fn batch(body: &Bytes) {
    let mut elements = BatchElements::new(body.clone());
    let (mut good, mut end) = (Vec::<BatchElement>::new(), 0);
    while let Some(element) = elements.next() {
        match element {
            Ok(element) => {
                assert!(elements.offset() >= end + element.encoded_len());
                assert!(element.body.is_empty() || is_part_of(&element.body, body));
                good.push(element);
            }
            Err(error) => assert_eq!((error.offset, error.len), (end, elements.offset() - end)),
        }
        assert!(elements.offset() > end, "it comes to an end");
        end = elements.offset();
    }
    assert_eq!(end, body.len());
    let mut out = BytesMut::new();
    encode_batch(&good, &mut out).expect("what was read can be written");
    let again: Result<Vec<_>, _> = BatchElements::new(out.freeze()).collect();
    assert_eq!(again, Ok(good));
}

fn is_part_of(part: &[u8], whole: &[u8]) -> bool {
    let (part, whole) = (part.as_ptr_range(), whole.as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}
