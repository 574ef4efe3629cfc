//! Batches that are stored as one record: wire §6.1, A17.

use bytes::Bytes;
use rmq_proto::message::{
    BatchElement, Messages, RecordError, RecordErrorKind, RecordField, Records, StoredMessage, SysFlag,
};

use crate::support::*;

fn three() -> [BatchElement; 3] {
    [element("a", "TAGS\u{1}A\u{2}", 1), element("", "", 0), element("ccc", "KEYS\u{1}k\u{2}", -3)]
}

/// The message that comes out of the record for this element.
fn member(record: &StoredMessage, element: &BatchElement, index: i64) -> StoredMessage {
    StoredMessage {
        queue_offset: record.queue_offset + index,
        flag: element.flag,
        body: element.body.clone(),
        properties: element.properties.clone(),
        body_crc: 0,
        sys_flag: record.sys_flag.without(SysFlag::NEEDS_UNWRAP),
        ..record.clone()
    }
}

fn members(record: &StoredMessage, elements: &[BatchElement]) -> Vec<StoredMessage> {
    (0..).zip(elements).map(|(index, element)| member(record, element, index)).collect()
}

type Read = Vec<Result<StoredMessage, RecordError>>;

fn unbatched(message: &StoredMessage) -> Read {
    message.clone().unbatch().collect()
}

fn ok(messages: impl IntoIterator<Item = StoredMessage>) -> Read {
    messages.into_iter().map(Ok).collect()
}

#[test]
fn a_batch_of_three() {
    let v6 = with_hosts("[fd00::2]:1", "[fd00::1]:10911");
    let commit = SysFlag(0x8);
    let records = [
        inner_batch(&three()),
        StoredMessage { sys_flag: inner_batch(&[]).sys_flag.with(v6.sys_flag), body: batch(&three()), ..v6 },
        // Properties and flag of the record are nobody's; the rest is everybody's.
        StoredMessage {
            flag: 9,
            properties: "INNER_NUM\u{1}3\u{2}".into(),
            reconsume_times: 4,
            prepared_transaction_offset: 5,
            sys_flag: inner_batch(&[]).sys_flag.with(commit),
            body: batch(&three()),
            ..long_topic()
        },
    ];
    for record in records {
        let messages = members(&record, &three());
        assert_eq!(unbatched(&record), ok(messages.clone()));
        for message in &messages {
            assert!(message.sys_flag.contains(SysFlag::INNER_BATCH), "where it came from can be seen");
            assert_eq!(unbatched(message), ok([message.clone()]), "not taken apart twice");
            assert!(message.crc_matches(), "without a checksum there is nothing to match");
        }
        assert_eq!(messages.iter().map(|message| message.queue_offset).collect::<Vec<_>>(), [7, 8, 9]);
    }
}

#[test]
fn among_other_messages() {
    let (before, after) = (hello(), StoredMessage { queue_offset: 10, ..hello() });
    let record = inner_batch(&three());
    let body = records([&before, &record, &after]);
    let expected: Vec<_> = [vec![before.clone()], members(&record, &three()), vec![after.clone()]].concat();
    let read: Read = Messages::new(body.clone()).collect();
    assert_eq!(read, ok(expected));
    for message in read.iter().flatten().filter(|message| !message.body.is_empty()) {
        assert!(is_part_of(&message.body, &body), "no body is copied");
    }
    let whole: Read = Records::new(body).collect();
    assert_eq!(whole, ok([before, record, after]), "`Records` leaves it whole");
}

#[test]
fn what_comes_out_as_it_is() {
    let both = inner_batch(&[]).sys_flag;
    for sys_flag in [
        SysFlag::default(),
        SysFlag::NEEDS_UNWRAP,
        SysFlag::INNER_BATCH,
        // First the body has to be inflated.
        both.with(SysFlag(0x301)),
    ] {
        let message = StoredMessage { sys_flag, ..inner_batch(&three()) };
        assert_eq!(unbatched(&message), ok([message.clone()]), "{sys_flag:?}");
        let read: Read = Messages::new(record(&message)).collect();
        assert_eq!(read, ok([message]), "{sys_flag:?}");
    }
}

