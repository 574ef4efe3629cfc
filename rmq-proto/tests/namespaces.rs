//! Names made from others: wire §7.1 to §7.3 and §11.1.

use std::borrow::Cow;

use proptest::prelude::*;
use rmq_proto::names::namespace::{MAX_LEN, is_valid, unwrap, unwrap_any, wrap};
use rmq_proto::names::{self, NameError, RetryMark};

#[test]
fn valid() {
    for name in ["INST", "MQ_INST_1_2", "a|b-c", "n", &"n".repeat(MAX_LEN)] {
        assert!(is_valid(name), "{name}");
        assert_eq!(names::validate_group(&wrap(name, "g")), Ok(()));
    }
    for name in ["", "a%b", "%RETRY%a", "a.b", "a b", "\u{e4}", &"n".repeat(MAX_LEN + 1)] {
        assert!(!is_valid(name), "{name}");
    }
}

#[test]
fn wrapped() {
    // namespace, name, wrapped
    let rows = [
        ("INST", "T", "INST%T"),
        ("INST", "%RETRY%G", "%RETRY%INST%G"),
        ("INST", "%DLQ%G", "%DLQ%INST%G"),
        // Only these two prefixes stay in front.
        ("INST", "%LMQ%q", "INST%%LMQ%q"),
        ("INST", "%RETRY%%DLQ%G", "%RETRY%INST%%DLQ%G"),
        ("INST", "x%RETRY%G", "INST%x%RETRY%G"),
        // Wrapped already, and what only looks so.
        ("INST", "INST%T", "INST%T"),
        ("INST", "%RETRY%INST%G", "%RETRY%INST%G"),
        ("INST", "%DLQ%INST%G", "%DLQ%INST%G"),
        ("INST", "INST", "INST%INST"),
        ("INST", "INSTANCE%T", "INST%INSTANCE%T"),
        ("INST", "inst%T", "INST%inst%T"),
        ("INST", "OTHER%T", "INST%OTHER%T"),
        ("INST", "%T", "INST%%T"),
        // Nothing to wrap, or nothing to wrap in.
        ("", "T", "T"),
        ("", "%RETRY%G", "%RETRY%G"),
        ("INST", "", ""),
        // Of the system.
        ("INST", "TBW102", "TBW102"),
        ("INST", "SCHEDULE_TOPIC_XXXX", "SCHEDULE_TOPIC_XXXX"),
        ("INST", "RMQ_SYS_TRACE_TOPIC", "RMQ_SYS_TRACE_TOPIC"),
        ("INST", "rmq_sys_x", "rmq_sys_x"),
        ("INST", "CID_RMQ_SYS_x", "CID_RMQ_SYS_x"),
        // Groups that have a meaning but no such prefix are names like others.
        ("INST", "TOOLS_CONSUMER", "INST%TOOLS_CONSUMER"),
        ("INST", "%RETRY%CID_RMQ_SYS_x", "%RETRY%INST%CID_RMQ_SYS_x"),
    ];
    for (namespace, name, wrapped) in rows {
        assert_eq!(wrap(namespace, name), wrapped, "{namespace:?} {name:?}");
        assert_eq!(wrap(namespace, wrapped), wrapped, "once is enough: {namespace:?} {name:?}");
    }
}

#[test]
fn unwrapped() {
    // namespace, name, unwrapped from this namespace, unwrapped from any
    let rows = [
        ("INST", "INST%T", "T", "T"),
        ("INST", "%RETRY%INST%G", "%RETRY%G", "%RETRY%G"),
        ("INST", "%DLQ%INST%G", "%DLQ%G", "%DLQ%G"),
        ("OTHER", "INST%T", "INST%T", "T"),
        ("INS", "INST%T", "INST%T", "T"),
        ("inst", "INST%T", "INST%T", "T"),
        ("", "INST%T", "INST%T", "T"),
        ("INST", "T", "T", "T"),
        ("INST", "%RETRY%G", "%RETRY%G", "%RETRY%G"),
        ("INST", "", "", ""),
        ("INST", "INST%", "", ""),
        // The first `%` ends the namespace, as far as it is not the first character.
        ("INST", "INST%a%b", "a%b", "a%b"),
        ("INST", "%T", "%T", "%T"),
        ("INST", "%LMQ%q", "%LMQ%q", "%LMQ%q"),
        ("INST", "%RETRY%%T", "%RETRY%%T", "%RETRY%%T"),
        // Of the system.
        ("rmq_sys_x", "rmq_sys_x%T", "rmq_sys_x%T", "rmq_sys_x%T"),
        ("CID_RMQ_SYS_x", "CID_RMQ_SYS_x%G", "CID_RMQ_SYS_x%G", "CID_RMQ_SYS_x%G"),
    ];
    for (namespace, name, from_this, from_any) in rows {
        assert_eq!(unwrap(namespace, name), from_this, "{namespace:?} {name:?}");
        assert_eq!(unwrap_any(name), from_any, "{name:?}");
    }
}

