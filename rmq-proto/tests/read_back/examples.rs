//! Examples of the spec, for what has no encoder here: they prove the Java program and the comparison.

use std::collections::BTreeMap;

use bytes::BytesMut;
use rmq_proto::code::RequestCode;
use rmq_proto::command::{HeaderFormat, RemotingCommand};

use crate::case::{Case, Kind, hex, unhex};
use crate::value::Value;

pub(crate) fn cases() -> Vec<Case> {
    [records(), vec![batch(), zlib()], signed()].concat()
}

/// A message with these fields.
fn message(fields: &[(&str, &str)], body: &[u8], properties: &[(&str, &str)]) -> Value {
    let texts = |pairs: &[(&str, &str)]| {
        let texts = pairs.iter().map(|&(name, value)| (name.to_owned(), Value::text(value)));
        texts.collect::<BTreeMap<_, _>>()
    };
    let mut message = texts(fields);
    message.insert("body".to_owned(), Value::text(hex(body)));
    // Java has no map at all then.
    if !properties.is_empty() {
        message.insert("properties".to_owned(), Value::Object(texts(properties)));
    }
    Value::Object(message)
}

/// What the records of wire E7 to E11 have in common, and what `fields` says; the body as it is stored, and inflated.
fn stored(fields: &[(&str, &str)], [body, inflated]: [&[u8]; 2], properties: &[(&str, &str)]) -> Value {
    const COMMON: [(&str, &str); 5] = [
        ("queueId", "1"),
        ("queueOffset", "7"),
        ("commitLogOffset", "1024"),
        ("bornTimestamp", "1700000000000"),
        ("storeTimestamp", "1700000000005"),
    ];
    let stored = message(&[&COMMON, fields].concat(), body, properties);
    Value::object([("stored", stored), ("inflated", Value::text(hex(inflated)))])
}

/// Where and by whom: IPv4.
const V4: [(&str, &str); 3] = [
    ("bornHost", "0a000009:54321"),
    ("storeHost", "0a000001:10911"),
    ("msgId", "0A00000100002A9F0000000000000400"),
];

/// Where and by whom: IPv6.
const V6: [(&str, &str); 3] = [
    ("bornHost", "20010db8000000000000000000000009:54321"),
    ("storeHost", "20010db8000000000000000000000001:10911"),
    ("msgId", "20010DB800000000000000000000000100002A9F0000000000000400"),
];

/// Wire E7 (IPv4), E8 (IPv6), E9 (a long topic) and E11 (zlib), each alone, and all in one body.
fn records() -> Vec<Case> {
    let long_topic = format!("%RETRY%{}", "G".repeat(123));
    let e7 = [("topic", "TopicTest"), ("storeSize", "125"), ("bodyCRC", "2010220930")];
    let e8 = [("topic", "TopicTest"), ("storeSize", "139"), ("bodyCRC", "2010220930"), ("sysFlag", "48")];
    let e9 = [("topic", &*long_topic), ("storeSize", "223"), ("bodyCRC", "215750275")];
    let e11 = [("topic", "T"), ("storeSize", "104"), ("bodyCRC", "1872927125"), ("sysFlag", "769")];
    let tags = ("TAGS", "TagA");
    let rows = [
        ("E7", E7, stored(&[&e7[..], &V4].concat(), [b"Hello"; 2], &[tags, ("WAIT", "true")])),
        ("E8", E8, stored(&[&e8[..], &V6].concat(), [b"Hello"; 2], &[tags])),
        ("E9", E9, stored(&[&e9[..], &V4].concat(), [b"x"; 2], &[])),
        ("E11", E11, stored(&[&e11[..], &V4].concat(), [&unhex(ZLIB_A64), &[b'A'; 64]], &[])),
    ];
    let all = rows.iter().map(|(_, digits, _)| *digits).collect::<String>();
    let messages = rows.iter().map(|(.., message)| message.clone()).collect();
    let mut cases =
        vec![Case::new("all", Kind::Record, unhex(&all), Value::Array(messages)).class("MessageVersion")];
    cases.extend(rows.map(|(id, digits, message)| {
        let case = Case::new(id, Kind::Record, unhex(digits), Value::Array(vec![message]));
        if id == "E9" { case.class("MessageVersion") } else { case }
    }));
    cases
}

/// Wire E10.
fn batch() -> Case {
    let expected = vec![
        message(&[("flag", "0")], b"Hello", &[("TAGS", "TagA")]),
        message(&[("flag", "5")], b"World!", &[("KEYS", "k1")]),
    ];
    Case::new("E10", Kind::Batch, unhex(E10), Value::Array(expected))
}

/// The body of wire E11.
fn zlib() -> Case {
    let plain = Value::text(hex(&[b'A'; 64]));
    Case::new("E11", Kind::Compressed, unhex(ZLIB_A64), plain).arguments(&["ZLIB"])
}

/// Wire §8.3.
fn signed() -> Vec<Case> {
    let rows = [
        ("topic", vec![("topic", "TopicTest")], "0jiwhsaYp5ObE5GObbZH1I8/FT4="),
        ("token", vec![("consumerGroup", "CG"), ("SecurityToken", "tok")], "0MmRILLKwECb0Cd3czzoENf9d2o="),
    ];
    let case = |(id, fields, signature): (&str, Vec<(&str, &str)>, &str)| {
        let mut command = RemotingCommand::request(RequestCode::GET_ROUTEINFO_BY_TOPIC);
        command.ext =
            fields.into_iter().chain([("AccessKey", "RocketMQ"), ("Signature", signature)]).collect();
        let mut out = BytesMut::new();
        command.encode(HeaderFormat::Json, &mut out).unwrap();
        let expected = [("claimed", Value::text(signature)), ("computed", Value::text(signature))];
        Case::new(id, Kind::Signed, out, Value::object(expected)).arguments(&["12345678"])
    };
    rows.into_iter().map(case).collect()
}

/// 64 times `A`, by zlib.
const ZLIB_A64: &str = "785e7374a40c0000107e1041";

const E7: &str = "0000007ddaa320a777d18982000000010000000000000000000000070000000000000400000000000000018bcfe56800\
    0a0000090000d4310000018bcfe568050a00000100002a9f0000000000000000000000000000000548656c6c6f09546f\
    7069635465737400145441475301546167410257414954017472756502";

const E8: &str = "0000008bdaa320a777d18982000000010000000000000000000000070000000000000400000000300000018bcfe56800\
    20010db80000000000000000000000090000d4310000018bcfe5680520010db800000000000000000000000100002a9f\
    0000000000000000000000000000000548656c6c6f09546f70696354657374000a54414753015461674102";

const E9: &str = "000000dfdaa320ab0cdc1683000000010000000000000000000000070000000000000400000000000000018bcfe56800\
    0a0000090000d4310000018bcfe568050a00000100002a9f000000000000000000000000000000017800822552455452\
    592547474747474747474747474747474747474747474747474747474747474747474747474747474747474747474747\
    474747474747474747474747474747474747474747474747474747474747474747474747474747474747474747474747\
    47474747474747474747474747474747474747474747474747474747470000";

const E10: &str = "000000250000000000000000000000000000000548656c6c6f000a544147530154616741020000002400000000000000\
    000000000500000006576f726c642100084b455953016b3102";

const E11: &str = "00000068daa320a76fa29995000000010000000000000000000000070000000000000400000003010000018bcfe56800\
    0a0000090000d4310000018bcfe568050a00000100002a9f0000000000000000000000000000000c785e7374a40c0000\
    107e104101540000";
