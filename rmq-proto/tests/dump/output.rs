//! How a frame is shown.

use std::collections::BTreeMap;
use std::io;

use proptest::prelude::*;

use crate::strict_json::assert_strict_json;
use crate::support::{json_frame, members, printed, run, text, texts};

#[test]
fn the_whole_text_of_two_frames() {
    // Wire E2, then a heartbeat with more than its header.
    let first = json_frame(
        r#"{"code":17,"flag":1,"language":"JAVA","opaque":1,"remark":"no route","serializeTypeCurrentRPC":"JSON","version":479}"#,
        b"",
    );
    let second = json_frame(
        r#"{"code":34,"extFields":{},"flag":6,"language":"KLINGON","opaque":-2,"version":100}"#,
        b"{\"clientID\":\"\xe6\xb6\x88\",\n0:[1]}",
    );
    let expected = "\
frame at offset 0: 124 bytes, JSON header of 116 bytes
  response  TOPIC_NOT_EXIST (17)
  language  JAVA
  version   479 (V5_3_3)
  opaque    1
  flag      0x1 (response)
  remark    \"no route\"
  ext       none
  body      none
frame at offset 124: 115 bytes, JSON header of 82 bytes
  one-way   HEART_BEAT (34)
  language  unknown
  version   100
  opaque    -2
  flag      0x6 (one-way, unknown 0x4)
  ext       empty
  body      25 bytes, JSON
            {\"clientID\":\"消\",\\n0:[1]}
";
    let glued = first.clone() + &second;
    assert_eq!(printed(&[&glued]), expected);
    assert_eq!(printed(&[&first, &second]), expected);
}

#[test]
fn lines_of_json() {
    let named = r#"{"code":1,"code_name":null,"language":null,"version":0,"opaque":0,"flag":0,"remark":null"#;
    let rows = [
        (
            r#"{"code":1}"#,
            r#"{"code":1,"code_name":null,"language":"JAVA","version":0,"opaque":0,"flag":0,"remark":null,"ext":null,"body":""}"#.to_owned(),
        ),
        (
            r#"{"code":1,"flag":1,"language":12,"remark":""}"#,
            r#"{"code":1,"code_name":"SYSTEM_ERROR","language":"RUST","version":0,"opaque":0,"flag":1,"remark":"","ext":null,"body":""}"#.to_owned(),
        ),
        (
            r#"{"code":1,"extFields":{},"language":"?"}"#,
            format!(r#"{named},"ext":{{}},"body":""}}"#),
        ),
        (
            r#"{"code":1,"extFields":{"b":"\u0001\u001b[2J","a":1,"c":null,"\"":"\\"},"language":"?"}"#,
            format!(r#"{named},"ext":{{"b":"\u0001\u001B[2J","a":"1","\"":"\\"}},"body":""}}"#),
        ),
    ];
    for (header, expected) in rows {
        assert_eq!(printed(&["--json", &json_frame(header, b"")]), expected + "\n");
    }
}

#[test]
fn secrets_are_not_printed() {
    let names = ["AccessKey", "Signature", "SecurityToken", "accesskey", "SIGNATURE", "Signat\\u0075re"];
    for name in names {
        let header = format!("{{\"extFields\":{{\"topic\":\"T\",\"{name}\":\"s3cr3t\"}},\"version\":479}}");
        for arguments in [&[json_frame(&header, b"").as_str()][..], &["--json", &json_frame(&header, b"")]] {
            let out = printed(arguments);
            assert!(out.contains("<redacted>") && !out.contains("s3cr3t"), "{out}");
        }
    }
    let binary = "00000031 0100002d 0000 00 01df 00000000 00000000 00000000 00000018";
    let entries = "0009 5369676e6174757265 00000006 733363723374 0001 61 0000";
    let (_, out, _) = run(&[binary, entries], io::empty());
    assert_eq!(out, "", "a header that is cut tells nothing");
    let out = printed(&[
        "0000002e 0100002a 0000 00 01df 00000000 00000000 00000000 00000015",
        "0009 5369676e6174757265 00000006 733363723374",
    ]);
    assert!(out.contains("  ext       Signature = <redacted>\n") && !out.contains("s3cr3t"), "{out}");
}

#[test]
fn names_of_versions() {
    // Wire §1.6.
    let rows = [
        (0, ""),
        (120, ""),
        (121, " (V3_4_9)"),
        (211, ""),
        (212, " (V4_0_0_SNAPSHOT)"),
        (213, " (V4_0_0)"),
        (232, " (V4_1_0_SNAPSHOT)"),
        (233, " (V4_1_0)"),
        (253, " (V4_2_0)"),
        (277, " (V4_3_2)"),
        (317, " (V4_5_2)"),
        (401, " (V4_9_4)"),
        (407, " (V4_9_7)"),
        (411, " (V4_9_9)"),
        (412, " (V5_0_0_SNAPSHOT)"),
        (413, " (V5_0_0)"),
        (441, " (V5_1_4)"),
        (478, " (V5_3_3_SNAPSHOT)"),
        (479, " (V5_3_3)"),
        (611, " (V5_9_9)"),
        (612, " (HIGHER_VERSION)"),
        (613, " (HIGHER_VERSION)"),
        (i32::MAX, " (HIGHER_VERSION)"),
        (-1, ""),
        (i32::MIN, ""),
    ];
    for (version, name) in rows {
        let out = printed(&[&json_frame(&format!("{{\"version\":{version}}}"), b"")]);
        let line = format!("  version   {version}{name}");
        assert!(out.lines().any(|found| found == line), "no `{line}` in\n{out}");
    }
}

#[test]
fn long_and_odd_bodies() {
    let long_text = format!("[\"{}\"]", "é".repeat(2_000));
    let shown_text = format!("4004 bytes, JSON\n            [\"{}...\n", "é".repeat(998));
    let rows: [(&[u8], String); 8] = [
        (&[0xAB; 64], format!("64 bytes\n            {}\n", "ab".repeat(64))),
        (&[0xAB; 65], format!("65 bytes\n            {}...\n", "ab".repeat(64))),
        (long_text.as_bytes(), shown_text),
        (b"hello", "5 bytes\n            68656c6c6f\n".to_owned()),
        (b"123", "3 bytes\n            313233\n".to_owned()),
        (b"{\"a\":1}x", "8 bytes\n            7b2261223a317d78\n".to_owned()),
        (b"[\"\x1b[2J\x07\"]", "9 bytes, JSON\n            [\"\\u{1b}[2J\\u{7}\"]\n".to_owned()),
        (b"{\"\xff\":1}", "7 bytes\n            7b22ff223a317d\n".to_owned()),
    ];
    for (body, expected) in rows {
        let out = printed(&[&json_frame("{}", body)]);
        assert!(out.ends_with(&format!("  body      {expected}")), "no `{expected}` in\n{out}");
    }
}

proptest! {
    #[test]
    fn any_command_is_one_line_of_json(
        name: String,
        value in "[\0-\u{ff}\u{2028}\u{1f600}\"\\\\]{0,12}",
        remark: String,
        body: Vec<u8>,
    ) {
        let mut header = bytes::BytesMut::new();
        let mut json = rmq_proto::json::Writer::new(&mut header);
        json.begin_object();
        json.key("extFields");
        json.begin_object();
        json.key(&name);
        json.text(&value);
        json.end_object();
        json.key("remark");
        json.text(&remark);
        json.end_object();
        let header = String::from_utf8(header.to_vec()).expect("UTF-8");
        let frame = json_frame(&header, &body);
        let out = printed(&["--json", &frame]);
        let line = out.strip_suffix('\n').expect("a line");
        prop_assert!(!line.contains('\n'));
        assert_strict_json(line);
        let found = members(line).expect("an object");
        prop_assert_eq!(text(&found["remark"]), Ok(Some(remark)));
        prop_assert_eq!(texts(&found["ext"]), Ok(BTreeMap::from([(name, Some(value))])));
        let out = printed(&[&frame]);
        prop_assert!(out.chars().all(|found| found == '\n' || !found.is_control()), "{}", out);
    }
}
