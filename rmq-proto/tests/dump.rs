//! What the example `dump` prints.

#[path = "../examples/dump/dump/mod.rs"]
mod dump;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};

use dump::{BAD_FRAME, BAD_INPUT, FINE};
use proptest::prelude::*;
use rmq_proto::json::{JsonError, Reader};

const VECTORS: &str = include_str!("golden/vectors.jsonl");
const CAPTURE: &str = include_str!("golden/capture-5.3.3.jsonl");

/// Exit status, output and errors.
type Printed = (u8, String, String);

fn run(arguments: &[&str], mut stdin: impl Read) -> Printed {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let arguments = arguments.iter().map(Into::into);
    let status = dump::run(arguments, &mut stdin, &mut out, &mut errors).expect("memory takes all");
    let utf8 = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status, utf8(out), utf8(errors))
}

/// What these arguments give, which are fine.
fn printed(arguments: &[&str]) -> String {
    let (status, out, errors) = run(arguments, io::empty());
    assert_eq!((status, errors.as_str()), (FINE, ""), "{arguments:?}");
    out
}

/// Hex of a frame with this JSON header and body.
fn json_frame(header: &str, body: &[u8]) -> String {
    let mut hex = format!("{:08x}{:08x}", 4 + header.len() + body.len(), header.len());
    for byte in header.bytes().chain(body.iter().copied()) {
        hex += &format!("{byte:02x}");
    }
    hex
}

/// The members of an object, each as JSON text. `null` has none.
fn members(object: &str) -> Result<BTreeMap<String, String>, JsonError> {
    let mut members = BTreeMap::new();
    let mut json = Reader::of(object);
    let is_object = json.object()?;
    while is_object && let Some(name) = json.key()? {
        members.insert(name.into_owned(), json.skip_raw()?.to_owned());
    }
    json.finish()?;
    Ok(members)
}

/// The members of an object of texts.
fn texts(object: &str) -> Result<BTreeMap<String, Option<String>>, JsonError> {
    let members = members(object)?.into_iter();
    members.map(|(name, value)| Ok((name, text(&value)?))).collect()
}

fn text(value: &str) -> Result<Option<String>, JsonError> {
    Ok(Reader::of(value).text()?.map(Into::into))
}

