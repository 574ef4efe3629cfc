//! Headers in the form that all peers write are read a quicker way than others. Both ways must read the same.

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::select;
use rmq_proto::command::{DecodeError, HeaderFormat, RemotingCommand};
use rmq_proto::ext::ExtFields;
use rmq_proto::frame::Frame;
use rmq_proto::json::JsonError;

use crate::header_table::every_header;
use crate::support::{FORMATS, read_json};

fn read_binary(header: &[u8]) -> Result<RemotingCommand, DecodeError> {
    let header = Bytes::copy_from_slice(header);
    RemotingCommand::decode(Frame { format: HeaderFormat::RocketMq, header, body: Bytes::new() })
}

/// The header is read alike with a blank behind it, which no peer writes.
fn assert_json_alike(header: &str) -> Result<RemotingCommand, DecodeError> {
    let quick = read_json(header);
    let slow = read_json(format!("{header} "));
    match (&quick, &slow) {
        (Ok(quick), Ok(slow)) => assert_alike(quick, slow),
        // What is cut off is so one byte later.
        _ => assert_eq!(quick.is_ok(), slow.is_ok(), "{header}: {quick:?}, {slow:?}"),
    }
    quick
}

/// The header is read alike with a byte behind it that belongs to nothing.
fn assert_binary_alike(header: &[u8]) -> Result<RemotingCommand, DecodeError> {
    let quick = read_binary(header);
    if let Ok(quick) = &quick {
        let slow = read_binary(&[header, &[0]].concat());
        assert_alike(quick, &slow.expect("a byte behind it does not matter"));
    }
    quick
}

fn assert_alike(quick: &RemotingCommand, slow: &RemotingCommand) {
    assert_eq!(quick, slow);
    assert_eq!(quick.ext.is_absent(), slow.ext.is_absent());
    assert_eq!(quick.ext.is_empty(), slow.ext.is_empty());
    let entries = |command: &RemotingCommand| -> Vec<(String, String)> {
        let own = command.ext.iter().map(|(name, value)| (name.into_owned(), value.into_owned()));
        own.collect()
    };
    assert_eq!(entries(quick), entries(slow));
    let map: BTreeMap<_, _> = entries(quick).into_iter().collect();
    let owned = ExtFields::from_iter(map.clone());
    for name in map.keys().map(String::as_str).chain(["", "a", "none", "topic"]) {
        assert_eq!(quick.ext.value(name).as_deref(), map.get(name).map(String::as_str), "{name}");
        assert_eq!(slow.ext.value(name), quick.ext.value(name), "{name}");
    }
    for header in every_header().values() {
        for format in FORMATS {
            let expected = (header.resend)(&owned, format);
            assert_eq!((header.resend)(&quick.ext, format), expected, "{}", header.name);
            assert_eq!((header.resend)(&slow.ext, format), expected, "{}", header.name);
        }
    }
}