#[test]
fn names_that_stay_are_borrowed() {
    for name in [wrap("INST", "INST%T"), unwrap("INST", "T"), unwrap("INST", "INST%T"), unwrap_any("INST%T")]
    {
        assert!(matches!(name, Cow::Borrowed(_)), "{name}");
    }
}

#[test]
fn pop_retry_topics() {
    // group, topic, version 1, version 2
    let rows = [
        ("billing", "orders", "%RETRY%billing_orders", "%RETRY%billing+orders"),
        ("a_b", "c_d", "%RETRY%a_b_c_d", "%RETRY%a_b+c_d"),
        ("INST%G", "INST%T", "%RETRY%INST%G_INST%T", "%RETRY%INST%G+INST%T"),
    ];
    for (group, topic, v1, v2) in rows {
        assert_eq!(names::pop_retry_topic_v1(group, topic), v1);
        assert_eq!(names::pop_retry_topic_v2(group, topic), v2);
        let marks = [(RetryMark::Normal, topic), (RetryMark::RetryV1, v1), (RetryMark::RetryV2, v2)];
        for (mark, lies_in) in marks {
            assert_eq!(RetryMark::of_topic(lies_in), mark, "{lies_in}");
            assert_eq!(mark.topic(group, topic), lies_in);
        }
        assert_eq!(names::origin_of_pop_retry(group, v1), Some(topic));
        assert_eq!(names::origin_of_pop_retry(group, v2), Some(topic));
    }
}

#[test]
fn origins_of_pop_retries() {
    let rows = [
        ("a", "%RETRY%a_b_c", Some("b_c")),
        ("a_b", "%RETRY%a_b_c", Some("c")),
        ("a", "%RETRY%a+b_c", Some("b_c")),
        ("a_b", "%RETRY%a_b+c", Some("c")),
        // The `+` says that it is version 2, where the whole of `a_b` is the group.
        ("a", "%RETRY%a_b+c", None),
        ("a", "%RETRY%a", None),
        ("a", "%RETRY%a_", None),
        ("a", "%RETRY%a+", None),
        ("b", "%RETRY%a_c", None),
        ("a", "a_c", None),
        ("a", "%DLQ%a_c", None),
        ("a", "", None),
    ];
    for (group, retry_topic, origin) in rows {
        assert_eq!(names::origin_of_pop_retry(group, retry_topic), origin, "{group} {retry_topic}");
    }
}

#[test]
fn retry_marks() {
    let rows = [
        ("orders", RetryMark::Normal, "0"),
        ("a+b", RetryMark::Normal, "0"),
        ("%DLQ%g", RetryMark::Normal, "0"),
        ("x%RETRY%g+t", RetryMark::Normal, "0"),
        ("", RetryMark::Normal, "0"),
        ("%RETRY%g", RetryMark::RetryV1, "1"),
        ("%RETRY%g_t", RetryMark::RetryV1, "1"),
        ("%RETRY%", RetryMark::RetryV1, "1"),
        ("%RETRY%g+t", RetryMark::RetryV2, "2"),
    ];
    for (topic, mark, text) in rows {
        assert_eq!(RetryMark::of_topic(topic), mark, "{topic}");
        assert_eq!((mark.as_str(), RetryMark::from_text(text)), (text, Some(mark)));
    }
    for text in ["", "3", "-1", "00", "+1", " 1", "1 ", "١"] {
        assert_eq!(RetryMark::from_text(text), None, "{text:?}");
    }
}

#[test]
fn light_queues() {
    assert_eq!(names::light_queue_topic("q"), "%LMQ%q");
    let rows = [("%LMQ%q", true), ("%LMQ%", true), ("LMQ%q", false), ("%lmq%q", false), ("", false)];
    for (topic, expected) in rows {
        assert_eq!(names::is_light_queue(topic), expected, "{topic}");
    }
}

