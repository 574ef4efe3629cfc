use proptest::prelude::*;
use rmq_proto::names::RetryMark::{Normal, RetryV1, RetryV2};
use rmq_proto::pop::{PopError, QueueKey, parse_message_offsets, parse_order_counts, parse_start_offsets};

use crate::{joined, list, queue, queues};

#[test]
fn start_offsets() {
    let rows: [(&str, &[(QueueKey, i64)]); 5] = [
        ("", &[]),
        ("0 1 7", &[(queue(Normal, 1), 7)]),
        // Wire §11.1.
        ("0 1 7;1 0 3", &[(queue(Normal, 1), 7), (queue(RetryV1, 0), 3)]),
        ("2 0 3;0 0 9223372036854775807", &[(queue(Normal, 0), i64::MAX), (queue(RetryV2, 0), 3)]),
        ("0 0 1;1 0 1;2 0 1", &[(queue(Normal, 0), 1), (queue(RetryV1, 0), 1), (queue(RetryV2, 0), 1)]),
    ];
    for (text, expected) in rows {
        assert_eq!(parse_start_offsets(text), Ok(expected.iter().copied().collect()), "{text}");
    }
}

#[test]
fn message_offsets() {
    let rows = [
        ("", vec![]),
        // Wire §11.1.
        ("0 1 7,8;1 0 3", vec![(queue(Normal, 1), vec![7, 8]), (queue(RetryV1, 0), vec![3])]),
        ("2 5 -1,9,3", vec![(queue(RetryV2, 5), vec![-1, 9, 3])]),
    ];
    for (text, expected) in rows {
        assert_eq!(parse_message_offsets(text), Ok(expected.into_iter().collect()), "{text}");
    }
}

#[test]
fn order_counts() {
    let counts = parse_order_counts("0 1 3;0 qo1%8 5;1 qo0%2 1;0 qo2%4 0").expect("it can be read");
    let rows = [
        (queue(Normal, 1), 7, Some(3)),
        // That of the message comes before that of the queue.
        (queue(Normal, 1), 8, Some(5)),
        (queue(RetryV1, 1), 8, None),
        (queue(RetryV1, 0), 2, Some(1)),
        (queue(RetryV1, 0), 3, None),
        (queue(Normal, 2), 4, Some(0)),
        (queue(Normal, 2), 1, None),
    ];
    for (queue, offset, expected) in rows {
        assert_eq!(counts.count(queue, offset), expected, "{queue} {offset}");
    }
    assert_eq!(parse_order_counts("").expect("empty").count(queue(Normal, 0), 0), None);
}

#[test]
fn what_is_no_info() {
    const START: &str = "startOffsetInfo";
    const OFFSETS: &str = "msgOffsetInfo";
    const COUNTS: &str = "orderCountInfo";
    let starts = |text| parse_start_offsets(text).expect_err(text);
    let offsets = |text| parse_message_offsets(text).expect_err(text);
    let counts = |text| parse_order_counts(text).expect_err(text);
    let parts = |field, offset, found| PopError::Parts { field, offset, found };
    let number = |field, offset| PopError::Number { field, offset };
    let mark = |field, offset| PopError::RetryMark { field, offset };
    let duplicate = |field, offset| PopError::Duplicate { field, offset };
    let rows = [
        (starts("0"), parts(START, 0, 1)),
        (starts("0 1"), parts(START, 0, 2)),
        (starts("0 1 7 8"), parts(START, 0, 4)),
        (starts("0 1 7;"), parts(START, 6, 1)),
        (starts(";0 1 7"), parts(START, 0, 1)),
        (starts("0 1 7;;1 0 3"), parts(START, 6, 1)),
        (starts("0 1 7;0 2"), parts(START, 6, 2)),
        (starts("0 1 7;0 2 3 "), parts(START, 6, 4)),
        (starts("0 x 7"), number(START, 2)),
        (starts("0 1 7;1 0 x"), number(START, 10)),
        (starts("0 1 "), number(START, 4)),
        (starts("0 2147483648 7"), number(START, 2)),
        (starts("0 1 9223372036854775808"), number(START, 4)),
        (starts("0 1 7,8"), number(START, 4)),
        (starts("0 qo1%7 8"), number(START, 2)),
        (starts("3 1 7"), mark(START, 0)),
        (starts("0 1 7;x 1 7"), mark(START, 6)),
        (starts("0 1 7;1 1 7;0 1 8"), duplicate(START, 12)),
        (starts("0 1 7;0 01 8"), duplicate(START, 6)),
        (offsets("0 1 7,"), number(OFFSETS, 6)),
        (offsets("0 1 ,7"), number(OFFSETS, 4)),
        (offsets("0 1 7,x,8"), number(OFFSETS, 6)),
        (offsets("0 1 "), number(OFFSETS, 4)),
        (offsets("0 1 7, 8"), parts(OFFSETS, 0, 4)),
        (offsets("0 1 7,8;0 1 9"), duplicate(OFFSETS, 8)),
        (counts("0 1 2147483648"), number(COUNTS, 4)),
        (counts("0 qo1 3"), number(COUNTS, 2)),
        (counts("0 qo%1 3"), number(COUNTS, 2)),
        (counts("0 qo1% 3"), number(COUNTS, 2)),
        (counts("0 qo1%2%3 3"), number(COUNTS, 2)),
        (counts("0 1%2 3"), number(COUNTS, 2)),
        (counts("0 qo1%2 3;0 qo1%2 4"), duplicate(COUNTS, 10)),
        (counts("0 1 3;0 1 3"), duplicate(COUNTS, 6)),
        (counts("中 1 3"), mark(COUNTS, 0)),
    ];
    for (i, (error, expected)) in rows.into_iter().enumerate() {
        assert_eq!(error, expected, "row {i}");
    }
}

proptest! {
    #[test]
    fn infos_are_read_back(
        starts in queues(any::<i64>()), offsets in queues(proptest::collection::vec(any::<i64>(), 1..9)), counts in queues(any::<i32>()),
    ) {
        prop_assert_eq!(parse_start_offsets(&joined(&starts, i64::to_string)), Ok(starts));
        prop_assert_eq!(parse_message_offsets(&joined(&offsets, |offsets| list(offsets))), Ok(offsets));
        let read = parse_order_counts(&joined(&counts, i32::to_string)).expect("it can be read");
        for (queue, count) in counts {
            prop_assert_eq!(read.count(queue, 0), Some(count));
        }
    }

    #[test]
    fn a_cut_info_is_shorter_or_none(offsets in queues(proptest::collection::vec(any::<i64>(), 1..4))) {
        let text = joined(&offsets, |offsets| list(offsets));
        for end in 0..text.len() {
            let Ok(cut) = parse_message_offsets(&text[..end]) else { continue };
            // All but the last number that is left are those that were written.
            let written = joined(&cut, |offsets| list(offsets));
            prop_assert!(written.len() <= end, "{} of {}", written, text);
            let whole = written.trim_end_matches(|c| c != ',' && c != ';' && c != ' ');
            prop_assert!(text.starts_with(whole), "{} of {}", written, text);
        }
    }
}
