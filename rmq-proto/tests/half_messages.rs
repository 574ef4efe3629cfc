//! Half messages (producer §9.1, wire §5.1).

use std::time::Duration;

use rmq_proto::code::RequestCode;
use rmq_proto::message::{DelayLevel, ID_ROOM, Message, MessageError, MessageRules};
use rmq_proto::names::NameError;
use rmq_proto::properties;

#[test]
fn a_half_message_says_what_it_is_and_whose() {
    let message = Message::new("orders", "hello").tag("created").property("colour", "red");
    let half = message.prepare_half(&MessageRules::default(), "order-service").unwrap();
    assert_eq!((half.topic(), &half.body()[..]), ("orders", &b"hello"[..]));
    assert_eq!((half.sys_flag(), half.request_code()), (4, RequestCode::SEND_MESSAGE_V2));
    let pairs: Vec<_> = properties::iter(half.properties()).collect();
    let expected = [
        ("TAGS", "created"),
        ("WAIT", "true"),
        ("TRAN_MSG", "true"),
        ("PGROUP", "order-service"),
        ("colour", "red"),
    ];
    assert_eq!(pairs, expected);
}

#[test]
fn the_group_is_in_the_namespace() {
    let rules = MessageRules { namespace: Some("INST".into()), ..MessageRules::default() };
    let half = Message::new("orders", "hello").prepare_half(&rules, "g").unwrap();
    assert_eq!(properties::value(half.properties(), "PGROUP"), Some("INST%g"));
    let long = "g".repeat(120);
    let error = Message::new("orders", "hello").prepare_half(&rules, &long).unwrap_err();
    assert!(matches!(error, MessageError::Group { group, .. } if group == long));
}

#[test]
fn the_rules_are_those_of_any_message_and_the_groups() {
    let rules = MessageRules { max_body_len: 4, ..MessageRules::default() };
    let hello = || Message::new("orders", "hello");
    assert!(matches!(hello().prepare_half(&rules, "g"), Err(MessageError::BodyTooLong { .. })));
    let rules = MessageRules::default();
    // A user cannot make one by hand.
    let by_hand = hello().property("TRAN_MSG", "true").prepare(&rules);
    assert!(matches!(by_hand, Err(MessageError::ReservedProperty { .. })));
    let error = hello().prepare_half(&rules, "no group").unwrap_err();
    let MessageError::Group { topic, group, error: NameError::Character { .. } } = &error else {
        panic!("{error:?}");
    };
    assert_eq!((topic.as_str(), group.as_str(), error.topic()), ("orders", "no group", "orders"));
    assert!(error.to_string().contains("group `no group`"), "{error}");
    let level = hello().delay_level(DelayLevel::new(3));
    let timer = hello().deliver_after(Duration::from_secs(1));
    for delayed in [level, timer] {
        let error = delayed.prepare_half(&rules, "g").unwrap_err();
        assert_eq!(error, MessageError::DelayedHalf { topic: "orders".into() });
    }
    // Both properties count against the limit.
    let room = properties::MAX_LEN - ID_ROOM - "WAIT..true.p..".len() + 1;
    let full = hello().property("p", "x".repeat(room));
    assert!(full.clone().prepare(&rules).is_ok());
    assert!(matches!(full.prepare_half(&rules, "g"), Err(MessageError::PropertiesTooLong { .. })));
}
