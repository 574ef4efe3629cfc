//! Heartbeats: wire §5.6, E15.

use proptest::prelude::*;
use rmq_proto::body::{
    BodyError, ConsumeFromWhere, ConsumeType, ConsumerData, EXPRESSION_SQL92, EXPRESSION_TAG, HeartbeatData,
    MessageModel, SubscriptionData,
};
use rmq_proto::hash::java_hash;

use crate::golden;

/// Wire E15.
const E15: &str = r#"{"clientID":"10.0.0.9@1234#5678","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"CG","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919,2598920],"expressionType":"TAG","subString":"TagA || TagB","subVersion":1700000000000,"tagsSet":["TagA","TagB"],"topic":"TopicTest"}],"unitMode":false}],"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"PG"}],"withoutSub":false}"#;

/// Taken off the wire from the official client.
const CAPTURED: &str = r#"{"clientID":"192.0.2.2@19678#4212589322306","consumerDataSet":[],"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"CLIENT_INNER_PRODUCER"},{"groupName":"cap_tx"}],"withoutSub":false}"#;

/// Tags in another language, a condition, and a fingerprint.
const CHINESE: &str = r#"{"clientID":"c","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"g","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919,857175],"expressionType":"TAG","subString":"TagA || 标签","subVersion":1700000000000,"tagsSet":["TagA","标签"],"topic":"TopicTest"},{"classFilterMode":false,"codeSet":[],"expressionType":"SQL92","subString":"TAGS is not null","subVersion":1,"tagsSet":[],"topic":"T"}],"unitMode":false}],"heartbeatFingerprint":-7,"producerDataSet":[{"groupName":"p"}],"withoutSub":true}"#;

fn subscription(topic: &str, tags: &[(&str, i32)]) -> SubscriptionData {
    let names: Vec<_> = tags.iter().map(|&(tag, _)| tag.to_owned()).collect();
    SubscriptionData {
        topic: topic.to_owned(),
        sub_string: names.join(" || "),
        expression_type: EXPRESSION_TAG.to_owned(),
        tags_set: names,
        code_set: tags.iter().map(|&(_, code)| code).collect(),
        sub_version: 1_700_000_000_000,
        class_filter_mode: false,
    }
}

fn heartbeat(client_id: &str, producer: &str, consumer: &str, tags: &[(&str, i32)]) -> HeartbeatData {
    HeartbeatData {
        client_id: client_id.to_owned(),
        producers: vec![producer.to_owned()],
        consumers: vec![ConsumerData {
            group_name: consumer.to_owned(),
            consume_type: ConsumeType::Passively,
            message_model: MessageModel::Clustering,
            consume_from_where: ConsumeFromWhere::LastOffset,
            subscriptions: vec![subscription("TopicTest", tags)],
            unit_mode: false,
        }],
        fingerprint: 0,
        without_sub: false,
    }
}

#[test]
fn heartbeats_byte_for_byte() {
    let inner_only = HeartbeatData {
        client_id: "192.0.2.2@19678#4212589322306".to_owned(),
        producers: vec!["CLIENT_INNER_PRODUCER".to_owned(), "cap_tx".to_owned()],
        ..HeartbeatData::default()
    };
    let mut chinese = heartbeat("c", "p", "g", &[("TagA", 2_598_919), ("标签", 857_175)]);
    chinese.fingerprint = -7;
    chinese.without_sub = true;
    chinese.consumers[0].subscriptions.push(SubscriptionData {
        topic: "T".to_owned(),
        sub_string: "TAGS is not null".to_owned(),
        expression_type: EXPRESSION_SQL92.to_owned(),
        sub_version: 1,
        ..SubscriptionData::default()
    });
    let rows = [
        (
            heartbeat("10.0.0.9@1234#5678", "PG", "CG", &[("TagA", 2_598_919), ("TagB", 2_598_920)]),
            E15.to_owned(),
        ),
        (
            heartbeat("127.0.0.1@1#1", "pg", "cg", &[("TagA", 2_598_919), ("BB", 2_112)]),
            golden("heartbeat-body"),
        ),
        (inner_only, CAPTURED.to_owned()),
        (chinese, CHINESE.to_owned()),
    ];
    for (heartbeat, text) in rows {
        assert_eq!(heartbeat.encode(), text.as_bytes(), "{text}");
        assert_eq!(HeartbeatData::decode(text.as_bytes()), Ok(heartbeat), "{text}");
        for end in 0..text.len() {
            assert!(HeartbeatData::decode(&text.as_bytes()[..end]).is_err(), "cut after {end} bytes: {text}");
        }
    }
}