/// A header with this in the place of one of its values.
fn with(place: &str, value: &str) -> String {
    let value_of =
        |name: &str, usual: &'static str| if name == place { value.to_owned() } else { usual.into() };
    format!(
        r#"{{"code":{},"extFields":{},"flag":{},"language":{},"opaque":{},"remark":{},"serializeTypeCurrentRPC":{},"version":{}}}"#,
        value_of("code", "34"),
        value_of("extFields", r#"{"a":"1"}"#),
        value_of("flag", "1"),
        value_of("language", "\"JAVA\""),
        value_of("opaque", "7"),
        value_of("remark", "\"r\""),
        value_of("serializeTypeCurrentRPC", "\"JSON\""),
        value_of("version", "479"),
    )
}

#[test]
fn values_of_any_form() {
    let rows = [
        "0",
        "-0",
        "-1",
        "007",
        "0000000001",
        "00000000001",
        "-0000000001",
        "2147483647",
        "2147483648",
        "9999999999",
        "-2147483648",
        "-2147483649",
        "12345678901",
        "-",
        "--1",
        "+1",
        "",
        " 1",
        "1 ",
        "1.0",
        "1e1",
        "1L",
        "true",
        "null",
        "\"\"",
        "\"1\"",
        "\"12\"",
        "\"JAVA\"",
        "\"java\"",
        "\"RUST\"",
        "\"RUS\\u0054\"",
        "\"JAVA \"",
        "\"JAVAX\"",
        "\"KLINGON\"",
        "\"NODE_JS\"",
        "12",
        "99",
        "'JAVA'",
        "\"JSON\"",
        "\"ROCKETMQ\"",
        "\"\\\"\"",
        "\"\\",
        "\"\\q\"",
        "\"\\u00\"",
        "\"\u{1}\"",
        "\"é\"",
        "\"\\ud83d\\ude00\"",
        "\"a\" ",
        "{}",
        "[]",
        "{\"a\":\"1\"",
        "{\"a\":\"1\"}}",
        "1,\"code\":5",
        "null,\"code\":5",
        "\"JAVA\",\"language\":\"GO\"",
        "{},\"extFields\":{\"a\":\"2\"}",
        "{\"a\":\"1\"},\"extFields\":null",
    ];
    for place in
        ["code", "extFields", "flag", "language", "opaque", "remark", "serializeTypeCurrentRPC", "version"]
    {
        for row in rows {
            let _ = assert_json_alike(&with(place, row));
        }
    }
}

#[test]
fn ext_fields_of_any_form() {
    let many = |count: usize| {
        let fields: Vec<_> = (0..count).map(|index| format!(r#""f{index}":"\u000{}""#, index % 10)).collect();
        format!("{{{}}}", fields.join(","))
    };
    let long = |len: usize| format!(r#"{{"a":"{}","b":"2"}}"#, "v".repeat(len));
    let mut rows: Vec<String> = [
        r#"{"":""}"#,
        r#"{"":"1","":"2"}"#,
        r#"{"a":"1","a":"2"}"#,
        r#"{"a":"1","a":null}"#,
        r#"{"a":null}"#,
        r#"{"a":"1",}"#,
        r#"{,"a":"1"}"#,
        r#"{"a":"1","#,
        r#"{"a":"1" }"#,
        r#"{ "a":"1"}"#,
        r#"{"a" :"1"}"#,
        r#"{"a": "1"}"#,
        r#"{"a":"1", "b":"2"}"#,
        r#"{"a":1}"#,
        r#"{"a":{"b":"1"}}"#,
        r#"{"a":"1","b":[1]}"#,
        r#"{"a":"\"","b":"\\"}"#,
        r#"{"\u0061":"1"}"#,
        r#"{"a":"1","\u0061":"2"}"#,
        r#"{"a\"":"1","b":"2"}"#,
        r#"{"é":"1","a":"é"}"#,
        r#"{"a":"1","topic":"\u0054"}"#,
        r#"{"a":"\u0074rue","b":"\u0031"}"#,
    ]
    .map(str::to_owned)
    .into();
    rows.extend([15, 16, 17, 40].map(many));
    // The ends of the first value and of the second about where 16 bits end.
    rows.extend((65_510..65_540).step_by(3).map(long));
    for row in rows {
        let _ = assert_json_alike(&with("extFields", &row));
    }
}

/// Names of a typed header, in order or not, some of them twice or missing, and others.
fn any_fields() -> impl Strategy<Value = Vec<(String, String)>> {
    let headers: Vec<Vec<&str>> = every_header()
        .values()
        .map(|header| header.fields.iter().map(|field| field.name).collect())
        .collect();
    select(headers).prop_flat_map(|known| {
        let in_order = proptest::collection::vec((any::<bool>(), any_value()), known.len());
        let names = known.clone();
        let in_order = in_order.prop_map(move |chosen| {
            let fields = names.iter().zip(chosen);
            fields.filter_map(|(name, (is_there, value))| is_there.then_some((*name, value))).collect()
        });
        let name = if known.is_empty() { select(&ODD_NAMES[..]).boxed() } else { any_name(known).boxed() };
        let others = proptest::collection::vec((name, any_value()), 0..20);
        (in_order, others, 0..20_usize).prop_map(|(in_order, others, count): (Vec<_>, Vec<_>, usize)| {
            let all = in_order.into_iter().chain(others.into_iter().take(count.saturating_sub(8)));
            all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        })
    })
}

fn any_name(known: Vec<&'static str>) -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => select(known), 1 => select(&ODD_NAMES[..])]
}

fn any_value() -> impl Strategy<Value = &'static str> {
    let values =
        ["", "1", "-1", "+1", "01", "true", "TRUE", "x", "2147483648", "9223372036854775807", "é", "a b"];
    select(values.to_vec())
}

const ODD_NAMES: [&str; 7] =
    ["", "a", "ab", "unknown", "é", "topicTopic", "a-name-of-more-than-27-characters"];

fn json_of(fields: &[(String, String)]) -> String {
    let members: Vec<_> = fields.iter().map(|(name, value)| format!("\"{name}\":\"{value}\"")).collect();
    with("extFields", &format!("{{{}}}", members.join(",")))
}

fn binary_of(fields: &[(String, String)]) -> Vec<u8> {
    let mut entries = Vec::new();
    for (name, value) in fields {
        entries.extend((name.len() as u16).to_be_bytes());
        entries.extend(name.as_bytes());
        entries.extend((value.len() as u32).to_be_bytes());
        entries.extend(value.as_bytes());
    }
    let mut header = vec![0; 17];
    header.extend((entries.len() as u32).to_be_bytes());
    header.extend(entries);
    header
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_ext_fields(fields in any_fields()) {
        let json = assert_json_alike(&json_of(&fields)).expect("a good header");
        let binary = assert_binary_alike(&binary_of(&fields)).expect("a good header");
        prop_assert_eq!(json.ext, binary.ext);
    }

    #[test]
    fn damaged_headers(
        fields in any_fields(),
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), select(&b"\"\\,:{}0- "[..])],
    ) {
        let mut binary = binary_of(&fields);
        let index = at.index(binary.len());
        binary[index] = byte;
        let _ = assert_binary_alike(&binary);
        let mut json = json_of(&fields).into_bytes();
        let index = at.index(json.len());
        json[index] = byte;
        if let Ok(json) = String::from_utf8(json) {
            let _ = assert_json_alike(&json);
        }
    }
}

#[test]
fn lengths_of_any_form() {
    let fields = |len: usize| [("a".repeat(len % 300), "v".repeat(len)), ("topic".into(), "T".into())];
    for len in [0, 1, 0x7F, 0x80, 0xC2, 0x100, 0x8080, 0xC280, 0xFFFF, 0x1_0000] {
        // A length such as 0xC280 makes UTF-8 of its own.
        let command = assert_binary_alike(&binary_of(&fields(len))).expect("a good header");
        assert_eq!(command.ext.value("topic").as_deref(), Some("T"), "{len}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let json = with("extFields", r#"{"a":"1","b":"\u0001"}"#);
    for at in (0..json.len()).filter(|at| json.as_bytes()[*at].is_ascii_alphanumeric()) {
        for bad in [0x80, 0xC3, 0xFF] {
            let mut header = json.clone().into_bytes();
            header[at] = bad;
            assert_eq!(read_json(header), Err(JsonError::Utf8 { offset: at }.into()), "{at}");
        }
    }
    // In each place of a word, with the end of the header more or less near.
    for len in 1..20 {
        let header = binary_of(&[("name".into(), "v".repeat(len))]);
        for at in header.len() - len..header.len() {
            let mut header = header.clone();
            header[at] = 0xFF;
            assert_eq!(read_binary(&header), Err(DecodeError::Utf8 { offset: at }), "{len}");
        }
    }
}
