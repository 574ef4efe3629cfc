//! The rules for a message to send: producer §7.1 and §7.4, wire §6.4.

use bytes::Bytes;
use rmq_proto::message::{ID_ROOM, Message, MessageError, MessageRules, Prepared};
use rmq_proto::names::NameError;
use rmq_proto::properties;

fn prepared(message: Message) -> Result<Prepared, MessageError> {
    message.prepare(&MessageRules::default())
}

fn hello() -> Message {
    Message::new("orders", "hello")
}

fn topic() -> String {
    "orders".to_owned()
}

#[test]
fn bodies_of_many_kinds() {
    let rows = [
        Message::new("orders", "hello"),
        Message::new("orders", b"hello".as_slice()),
        Message::new("orders", b"hello".to_vec()),
        Message::new("orders", String::from("hello")),
        Message::new(String::from("orders"), Bytes::from_static(b"hello")),
    ];
    for message in rows {
        assert_eq!(message, hello());
        assert_eq!(prepared(message).unwrap().body().as_ref(), b"hello");
    }
}

#[test]
fn what_was_set_can_be_seen() {
    let message = hello().tag("a").tag("b").key("k1").key("k2").flag(7).property("p", "1").property("p", "2");
    assert_eq!(message.topic(), "orders");
    assert_eq!(message.body().as_ref(), b"hello");
    assert_eq!(message.tag_text(), Some("b"));
    assert_eq!(message.keys().collect::<Vec<_>>(), ["k1", "k2"]);
    assert_eq!(message.flag_bits(), 7);
    assert!(message.waits_for_store());
    assert_eq!(message.properties().collect::<Vec<_>>(), [("p", "2")]);
}

#[test]
fn encoded_properties() {
    let rows = [
        // WAIT is always written.
        (hello(), "WAIT\u{1}true\u{2}"),
        (hello().wait_store_ok(false), "WAIT\u{1}false\u{2}"),
        // Wire E14.
        (hello().tag("TagA").key("k1").key("k2"), "KEYS\u{1}k1 k2\u{2}TAGS\u{1}TagA\u{2}WAIT\u{1}true\u{2}"),
        // No blank after the last key (A18).
        (hello().key("a").key("b"), "KEYS\u{1}a b\u{2}WAIT\u{1}true\u{2}"),
        (hello().property("z", "1").property("a", "2"), "WAIT\u{1}true\u{2}a\u{1}2\u{2}z\u{1}1\u{2}"),
        // Special, but not reserved.
        (hello().property(properties::SHARDING_KEY, "s"), "WAIT\u{1}true\u{2}__SHARDINGKEY\u{1}s\u{2}"),
        (
            hello().property(properties::INNER_MULTI_DISPATCH, "a,b"),
            "WAIT\u{1}true\u{2}INNER_MULTI_DISPATCH\u{1}a,b\u{2}",
        ),
        // Any other language (X2).
        (
            hello().tag("标签").key("订单🎉").property("名", "值"),
            "KEYS\u{1}订单🎉\u{2}TAGS\u{1}标签\u{2}WAIT\u{1}true\u{2}名\u{1}值\u{2}",
        ),
    ];
    for (message, text) in rows {
        assert_eq!(prepared(message).unwrap().properties(), text);
    }
}

#[test]
fn what_comes_out() {
    let prepared = prepared(hello().tag("t").flag(-5)).unwrap();
    assert_eq!(prepared.topic(), "orders");
    assert_eq!(prepared.body().as_ref(), b"hello");
    assert_eq!(prepared.flag(), -5);
    assert_eq!(prepared.sys_flag(), 0, "the body is plain, whatever a user does (A16)");
    assert_eq!(properties::value(prepared.properties(), properties::UNIQ_KEY), None);
}

#[test]
fn topics() {
    let bad = |topic: &str, error| Err(MessageError::Topic { topic: topic.to_owned(), error });
    let system = |topic: &str| Err(MessageError::SystemTopic { topic: topic.to_owned() });
    let longest = "t".repeat(127);
    let too_long = "t".repeat(128);
    let rows = [
        // Row 85.
        (longest.as_str(), Ok(())),
        (&too_long, bad(&too_long, NameError::TooLong { len: 128, max: 127 })),
        ("a b", bad("a b", NameError::Character { at: 1, found: ' ' })),
        ("x\u{e9}", bad("x\u{e9}", NameError::Character { at: 1, found: 'é' })),
        ("", bad("", NameError::Blank)),
        ("  ", bad("  ", NameError::Blank)),
        // Row 86.
        ("SCHEDULE_TOPIC_XXXX", system("SCHEDULE_TOPIC_XXXX")),
        ("RMQ_SYS_TRANS_HALF_TOPIC", system("RMQ_SYS_TRANS_HALF_TOPIC")),
        ("RMQ_SYS_TRANS_OP_HALF_TOPIC", system("RMQ_SYS_TRANS_OP_HALF_TOPIC")),
        ("TRANS_CHECK_MAX_TIME_TOPIC", system("TRANS_CHECK_MAX_TIME_TOPIC")),
        ("SELF_TEST_TOPIC", system("SELF_TEST_TOPIC")),
        ("OFFSET_MOVED_EVENT", system("OFFSET_MOVED_EVENT")),
        ("RMQ_SYS_TRACE_TOPIC", Ok(())),
        ("TBW102", Ok(())),
    ];
    for (topic, expected) in rows {
        assert_eq!(prepared(Message::new(topic, "x")).map(drop), expected, "{topic}");
    }
}

