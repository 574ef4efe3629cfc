//! Records of a store, and batches.

use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use rmq_proto::message::{BatchElement, RecordVersion, StoredMessage, SysFlag, body_crc, encode_batch};
use rmq_proto::properties;

use crate::case::{Case, Kind, hex};
use crate::ids::host;
use crate::value::Value;

pub(crate) fn cases() -> Vec<Case> {
    let rows = rows();
    let mut cases: Vec<_> = rows.iter().map(|(id, record)| case(id, std::slice::from_ref(record))).collect();
    let all: Vec<_> = rows.into_iter().map(|(_, record)| record).collect();
    cases.push(case("all", &all));
    cases.extend(batches());
    cases
}

/// The text of properties.
fn properties(pairs: &[(&str, &str)]) -> String {
    let mut text = String::new();
    properties::encode(pairs.iter().copied(), &mut text).unwrap();
    text
}

fn rows() -> Vec<(String, StoredMessage)> {
    let v4: SocketAddr = "10.0.0.9:54321".parse().unwrap();
    let v6: SocketAddr = "[2001:db8::9]:54321".parse().unwrap();
    let plain = StoredMessage {
        body_crc: body_crc(b"Hello"),
        queue_id: 3,
        flag: -5,
        queue_offset: 7,
        commit_log_offset: 1_024,
        born_timestamp: 1_700_000_000_000,
        born_host: v4,
        store_timestamp: 1_700_000_000_005,
        store_host: "10.0.0.1:10911".parse().unwrap(),
        reconsume_times: 2,
        prepared_transaction_offset: 4_096,
        body: Bytes::from_static(b"Hello"),
        topic: "TopicTest".into(),
        properties: properties(&[("TAGS", "TagA"), ("KEYS", "k1 k2"), ("colour", "红 \u{1F600}\"\\")]),
        ..StoredMessage::default()
    };
    let extreme = |i32_value, i64_value| StoredMessage {
        queue_id: i32_value,
        flag: i32_value,
        queue_offset: i64_value,
        commit_log_offset: i64_value,
        born_timestamp: i64_value,
        store_timestamp: i64_value,
        reconsume_times: i32_value,
        prepared_transaction_offset: i64_value,
        born_host: "255.255.255.255:65535".parse().unwrap(),
        store_host: "0.0.0.0:0".parse().unwrap(),
        ..plain.clone()
    };
    let mut rows = vec![
        ("least".to_owned(), extreme(i32::MIN, i64::MIN)),
        ("greatest".to_owned(), extreme(i32::MAX, i64::MAX)),
        ("no-properties".to_owned(), StoredMessage { properties: String::new(), ..plain.clone() }),
        (
            "no-body".to_owned(),
            StoredMessage { body: Bytes::new(), body_crc: body_crc(b""), ..plain.clone() },
        ),
        ("longest-topic".to_owned(), StoredMessage { topic: "t".repeat(127).into(), ..plain.clone() }),
    ];
    for (born_name, born_host) in [("v4", v4), ("v6", v6)] {
        for (store_name, store_host) in
            [("v4", plain.store_host), ("v6", "[2001:db8::1]:10911".parse().unwrap())]
        {
            let record = StoredMessage {
                born_host,
                store_host,
                sys_flag: SysFlag(0x4).with_hosts(&born_host, &store_host),
                ..plain.clone()
            };
            rows.push((format!("{born_name}-{store_name}"), record));
        }
    }
    for (id, topic) in
        [("V2", "TopicTest".to_owned()), ("V2-long-topic", format!("%RETRY%{}", "G".repeat(123)))]
    {
        let record = StoredMessage { version: RecordVersion::V2, topic: topic.into(), ..plain.clone() };
        rows.push((id.to_owned(), record));
    }
    rows
}

fn case(id: &str, records: &[StoredMessage]) -> Case {
    let mut out = BytesMut::new();
    records.iter().for_each(|record| record.encode(&mut out).unwrap());
    let case = Case::new(id, Kind::Record, out, Value::Array(records.iter().map(expected).collect()));
    if records.iter().any(|record| record.version == RecordVersion::V2) {
        case.class("MessageVersion")
    } else {
        case
    }
}

fn expected(record: &StoredMessage) -> Value {
    let text = |value: &dyn ToString| Value::text(value.to_string());
    let mut fields = vec![
        ("topic", text(&record.topic)),
        ("queueId", text(&record.queue_id)),
        ("storeSize", text(&record.encoded_len())),
        ("bodyCRC", text(&record.body_crc)),
        ("flag", text(&record.flag)),
        ("queueOffset", text(&record.queue_offset)),
        ("commitLogOffset", text(&record.commit_log_offset)),
        ("sysFlag", text(&record.sys_flag.0)),
        ("bornTimestamp", text(&record.born_timestamp)),
        ("bornHost", text(&host(record.born_host))),
        ("storeTimestamp", text(&record.store_timestamp)),
        ("storeHost", text(&host(record.store_host))),
        ("msgId", text(&record.offset_message_id())),
        ("reconsumeTimes", text(&record.reconsume_times)),
        ("preparedTransactionOffset", text(&record.prepared_transaction_offset)),
    ];
    fields.extend(body_and_properties(&record.body, &record.properties));
    let inflated = if record.body.is_empty() { Value::Null } else { Value::text(hex(&record.body)) };
    Value::object([("stored", Value::object(fields)), ("inflated", inflated)])
}

/// What is empty is not there to Java.
fn body_and_properties(body: &[u8], properties: &str) -> Vec<(&'static str, Value)> {
    let mut fields = Vec::new();
    if !body.is_empty() {
        fields.push(("body", Value::text(hex(body))));
    }
    if !properties.is_empty() {
        let pairs = properties::iter(properties).map(|(name, value)| (name, Value::text(value)));
        fields.push(("properties", Value::object(pairs)));
    }
    fields
}

fn batches() -> Vec<Case> {
    let element = |flag, body: &'static str, pairs: &[(&str, &str)]| BatchElement {
        flag,
        body: body.into(),
        properties: properties(pairs),
    };
    let rows = [
        ("one", vec![element(0, "Hello", &[("TAGS", "TagA")])]),
        (
            "three",
            vec![
                element(i32::MIN, "Hello", &[("TAGS", "标签")]),
                element(i32::MAX, "World!", &[("KEYS", "k1 k2"), ("WAIT", "true")]),
                element(5, "last", &[("UNIQ_KEY", "0A00000904D201020304050607080001")]),
            ],
        ),
    ];
    let case = |(id, elements): (&str, Vec<BatchElement>)| {
        let mut out = BytesMut::new();
        encode_batch(&elements, &mut out).unwrap();
        let expected = elements.iter().map(|element| {
            let flag = ("flag", Value::text(element.flag.to_string()));
            let rest = body_and_properties(&element.body, &element.properties);
            Value::object([flag].into_iter().chain(rest))
        });
        Case::new(id, Kind::Batch, out, Value::Array(expected.collect()))
    };
    rows.into_iter().map(case).collect()
}
