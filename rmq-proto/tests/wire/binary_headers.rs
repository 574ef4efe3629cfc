//! What is accepted in a binary header (wire §1.3, §3.2); what is not stands in `malformed`.

use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::ext::{ExtFields, HeaderError};
use rmq_proto::header::{GetRouteHeader, HeartbeatResponseHeader, SendResponseHeader};

use crate::support::{hex, read, read_json, written};

/// A frame of the code, version and numbers that the tests here do not look at, of this remark and these entries.
fn with_ext(remark: &str, entries: &[u8]) -> Vec<u8> {
    let mut header = hex("0005 00 01df 0000000e 00000000");
    header.extend((remark.len() as u32).to_be_bytes());
    header.extend(remark.as_bytes());
    header.extend((entries.len() as u32).to_be_bytes());
    header.extend(entries);
    let mut frame = ((4 + header.len()) as u32).to_be_bytes().to_vec();
    frame.extend((1 << 24 | header.len() as u32).to_be_bytes());
    frame.extend(header);
    frame
}

fn accepted(bytes: &[u8]) -> RemotingCommand {
    read(bytes).unwrap_or_else(|error| panic!("{bytes:02x?}: {error:?}"))
}

#[test]
fn numbers_are_signed() {
    let rows = [
        ("0000 00 0000 00000000 00000000", (0, 0, 0, 0)),
        ("7fff 00 7fff 7fffffff 7fffffff", (32_767, 32_767, i32::MAX, i32::MAX)),
        ("8000 00 8000 80000000 80000000", (-32_768, -32_768, i32::MIN, i32::MIN)),
        ("fc12 00 ffff fffffffe 00000001", (-1_006, -1, -2, 1)),
    ];
    for (numbers, expected) in rows {
        let command = accepted(&hex(&format!("00000019 01000015 {numbers} 00000000 00000000")));
        assert_eq!((command.code, command.version, command.opaque, command.flag), expected, "{numbers}");
    }
}

#[test]
fn languages() {
    let rows =
        [(0, Some("JAVA")), (12, Some("RUST")), (13, Some("NODE_JS")), (14, None), (128, None), (255, None)];
    for (byte, name) in rows {
        let command = accepted(&hex(&format!(
            "00000019 01000015 0005 {byte:02x} 01df 00000000 00000000 00000000 00000000"
        )));
        assert_eq!(command.language.and_then(|language| language.name()), name, "{byte}");
    }
}

#[test]
fn no_ext_fields() {
    for length in ["00000000", "ffffffff", "80000000", "ff000000"] {
        let frame = format!("00000019 01000015 000500 01df 0000000e 00000000 00000000 {length}");
        assert!(accepted(&hex(&frame)).ext.is_absent(), "{length}");
        // What follows is slack.
        let frame = format!("0000001c 01000018 000500 01df 0000000e 00000000 00000000 {length} 000161");
        assert!(accepted(&hex(&frame)).ext.is_absent(), "{length}");
    }
}

#[test]
fn an_empty_remark_is_none() {
    assert_eq!(accepted(&with_ext("", b"")).remark, None);
    assert_eq!(accepted(&with_ext("忙", b"")).remark.as_deref(), Some("忙"));
}

#[test]
fn slack_is_neither_body_nor_ext_field() {
    let rows = [
        "0000001d 01000017 000500 01df 0000000e 00000000 00000000 00000000 eeee 6869",
        "00000021 0100001b 000500 01df 0000000e 00000000 00000000 00000000 000161 000000 6869",
    ];
    for frame in rows {
        let command = accepted(&hex(frame));
        assert!(command.ext.is_absent());
        assert_eq!(&command.body[..], b"hi");
    }
    let frame = "00000029 01000023 000500 01df 0000000e 00000000 00000000 00000008 000161 00000001 62 000163000000 6869";
    let command = accepted(&hex(frame));
    assert_eq!(command.ext, ExtFields::from_iter([("a", "b")]));
    assert_eq!(&command.body[..], b"hi");
}

#[test]
fn an_empty_value_is_none_where_there_may_be_none() {
    // Case X5. Java reads null, old versions of it the empty text.
    let topic = accepted(&with_ext("", &hex("0005 746f706963 00000000")));
    assert_eq!(topic.ext.value("topic").as_deref(), Some(""));
    assert_eq!(topic.ext.iter().count(), 1);
    let header = topic.header::<GetRouteHeader<'_>>().expect("text may be empty");
    assert_eq!((&*header.topic, header.accept_standard_json_only), ("", None));

    let flag = accepted(&with_ext("", &hex("000d 49535f5355425f4348414e4745 00000000")));
    let header = flag.header::<HeartbeatResponseHeader>().expect("the field is optional");
    assert_eq!(header.subscription_changed, None);

    let entries =
        "0005 6d73674964 00000001 41  0007 71756575654964 00000000  000b 71756575654f6666736574 00000001 31";
    let number = accepted(&with_ext("", &hex(entries)));
    assert_eq!(
        number.header::<SendResponseHeader<'_>>(),
        Err(HeaderError::Missing { header: "SendResponseHeader", field: "queueId" }),
        "a number cannot be empty"
    );
}

#[test]
fn an_empty_name_is_a_name() {
    let command = accepted(&with_ext("", &hex("0000 00000001 31")));
    assert_eq!(command.ext.value("").as_deref(), Some("1"));
}

#[test]
fn the_longest_name() {
    let name = "n".repeat(32_767);
    let mut entries = hex("7fff");
    entries.extend(name.as_bytes());
    entries.extend(hex("00000001 31"));
    assert_eq!(accepted(&with_ext("", &entries)).ext, ExtFields::from_iter([(name, "1")]));
}

#[test]
fn null_fields_are_not_written() {
    let command = read_json(r#"{"extFields":{"a":null,"b":"1","c":null}}"#).expect("fine");
    let again = accepted(&written(&command, HeaderFormat::RocketMq));
    let found: Vec<_> = again.ext.iter().collect();
    assert_eq!(found, [("b".into(), "1".into())]);
}
