//! Bodies that are damaged or hostile, of all kinds.

use rmq_proto::body::*;
use rmq_proto::json::JsonError;

use crate::samples::for_each_body;
use crate::support::{Body, decode};

#[test]
fn no_body_and_null() {
    fn check<B: Body>(_: &str) {
        assert!(matches!(decode::<B>(" "), Err(BodyError::Json(JsonError::End { .. }))));
        assert!(matches!(decode::<B>("[]"), Err(BodyError::Json(JsonError::Unexpected { .. }))));
        assert!(matches!(decode::<B>("\"\""), Err(BodyError::Json(JsonError::Unexpected { .. }))));
        assert!(matches!(B::decode(b"{\"\xff\":1}"), Err(BodyError::Json(JsonError::Utf8 { offset: 2 }))));
        match decode::<B>("") {
            // Only a reset of offsets may come without a body.
            Ok(reset) => assert_eq!(
                (decode(" null "), &*reset.encode()),
                (Ok(reset), br#"{"offsetTable":{}}"#.as_slice())
            ),
            Err(error) => {
                assert_eq!(error, BodyError::Empty);
                assert_eq!(decode::<B>(" null "), Err(BodyError::Null));
            }
        }
    }
    for_each_body!(check);
}

/// What a body of some kind makes of a text.
type Row = (&'static str, fn(&str) -> BodyError, BodyError);

fn error<B: Body>(text: &str) -> BodyError {
    decode::<B>(text).expect_err(text)
}

#[test]
fn what_is_missing_or_means_nothing() {
    let missing = |member, offset| BodyError::Missing { member, offset };
    let number = |offset, bits| BodyError::Json(JsonError::Number { offset, bits });
    let rows: &[Row] = &[
        ("{}", error::<LockBatchRequest>, missing("clientId", 2)),
        (r#"{"clientId":"c"}"#, error::<LockBatchRequest>, missing("consumerGroup", 16)),
        (r#"{"lockOKMQSet":[{}]}"#, error::<LockBatchResponse>, missing("brokerName", 18)),
        (r#"{"lockOKMQSet":[null]}"#, error::<LockBatchResponse>, missing("brokerName", 20)),
        (
            r#"{"lockOKMQSet":[{"brokerName":"b","topic":"T"}]}"#,
            error::<LockBatchResponse>,
            missing("queueId", 46),
        ),
        (
            r#"{"lockOKMQSet":[{"brokerName":"b","queueId":1}]}"#,
            error::<LockBatchResponse>,
            missing("topic", 46),
        ),
        (r#"{"lockOKMQSet":[{"queueId":4294967296}]}"#, error::<LockBatchResponse>, number(27, 32)),
        (r#"{"lockOKMQSet":[{"queueId":"x"}]}"#, error::<LockBatchResponse>, number(27, 32)),
        (r#"{"clientId":"c","group":"g"}"#, error::<CheckClientConfig>, missing("subscriptionData", 28)),
        (r#"{"brokerAddrTable":{"b":{}}}"#, error::<ClusterInfo>, missing("brokerName", 26)),
        (
            r#"{"brokerAddrTable":{"b":{"brokerAddrs":{"x":"h:1"}}}}"#,
            error::<ClusterInfo>,
            BodyError::BrokerId { offset: 44 },
        ),
        ("{}", error::<ConsumeDirectlyResult>, missing("consumeResult", 2)),
        (
            r#"{"consumeResult":"SUCCESS"}"#,
            error::<ConsumeDirectlyResult>,
            BodyError::UnknownValue { member: "consumeResult", offset: 26 },
        ),
        (r#"{"acks":[{"c":"G","t":"T"}]}"#, error::<BatchAckRequest>, missing("r", 26)),
        (r#"{"acks":[]}"#, error::<BatchAckRequest>, missing("brokerName", 11)),
        (r#"{"acks":[{"b":"?"}]}"#, error::<BatchAckRequest>, BodyError::AckBits { offset: 17 }),
        (
            r#"{"messageQueueAssignments":[{}]}"#,
            error::<QueryAssignmentResponse>,
            missing("messageQueue", 30),
        ),
        (r#"{"offsetTable":{"T":1}}"#, error::<ResetOffset>, BodyError::Key { offset: 20 }),
        (r#"{"offsetTable":{{"topic":"T"}:1}}"#, error::<ResetOffset>, BodyError::Key { offset: 30 }),
        (r#"{"offsetTable":{"{} {}":1}}"#, error::<ResetOffset>, BodyError::Key { offset: 24 }),
        (
            r#"{"offsetTable":[{"brokerName":"b","queueId":1,"topic":"T"}]}"#,
            error::<ResetOffset>,
            missing("offset", 58),
        ),
        (
            r#"{"offsetTable":{{"brokerName":"b","queueId":1,"topic":"T"}:9223372036854775808}}"#,
            error::<ResetOffset>,
            number(59, 64),
        ),
        (
            r#"{"topicQueueMappingByBroker":{"b":{"currIdMap":{x:1}}}}"#,
            error::<TopicRouteData>,
            BodyError::Key { offset: 50 },
        ),
        (
            r#"{"topicQueueMappingByBroker":{"b":{"currIdMap":{2147483648:1}}}}"#,
            error::<TopicRouteData>,
            BodyError::Key { offset: 59 },
        ),
        (
            r#"{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":{}}}}"#,
            error::<RegisterBroker>,
            missing("topicName", 58),
        ),
        (
            r#"{"topicConfigSerializeWrapper":{"dataVersion":{"counter":9223372036854775808}}}"#,
            error::<RegisterBroker>,
            number(57, 64),
        ),
    ];
    for (text, error, expected) in rows {
        assert_eq!(error(text), *expected, "{text}");
    }
}

#[test]
fn depth_is_bounded() {
    fn check<B: Body>(text: &str) {
        for (open, close) in [("[", "]"), ("{a:", "}"), ("{{", "}:1}")] {
            let nested = |depth: usize| format!("{}{}", open.repeat(depth), close.repeat(depth));
            let other = |depth| format!("{{\"other\":{},{}", nested(depth), &text[1..]);
            let is_deep = |error: &BodyError| matches!(error, BodyError::Json(JsonError::Depth { .. }));
            assert!(decode::<B>(&other(1_000_000)).is_err_and(|error| is_deep(&error)));
        }
    }
    for_each_body!(check);
}

#[test]
fn a_short_text_does_not_allocate_much() {
    fn check<B: Body>(text: &str) {
        let peak = allocation_counter::measure(|| drop(decode::<B>(text))).bytes_max;
        assert!(peak < 20 * text.len() as u64, "{peak}: {text}");
    }
    for_each_body!(check);
}

#[test]
fn any_change_of_a_byte_is_read_or_refused() {
    fn check<B: Body>(text: &str) {
        for at in 0..text.len() {
            // A few of these at each place; fuzzing tries them all.
            let bytes = *b"\"'{}[],:019-/\\$aEt \xff";
            for byte in bytes.into_iter().cycle().skip(at * 3 % bytes.len()).take(3) {
                let mut body = text.as_bytes().to_vec();
                body[at] = byte;
                if let Ok(read) = B::decode(&body) {
                    assert_eq!(B::decode(&read.encode()), Ok(read), "{}", String::from_utf8_lossy(&body));
                }
            }
        }
    }
    for_each_body!(check);
}
