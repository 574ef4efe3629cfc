//! The worked examples of wire §12, byte for byte.

use bytes::{BufMut, BytesMut};
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{CommandHead, FLAG_ONEWAY, FLAG_RESPONSE, HeaderFormat, Language, encode_frame};
use rmq_proto::ext::{ExtSink, NoExt, WriteExt};
use rmq_proto::header::{GetRouteHeader, SendMessageV2Header, SendResponseHeader};

use crate::support::{hex, json_frame, read, written};

const E1: &str = r#"{"code":105,"extFields":{"topic":"TopicTest"},"flag":0,"language":"RUST","opaque":1,"serializeTypeCurrentRPC":"JSON","version":479}"#;
const E2: &str = r#"{"code":17,"flag":1,"language":"JAVA","opaque":1,"remark":"no route","serializeTypeCurrentRPC":"JSON","version":479}"#;
const E3: &str = r#"{"code":310,"extFields":{"a":"PG","b":"TopicTest","c":"TBW102","d":"4","e":"1","f":"0","g":"1700000000000","h":"0","i":"TAGS\u0001TagA\u0002WAIT\u0001true\u0002","j":"0","k":"false","m":"false","n":"broker-a"},"flag":0,"language":"RUST","opaque":3,"serializeTypeCurrentRPC":"JSON","version":479}"#;
const E4: &str = "
00 00 00 c2 01 00 00 b9 01 36 0c 01 df 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00 a4 00 01 61
00 00 00 02 50 47 00 01 62 00 00 00 09 54 6f 70 69 63 54 65 73 74 00 01 63 00 00 00 06 54 42 57
31 30 32 00 01 64 00 00 00 01 34 00 01 65 00 00 00 01 31 00 01 66 00 00 00 01 30 00 01 67 00 00
00 0d 31 37 30 30 30 30 30 30 30 30 30 30 30 00 01 68 00 00 00 01 30 00 01 69 00 00 00 14 54 41
47 53 01 54 61 67 41 02 57 41 49 54 01 74 72 75 65 02 00 01 6a 00 00 00 01 30 00 01 6b 00 00 00
05 66 61 6c 73 65 00 01 6d 00 00 00 05 66 61 6c 73 65 00 01 6e 00 00 00 08 62 72 6f 6b 65 72 2d
61 48 65 6c 6c 6f";
const E5: &str = "
00 00 00 64 01 00 00 60 00 00 00 01 df 00 00 00 03 00 00 00 01 00 00 00 00 00 00 00 4b 00 05 6d
73 67 49 64 00 00 00 20 30 41 30 30 30 30 30 31 30 30 30 30 32 41 39 46 30 30 30 30 30 30 30 30
30 30 30 30 30 34 30 30 00 07 71 75 65 75 65 49 64 00 00 00 01 31 00 0b 71 75 65 75 65 4f 66 66
73 65 74 00 00 00 01 37";
pub(crate) const E6: &str = r#"{"code":37,"extFields":{"producerGroup":"PG","tranStateTableOffset":"7","commitLogOffset":"1024","commitOrRollback":"8","fromTransactionCheck":"false","msgId":"0A00000904D201020304050607080001","transactionId":"0A00000904D201020304050607080001","topic":"TopicTest","bname":"broker-a"},"flag":2,"language":"RUST","opaque":4,"serializeTypeCurrentRPC":"JSON","version":479}"#;
pub(crate) const E12: &str = r#"{"code":0,"extFields":{"suggestWhichBrokerId":"0","nextBeginOffset":"8","minOffset":"0","maxOffset":"8","topicSysFlag":"0","groupSysFlag":"0"},"flag":1,"language":"JAVA","opaque":9,"remark":"FOUND","serializeTypeCurrentRPC":"JSON","version":479}"#;
pub(crate) const E13: &str = r#"{"code":11,"extFields":{"consumerGroup":"CG","topic":"TopicTest","queueId":"1","queueOffset":"7","maxMsgNums":"32","sysFlag":"6","commitOffset":"0","suspendTimeoutMillis":"15000","subscription":"*","subVersion":"1700000000000","maxMsgBytes":"2147483647","expressionType":"TAG","bname":"broker-a"},"flag":0,"language":"RUST","opaque":9,"serializeTypeCurrentRPC":"JSON","version":479}"#;
const E15: &str = r#"{"code":34,"extFields":{},"flag":0,"language":"RUST","opaque":2,"serializeTypeCurrentRPC":"JSON","version":479}"#;
const E15_BODY: &str = r#"{"clientID":"10.0.0.9@1234#5678","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"CG","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919,2598920],"expressionType":"TAG","subString":"TagA || TagB","subVersion":1700000000000,"tagsSet":["TagA","TagB"],"topic":"TopicTest"}],"unitMode":false}],"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"PG"}],"withoutSub":false}"#;
const E7: &str = "
00 00 00 7d da a3 20 a7 77 d1 89 82 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 07 00 00 00 00
00 00 04 00 00 00 00 00 00 00 01 8b cf e5 68 00 0a 00 00 09 00 00 d4 31 00 00 01 8b cf e5 68 05
0a 00 00 01 00 00 2a 9f 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 05 48 65 6c 6c 6f 09 54 6f
70 69 63 54 65 73 74 00 14 54 41 47 53 01 54 61 67 41 02 57 41 49 54 01 74 72 75 65 02";