#[test]
fn fingerprints() {
    let decoded = |text: &str| HeartbeatData::decode(text.as_bytes()).unwrap();
    // Wire E15.
    assert_eq!(decoded(E15).compute_fingerprint(), 808_946_106);

    // What a fingerprint does not depend on, and what it does.
    let base = decoded(E15);
    let changed = |change: fn(&mut HeartbeatData)| {
        let mut heartbeat = base.clone();
        change(&mut heartbeat);
        heartbeat.compute_fingerprint()
    };
    let same = [
        changed(|heartbeat| heartbeat.client_id = "other".to_owned()),
        changed(|heartbeat| heartbeat.fingerprint = 808_946_106),
        changed(|heartbeat| heartbeat.without_sub = true),
        changed(|heartbeat| heartbeat.consumers[0].subscriptions[0].sub_version += 1),
    ];
    assert_eq!(same, [808_946_106; 4]);
    let other = [
        changed(|heartbeat| heartbeat.producers.clear()),
        changed(|heartbeat| heartbeat.consumers[0].group_name.push('x')),
        changed(|heartbeat| heartbeat.consumers[0].subscriptions[0].tags_set.reverse()),
        changed(|heartbeat| heartbeat.consumers[0].subscriptions.clear()),
    ];
    assert!(!other.contains(&808_946_106), "{other:?}");
    // It leaves the heartbeat as it is.
    assert_eq!(base, decoded(E15));
}

#[test]
fn a_fingerprint_is_never_zero() {
    // A group whose heartbeat has a text with the hash 0.
    let heartbeat = HeartbeatData { producers: vec!["aDlct3N".to_owned()], ..HeartbeatData::default() };
    let text = String::from_utf8(heartbeat.encode().to_vec()).unwrap();
    assert_eq!(rmq_proto::hash::java_hash(&text), 0);
    assert_eq!(heartbeat.compute_fingerprint(), 1);
}

