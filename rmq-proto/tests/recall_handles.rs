//! Recall handles, wire §11.2.

use proptest::prelude::*;
use rmq_proto::recall::{RecallHandle, RecallHandleError};

fn handle(topic: &str, broker_name: &str, timestamp: i64, unique_key: &str) -> RecallHandle {
    RecallHandle {
        topic: topic.to_owned(),
        broker_name: broker_name.to_owned(),
        timestamp,
        unique_key: unique_key.to_owned(),
    }
}

#[test]
fn encoded_and_decoded() {
    let rows = [
        // Wire §11.2.
        (
            handle("TopicTest", "broker-a", 1_700_000_060_001, "0A00000904D201020304050607080001"),
            "djEgVG9waWNUZXN0IGJyb2tlci1hIDE3MDAwMDAwNjAwMDEgMEEwMDAwMDkwNEQyMDEwMjAzMDQwNTA2MDcwODAwMDE=",
        ),
        // Both characters that are not those of other base64, and two of padding.
        (handle("主题", "b?>~ÿÿ", 1, "k"), "djEg5Li76aKYIGI_Pn7Dv8O_IDEgaw=="),
    ];
    for (handle, text) in rows {
        assert_eq!(handle.encode().as_deref(), Ok(text));
        assert_eq!(RecallHandle::decode(text).as_ref(), Ok(&handle));
        assert_eq!(RecallHandle::decode(text.trim_end_matches('=')), Ok(handle), "without padding");
    }
}

#[test]
fn what_is_no_handle() {
    let blank = |part| RecallHandleError::Blank { part };
    let rows = [
        ("", RecallHandleError::Version),
        // `v2 a b 5 k` and `V1 a b 5 k`
        ("djIgYSBiIDUgaw==", RecallHandleError::Version),
        ("VjEgYSBiIDUgaw==", RecallHandleError::Version),
        // `v1` and `v1 a b 5`
        ("djE=", RecallHandleError::Parts { found: 1 }),
        ("djEgYSBiIDU=", RecallHandleError::Parts { found: 4 }),
        // `v1 a b x k` and one past the largest number
        ("djEgYSBiIHggaw==", RecallHandleError::Timestamp),
        ("djEgYSBiIDkyMjMzNzIwMzY4NTQ3NzU4MDggaw==", RecallHandleError::Timestamp),
        // `v1  b 5 k` and `v1 a b 5 `
        ("djEgIGIgNSBr", blank("topic")),
        ("djEgYSBiIDUg", blank("message id")),
        // `v1 a`, a byte of 255
        ("djEgYf8gYiA1IGs=", RecallHandleError::Utf8 { offset: 4 }),
        // No such base64: other alphabet, blanks, bits too many, a length that cannot be, padding within.
        ("djEg5Li76aKYIGI/Pn7Dv8O/IDEgaw==", RecallHandleError::Base64),
        ("djEgYSBiIDUgaw== ", RecallHandleError::Base64),
        ("djEgYSBiIDUgax==", RecallHandleError::Base64),
        ("djEgYSBiIDUga", RecallHandleError::Base64),
        ("dj=EgYSBiIDUgaw=", RecallHandleError::Base64),
        ("中", RecallHandleError::Base64),
    ];
    for (text, error) in rows {
        assert_eq!(RecallHandle::decode(text), Err(error), "{text:?}");
    }
}

#[test]
fn later_parts_mean_nothing() {
    // `v1 a b 5 k more`
    assert_eq!(RecallHandle::decode("djEgYSBiIDUgayBtb3Jl"), Ok(handle("a", "b", 5, "k")));
}

#[test]
fn what_cannot_be_encoded() {
    let rows = [
        (handle("", "b", 5, "k"), "topic"),
        (handle("a a", "b", 5, "k"), "topic"),
        (handle("a", "", 5, "k"), "broker name"),
        (handle("a", " b", 5, "k"), "broker name"),
        (handle("a", "b", 5, ""), "message id"),
        (handle("a", "b", 5, "k "), "message id"),
    ];
    for (handle, part) in rows {
        assert_eq!(handle.encode(), Err(RecallHandleError::Blank { part }), "{handle:?}");
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        topic in "[^ ]{1,12}", broker_name in "[^ ]{1,12}", timestamp: i64, unique_key in "[^ ]{1,12}",
    ) {
        let handle = handle(&topic, &broker_name, timestamp, &unique_key);
        let text = handle.encode().expect("no blanks");
        prop_assert_eq!(RecallHandle::decode(&text), Ok(handle.clone()));
        // What is cut is another handle at most by a shorter id.
        for end in 0..text.trim_end_matches('=').len() {
            if let Some(Ok(cut)) = text.get(..end).map(RecallHandle::decode) {
                prop_assert_eq!((&cut.topic, &cut.broker_name), (&handle.topic, &handle.broker_name));
                prop_assert_eq!(cut.timestamp, handle.timestamp);
                prop_assert!(handle.unique_key.starts_with(&cut.unique_key));
            }
        }
    }

    #[test]
    fn any_text_is_a_handle_or_none(text in "[A-Za-z0-9_=-]{0,40}|djEg[A-Za-z0-9_=-]{0,40}|\\PC{0,20}") {
        if let Ok(handle) = RecallHandle::decode(&text) {
            prop_assert_eq!(RecallHandle::decode(&handle.encode().expect("it was decoded")), Ok(handle));
        }
    }
}
