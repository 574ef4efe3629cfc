//! Ids, names, hashes and properties.

use std::net::{IpAddr, SocketAddr};

use rmq_proto::hash::java_hash;
use rmq_proto::id::{OffsetMessageId, UniqueKeyGenerator};
use rmq_proto::names::{self, RetryMark, namespace};
use rmq_proto::pop::Receipt;
use rmq_proto::properties;
use rmq_proto::recall::RecallHandle;

use crate::case::{Case, Kind, hex};
use crate::headers::ODD_TEXT;
use crate::value::Value;

pub(crate) fn cases() -> Vec<Case> {
    [offset_ids(), unique_keys(), hashes(), called(), encoded_properties()].concat()
}

/// As the Java program prints it.
pub(crate) fn host(host: SocketAddr) -> String {
    format!("{}:{}", ip(host.ip()), host.port())
}

fn ip(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => hex(&ip.octets()),
        IpAddr::V6(ip) => hex(&ip.octets()),
    }
}

fn offset_ids() -> Vec<Case> {
    let mut cases = Vec::new();
    for address in ["10.0.0.1:10911", "255.255.255.255:65535", "0.0.0.0:0", "[2001:db8::1]:10911"] {
        for offset in [0, 1_024, i64::MAX, -1] {
            let id = OffsetMessageId { host: address.parse().unwrap(), offset };
            let text = id.to_string();
            let expected = Value::object([
                ("host", Value::text(host(id.host))),
                ("offset", Value::number(offset)),
                ("again", Value::text(&text)),
            ]);
            cases.push(Case::new(format!("{address}/{offset}"), Kind::OffsetId, text, expected));
        }
    }
    cases
}

fn unique_keys() -> Vec<Case> {
    const DAY_MS: u32 = 86_400_000;
    const NOVEMBER_2023: u64 = 1_698_796_800_000;
    let mut cases = Vec::new();
    for address in ["10.0.0.9", "255.255.255.255", "2001:db8::9"] {
        for (pid, since) in [(0, 0), (1_234, 1), (u16::MAX, 28 * DAY_MS - 1)] {
            let address: IpAddr = address.parse().unwrap();
            let mut generator = UniqueKeyGenerator::new(address, pid, [0xFF, 2, 3, 4]);
            let key = generator.next(NOVEMBER_2023 + u64::from(since)).to_string();
            let expected = Value::object([
                ("ip", Value::text(ip(address))),
                ("pid", Value::number(pid)),
                ("milliseconds", Value::number(since)),
            ]);
            cases.push(Case::new(format!("{address}/{pid}"), Kind::UniqueKey, key, expected));
        }
    }
    cases
}

fn hashes() -> Vec<Case> {
    let texts = ["", "TagA", "标签", "😀", "polygenelubricants", ODD_TEXT];
    let case = |(index, &text): (usize, &&str)| {
        Case::new(index.to_string(), Kind::Hash, text, Value::text(java_hash(text).to_string()))
    };
    texts.iter().enumerate().map(case).collect()
}