#[test]
fn heartbeats_read_leniently() {
    let with =
        |without_sub| HeartbeatData { client_id: "c".to_owned(), without_sub, ..HeartbeatData::default() };
    let rows = [
        (r#"{"clientID":"c"}"#, with(false)),
        (r#"{"clientID":"c","consumerDataSet":null,"producerDataSet":null}"#, with(false)),
        (r#"{clientID:'c',isWithoutSub:true,unknown:{a:[1]},}"#, with(true)),
        (
            r#"{"clientID":"c","producerDataSet":[{"unknown":1,"groupName":"p"}]}"#,
            HeartbeatData { producers: vec!["p".to_owned()], ..with(false) },
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(HeartbeatData::decode(text.as_bytes()), Ok(expected), "{text}");
    }
}

#[test]
fn constants_of_heartbeats() {
    let text = |from: &str, kind: &str, model: &str| {
        format!(
            r#"{{"clientID":"c","consumerDataSet":[{{"groupName":"g","consumeFromWhere":"{from}","consumeType":"{kind}","messageModel":"{model}"}}]}}"#
        )
    };
    let (from, kind, model) =
        (ConsumeFromWhere::LastOffset, ConsumeType::Passively, MessageModel::Clustering);
    let rows = [
        (ConsumeFromWhere::FirstOffset, kind, model),
        (ConsumeFromWhere::Timestamp, kind, model),
        (ConsumeFromWhere::LastOffsetAndFromMinWhenBootFirst, kind, model),
        (ConsumeFromWhere::MinOffset, kind, model),
        (ConsumeFromWhere::MaxOffset, kind, model),
        (from, ConsumeType::Actively, model),
        (from, ConsumeType::Pop, model),
        (from, kind, MessageModel::Broadcasting),
    ];
    for (from, kind, model) in rows {
        let heartbeat =
            HeartbeatData::decode(text(from.name(), kind.name(), model.name()).as_bytes()).unwrap();
        let consumer = &heartbeat.consumers[0];
        assert_eq!(
            (consumer.consume_from_where, consumer.consume_type, consumer.message_model),
            (from, kind, model)
        );
    }

    let unknown = [
        (text("LAST", kind.name(), model.name()), "consumeFromWhere"),
        (text(from.name(), "PUSH", model.name()), "consumeType"),
        (text(from.name(), kind.name(), "clustering"), "messageModel"),
    ];
    for (text, name) in unknown {
        let error = HeartbeatData::decode(text.as_bytes()).unwrap_err();
        assert!(matches!(error, BodyError::UnknownValue { member, .. } if member == name), "{error:?}");
    }
}

#[test]
fn what_is_no_heartbeat() {
    let rows = [
        ("", BodyError::Empty),
        ("null", BodyError::Null),
        ("{}", BodyError::Missing { member: "clientID", offset: 2 }),
        (r#"{"producerDataSet":[{}]}"#, BodyError::Missing { member: "groupName", offset: 22 }),
        (r#"{"producerDataSet":[null]}"#, BodyError::Missing { member: "groupName", offset: 24 }),
        (
            r#"{"consumerDataSet":[{"groupName":"g"}]}"#,
            BodyError::Missing { member: "consumeFromWhere", offset: 37 },
        ),
        (
            r#"{"consumerDataSet":[{"subscriptionDataSet":[{"topic":"t"}]}]}"#,
            BodyError::Missing { member: "subString", offset: 57 },
        ),
    ];
    for (text, error) in rows {
        assert_eq!(HeartbeatData::decode(text.as_bytes()), Err(error), "{text}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(body: Vec<u8>) {
        let _ = HeartbeatData::decode(&body);
    }

    #[test]
    fn any_change_of_a_body_is_read_or_refused(at in 0_usize..E15.len(), byte: u8) {
        let mut body = E15.as_bytes().to_vec();
        body[at] = byte;
        if let Ok(heartbeat) = HeartbeatData::decode(&body) {
            prop_assert_eq!(HeartbeatData::decode(&heartbeat.encode()), Ok(heartbeat));
        }
    }
}

#[test]
fn expressions_of_tags() {
    let rows: [(&str, &str, &[&str]); 8] = [
        ("", "*", &[]),
        ("  ", "*", &[]),
        ("*", "*", &[]),
        (" * ", " * ", &[]),
        ("TagA", "TagA", &["TagA"]),
        ("TagA || TagB", "TagA || TagB", &["TagA", "TagB"]),
        ("TagA||TagB|| ||TagA ", "TagA||TagB|| ||TagA ", &["TagA", "TagB"]),
        ("a|b", "a|b", &["a|b"]),
    ];
    for (expression, sub_string, tags) in rows {
        let subscription = SubscriptionData::of_tags("T", expression, 7);
        assert_eq!(subscription.sub_string, sub_string, "{expression:?}");
        assert_eq!(subscription.tags_set, tags, "{expression:?}");
        let hashes: Vec<_> = tags.iter().map(|tag| java_hash(tag)).collect();
        assert_eq!(subscription.code_set, hashes, "{expression:?}");
        assert_eq!((subscription.expression_type.as_str(), subscription.sub_version), ("TAG", 7));
    }
    let condition = SubscriptionData::of_condition("T", "a > 1", 7);
    assert_eq!((condition.expression_type.as_str(), condition.sub_string.as_str()), ("SQL92", "a > 1"));
    assert!(condition.tags_set.is_empty() && condition.code_set.is_empty());
}
