//! Frames of the official client and servers, and the worked examples of wire §12.

use rmq_proto::json::JsonError;

use crate::dump::FINE;
use crate::strict_json::assert_strict_json;
use crate::support::{OneByOne, json_frame, members, printed, run, text, texts};

const VECTORS: &str = include_str!("../golden/vectors.jsonl");
const CAPTURE: &str = include_str!("../golden/capture-5.3.3.jsonl");

/// What the line of the code says, for each of the vectors.
const CODES: [(&str, &str); 21] = [
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

#[test]
fn golden_frames_as_text() -> Result<(), JsonError> {
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
        let code = CODES.iter().find(|(of, _)| *of == name).expect("a row for each").1;
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
    assert_eq!(seen, 2 * CODES.len());
    Ok(())
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
            &["378 bytes", "response  SUCCESS (0)", "remark    \"FOUND\"", "nextBeginOffset = \"8\"", "body      125 bytes, messages\n            TopicTest/1@7: 5 bytes, id 0A00000100002A9F0000000000000400, properties \"TAGS\\u{1}TagA\\u{2}WAIT\\u{1}true\\u{2}\"\n"],
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