#[test]
fn golden_frames_as_text() -> Result<(), JsonError> {
    let codes = [
        ("get-route", "request   GET_ROUTEINFO_BY_TOPIC (105)"),
        ("send-v1", "request   SEND_MESSAGE (10)"),
        ("send-v2", "request   SEND_MESSAGE_V2 (310)"),
        ("send-v2-oneway", "one-way   SEND_MESSAGE_V2 (310)"),
        ("send-v2-retry-empty-body", "request   SEND_MESSAGE_V2 (310)"),
        ("send-response", "response  SUCCESS (0)"),
        ("error-response-unicode-remark", "response  SYSTEM_BUSY (2)"),
        ("error-response-null-remark", "response  TOPIC_NOT_EXIST (17)"),
        ("send-back", "request   CONSUMER_SEND_MSG_BACK (36)"),
        ("pull", "request   PULL_MESSAGE (11)"),
        ("end-transaction", "request   END_TRANSACTION (37)"),
        ("update-offset", "request   UPDATE_CONSUMER_OFFSET (15)"),
        ("query-offset", "request   QUERY_CONSUMER_OFFSET (14)"),
        ("max-offset", "request   GET_MAX_OFFSET (30)"),
        ("search-offset", "request   SEARCH_OFFSET_BY_TIMESTAMP (29)"),
        ("consumer-list", "request   GET_CONSUMER_LIST_BY_GROUP (38)"),
        ("unregister", "request   UNREGISTER_CLIENT (35)"),
        ("heartbeat", "request   HEART_BEAT (34)"),
        ("no-ext-no-body", "request   HEART_BEAT (34)"),
        ("unicode-ext", "request   unknown (-1)"),
        ("lock-batch", "request   LOCK_BATCH_MQ (41)"),
    ];
    let mut seen = 0;
    for line in VECTORS.lines() {
        let line = members(line)?;
        let field = |name: &str| text(&line[name]).map(Option::unwrap_or_default);
        if field("kind")? != "frame" {
            continue;
        }
        seen += 1;
        let (name, format, hex) = (field("name")?, field("serialize")?, field("hex")?);
        let out = printed(&[&hex]);
        let code = codes.iter().find(|(of, _)| *of == name).expect("a row for each").1;
        let flag = match code.split_once(' ').expect("a kind").0 {
            "request" => "0x0",
            "one-way" => "0x2 (one-way)",
            _ => "0x1 (response)",
        };
        let body_len = field("body")?.len() / 2;
        let body = if body_len == 0 { "none".to_owned() } else { format!("{body_len} bytes") };
        let frame_len = hex.len() / 2;
        let header_len = frame_len - 8 - body_len;
        let mut expected = vec![
            format!("frame at offset 0: {frame_len} bytes, {format} header of {header_len} bytes"),
            format!("  {code}"),
            "  language  JAVA".to_owned(),
            "  version   0".to_owned(),
            format!("  opaque    {}", field("opaque")?),
            format!("  flag      {flag}"),
            format!("  body      {body}"),
        ];
        let remark = text(&line["remark"])?;
        expected.extend(remark.map(|remark| format!("  remark    {remark:?}")));
        for (name, value) in texts(&line["ext"])? {
            expected.push(format!("  ext       {name} = {:?}", value.unwrap_or_default()));
        }
        for expected in expected {
            let has = out.lines().any(|line| {
                line.strip_prefix(&expected).is_some_and(|end| end.is_empty() || end == ", JSON")
            });
            assert!(has, "{name}: no `{expected}` in\n{out}");
        }
        let ext_lines = out.lines().filter(|line| line.starts_with("  ext ") && line.contains('='));
        assert_eq!(ext_lines.count(), texts(&line["ext"])?.len(), "{name}");
    }
    assert_eq!(seen, 2 * codes.len());
    Ok(())
}

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
fn golden_and_captured_frames_as_json() -> Result<(), JsonError> {
    let mut seen = 0;
    let mut stream = String::new();
    let mut lines = String::new();
    for line in VECTORS.lines().chain(CAPTURE.lines()) {
        let line = members(line)?;
        if line.get("kind").is_some_and(|kind| kind != "\"frame\"") {
            continue;
        }
        seen += 1;
        let hex = text(&line["hex"])?.expect("a frame");
        let out = printed(&["--json", &hex]);
        assert_strict_json(out.strip_suffix('\n').expect("a line"));
        let found = members(&out)?;
        let names: Vec<_> = found.keys().map(String::as_str).collect();
        let expected =
            ["body", "code", "code_name", "ext", "flag", "language", "opaque", "remark", "version"];
        assert_eq!(names, expected);
        for name in ["code", "opaque", "flag"] {
            assert_eq!(found[name], line[name], "{name} of {hex}");
        }
        // A captured line leaves out what is the same in all of them.
        for (name, always) in [("language", "\"JAVA\""), ("version", "479")] {
            assert_eq!(&found[name], line.get(name).map_or(always, |value| value), "{name} of {hex}");
        }
        assert_eq!(text(&found["remark"]), text(&line["remark"]), "{hex}");
        assert_eq!(texts(&found["ext"]), texts(&line["ext"]), "{hex}");
        let body = text(&found["body"])?.expect("always there");
        match line.get("body") {
            Some(expected) => assert_eq!(Some(body), text(expected)?),
            None => {
                assert_eq!((body.len() / 2).to_string(), line["body_len"]);
                assert!(hex.ends_with(&body));
            }
        }
        stream += &hex;
        lines += &out;
    }
    assert_eq!(seen, 42 + 120);
    assert_eq!(printed(&["--json", &stream]), lines);
    assert_eq!(run(&["--json"], OneByOne(stream.as_bytes())), (FINE, lines, String::new()));
    Ok(())
}

/// A text that comes in the smallest pieces.
struct OneByOne<'a>(&'a [u8]);

impl Read for OneByOne<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.0.len().min(1);
        self.0.read(&mut buf[..len])
    }
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
fn minimal_frames() {
    // Wire E18, those that are accepted.
    let rows = [
        ("0000000e 0000000a 7b22636f6465223a317d", "request   unknown (1)", "version   0", "opaque    0"),
        (
            "00000019 01000015 0005 00 01df 0000000e 00000000 00000000 00000000",
            "request   unknown (5)",
            "version   479 (V5_3_3)",
            "opaque    14",
        ),
    ];
    for (hex, code, version, opaque) in rows {
        let out = printed(&[hex]);
        for expected in [code, version, opaque, "language  JAVA", "flag      0x0", "ext       none"] {
            assert!(out.lines().any(|line| line == format!("  {expected}")), "no `{expected}` in\n{out}");
        }
    }
}