#[test]
fn bodies() {
    const MAX: usize = 4_194_304;
    let rows = [
        // Rows 83 and 84.
        (MAX, Ok(())),
        (MAX + 1, Err(MessageError::BodyTooLong { topic: topic(), len: MAX + 1, max: MAX })),
        (0, Err(MessageError::EmptyBody { topic: topic() })),
        (1, Ok(())),
    ];
    for (len, expected) in rows {
        assert_eq!(prepared(Message::new("orders", vec![0; len])).map(drop), expected, "{len}");
    }
    let rules = MessageRules { max_body_len: 3, ..MessageRules::default() };
    let expected = MessageError::BodyTooLong { topic: topic(), len: 5, max: 3 };
    assert_eq!(hello().prepare(&rules), Err(expected));
}

/// producer §1.5: the topic stays the user's own, but has to be short enough; the namespace is a property.
#[test]
fn a_namespace_is_told_and_makes_topics_longer() {
    let rules = MessageRules { namespace: Some("INST".into()), ..MessageRules::default() };
    let prepared = hello().tag("t").property("a", "b").prepare(&rules).unwrap();
    assert_eq!(prepared.topic(), "orders");
    assert_eq!(
        prepared.properties(),
        "TAGS\u{1}t\u{2}WAIT\u{1}true\u{2}INSTANCE_ID\u{1}INST\u{2}a\u{1}b\u{2}"
    );
    for (len, fits) in [(122, true), (123, false)] {
        let topic = "t".repeat(len);
        let error = NameError::TooLong { len: len + 5, max: 127 };
        let expected = if fits { Ok(()) } else { Err(MessageError::Topic { topic: topic.clone(), error }) };
        assert_eq!(Message::new(topic, "x").prepare(&rules).map(drop), expected);
    }
    let room = properties::MAX_LEN - ID_ROOM - prepared.properties().len();
    let filled =
        |len: usize| hello().tag("t").property("a", "b").property("z", "x".repeat(len)).prepare(&rules);
    assert!(filled(room - 3).is_ok() && filled(room - 2).is_err(), "it counts");
}

#[test]
fn tags_keys_and_properties() {
    let blank_value = |name: &str| MessageError::BlankPropertyValue { topic: topic(), name: name.to_owned() };
    let separator = |name: &str| MessageError::SeparatorInProperty { topic: topic(), name: name.to_owned() };
    let key_with_blank = |key: &str| MessageError::KeyWithBlank { topic: topic(), key: key.to_owned() };
    let reserved = |name: &str, instead| MessageError::ReservedProperty {
        topic: topic(),
        name: name.to_owned(),
        instead,
    };
    let rows = [
        (hello().tag(""), MessageError::BlankTag { topic: topic() }),
        (hello().tag(" \t"), MessageError::BlankTag { topic: topic() }),
        (hello().tag("a\u{2}b"), separator("TAGS")),
        (hello().key(""), MessageError::BlankKey { topic: topic() }),
        (hello().key("fine").key(" "), MessageError::BlankKey { topic: topic() }),
        (hello().key("a b"), key_with_blank("a b")),
        (hello().key("fine").key("b "), key_with_blank("b ")),
        (hello().key("a\u{1}b"), separator("KEYS")),
        (hello().property("", "v"), MessageError::BlankPropertyName { topic: topic() }),
        (hello().property(" ", "v"), MessageError::BlankPropertyName { topic: topic() }),
        (hello().property("p", ""), blank_value("p")),
        (hello().property("p", " \n"), blank_value("p")),
        (hello().property("p", "a\u{1}b"), separator("p")),
        (hello().property("p", "a\u{2}"), separator("p")),
        (hello().property("p\u{2}", "v"), separator("p\u{2}")),
        (hello().property("TAGS", "v"), reserved("TAGS", Some("tag"))),
        (hello().property("KEYS", "v"), reserved("KEYS", Some("key"))),
        (hello().property("WAIT", "false"), reserved("WAIT", Some("wait_store_ok"))),
        (hello().property("UNIQ_KEY", "v"), reserved("UNIQ_KEY", None)),
        (hello().property("DELAY", ""), reserved("DELAY", Some("delay_level"))),
        (hello().property("INNER_MULTI_DISPATCH", "a/b"), MessageError::SlashInDispatch { topic: topic() }),
    ];
    for (message, error) in rows {
        assert_eq!(prepared(message.clone()), Err(error), "{message:?}");
    }
}

#[test]
fn no_reserved_name_gets_through() {
    for name in properties::RESERVED {
        let error = prepared(hello().property(*name, "v")).unwrap_err();
        assert!(
            matches!(&error, MessageError::ReservedProperty { name: found, .. } if found == name),
            "{error:?}"
        );
    }
}

