//! The properties text, wire §6.4.

use proptest::prelude::*;
use rmq_proto::properties::{self, PropertyError};

#[test]
fn encoded() {
    // Wire E14.
    let mut text = String::new();
    let properties = [(properties::KEYS, "k1 k2"), (properties::TAGS, "TagA"), (properties::WAIT, "true")];
    assert_eq!(properties::encode(properties, &mut text), Ok(()));
    assert_eq!(
        text.as_bytes(),
        [
            0x4b, 0x45, 0x59, 0x53, 0x01, 0x6b, 0x31, 0x20, 0x6b, 0x32, 0x02, 0x54, 0x41, 0x47, 0x53, 0x01,
            0x54, 0x61, 0x67, 0x41, 0x02, 0x57, 0x41, 0x49, 0x54, 0x01, 0x74, 0x72, 0x75, 0x65, 0x02
        ]
    );
}

#[test]
fn what_cannot_be_encoded_leaves_the_text_as_it_was() {
    let separator = |name: &str| PropertyError::Separator { name: name.to_owned() };
    let rows = [
        (("", "v"), PropertyError::EmptyName),
        (("n", ""), PropertyError::EmptyValue { name: "n".to_owned() }),
        (("n", "a\u{1}b"), separator("n")),
        (("n", "a\u{2}"), separator("n")),
        (("n\u{1}", "v"), separator("n\u{1}")),
        (("\u{2}n", "v"), separator("\u{2}n")),
    ];
    for (pair, error) in rows {
        let mut text = "before".to_owned();
        let result = properties::encode([("fine", "1"), pair, ("late", "2")], &mut text);
        assert_eq!((result, text.as_str()), (Err(error), "before"), "{pair:?}");
    }
}

#[test]
fn read() {
    let rows: &[(&str, &[(&str, &str)])] = &[
        ("", &[]),
        ("TAGS\u{1}a\u{2}KEYS\u{1}k\u{2}", &[("TAGS", "a"), ("KEYS", "k")]),
        // The last separator is missing (A5).
        ("TAGS\u{1}a\u{2}KEYS\u{1}k", &[("TAGS", "a"), ("KEYS", "k")]),
        ("a\u{1}b", &[("a", "b")]),
        // The first separator ends the name.
        ("k\u{1}v\u{1}w\u{2}", &[("k", "v\u{1}w")]),
        // Pieces that are no property.
        ("a\u{1}\u{2}b\u{1}c\u{2}", &[("b", "c")]),
        ("\u{1}v\u{2}b\u{1}c\u{2}", &[("b", "c")]),
        ("noise\u{2}b\u{1}c\u{2}", &[("b", "c")]),
        ("\u{2}\u{2}b\u{1}c\u{2}\u{2}", &[("b", "c")]),
        ("\u{1}", &[]),
        ("a\u{1}", &[]),
        ("\u{2}", &[]),
        // The shortest property.
        ("a\u{1}\u{1}", &[("a", "\u{1}")]),
        // Two properties of one name, as the members of a batch have them.
        ("K\u{1}1\u{2}W\u{1}2\u{2}K\u{1}3\u{2}", &[("K", "1"), ("W", "2"), ("K", "3")]),
        // Lengths are no matter of characters (X2).
        ("标签\u{1}中文 🎉\u{2}é\u{1}ü\u{2}", &[("标签", "中文 🎉"), ("é", "ü")]),
    ];
    for (text, expected) in rows {
        assert_eq!(properties::iter(text).collect::<Vec<_>>(), *expected, "{text:?}");
    }
}

#[test]
fn one_value() {
    let text = "K\u{1}1\u{2}W\u{1}2\u{2}K\u{1}3\u{2}X\u{1}\u{2}";
    // Name, last value, first value.
    let rows = [
        ("K", Some("3"), Some("1")),
        ("W", Some("2"), Some("2")),
        ("X", None, None),
        ("k", None, None),
        ("", None, None),
    ];
    for (name, last, first) in rows {
        assert_eq!(properties::value(text, name), last, "{name:?}");
        assert_eq!(properties::first_value(text, name), first, "{name:?}");
    }
}

/// The set as producer §7.4 lists it.
const RESERVED: &str = "KEYS TAGS WAIT DELAY RETRY_TOPIC REAL_TOPIC REAL_QID TRAN_MSG PGROUP MIN_OFFSET MAX_OFFSET BUYER_ID \
    ORIGIN_MESSAGE_ID TRANSFER_FLAG CORRECTION_FLAG MQ2_FLAG RECONSUME_TIME MSG_REGION TRACE_ON UNIQ_KEY EXTEND_UNIQ_INFO \
    MAX_RECONSUME_TIMES CONSUME_START_TIME POP_CK POP_CK_OFFSET 1ST_POP_TIME TRAN_PREPARED_QUEUE_OFFSET DUP_INFO \
    INSTANCE_ID CORRELATION_ID REPLY_TO_CLIENT TTL ARRIVE_TIME PUSH_REPLY_TIME CLUSTER MSG_TYPE INNER_MULTI_QUEUE_OFFSET \
    TIMER_DELAY_MS TIMER_DELAY_SEC TIMER_DELIVER_MS TIMER_ENQUEUE_MS TIMER_DEQUEUE_MS TIMER_ROLL_TIMES TIMER_OUT_MS \
    TIMER_DEL_UNIQKEY TIMER_DELAY_LEVEL __BORNHOST BORN_TIMESTAMP DLQ_ORIGIN_TOPIC DLQ_ORIGIN_MESSAGE_ID __CRC32#";

#[test]
fn reserved_names() {
    let mut expected: Vec<_> = RESERVED.split_whitespace().collect();
    for name in &expected {
        assert!(properties::is_reserved(name), "{name}");
    }
    expected.sort_unstable();
    assert_eq!(properties::RESERVED, expected);
    for name in [
        properties::INNER_MULTI_DISPATCH,
        properties::SHARDING_KEY,
        properties::TRANSACTION_ID,
        "colour",
        "tags",
        "",
    ] {
        assert!(!properties::is_reserved(name), "{name:?}");
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_read_back(
        properties in proptest::collection::vec(("[^\u{1}\u{2}]{1,9}", "[^\u{1}\u{2}]{1,20}"), 0..12),
    ) {
        let mut text = String::new();
        let pairs = properties.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        prop_assert_eq!(properties::encode(pairs.clone(), &mut text), Ok(()));
        prop_assert!(properties::iter(&text).eq(pairs.clone()));
        // Also without the last separator.
        let without_last = text.strip_suffix(properties::PROPERTY_SEPARATOR).unwrap_or(&text);
        prop_assert!(properties::iter(without_last).eq(pairs));
    }

    #[test]
    fn any_text_is_read(text in "[ab\u{1}\u{2}]{0,40}") {
        for (name, value) in properties::iter(&text) {
            prop_assert!(!name.is_empty() && !value.is_empty());
            let separators = [properties::NAME_SEPARATOR, properties::PROPERTY_SEPARATOR];
            prop_assert!(!name.contains(separators) && !value.contains(properties::PROPERTY_SEPARATOR));
        }
    }
}