/// Texts that we put together as a Java method does: the method, its arguments, our text.
fn called() -> Vec<Case> {
    let mut rows = vec![
        ("MixAll.getRetryTopic", vec!["CG"], names::retry_topic("CG")),
        ("MixAll.getDLQTopic", vec!["CG"], names::dead_letter_topic("CG")),
        ("MixAll.getReplyTopic", vec!["DefaultCluster"], names::reply_topic("DefaultCluster")),
        ("KeyBuilder.buildPopRetryTopicV1", vec!["T", "CG"], names::pop_retry_topic_v1("CG", "T")),
        ("KeyBuilder.buildPopRetryTopicV2", vec!["T", "CG"], names::pop_retry_topic_v2("CG", "T")),
        (
            "RecallMessageHandle$HandleV1.buildHandle",
            vec!["TopicTest", "broker-a", "1700000060001", "0A00000904D201020304050607080001"],
            recall_handle(),
        ),
    ];
    for (mark, topic) in
        [(RetryMark::Normal, "T"), (RetryMark::RetryV1, "%RETRY%CG_T"), (RetryMark::RetryV2, "%RETRY%CG+T")]
    {
        let arguments =
            vec!["7", "1700000000100", "60000", "3", topic, "broker-a", "1", "9223372036854775807"];
        rows.push(("ExtraInfoUtil.buildExtraInfo", arguments, receipt(mark)));
    }
    for namespace in ["", "INST", "%"] {
        for name in [
            "",
            "orders",
            "INST%orders",
            "INST%",
            "%RETRY%CG",
            "%RETRY%INST%CG",
            "%DLQ%CG",
            "%DLQ%INST%CG",
            "OTHER%orders",
            "%RETRY%",
            "TBW102",
            "rmq_sys_trace",
            "CID_RMQ_SYS_x",
            "DEFAULT_PRODUCER",
            "%orders",
            "a%b%c",
            "%RETRY%%DLQ%x",
        ] {
            let wrapped = namespace::wrap(namespace, name).into_owned();
            rows.push(("NamespaceUtil.wrapNamespace", vec![namespace, name], wrapped));
            let unwrapped = namespace::unwrap(namespace, name).into_owned();
            rows.push(("NamespaceUtil.withoutNamespace", vec![name, namespace], unwrapped));
            if namespace.is_empty() {
                rows.push((
                    "NamespaceUtil.withoutNamespace",
                    vec![name],
                    namespace::unwrap_any(name).into_owned(),
                ));
            }
        }
    }
    let case = |(index, (method, arguments, text)): (usize, (&'static str, Vec<&str>, String))| {
        let id = format!("{index}/{method}({})", arguments.join(","));
        Case::new(id, Kind::Call, "", Value::text(text)).class(method).arguments(&arguments)
    };
    rows.into_iter().enumerate().map(case).chain(parsed()).collect()
}

fn recall_handle() -> String {
    let handle = RecallHandle {
        topic: "TopicTest".to_owned(),
        broker_name: "broker-a".to_owned(),
        timestamp: 1_700_000_060_001,
        unique_key: "0A00000904D201020304050607080001".to_owned(),
    };
    handle.encode().unwrap()
}

fn receipt(retry: RetryMark) -> String {
    let receipt = Receipt {
        start_offset: 7,
        pop_time: 1_700_000_000_100,
        invisible_time: 60_000,
        revive_queue_id: 3,
        retry,
        broker_name: "broker-a",
        queue_id: 1,
        queue_offset: Some(i64::MAX),
    };
    receipt.encode().unwrap()
}

/// Our texts as Java takes them apart.
fn parsed() -> Vec<Case> {
    let handle = [
        ("version", "v1"),
        ("topic", "TopicTest"),
        ("brokerName", "broker-a"),
        ("timestampStr", "1700000060001"),
        ("messageId", "0A00000904D201020304050607080001"),
    ];
    let handle = Value::object(handle.map(|(name, value)| (name, Value::text(value))));
    let mut cases = vec![
        Case::new("decodeHandle", Kind::Call, "", handle)
            .class("RecallMessageHandle.decodeHandle")
            .arguments(&[&recall_handle()]),
    ];
    for (method, part) in [
        ("ExtraInfoUtil.getCkQueueOffset", "7"),
        ("ExtraInfoUtil.getPopTime", "1700000000100"),
        ("ExtraInfoUtil.getInvisibleTime", "60000"),
        ("ExtraInfoUtil.getReviveQid", "3"),
        ("ExtraInfoUtil.getRetry", "2"),
        ("ExtraInfoUtil.getBrokerName", "broker-a"),
        ("ExtraInfoUtil.getQueueId", "1"),
        ("ExtraInfoUtil.getQueueOffset", "9223372036854775807"),
    ] {
        let text = receipt(RetryMark::RetryV2);
        cases.push(Case::new(method, Kind::Call, "", Value::text(part)).class(method).arguments(&[&text]));
    }
    cases
}

fn encoded_properties() -> Vec<Case> {
    let no_separators = ODD_TEXT.replace([properties::NAME_SEPARATOR, properties::PROPERTY_SEPARATOR], "");
    let rows: [(&str, Vec<(&str, &str)>); 4] = [
        ("none", vec![]),
        ("one", vec![("TAGS", "TagA")]),
        ("three", vec![("TAGS", "TagA"), ("KEYS", "k1 k2"), ("colour", "红")]),
        ("odd", vec![(&no_separators, &no_separators), ("WAIT", "true")]),
    ];
    let case = |(id, pairs): (&str, Vec<(&str, &str)>)| {
        let mut text = String::new();
        properties::encode(pairs.iter().copied(), &mut text).unwrap();
        let expected = Value::object(pairs.into_iter().map(|(name, value)| (name, Value::text(value))));
        Case::new(id, Kind::Properties, text, expected)
    };
    rows.into_iter().map(case).collect()
}