#[test]
fn worked_examples() {
    // Wire E1, E3, E6, E12, E13, E15: each header and body, and what is to be found in the text.
    let e7 = "0000007ddaa320a777d1898200000001000000000000000000000007000000000000040000000000\
        0000018bcfe568000a0000090000d4310000018bcfe568050a00000100002a9f000000000000000000000000\
        0000000548656c6c6f09546f7069635465737400145441475301546167410257414954017472756502";
    let e7: Vec<_> =
        (0..e7.len()).step_by(2).filter_map(|at| u8::from_str_radix(&e7[at..at + 2], 16).ok()).collect();
    let rows: [(&str, &[u8], &[&str]); 6] = [
        (
            r#"{"code":105,"extFields":{"topic":"TopicTest"},"flag":0,"language":"RUST","opaque":1,"serializeTypeCurrentRPC":"JSON","version":479}"#,
            b"",
            &["frame at offset 0: 139 bytes", "GET_ROUTEINFO_BY_TOPIC (105)", "language  RUST", "topic = \"TopicTest\"", "body      none"],
        ),
        (
            r#"{"code":310,"extFields":{"a":"PG","b":"TopicTest","c":"TBW102","d":"4","e":"1","f":"0","g":"1700000000000","h":"0","i":"TAGS\u0001TagA\u0002WAIT\u0001true\u0002","j":"0","k":"false","m":"false","n":"broker-a"},"flag":0,"language":"RUST","opaque":3,"serializeTypeCurrentRPC":"JSON","version":479}"#,
            b"Hello",
            &["308 bytes", "SEND_MESSAGE_V2 (310)", r#"i = "TAGS\u{1}TagA\u{2}WAIT\u{1}true\u{2}""#, "body      5 bytes\n            48656c6c6f\n"],
        ),
        (
            r#"{"code":37,"extFields":{"producerGroup":"PG","tranStateTableOffset":"7","commitLogOffset":"1024","commitOrRollback":"8","fromTransactionCheck":"false","msgId":"0A00000904D201020304050607080001","transactionId":"0A00000904D201020304050607080001","topic":"TopicTest","bname":"broker-a"},"flag":2,"language":"RUST","opaque":4,"serializeTypeCurrentRPC":"JSON","version":479}"#,
            b"",
            &["378 bytes", "one-way   END_TRANSACTION (37)", "flag      0x2 (one-way)", "commitOrRollback = \"8\""],
        ),
        (
            r#"{"code":0,"extFields":{"suggestWhichBrokerId":"0","nextBeginOffset":"8","minOffset":"0","maxOffset":"8","topicSysFlag":"0","groupSysFlag":"0"},"flag":1,"language":"JAVA","opaque":9,"remark":"FOUND","serializeTypeCurrentRPC":"JSON","version":479}"#,
            &e7,
            &["378 bytes", "response  SUCCESS (0)", "remark    \"FOUND\"", "nextBeginOffset = \"8\"", "body      125 bytes\n            0000007ddaa320a7", "...\n"],
        ),
        (
            r#"{"code":11,"extFields":{"consumerGroup":"CG","topic":"TopicTest","queueId":"1","queueOffset":"7","maxMsgNums":"32","sysFlag":"6","commitOffset":"0","suspendTimeoutMillis":"15000","subscription":"*","subVersion":"1700000000000","maxMsgBytes":"2147483647","expressionType":"TAG","bname":"broker-a"},"flag":0,"language":"RUST","opaque":9,"serializeTypeCurrentRPC":"JSON","version":479}"#,
            b"",
            &["390 bytes", "PULL_MESSAGE (11)", "sysFlag = \"6\"", "subscription = \"*\""],
        ),
        (
            r#"{"code":34,"extFields":{},"flag":0,"language":"RUST","opaque":2,"serializeTypeCurrentRPC":"JSON","version":479}"#,
            br#"{"clientID":"10.0.0.9@1234#5678","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"CG","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919,2598920],"expressionType":"TAG","subString":"TagA || TagB","subVersion":1700000000000,"tagsSet":["TagA","TagB"],"topic":"TopicTest"}],"unitMode":false}],"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"PG"}],"withoutSub":false}"#,
            &["600 bytes", "HEART_BEAT (34)", "ext       empty", "body      481 bytes, JSON\n            {\"clientID\":\"10.0.0.9@1234#5678\",", "\"withoutSub\":false}\n"],
        ),
    ];
    for (header, body, expected) in rows {
        let out = printed(&[&json_frame(header, body)]);
        for expected in expected {
            assert!(out.contains(expected), "no `{expected}` in\n{out}");
        }
    }
    // E5.
    let out = printed(&[
        "00000064 01000060 0000 00 01df 00000003 00000001 00000000 0000004b",
        "0005 6d73674964 00000020 3041303030303031303030303241394630303030303030303030303030343030",
        "0007 71756575654964 00000001 31  000b 71756575654f6666736574 00000001 37",
    ]);
    for expected in [
        "104 bytes, ROCKETMQ header of 96 bytes",
        "response  SUCCESS (0)",
        "msgId = \"0A00000100002A9F0000000000000400\"",
        "queueId = \"1\"",
        "queueOffset = \"7\"",
    ] {
        assert!(out.contains(expected), "no `{expected}` in\n{out}");
    }
}

#[test]
fn bad_frames() {
    // Wire E18.
    let rows = [
        (
            "0000000000000000",
            "bad frame at offset 0: a frame says its length is 0, less than the 4 bytes that each has",
        ),
        (
            "00000003000000",
            "bad frame at offset 0: a frame says its length is 3, less than the 4 bytes that each has",
        ),
        ("ffffffff00000000", "bad frame at offset 0: a frame says its length is -1"),
        (
            "00fffffd00000000",
            "bad frame at offset 0: a frame says its length is 16777213; with the length word that is over the limit of \
             16777216 bytes",
        ),
        (
            "0000000400000000",
            "bad header in the frame at offset 0: bad JSON header: the JSON text ends early, at byte 0",
        ),
        (
            "0000000e0000000b7b22636f6465223a317d",
            "bad frame at offset 0: a frame says its header has 11 bytes where 10 are",
        ),
        (
            "0000000e0200000a7b22636f6465223a317d",
            "bad frame at offset 0: a frame says its header has the unknown format 2",
        ),
        (
            "00000007000000037b783a",
            "bad header in the frame at offset 0: bad JSON header: the JSON text ends early, at byte 3",
        ),
        (
            "0000001901000015000500 01df 0000000e 00000000 ff000000 00000000",
            "bad header in the frame at offset 0: the header says its remark has -16777216 bytes where 4 are",
        ),
        (
            "0000001901000015000500 01df 0000000e 00000000 00000000 00000005",
            "bad header in the frame at offset 0: the header says its ext fields have 5 bytes where 0 are",
        ),
    ];
    let good = "0000000e0000000a7b22636f6465223a317d";
    let good_line = printed(&["--json", good]);
    for (hex, error) in rows {
        assert_eq!(run(&[hex], io::empty()), (BAD_FRAME, String::new(), format!("{error}\n")));
        // What came before is printed; what comes after, if it is known where that begins.
        let after = if error.starts_with("bad header") { good_line.as_str() } else { "" };
        let out = format!("{good_line}{after}");
        let error = error.replace("offset 0", "offset 18");
        assert_eq!(run(&["--json", good, hex, good], io::empty()), (BAD_FRAME, out, format!("{error}\n")));
    }
}

#[test]
fn incomplete_frames() {
    let whole = "0000000e0000000a7b22636f6465223a317d";
    let line = printed(&["--json", whole]);
    for len in 1..whole.len() / 2 {
        let of = if len < 4 { "at least 8" } else { "18" };
        let cut = &whole[..2 * len];
        let error = format!("incomplete frame at offset 0: {len} of {of} bytes\n");
        assert_eq!(run(&["--json", cut], io::empty()), (BAD_FRAME, String::new(), error.clone()));
        let error = error.replace("offset 0", "offset 18");
        assert_eq!(run(&["--json", whole, cut], io::empty()), (BAD_FRAME, line.clone(), error.clone()));
        let stream = format!("{whole}{cut}");
        let found = run(&["--json"], OneByOne(stream.as_bytes()));
        assert_eq!(found, (BAD_FRAME, line.clone(), error));
    }
    assert_eq!(printed(&[""]), "");
}

#[test]
fn styles_of_hex() {
    let expected = printed(&["0000000e0000000a7b22636f6465223a317d"]);
    let rows: [&[&str]; 8] = [
        &["00 00 00 0e 00 00 00 0a 7b 22 63 6f 64 65 22 3a 31 7d"],
        &[
            "00", "00", "00", "0e", "00", "00", "00", "0a", "7b", "22", "63", "6f", "64", "65", "22", "3a",
            "31", "7d",
        ],
        &["00:00:00:0E:00:00:00:0A:7B:22:63:6F:64:65:22:3A:31:7D"],
        &["0x00,0x00,0x00,0x0e, 0x00,0x00,0x00,0x0a, 0x7b,0x22,0x63,0x6f,0x64,0x65,0x22,0x3a,0x31,0x7d,"],
        &["0x0000000e0000000a 0X7b22636f6465223a317d"],
        &["\n\t0000000e\r\n0000000a\n7b22636f6465223a317d\n"],
        &["000000", "0e000000", "0a7b22636f6465223a317d"],
        &["0000000e", "", "0000000a7b22636f6465223a317d"],
    ];
    for arguments in rows {
        assert_eq!(printed(arguments), expected);
        let text = arguments.join(" ");
        for arguments in [&[][..], &["-"]] {
            assert_eq!(run(arguments, text.as_bytes()), (FINE, expected.clone(), String::new()));
        }
    }
}

#[test]
fn bad_hex() {
    let rows = [
        ("0g", "bad hex: no digit at offset 1 but `g`"),
        ("00 0 0", "bad hex: no digit at offset 4 but ` `"),
        ("00x0", "bad hex: no digit at offset 2 but `x`"),
        ("1x00", "bad hex: no digit at offset 1 but `x`"),
        ("x00", "bad hex: no digit at offset 0 but `x`"),
        ("00;", "bad hex: no digit at offset 2 but `;`"),
        ("00消", "bad hex: no digit at offset 2 but `\\xe6`"),
        ("00\u{1b}[2J", "bad hex: no digit at offset 2 but `\\x1b`"),
        ("000", "bad hex: the text ends in the middle of a byte, at offset 3"),
        ("0x0", "bad hex: the text ends in the middle of a byte, at offset 3"),
    ];
    for (text, error) in rows {
        let expected = (BAD_INPUT, String::new(), format!("{error}\n"));
        assert_eq!(run(&[text], io::empty()), expected, "{text:?}");
        assert_eq!(run(&[], OneByOne(text.as_bytes())), expected, "{text:?}");
    }
    // The frames before it are printed.
    let good = "0000000e0000000a7b22636f6465223a317d";
    let found = run(&[good, "zz"], io::empty());
    assert_eq!(found, (BAD_INPUT, printed(&[good]), "bad hex: no digit at offset 37 but `z`\n".to_owned()));
}

#[test]
fn command_lines() {
    let (status, usage, errors) = run(&["--help"], io::empty());
    assert_eq!((status, errors.as_str()), (FINE, ""));
    for word in ["HEX", "--json", "--raw", "exit status"] {
        assert!(usage.contains(word), "{word}");
    }
    assert_eq!(printed(&["-h", "zz"]), usage);
    let rows: [(&[&str], _); 4] = [
        (&["--jsno"], "unknown option `--jsno`"),
        (&["-x", "00"], "unknown option `-x`"),
        (&["--", "00"], "unknown option `--`"),
        (&["--raw", "a", "b"], "--raw takes one file"),
    ];
    for (arguments, error) in rows {
        let expected = (BAD_INPUT, String::new(), format!("{error}\n\n{usage}\n"));
        assert_eq!(run(arguments, io::empty()), expected, "{arguments:?}");
    }
}

#[test]
fn frames_as_bytes() {
    let frame = b"\0\0\0\x0e\0\0\0\x0a{\"code\":1}";
    let expected = (FINE, printed(&["0000000e0000000a7b22636f6465223a317d"]), String::new());
    assert_eq!(run(&["--raw"], &frame[..]), expected);
    assert_eq!(run(&["--raw", "-"], OneByOne(frame)), expected);
    let path = std::env::temp_dir().join(format!("rmq-dump-{}", std::process::id()));
    let file = path.to_str().expect("UTF-8");
    std::fs::write(&path, frame).expect("it can be written");
    assert_eq!(run(&["--raw", file], io::empty()), expected);
    std::fs::remove_file(&path).expect("it can be removed");
    let (status, out, errors) = run(&["--raw", file], io::empty());
    assert_eq!((status, out.as_str()), (BAD_INPUT, ""));
    assert!(errors.starts_with(&format!("{file}: ")), "{errors}");
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
        (121, ""),
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

/// A reader that has gone.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(ErrorKind::BrokenPipe.into())
    }
}