/// Ext fields in an order of their own.
struct InOrder(&'static [(&'static str, &'static str)]);

impl WriteExt for InOrder {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        self.0.iter().for_each(|(name, value)| sink.text(name, value));
    }
}

fn frame(format: HeaderFormat, head: &CommandHead<'_>, ext: &impl WriteExt, body: &[u8]) -> Vec<u8> {
    let mut out = BytesMut::from(&b"before"[..]);
    let used = encode_frame(&mut out, format, head, ext, body.len()).expect("it can be written");
    assert_eq!(used, format);
    out.put_slice(body);
    assert_eq!(&out[..6], b"before");
    out[6..].to_vec()
}

/// The bytes are as expected, and stay so when they are read and written again.
fn assert_frame(found: &[u8], expected: &[u8], format: HeaderFormat) {
    assert_eq!(String::from_utf8_lossy(found), String::from_utf8_lossy(expected));
    assert_eq!(found, expected);
    let command = read(found).expect("it can be read");
    assert_eq!(written(&command, format), expected);
}

fn send_header() -> SendMessageV2Header<'static> {
    SendMessageV2Header {
        producer_group: "PG".into(),
        topic: "TopicTest".into(),
        default_topic: "TBW102".into(),
        default_topic_queue_nums: 4,
        queue_id: 1,
        sys_flag: 0,
        born_timestamp: 1_700_000_000_000,
        flag: 0,
        properties: Some("TAGS\u{1}TagA\u{2}WAIT\u{1}true\u{2}".into()),
        reconsume_times: Some(0),
        unit_mode: Some(false),
        max_reconsume_times: None,
        batch: Some(false),
        broker_name: Some("broker-a".into()),
    }
}

#[test]
fn e1_route_request() {
    let header = GetRouteHeader { topic: "TopicTest".into(), accept_standard_json_only: None };
    let head = CommandHead::request(RequestCode::GET_ROUTEINFO_BY_TOPIC, 1);
    let found = frame(HeaderFormat::Json, &head, &header, b"");
    assert_eq!(found.len(), 139);
    assert_eq!(&found[..8], hex("00 00 00 87 00 00 00 83"));
    assert_frame(&found, &json_frame(E1, b""), HeaderFormat::Json);
}

#[test]
fn e2_response_without_ext_fields() {
    let head = CommandHead {
        language: Language::JAVA,
        remark: Some("no route"),
        ..CommandHead::response(ResponseCode::TOPIC_NOT_EXIST, 1)
    };
    let found = frame(HeaderFormat::Json, &head, &NoExt, b"");
    assert_eq!(found.len(), 124);
    assert_eq!(&found[..8], hex("00 00 00 78 00 00 00 74"));
    assert_frame(&found, &json_frame(E2, b""), HeaderFormat::Json);
}

#[test]
fn e3_send_request_as_json() {
    let head = CommandHead::request(RequestCode::SEND_MESSAGE_V2, 3);
    let found = frame(HeaderFormat::Json, &head, &send_header(), b"Hello");
    assert_eq!(found.len(), 308);
    assert_eq!(&found[..8], hex("00 00 01 30 00 00 01 27"));
    assert_frame(&found, &json_frame(E3, b"Hello"), HeaderFormat::Json);
}

