//! The rules for a batch to send: producer §10.5, wire §6.6.

use std::net::IpAddr;
use std::time::Duration;

use rmq_proto::id::UniqueKeyGenerator;
use rmq_proto::message::{
    BatchElement, BatchElements, BatchError, DelayLevel, Message, MessageError, MessageRules, PreparedBatch,
};
use rmq_proto::properties;

fn hello(topic: &str) -> Message {
    Message::new(topic, "hello")
}

fn batch(messages: impl IntoIterator<Item = Message>) -> Result<PreparedBatch, BatchError> {
    PreparedBatch::new(messages, &MessageRules::default())
}

fn error(messages: impl IntoIterator<Item = Message>) -> BatchError {
    batch(messages).expect_err("no batch")
}

/// BUG-21, K1: no batch goes to the topic of its first message alone.
#[test]
fn bug_21_k1_two_topics_are_both_named() {
    let error = error([hello("T1"), hello("T1"), hello("T2")]);
    let expected = BatchError::SeveralTopics { index: 2, first: "T1".into(), other: "T2".into() };
    assert_eq!(error, expected);
    let text = error.to_string();
    assert!(text.contains("`T1`") && text.contains("`T2`") && text.contains("message 2"), "{text}");
}

#[test]
fn bug_21_a_batch_without_messages() {
    assert_eq!(error([]), BatchError::Empty);
}

#[test]
fn bug_21_a_retry_topic() {
    assert_eq!(error([hello("%RETRY%g")]), BatchError::RetryTopic { topic: "%RETRY%g".into() });
}

#[test]
fn bug_21_delayed_messages() {
    let level = DelayLevel::new(3).unwrap();
    let delayed = [
        hello("T1").delay_level(level),
        hello("T1").deliver_after(Duration::from_secs(5)),
        hello("T1").deliver_at(1_700_000_000_000),
    ];
    for message in delayed {
        assert_eq!(
            error([hello("T1"), message.clone()]),
            BatchError::Delayed { index: 1, topic: "T1".into() }
        );
        let prepared = message.prepare(&MessageRules::default()).unwrap();
        assert!(!prepared.may_join_batch());
    }
}

#[test]
fn bug_21_mixed_wait_store_ok() {
    let error = error([hello("T1"), hello("T1").wait_store_ok(false)]);
    assert_eq!(error, BatchError::MixedWait { index: 1, topic: "T1".into() });
    assert!(batch([hello("T1").wait_store_ok(false), hello("T1").wait_store_ok(false)]).is_ok());
}

#[test]
fn bug_21_too_long_as_encoded() {
    let large = || Message::new("T1", vec![b'x'; 3 << 20]);
    let BatchError::TooLong { topic, len, max } = error([large(), large()]) else { panic!("it is too long") };
    assert_eq!((&*topic, max), ("T1", 4 << 20));
    assert!(len > 6 << 20, "{len}");
    assert!(batch([large()]).is_ok());
}

#[test]
fn a_bad_message_is_named_by_its_place() {
    let BatchError::Message { index, error } = error([hello("T1"), Message::new("T1", "")]) else {
        panic!("the message is at fault")
    };
    assert_eq!((index, error), (1, MessageError::EmptyBody { topic: "T1".into() }));
}

/// The broker appends the batch's properties and its own, and does not look at the sum (seen on both).
#[test]
fn properties_leave_room_for_those_that_the_broker_adds() {
    let message = |len: usize| hello("T1").property("p", "v".repeat(len));
    assert!(batch([message(32_000)]).is_ok());
    let BatchError::PropertiesTooLong { index: 0, len, max, .. } = error([message(32_400)]) else {
        panic!("they are too long")
    };
    assert!(len > max && max < properties::MAX_LEN, "{len}, {max}");
    assert!(message(32_400).prepare(&MessageRules::default()).is_ok(), "by itself it is a good message");
}

/// The limit holds of what goes out, and what may go out does.
#[test]
fn the_limit_is_that_of_the_encoded_batch() {
    let messages = || [hello("T1"), hello("T1")];
    let rules = |max_body_len| MessageRules { max_body_len, ..MessageRules::default() };
    let Err(BatchError::TooLong { len, .. }) = PreparedBatch::new(messages(), &rules(50)) else {
        panic!("it is too long")
    };
    assert!(PreparedBatch::new(messages(), &rules(len - 1)).is_err());
    let batch = PreparedBatch::new(messages(), &rules(len)).unwrap();
    for ip in ["10.0.0.9", "fd00::9"] {
        let ip: IpAddr = ip.parse().unwrap();
        let mut ids = UniqueKeyGenerator::new(ip, 7, [1; 4]);
        let encoded = batch.encode(|| ids.next(1_700_000_000_000));
        assert_eq!(encoded.body.len() == len, ip.is_ipv6());
        assert!(
            encoded.body.len() <= len && encoded.body.len() + encoded.properties.len() <= batch.max_len()
        );
    }
}

/// The ids are drawn for the messages first, then for the batch (wire §6.6); each stands where a reader finds it.
#[test]
fn a_batch_as_it_goes_out() {
    let messages =
        [hello("T1").tag("a").key("k").flag(3), Message::new("T1", vec![b'x'; 10_000]), hello("T1")];
    let batch = batch(messages).unwrap();
    let generator = || UniqueKeyGenerator::new([10, 0, 0, 9].into(), 7, [1; 4]);
    let mut ids = generator();
    let encoded = batch.encode(|| ids.next(1_700_000_000_000));
    let mut again = generator();
    let expected: Vec<_> = (0..4).map(|_| again.next(1_700_000_000_000).to_string()).collect();
    assert_eq!(encoded.message_ids, expected[..3].join(","));
    assert_eq!(encoded.id, expected[3]);
    assert_eq!(encoded.properties, format!("WAIT\u{1}true\u{2}UNIQ_KEY\u{1}{}\u{2}", encoded.id));

    let elements: Vec<BatchElement> = BatchElements::new(encoded.body).collect::<Result<_, _>>().unwrap();
    let bodies: Vec<_> = elements.iter().map(|element| element.body.len()).collect();
    assert_eq!(bodies, [5, 10_000, 5], "a long body is as it was");
    for (element, id) in elements.iter().zip(&expected) {
        assert_eq!(properties::value(&element.properties, properties::UNIQ_KEY), Some(&**id));
    }
    let value = |name| properties::value(&elements[0].properties, name);
    assert_eq!((elements[0].flag, value("TAGS"), value("KEYS")), (3, Some("a"), Some("k")));
}
