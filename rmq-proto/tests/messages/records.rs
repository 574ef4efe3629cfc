//! Bodies of several records, of which some are bad (wire §6.1).

use bytes::Bytes;
use rmq_proto::message::{RecordError, RecordErrorKind, RecordField, Records, StoredMessage};

use crate::support::*;

/// Five messages of different layouts at the queue offsets 10 to 14.
fn five() -> Vec<StoredMessage> {
    let mut messages = vec![
        hello(),
        with_hosts("[fd00::2]:1", "10.0.0.1:10911"),
        long_topic(),
        StoredMessage { body: Bytes::new(), body_crc: 0, properties: String::new(), ..hello() },
        with_hosts("10.0.0.9:1", "[fd00::1]:10911"),
    ];
    for (queue_offset, message) in (10..).zip(&mut messages) {
        message.queue_offset = queue_offset;
    }
    messages
}

/// What comes out, with the queue offset of each message. Sees to it that every byte is accounted for.
fn read(body: &Bytes) -> Vec<Result<i64, RecordError>> {
    let mut records = Records::new(body.clone());
    let mut read = Vec::new();
    loop {
        let start = records.offset();
        let Some(record) = records.next() else { break };
        match &record {
            Ok(message) => {
                assert!(message.body.is_empty() || is_part_of(&message.body, &body[start..records.offset()]));
            }
            Err(error) => assert_eq!((error.offset, error.len), (start, records.offset() - start)),
        }
        read.push(record.map(|message| message.queue_offset));
    }
    assert_eq!(records.offset(), body.len());
    assert!(records.next().is_none(), "the end stays the end");
    read
}

/// The record with another magic number.
fn with_magic(record: &Bytes, magic: u32) -> Bytes {
    patched(record, 4, &magic.to_be_bytes())
}

#[test]
fn good_records_come_out_as_they_went_in() {
    assert!(read(&Bytes::new()).is_empty());
    let messages = five();
    for count in 1..=messages.len() {
        let some = &messages[..count];
        let out: Result<Vec<_>, _> = Records::new(records(some)).collect();
        assert_eq!(out.as_deref(), Ok(some));
    }
    assert_eq!(read(&records(&messages)), [Ok(10), Ok(11), Ok(12), Ok(13), Ok(14)]);
}

#[test]
fn a_bad_record_costs_only_itself() {
    use RecordErrorKind::*;
    let middle = record(&five()[2]);
    let len = middle.len();
    let filler = |len: usize| {
        let mut filler = vec![0xEE; len];
        filler[..8].copy_from_slice(&[0, 0, 0, len as u8, 0xcb, 0xd4, 0x31, 0x94]);
        Bytes::from(filler)
    };
    let body = RecordField::Body;
    // The topic of the record: version 2, 130 bytes, behind a body of 5.
    let (topic_len_at, topic_at) = (93, 95);
    let rows: Vec<(Bytes, Option<i64>, RecordErrorKind)> = vec![
        (with_magic(&middle, 0xDAA3_20A8), None, UnknownMagic(0xDAA3_20A8)),
        (with_magic(&middle, 0), None, UnknownMagic(0)),
        (with_magic(&middle, 0xCBD4_3194), None, Filler),
        (filler(8), None, Filler),
        (filler(90), None, Filler),
        (patched(&middle, 52, &[0, 1, 0, 0]), Some(12), Port { field: RecordField::BornHost, port: 65_536 }),
        (patched(&middle, 68, &[0xFF; 4]), Some(12), Port { field: RecordField::StoreHost, port: -1 }),
        (
            patched(&middle, 84, &[0, 0, 1, 0]),
            Some(12),
            FieldLength { field: body, length: 256, available: len - 88 },
        ),
        (
            patched(&middle, topic_len_at, &[0x80, 0x82]),
            Some(12),
            FieldLength { field: RecordField::Topic, length: -32_638, available: len - topic_at },
        ),
        (
            patched(&middle, topic_at + 7, &[0xFF]),
            Some(12),
            Utf8 { field: RecordField::Topic, at: topic_at + 7 },
        ),
        (
            patched(&middle, len - 2, &[0xC3, 0x28]),
            Some(12),
            Utf8 { field: RecordField::Properties, at: len - 2 },
        ),
    ];
    for (bad, queue_offset, kind) in rows {
        for place in 0..=4 {
            let mut parts: Vec<_> = five().iter().map(record).collect();
            let offset = parts[..place].iter().map(Bytes::len).sum();
            parts[place] = bad.clone();
            let mut expected: Vec<_> = (10..15).map(Ok).collect();
            let read = read(&parts.concat().into());
            let Err(error) = &read[place] else { panic!("{kind:?} at {place}") };
            assert_eq!(
                (error.offset, error.len, error.queue_offset, error.kind),
                (offset, bad.len(), queue_offset, kind)
            );
            expected[place] = Err(error.clone());
            assert_eq!(read, expected, "{kind:?} at {place}");
        }
    }
}