#[test]
fn e4_send_request_as_binary() {
    let head = CommandHead::request(RequestCode::SEND_MESSAGE_V2, 3);
    let found = frame(HeaderFormat::RocketMq, &head, &send_header(), b"Hello");
    assert_eq!(found.len(), 198);
    assert_frame(&found, &hex(E4), HeaderFormat::RocketMq);
}

#[test]
fn e5_send_response_as_binary() {
    let header = SendResponseHeader {
        message_id: "0A00000100002A9F0000000000000400".into(),
        queue_id: 1,
        queue_offset: 7,
        transaction_id: None,
        batch_unique_id: None,
        recall_handle: None,
        region_id: None,
        trace_on: None,
    };
    let head = CommandHead { language: Language::JAVA, ..CommandHead::response(ResponseCode::SUCCESS, 3) };
    let found = frame(HeaderFormat::RocketMq, &head, &header, b"");
    assert_eq!(found.len(), 104);
    assert_frame(&found, &hex(E5), HeaderFormat::RocketMq);
    let command = read(&found).expect("it can be read");
    assert_eq!(command.header::<SendResponseHeader<'_>>(), Ok(header));
}

#[test]
fn e6_oneway_request() {
    let header = InOrder(&[
        ("producerGroup", "PG"),
        ("tranStateTableOffset", "7"),
        ("commitLogOffset", "1024"),
        ("commitOrRollback", "8"),
        ("fromTransactionCheck", "false"),
        ("msgId", "0A00000904D201020304050607080001"),
        ("transactionId", "0A00000904D201020304050607080001"),
        ("topic", "TopicTest"),
        ("bname", "broker-a"),
    ]);
    let head = CommandHead { flag: FLAG_ONEWAY, ..CommandHead::request(RequestCode::END_TRANSACTION, 4) };
    let found = frame(HeaderFormat::Json, &head, &header, b"");
    assert_eq!(found.len(), 378);
    assert_eq!(&found[..8], hex("00 00 01 76 00 00 01 72"));
    assert_frame(&found, &json_frame(E6, b""), HeaderFormat::Json);
    assert!(read(&found).expect("it can be read").is_oneway());
}

#[test]
fn e12_pull_response() {
    let bytes = json_frame(E12, &hex(E7));
    assert_eq!(bytes.len(), 378);
    assert_eq!(&bytes[..8], hex("00 00 01 76 00 00 00 f5"));
    let command = read(&bytes).expect("it can be read");
    assert_eq!((command.code, command.flag, command.opaque), (0, FLAG_RESPONSE, 9));
    assert_eq!(command.remark.as_deref(), Some("FOUND"));
    assert_eq!(command.ext.value("nextBeginOffset").as_deref(), Some("8"));
    assert_eq!(command.body, hex(E7));
    assert_frame(&written(&command, HeaderFormat::Json), &bytes, HeaderFormat::Json);
}

#[test]
fn e13_pull_request() {
    let bytes = json_frame(E13, b"");
    assert_eq!(bytes.len(), 390);
    assert_eq!(&bytes[..8], hex("00 00 01 82 00 00 01 7e"));
    let command = read(&bytes).expect("it can be read");
    assert_eq!((command.code, command.language), (11, Some(Language::RUST)));
    assert_eq!(command.ext.iter().count(), 13);
    assert_eq!(command.ext.value("sysFlag").as_deref(), Some("6"));
    assert_frame(&written(&command, HeaderFormat::Json), &bytes, HeaderFormat::Json);
}

#[test]
fn e15_empty_ext_fields() {
    let head = CommandHead::request(RequestCode::HEART_BEAT, 2);
    let found = frame(HeaderFormat::Json, &head, &(), E15_BODY.as_bytes());
    assert_eq!(found.len(), 600);
    assert_eq!(&found[..8], hex("00 00 02 54 00 00 00 6f"));
    assert_frame(&found, &json_frame(E15, E15_BODY.as_bytes()), HeaderFormat::Json);
}
