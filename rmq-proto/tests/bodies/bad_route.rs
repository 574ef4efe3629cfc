//! Routes that are cut, damaged or hostile: BUG-05, C9, wire §2.4.

use proptest::prelude::*;
use rmq_proto::body::{BodyError, BrokerData, TopicQueueMappingInfo, TopicRouteData};
use rmq_proto::json::JsonError;

use crate::route::{broker, queues, route};

/// BUG-05: keys without quotes, an IPv6 address, and text that looks like such keys. Also with quotes, and with blanks.
const DECOYS: [&str; 3] = [
    r#"{"brokerDatas":[{"brokerAddrs":{0:"[fd00::1]:10911",1:"10.0.0.2:10911"},"brokerName":"b{0:x}\"a","cluster":"c"}],"filterServerTable":{},"queueDatas":[{"brokerName":"b{0:x}\"a","perm":6,"readQueueNums":4,"topicSynFlag":0,"writeQueueNums":4}],"topicQueueMappingByBroker":{-1:{"k":1}}}"#,
    r#"{"brokerDatas":[{"brokerAddrs":{"0":"[fd00::1]:10911","1":"10.0.0.2:10911"},"brokerName":"b{0:x}\"a","cluster":"c"}],"filterServerTable":{},"queueDatas":[{"brokerName":"b{0:x}\"a","perm":6,"readQueueNums":4,"topicSynFlag":0,"writeQueueNums":4}],"topicQueueMappingByBroker":{"-1":{"k":1}}}"#,
    r#" { "brokerDatas" : [ { "brokerAddrs" : { 0 : "[fd00::1]:10911" , 1 : "10.0.0.2:10911" } , "brokerName" : "b{0:x}\"a" , "cluster" : "c" } ] , "filterServerTable" : { } , "queueDatas" : [ { "brokerName" : "b{0:x}\"a" , "perm" : 6 , "readQueueNums" : 4 , "topicSynFlag" : 0 , "writeQueueNums" : 4 } ] , "topicQueueMappingByBroker" : { -1 : { "k" : 1 } } }"#,
];

#[test]
fn a_route_with_decoys_and_all_its_beginnings() {
    let name = r#"b{0:x}"a"#;
    let mut expected = route(
        vec![queues(name, 4)],
        vec![BrokerData {
            cluster: "c".to_owned(),
            enable_acting_master: None,
            ..broker(name, &[(0, "[fd00::1]:10911"), (1, "10.0.0.2:10911")])
        }],
    );
    expected.topic_queue_mapping = Some([("-1".to_owned(), TopicQueueMappingInfo::default())].into());
    for text in DECOYS {
        assert_eq!(TopicRouteData::decode(text.as_bytes()), Ok(expected.clone()), "{text}");
        for end in 0..text.len() {
            let cut = &text.as_bytes()[..end];
            assert!(TopicRouteData::decode(cut).is_err(), "cut after {end} bytes: {text}");
        }
    }
}

#[test]
fn what_is_no_route() {
    let missing = |offset| BodyError::Missing { member: "brokerName", offset };
    let rows: &[(&str, BodyError)] = &[
        ("", BodyError::Empty),
        ("null", BodyError::Null),
        (" null ", BodyError::Null),
        (" ", JsonError::End { offset: 1 }.into()),
        ("nullx", JsonError::Unexpected { offset: 0, expected: "a value" }.into()),
        ("null {}", JsonError::Trailing { offset: 5 }.into()),
        ("[]", JsonError::Unexpected { offset: 0, expected: "an object" }.into()),
        ("{}{", JsonError::Trailing { offset: 2 }.into()),
        (r#"{"queueDatas":{}}"#, JsonError::Unexpected { offset: 14, expected: "an array" }.into()),
        (r#"{"queueDatas":[null]}"#, missing(19)),
        (r#"{"queueDatas":[{"perm":6}]}"#, missing(25)),
        (r#"{"brokerDatas":[{"brokerName":null}]}"#, missing(35)),
        (
            r#"{"queueDatas":[{"brokerName":"b","perm":4294967296}]}"#,
            JsonError::Number { offset: 40, bits: 32 }.into(),
        ),
        (r#"{"brokerDatas":[{"brokerAddrs":{x:"h:1"}}]}"#, BodyError::BrokerId { offset: 34 }),
        (
            r#"{"brokerDatas":[{"brokerAddrs":{9223372036854775808:"h:1"}}]}"#,
            BodyError::BrokerId { offset: 52 },
        ),
    ];
    for (text, error) in rows {
        assert_eq!(TopicRouteData::decode(text.as_bytes()).as_ref(), Err(error), "{text}");
    }
    assert_eq!(
        TopicRouteData::decode(b"{\"a\":\"\xff\"}"),
        Err(BodyError::Json(JsonError::Utf8 { offset: 6 })),
        "no UTF-8"
    );
}

#[test]
fn references_that_lead_nowhere() {
    let rows = [
        // References to itself, to what is to come, to the other list, to nowhere.
        (r#"{"queueDatas":[{"$ref":"$.queueDatas[0]"}]}"#, 41),
        (r#"{"queueDatas":[{"$ref":"$.queueDatas[1]"},{"brokerName":"b"}]}"#, 41),
        (r#"{"queueDatas":[{"brokerName":"b"},{"$ref":"$.brokerDatas[0]"}]}"#, 61),
        (r#"{"queueDatas":[{"brokerName":"b"},{"$ref":"$"}]}"#, 46),
        (r#"{"queueDatas":[{"brokerName":"b"},{"$ref":"$.queueDatas[-1]"}]}"#, 61),
        (r#"{"queueDatas":[{"brokerName":"b"},{"$ref":""}]}"#, 45),
    ];
    for (text, offset) in rows {
        assert_eq!(TopicRouteData::decode(text.as_bytes()), Err(BodyError::Reference { offset }), "{text}");
    }
}

#[test]
fn references_cannot_make_a_short_body_a_long_route() {
    let name = "b".repeat(100_000);
    let references = vec![r#"{"$ref":"$.queueDatas[0]"}"#; 10_000].join(",");
    let text = format!(r#"{{"queueDatas":[{{"brokerName":"{name}"}},{references}]}}"#);
    assert!(matches!(TopicRouteData::decode(text.as_bytes()), Err(BodyError::Reference { .. })));
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!(r#"{{"other":{}"#, "[".repeat(1_000_000));
    assert!(matches!(TopicRouteData::decode(text.as_bytes()), Err(BodyError::Json(JsonError::Depth { .. }))));
}

#[test]
fn errors_say_where() {
    let rows = [
        ("", "the body is empty"),
        ("null", "the body is `null`"),
        ("{", "the body cannot be read: the JSON text ends early, at byte 1"),
        (r#"{"queueDatas":[{}]}"#, "the body has no `brokerName` in the object that ends at byte 17"),
    ];
    for (text, error) in rows {
        assert_eq!(TopicRouteData::decode(text.as_bytes()).unwrap_err().to_string(), error, "{text}");
    }
}

proptest! {
    #[test]
    fn any_change_of_a_body_is_read_or_refused(
        at in 0_usize..DECOYS[0].len(), byte: u8, form in 0_usize..DECOYS.len(),
    ) {
        let mut body = DECOYS[form].as_bytes().to_vec();
        body[at] = byte;
        if let Ok(route) = TopicRouteData::decode(&body) {
            prop_assert_eq!(TopicRouteData::decode(&route.encode()), Ok(route));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(body: Vec<u8>) {
        let _ = TopicRouteData::decode(&body);
    }
}