/// A file that cannot be read.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(ErrorKind::InvalidData.into())
    }
}

#[test]
fn what_cannot_be_read_or_written() {
    let good = "0000000e0000000a7b22636f6465223a317d";
    for arguments in [&[good][..], &["--json", good], &["--help"], &["zz"]] {
        let arguments = arguments.iter().map(Into::into);
        let result = dump::run(arguments, &mut io::empty(), &mut Closed, &mut Closed);
        assert_eq!(result.map_err(|error| error.kind()), Err(ErrorKind::BrokenPipe));
    }
    let (status, out, errors) = run(&[], Broken);
    assert_eq!((status, out.as_str()), (BAD_INPUT, ""));
    assert!(errors.starts_with("reading failed: "), "{errors}");
}

#[test]
fn memory_is_that_of_one_frame() {
    let frame = json_frame("{\"extFields\":{\"a\":\"1\"}}", &[7; 1_000]);
    let stream = frame.repeat(1_000);
    let most = |json: &'static str| {
        allocation_counter::measure(|| {
            let arguments = [json.into()];
            let status = dump::run(arguments, &mut stream.as_bytes(), &mut io::sink(), &mut io::sink());
            assert_eq!(status.ok(), Some(FINE));
        })
        .bytes_max
    };
    for arguments in ["-", "--json"] {
        // Twice the 64 KiB read at once and their bytes; the stream has 2 MB.
        assert!(most(arguments) < 256 * 1_024, "{arguments}: {} bytes", most(arguments));
    }
}