#[test]
fn behind_a_length_that_cannot_be_true_nothing_is_read() {
    use RecordErrorKind::{Cut, Length};
    let messages = five();
    let whole = records(&messages);
    let start = records(&messages[..3]).len();
    let rest = whole.len() - start;
    let length = |length, min| Length { length, min, available: rest };
    let of = |number: i32| patched(&whole, start, &number.to_be_bytes());
    let rows = [
        (of(0), Some(13), length(0, 91)),
        (of(-1), Some(13), length(-1, 91)),
        (of(i32::MIN), Some(13), length(i32::MIN, 91)),
        (of(4), Some(13), length(4, 91)),
        (of(90), Some(13), length(90, 91)),
        (of(rest as i32 + 1), Some(13), length(rest as i32 + 1, 91)),
        (of(i32::MAX), Some(13), length(i32::MAX, 91)),
        // Neither a message nor a filler.
        (patched(&whole, start, &[0, 0, 0, 90, 0, 0, 0, 1]), None, length(90, 91)),
        (patched(&whole, start, &[0, 0, 0, 7, 0xcb, 0xd4, 0x31, 0x94]), None, length(7, 8)),
        // Fewer bytes than a length has.
        (whole.slice(..start + 3), None, Cut { at: 0, needed: 4, available: 3 }),
        (whole.slice(..start + 4), None, Length { length: 100, min: 91, available: 4 }),
    ];
    for (body, queue_offset, kind) in rows {
        let read = read(&body);
        let [Ok(10), Ok(11), Ok(12), Err(error)] = &read[..] else { panic!("{kind:?}: {read:?}") };
        assert_eq!(
            (error.offset, error.len, error.queue_offset, error.kind),
            (start, body.len() - start, queue_offset, kind)
        );
    }
}

#[test]
fn of_a_body_that_is_cut_the_whole_messages_come_out() {
    // X8.
    let messages = five();
    let body = records(&messages);
    let ends: Vec<_> = (0..=messages.len()).map(|count| records(&messages[..count]).len()).collect();
    for len in 0..body.len() {
        let whole = ends.iter().rposition(|end| *end <= len).expect("0 is an end");
        let cut = body.slice(..len);
        let read = read(&cut);
        assert_eq!(
            read.iter().flatten().copied().collect::<Vec<_>>(),
            (10..10 + whole as i64).collect::<Vec<_>>()
        );
        let errors: Vec<_> = read.iter().filter_map(|record| record.as_ref().err()).collect();
        if len == ends[whole] {
            assert!(errors.is_empty());
            continue;
        }
        let [error] = &errors[..] else { panic!("{errors:?}") };
        assert_eq!((error.offset, error.len), (ends[whole], len - ends[whole]));
        // The offset is known as soon as it is there.
        let queue_offset = (error.len >= 28).then_some(10 + whole as i64);
        assert_eq!(error.queue_offset, queue_offset);
    }
}

#[test]
fn a_wrong_checksum_is_for_the_caller_to_ask() {
    // A13: the message is flagged, and the others come out.
    let mut messages = five();
    messages[1].body_crc ^= 1;
    let flags: Vec<_> =
        Records::new(records(&messages)).map(|record| record.unwrap().crc_matches()).collect();
    assert_eq!(flags, [true, false, true, true, true]);
}

#[test]
fn errors_say_where_and_what() {
    let bad = patched(&record(&hello()), 52, &[0xFF; 4]);
    let body = Bytes::from([record(&hello()), bad, Bytes::from_static(&[0, 0])].concat());
    let shown: Vec<_> = Records::new(body).filter_map(|record| Some(record.err()?.to_string())).collect();
    assert_eq!(
        shown,
        [
            "no message in 125 bytes at byte 125, queue offset 7: the born host of the record has the port -1",
            "no message in 2 bytes at byte 250: 4 bytes are needed at byte 0 of the record, 2 are there",
        ]
    );
}
