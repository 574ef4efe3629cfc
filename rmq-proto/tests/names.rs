//! Names of topics and groups: producer §7.1 to §7.3, wire §7.

use rmq_proto::names::{self, NameError};

fn too_long(len: usize, max: usize) -> Result<(), NameError> {
    Err(NameError::TooLong { len, max })
}

fn character(at: usize, found: char) -> Result<(), NameError> {
    Err(NameError::Character { at, found })
}

#[test]
fn topics() {
    let rows: &[(&str, Result<(), NameError>)] = &[
        ("orders", Ok(())),
        ("%RETRY%a|B-c_9", Ok(())),
        (&"t".repeat(127), Ok(())),
        (&"t".repeat(128), too_long(128, 127)),
        // Length is told before characters, in UTF-16 units.
        (&"é".repeat(127), character(0, 'é')),
        (&"é".repeat(128), too_long(128, 127)),
        (&"𝄞".repeat(64), too_long(128, 127)),
        ("", Err(NameError::Blank)),
        (" \t\n", Err(NameError::Blank)),
        ("a b", character(1, ' ')),
        (" ab", character(0, ' ')),
        ("x\u{e9}", character(1, 'é')),
        ("订单", character(0, '订')),
        ("ab中", character(2, '中')),
        ("a/b", character(1, '/')),
        ("a.b", character(1, '.')),
        ("a+b", character(1, '+')),
        ("a\0b", character(1, '\0')),
        // Whether one may send to it is another question.
        ("SCHEDULE_TOPIC_XXXX", Ok(())),
        (names::DEFAULT_TOPIC, Ok(())),
    ];
    for (topic, expected) in rows {
        assert_eq!(&names::validate_topic(topic), expected, "{topic:?}");
    }
}

#[test]
fn every_ascii_character() {
    for byte in 0..=127_u8 {
        let allowed = b"%|-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".contains(&byte);
        let topic = format!("a{}", char::from(byte));
        assert_eq!(names::validate_topic(&topic).is_ok(), allowed, "{topic:?}");
        assert_eq!(names::validate_group(&topic).is_ok(), allowed, "{topic:?}");
    }
}

#[test]
fn groups() {
    let rows: &[(&str, Result<(), NameError>)] = &[
        ("order-service", Ok(())),
        (&"g".repeat(120), Ok(())),
        (&"g".repeat(121), too_long(121, 120)),
        ("", Err(NameError::Blank)),
        ("\u{3000}", Err(NameError::Blank)),
        ("a group", character(1, ' ')),
        ("DEFAULT_PRODUCER", Err(NameError::Placeholder)),
        ("DEFAULT_CONSUMER", Err(NameError::Placeholder)),
        ("DEFAULT_PRODUCER2", Ok(())),
        (names::INNER_PRODUCER_GROUP, Ok(())),
    ];
    for (group, expected) in rows {
        assert_eq!(&names::validate_group(group), expected, "{group:?}");
    }
}

#[test]
fn topics_with_a_meaning() {
    // name, system topic, for sending
    let rows = [
        ("TBW102", true, true),
        ("BenchmarkTest", true, true),
        ("RMQ_SYS_TRACE_TOPIC", true, true),
        ("CHECKPOINT_TOPIC", true, true),
        ("rmq_sys_anything", true, true),
        ("SCHEDULE_TOPIC_XXXX", true, false),
        ("RMQ_SYS_TRANS_HALF_TOPIC", true, false),
        ("RMQ_SYS_TRANS_OP_HALF_TOPIC", true, false),
        ("TRANS_CHECK_MAX_TIME_TOPIC", true, false),
        ("SELF_TEST_TOPIC", true, false),
        ("OFFSET_MOVED_EVENT", true, false),
        ("orders", false, true),
        ("RMQ_SYS_mine", false, true),
        ("%RETRY%g", false, true),
    ];
    for (topic, system, for_sending) in rows {
        assert_eq!(names::is_system_topic(topic), system, "{topic}");
        assert_eq!(names::is_for_sending(topic), for_sending, "{topic}");
    }
}

#[test]
fn groups_with_a_meaning() {
    let rows = [
        ("CID_RMQ_SYS_x", true),
        ("CID_ONS-HTTP-PROXY", true),
        ("CLIENT_INNER_PRODUCER", true),
        ("DEFAULT_PRODUCER", true),
        ("DEFAULT_CONSUMER", true),
        ("TOOLS_CONSUMER", true),
        ("SELF_TEST_P_GROUP", true),
        ("SELF_TEST_C_GROUP", true),
        ("order-service", false),
    ];
    for (group, system) in rows {
        assert_eq!(names::is_system_group(group), system, "{group}");
    }
}

#[test]
fn derived_names() {
    assert_eq!(names::retry_topic("g"), "%RETRY%g");
    assert_eq!(names::dead_letter_topic("g"), "%DLQ%g");
    assert_eq!(names::reply_topic("DefaultCluster"), "DefaultCluster_REPLY_TOPIC");
    // The longest group still makes a valid topic.
    assert_eq!(names::validate_topic(&names::retry_topic(&"g".repeat(names::MAX_GROUP_LEN))), Ok(()));
}

#[test]
fn messages_say_what_to_do() {
    let rows = [
        (
            names::validate_topic("a b"),
            "the name has ' ' at byte 1: use only letters a-z and A-Z, digits and %|_-",
        ),
        (
            names::validate_topic(&"t".repeat(128)),
            "the name has 128 characters, over the limit of 127: shorten it",
        ),
        (names::validate_topic(""), "the name is empty: give it at least one character"),
        (
            names::validate_group("DEFAULT_PRODUCER"),
            "the name is the placeholder for a group without a name: choose one of your own",
        ),
    ];
    for (result, text) in rows {
        assert_eq!(result.map_err(|error| error.to_string()), Err(text.to_owned()));
    }
}