/// Panics unless the text is one value of JSON by the book (RFC 8259), unlike what the crate's own reader takes.
fn assert_strict_json(text: &str) {
    let end = strict_value(text.as_bytes(), 0);
    assert_eq!(end, Some(text.len()), "no JSON: {text}");
}

/// Where the value that begins at `at` ends.
fn strict_value(json: &[u8], at: usize) -> Option<usize> {
    match json.get(at)? {
        b'"' => strict_text(json, at),
        b'{' if json.get(at + 1) == Some(&b'}') => Some(at + 2),
        b'{' => {
            let mut at = at;
            loop {
                let colon = strict_text(json, at + 1)?;
                at = strict_value(json, colon + usize::from(json.get(colon) == Some(&b':')))?;
                match json.get(at)? {
                    b',' => {}
                    b'}' => return Some(at + 1),
                    _ => return None,
                }
            }
        }
        b'n' => json[at..].starts_with(b"null").then_some(at + 4),
        _ => {
            let digits = json[at..].strip_prefix(b"-").unwrap_or_else(|| &json[at..]);
            let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_number = len == 1 || len > 1 && digits[0] != b'0';
            is_number.then_some(json.len() - digits.len() + len)
        }
    }
}

/// Where the text that begins at `at` ends.
fn strict_text(json: &[u8], at: usize) -> Option<usize> {
    let mut at = at + usize::from(json.get(at)? == &b'"');
    loop {
        match json.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match json.get(at + 1)? {
                b'u' => {
                    let digits = json.get(at + 2..at + 6)?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    at += 6;
                }
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                _ => return None,
            },
            ..0x20 => return None,
            _ => at += 1,
        }
    }
}

proptest! {
    #[test]
    fn any_texts_are_answered(texts in proptest::collection::vec("[0-9a-f x:,-]{0,12}|\\PC{0,6}", 0..4)) {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let (status, ..) = run(&texts, io::empty());
        prop_assert!(status <= 2);
    }

    #[test]
    fn any_bytes_are_answered(len in 4_u32..80, format in 0_u8..2, header in 0_u32..80, rest: Vec<u8>) {
        let mut stream = len.to_be_bytes().to_vec();
        stream.extend((u32::from(format) << 24 | header).to_be_bytes());
        stream.extend(rest);
        for arguments in [&["--raw"][..], &["--raw", "--json"]] {
            let (status, out, errors) = run(arguments, &stream[..]);
            prop_assert_eq!(status == FINE, errors.is_empty());
            prop_assert!(out.chars().all(|found| found == '\n' || !found.is_control()), "{}", out);
        }
    }

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