#[test]
fn length_of_the_properties() {
    // `UNIQ_KEY \x01 <56 digits> \x02`, `WAIT \x01 true \x02`, and `p \x01 \x02` around the value.
    let room = 32_767 - (8 + 1 + 56 + 1) - (4 + 1 + 4 + 1) - 3;
    let too_long = |len| Err(MessageError::PropertiesTooLong { topic: topic(), len, max: 32_767 });
    // Bytes are counted, not characters: é has two, and room is even.
    let rows = [
        ("x".repeat(room), Ok(())),
        ("x".repeat(room + 1), too_long(32_768)),
        ("é".repeat(room / 2), Ok(())),
        ("é".repeat(room / 2 + 1), too_long(32_769)),
        ("x".repeat(100_000), too_long(32_767 - room + 100_000)),
    ];
    for (value, expected) in rows {
        assert_eq!(prepared(hello().property("p", value)).map(drop), expected);
    }

    // With the longest id appended, the longest properties are exactly what a message can carry.
    let longest = prepared(hello().property("p", "x".repeat(room))).unwrap();
    let mut text = longest.properties().to_owned();
    properties::encode([(properties::UNIQ_KEY, "0".repeat(56).as_str())], &mut text).unwrap();
    assert_eq!(text.len(), properties::MAX_LEN);
}

#[test]
fn the_first_rule_broken_is_told() {
    let all_wrong = Message::new("a b", "").tag("").key("").property("", "");
    let rows = [
        (all_wrong.clone(), "topic"),
        (Message::new("orders", "").tag("").key("").property("", ""), "body"),
        (hello().tag("").key("").property("", ""), "tag"),
        (hello().key("").property("", ""), "key"),
        (hello().property("", "").property("z", ""), "name"),
    ];
    for (message, part) in rows {
        let found = match prepared(message).unwrap_err() {
            MessageError::Topic { .. } => "topic",
            MessageError::EmptyBody { .. } => "body",
            MessageError::BlankTag { .. } => "tag",
            MessageError::BlankKey { .. } => "key",
            MessageError::BlankPropertyName { .. } => "name",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, part);
    }
    assert_eq!(prepared(all_wrong).unwrap_err().topic(), "a b");
}

#[test]
fn errors_say_what_to_do() {
    let rows = [
        (
            Message::new("a b", "x"),
            "topic `a b`: the name has ' ' at byte 1: use only letters a-z and A-Z, digits and %|_-",
        ),
        (
            Message::new("SELF_TEST_TOPIC", "x"),
            "topic `SELF_TEST_TOPIC`: brokers keep it for themselves, choose another",
        ),
        (
            Message::new("orders", ""),
            "message to topic `orders`: the body is empty, and brokers refuse that; send at least one byte",
        ),
        (
            Message::new("orders", vec![0; 4_194_305]),
            "message to topic `orders`: the body has 4194305 bytes, over the limit of 4194304; split it, or raise the \
             limit here and at the brokers",
        ),
        (hello().tag(""), "message to topic `orders`: the tag is blank; leave it out"),
        (
            hello().key("a b"),
            "message to topic `orders`: key `a b` has a space in it, which separates keys; call `key` once for each key, \
             or use another character",
        ),
        (
            hello().property("TAGS", "x"),
            "message to topic `orders`: property `TAGS` is set by RocketMQ itself; use `Message::tag`",
        ),
        (
            hello().property("PGROUP", "x"),
            "message to topic `orders`: property `PGROUP` is set by RocketMQ itself; choose another name",
        ),
        (
            hello().property("p\u{1}q", "x"),
            "message to topic `orders`: property `p\\u{1}q` has the character U+0001 or U+0002 in its name or value, \
             which cannot be sent; encode it",
        ),
        (
            hello().property("p", "x".repeat(32_767)),
            "message to topic `orders`: its properties have 32846 bytes with the message id, over the limit of 32767; \
             move some of them into the body",
        ),
    ];
    for (message, text) in rows {
        assert_eq!(prepared(message).unwrap_err().to_string(), text);
    }
    // Of a long name 160 characters are shown.
    for (len, end) in [(160, "a`"), (161, "a...`")] {
        let text = prepared(Message::new("a".repeat(len), "x")).unwrap_err().to_string();
        assert!(text.starts_with(&format!("topic `{}{end}: ", "a".repeat(159))), "{text}");
    }
    // Whatever a user gives, the text stays short and on one line.
    let text = prepared(Message::new("\n".repeat(1_000_000), "x").key("k")).unwrap_err().to_string();
    assert!(text.len() < 1_000 && !text.contains('\n'), "{text}");
}

#[test]
fn a_printed_message_does_not_print_its_body() {
    let message = Message::new("orders", vec![b'x'; 100_000]).tag("t");
    let text = format!("{message:?} {:?}", prepared(message.clone()));
    assert!(text.contains("100000 bytes") && text.len() < 500, "{text}");
}
