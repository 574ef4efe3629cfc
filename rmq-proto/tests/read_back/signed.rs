//! Signed requests: a broker computes the signature that stands in them.

use bytes::BytesMut;
use rmq_proto::code::RequestCode;
use rmq_proto::command::{CommandHead, encode_frame};
use rmq_proto::ext::ExtFields;
use rmq_proto::sign::Credentials;

use crate::case::{Case, Kind};
use crate::commands::{FORMATS, format_name};
use crate::headers::ODD_TEXT;
use crate::value::Value;

pub(crate) fn cases() -> Vec<Case> {
    let plain = Credentials::new("RocketMQ", "12345678").unwrap();
    let rows = [
        ("one", vec![("topic", "TopicTest")], &b""[..], plain.clone()),
        ("none", vec![], b"", plain.clone()),
        ("body", vec![("b", "2"), ("a", "1"), ("Z", "3")], b"body \xFF\0", plain.clone()),
        ("token", vec![("consumerGroup", "CG")], b"", plain.clone().with_security_token("tok")),
        ("odd-values", vec![("a", ODD_TEXT), ("b", "标签")], b"", plain.clone()),
        ("odd-secret", vec![("a", "1")], b"", Credentials::new("名 1", ODD_SECRET).unwrap()),
        // Java sorts by UTF-16, where the last of these comes first.
        ("odd-names", vec![("\u{ffff}", "1"), ("\u{e000}", "2"), ("\u{1F600}", "3")], b"", plain),
    ];
    let mut cases = Vec::new();
    for (id, fields, body, credentials) in rows {
        let ext = ExtFields::from_iter(fields);
        let signed = credentials.sign(&ext, body);
        let secret = if id == "odd-secret" { ODD_SECRET } else { "12345678" };
        let expected = ["claimed", "computed"].map(|name| (name, Value::text(signed.signature())));
        for format in FORMATS {
            let head = CommandHead::request(RequestCode::GET_ROUTEINFO_BY_TOPIC, 1);
            let mut out = BytesMut::new();
            encode_frame(&mut out, format, &head, &signed, body.len()).unwrap();
            out.extend_from_slice(body);
            let id = format!("{id}/{}", format_name(format));
            cases
                .push(Case::new(id, Kind::Signed, out, Value::object(expected.clone())).arguments(&[secret]));
        }
    }
    cases
}

/// Longer than a block of the hash.
const ODD_SECRET: &str = "秘密 0123456789012345678901234567890123456789012345678901234567890123456789";