/// Offset, length, queue offset and kind of an error.
type Parts = (usize, usize, Option<i64>, RecordErrorKind);

/// The errors by their place.
fn errors(read: &Read) -> Vec<(usize, Parts)> {
    let errors =
        read.iter().enumerate().filter_map(|(place, message)| Some((place, message.as_ref().err()?)));
    errors.map(|(place, error)| (place, (error.offset, error.len, error.queue_offset, error.kind))).collect()
}

#[test]
fn bad_batches() {
    use RecordErrorKind::*;
    let good = batch(&three());
    // Elements of 30, 22 and 32 bytes.
    let (second, third) = (30, 52);
    let at = |at, bytes: &[u8]| patched(&good, at, bytes);
    let length = |length, available| Length { length, min: 22, available };
    let body_length = FieldLength { field: RecordField::Body, length: 3, available: 2 };
    let utf8 = Utf8 { field: RecordField::Properties, at: 26 };
    // Body; queue offsets of what comes out; the error's place, offset, length, queue offset and kind.
    let rows: Vec<(Bytes, &[i64], usize, Parts)> = vec![
        (Bytes::new(), &[], 0, (0, 0, Some(7), EmptyBatch)),
        (at(second + 16, &[0, 0, 0, 3]), &[7, 9], 1, (second, 22, Some(8), body_length)),
        (at(third + 26, &[0xFF]), &[7, 8], 2, (third, 32, Some(9), utf8)),
        (at(0, &[0xFF; 4]), &[], 0, (0, 84, Some(7), length(-1, 84))),
        (at(second, &[0; 4]), &[7], 1, (second, 54, Some(8), length(0, 54))),
        (at(second, &[0, 0, 0, 21]), &[7], 1, (second, 54, Some(8), length(21, 54))),
        (at(third, &[0, 0, 0, 33]), &[7, 8], 2, (third, 32, Some(9), length(33, 32))),
        (good.slice(..83), &[7, 8], 2, (third, 31, Some(9), length(32, 31))),
        (good.slice(..54), &[7, 8], 2, (third, 2, Some(9), Cut { at: 0, needed: 4, available: 2 })),
    ];
    for (body, queue_offsets, place, error) in rows {
        let message = StoredMessage { body, ..inner_batch(&[]) };
        let read = unbatched(&message);
        let found: Vec<_> = read.iter().flatten().map(|message| message.queue_offset).collect();
        assert_eq!(found, queue_offsets, "{error:?}");
        assert_eq!(errors(&read), [(place, error)]);

        // Among others: placed in the whole body, and what follows still comes out.
        for message in [
            message.clone(),
            StoredMessage {
                sys_flag: message.sys_flag.with(SysFlag(0x30)),
                body: message.body.clone(),
                ..with_hosts("[fd00::2]:1", "[fd00::1]:1")
            },
        ] {
            let bytes = records([&hello(), &message, &hello()]);
            let (offset, len, queue_offset, kind) = error;
            let body_at = record(&hello()).len() + if message.store_host.is_ipv6() { 112 } else { 88 };
            let read: Read = Messages::new(bytes).collect();
            assert_eq!(errors(&read), [(place + 1, (body_at + offset, len, queue_offset, kind))]);
            assert_eq!(read.last(), Some(&Ok(hello())));
        }
    }
}

#[test]
fn offsets_past_the_greatest() {
    let message = StoredMessage { queue_offset: i64::MAX - 1, ..inner_batch(&three()) };
    let read = unbatched(&message);
    assert_eq!(read[..2], ok(members(&message, &three()[..2])));
    let kind = RecordErrorKind::QueueOffset { base: i64::MAX - 1, index: 2 };
    assert_eq!(errors(&read), [(2, (52, 32, None, kind))]);
    let read: Read = Messages::new(records([&hello(), &message])).collect();
    assert_eq!(errors(&read), [(3, (record(&hello()).len() + 88 + 52, 32, None, kind))]);
}