#[test]
fn topics_that_brokers_may_have() {
    let long = |prefix: &str, len: usize| format!("{prefix}{}", "x".repeat(len - prefix.len()));
    let too_long = |len, max| Err(NameError::TooLong { len, max });
    let rows = [
        ("orders".to_owned(), Ok(())),
        (long("t", 127), Ok(())),
        (long("t", 128), too_long(128, 127)),
        (long("%RETRY%", 255), Ok(())),
        (long("%RETRY%", 256), too_long(256, 255)),
        (long("%DLQ%", 255), Ok(())),
        (long("%DLQ%", 256), too_long(256, 255)),
        (long("%LMQ%", 128), too_long(128, 127)),
        ("%RETRY%g+t".to_owned(), Ok(())),
        ("%DLQ%g+t".to_owned(), Err(NameError::Character { at: 6, found: '+' })),
        ("g+t".to_owned(), Err(NameError::Character { at: 1, found: '+' })),
        ("%RETRY%g.t".to_owned(), Err(NameError::Character { at: 8, found: '.' })),
        ("%RETRY%中".to_owned(), Err(NameError::Character { at: 7, found: '中' })),
        ("TBW102".to_owned(), Ok(())),
        (String::new(), Err(NameError::Blank)),
        (" ".to_owned(), Err(NameError::Blank)),
    ];
    for (topic, expected) in rows {
        assert_eq!(names::validate_stored_topic(&topic), expected, "{topic:?}");
    }
}

#[test]
fn groups_of_another_length() {
    let group = |len| "g".repeat(len);
    let max = names::MAX_GROUP_LEN_V4;
    let rows = [
        (group(120), names::MAX_GROUP_LEN, Ok(())),
        (group(121), names::MAX_GROUP_LEN, Err(NameError::TooLong { len: 121, max: 120 })),
        (group(255), max, Ok(())),
        (group(256), max, Err(NameError::TooLong { len: 256, max: 255 })),
        (group(4), 3, Err(NameError::TooLong { len: 4, max: 3 })),
        (String::new(), max, Err(NameError::Blank)),
        ("a.b".to_owned(), max, Err(NameError::Character { at: 1, found: '.' })),
        ("DEFAULT_CONSUMER".to_owned(), max, Err(NameError::Placeholder)),
    ];
    for (group, max_len, expected) in rows {
        assert_eq!(names::validate_group_up_to(&group, max_len), expected, "{group:?}");
    }
}

/// A name that users may choose. It may look like any other.
fn name() -> impl Strategy<Value = String> {
    "(%RETRY%|%DLQ%|%LMQ%|rmq_sys_|CID_RMQ_SYS_|A%|)[%|a-cA-B0-9_-]{1,12}"
}

proptest! {
    #[test]
    fn what_is_wrapped_can_be_unwrapped(namespace in "[A-C0-9_-]{1,5}", name in name()) {
        let wrapped = wrap(&namespace, &name);
        prop_assert_eq!(wrap(&namespace, &wrapped), &*wrapped);
        if wrapped != name {
            prop_assert_eq!(unwrap(&namespace, &wrapped), &*name);
            prop_assert_eq!(unwrap_any(&wrapped), &*name);
        }
    }

    #[test]
    fn any_text_has_a_name(namespace in "\\PC{0,8}", name in "(%RETRY%|%DLQ%)?\\PC{0,12}") {
        let wrapped = wrap(&namespace, &name).into_owned();
        prop_assert!(wrapped == name || wrapped.len() == namespace.len() + 1 + name.len());
        prop_assert!(unwrap(&namespace, &name).len() <= name.len());
        prop_assert!(unwrap_any(&name).len() <= name.len());
        let _ = names::validate_stored_topic(&name);
        if let Some(topic) = names::origin_of_pop_retry(&namespace, &name) {
            let mark = RetryMark::of_topic(&name);
            prop_assert_eq!(mark.topic(&namespace, topic), &*name);
        }
    }

    #[test]
    fn a_pop_retry_leads_back(group in "[%|a-c0-9_-]{1,9}", topic in "[%|a-c0-9_-]{1,9}") {
        for mark in [RetryMark::RetryV1, RetryMark::RetryV2] {
            let lies_in = mark.topic(&group, &topic);
            prop_assert_eq!(RetryMark::of_topic(&lies_in), mark);
            prop_assert_eq!(names::origin_of_pop_retry(&group, &lies_in), Some(&*topic));
            prop_assert_eq!(names::validate_stored_topic(&lies_in), Ok(()));
        }
    }
}
