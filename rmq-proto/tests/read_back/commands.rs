//! Frames by what every command has: code, language, version, opaque, flag, remark, any ext fields, body.

use bytes::{Bytes, BytesMut};
use rmq_proto::code::RequestCode;
use rmq_proto::command::{
    CommandHead, FLAG_ONEWAY, FLAG_RESPONSE, HeaderFormat, Language, RemotingCommand, encode_frame,
};
use rmq_proto::ext::{ExtFields, NoExt};

use crate::case::{Case, Kind, hex};
use crate::headers::ODD_TEXT;
use crate::value::Value;

pub(crate) const FORMATS: [HeaderFormat; 2] = [HeaderFormat::Json, HeaderFormat::RocketMq];

pub(crate) fn format_name(format: HeaderFormat) -> &'static str {
    match format {
        HeaderFormat::Json => "JSON",
        HeaderFormat::RocketMq => "ROCKETMQ",
    }
}

/// What Java should read of a frame with this head, written in this format.
pub(crate) fn expected_command(
    head: &CommandHead<'_>,
    format: HeaderFormat,
    ext: Value,
    body: String,
) -> Value {
    let is_binary = format == HeaderFormat::RocketMq;
    // The binary format cannot tell empty from none (wire §3.2).
    let remark = head.remark.filter(|remark| !(is_binary && remark.is_empty()));
    Value::object([
        ("code", Value::number(head.code)),
        ("language", head.language.name().map_or(Value::Null, Value::text)),
        ("version", Value::number(head.version)),
        ("opaque", Value::number(head.opaque)),
        ("flag", Value::number(head.flag)),
        ("remark", remark.map_or(Value::Null, Value::text)),
        ("ext", if is_binary { without_empty(ext) } else { ext }),
        ("body", Value::text(body)),
        ("serialize", Value::text(format_name(format))),
    ])
}

fn without_empty(ext: Value) -> Value {
    let Value::Object(fields) = ext else { return ext };
    if fields.is_empty() {
        return Value::Null;
    }
    let read = |value| if value == Value::text("") { Value::Null } else { value };
    Value::object(fields.into_iter().map(|(name, value)| (name, read(value))))
}

fn text_of(language: Language) -> String {
    language.name().unwrap_or("none").to_owned()
}

fn heads() -> Vec<(String, CommandHead<'static>)> {
    let plain = CommandHead::request(RequestCode::HEART_BEAT, 1);
    let mut heads = vec![
        ("no-remark".to_owned(), plain),
        ("empty-remark".to_owned(), CommandHead { remark: Some(""), ..plain }),
        ("odd-remark".to_owned(), CommandHead { remark: Some(ODD_TEXT), ..plain }),
        ("least".to_owned(), CommandHead { opaque: i32::MIN, flag: i32::MIN, ..plain }),
        ("greatest".to_owned(), CommandHead { opaque: i32::MAX, flag: i32::MAX, ..plain }),
        ("response".to_owned(), CommandHead { flag: FLAG_RESPONSE, ..plain }),
        ("oneway".to_owned(), CommandHead { flag: FLAG_ONEWAY, ..plain }),
    ];
    // Those that do not fit 16 bits are written as JSON, whatever is asked for (wire §3.2).
    for number in [i32::MIN, -32_769, -32_768, -1, 0, 255, 256, 32_767, 32_768, 200_050, i32::MAX] {
        heads.push((format!("code{number}"), CommandHead { code: number, ..plain }));
        heads.push((format!("version{number}"), CommandHead { version: number, ..plain }));
    }
    for language in (0..=13).chain([u8::MAX]).map(Language) {
        heads.push((format!("language-{}", text_of(language)), CommandHead { language, ..plain }));
    }
    heads
}

fn head_case(name: &str, format: HeaderFormat, head: &CommandHead<'_>) -> Case {
    let mut out = BytesMut::new();
    let used = encode_frame(&mut out, format, head, &NoExt, 0).expect("it can be written");
    let expected = expected_command(head, used, Value::Null, String::new());
    Case::new(format!("command/{name}/{}", format_name(format)), Kind::Frame, out, expected)
}

fn ext_fields() -> Vec<(&'static str, ExtFields)> {
    let long = "0123456789abcdef".repeat(5_000);
    let many = (0..300).map(|i| (format!("name{i}"), format!("value{i}")));
    vec![
        ("absent", ExtFields::absent()),
        ("empty", ExtFields::new()),
        ("empty-value", ExtFields::from_iter([("a", ""), ("b", "1")])),
        ("odd-value", ExtFields::from_iter([("a", ODD_TEXT)])),
        ("odd-name", ExtFields::from_iter([(ODD_TEXT, "a")])),
        // The value's length needs more than 16 bits, the name's all 15 it may have.
        ("long-value", ExtFields::from_iter([("a", long.clone())])),
        ("long-name", ExtFields::from_iter([(&long[..32_767], "a")])),
        ("many", many.collect()),
    ]
}

fn ext_case(name: &str, format: HeaderFormat, ext: &ExtFields, body: Bytes) -> Case {
    let head = CommandHead::request(RequestCode::HEART_BEAT, 1);
    let texts = Value::object(ext.iter().map(|(name, value)| (name, Value::text(value))));
    let texts = if ext.is_absent() { Value::Null } else { texts };
    let expected = expected_command(&head, format, texts, hex(&body));
    let mut command = RemotingCommand::request(RequestCode::HEART_BEAT).with_body(body);
    command.opaque = 1;
    command.ext = ext.clone();
    let mut out = BytesMut::new();
    command.encode(format, &mut out).expect("it can be written");
    Case::new(format!("command/{name}/{}", format_name(format)), Kind::Frame, out, expected)
}

fn bodies() -> Vec<(&'static str, Bytes)> {
    vec![
        ("one-byte", Bytes::from_static(b"\0")),
        ("json", Bytes::from_static(b"{}")),
        ("every-byte", (0..=u8::MAX).collect()),
        ("64KiB", vec![0xA5; 65_536].into()),
    ]
}

/// A header without fields: an empty map, where Java has one.
fn unit_case(format: HeaderFormat) -> Case {
    let head = CommandHead::request(RequestCode::HEART_BEAT, 1);
    let mut out = BytesMut::new();
    encode_frame(&mut out, format, &head, &(), 0).expect("it can be written");
    let expected = expected_command(&head, format, Value::object::<&str>([]), String::new());
    Case::new(format!("command/unit/{}", format_name(format)), Kind::Frame, out, expected)
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for format in FORMATS {
        cases.extend(heads().iter().map(|(name, head)| head_case(name, format, head)));
        for (name, ext) in ext_fields() {
            cases.push(ext_case(&format!("ext-{name}"), format, &ext, Bytes::new()));
        }
        for (name, body) in bodies() {
            cases.push(ext_case(&format!("body-{name}"), format, &ExtFields::absent(), body));
        }
        cases.push(unit_case(format));
    }
    cases
}
