//! What is accepted in a JSON header (wire §2.2).

use rmq_proto::command::{DecodeError, Language, RemotingCommand};
use rmq_proto::json::JsonError;

use crate::support::read_json;

fn accepted(header: &str) -> RemotingCommand {
    read_json(header).unwrap_or_else(|error| panic!("{header}: {error}"))
}

#[test]
fn forms() {
    let rows = [
        ("order of keys", r#"{"version":479,"opaque":7,"flag":1,"code":34}"#),
        ("white space", "\t{ \"code\" :\r\n34 ,\"flag\":1,\"opaque\":7,\"version\":479\x0c}\x08 "),
        (
            "comments",
            "/*a*/{/*b*/\"code\"/**/:/*\"code\":1*/34,//c\n\"flag\":1,\"opaque\":7,\"version\":479}//d",
        ),
        ("byte order mark", "\u{feff}{\"code\":34,\"flag\":1,\"opaque\":7,\"version\":479}"),
        ("trailing comma", r#"{"code":34,"flag":1,"opaque":7,"version":479,}"#),
        ("keys without quotes", "{code:34,flag:1,opaque:7,version:479}"),
        ("single quotes", "{'code':34,'flag':1,'opaque':'7','version':479}"),
        (
            "unknown keys",
            r#"{"x":[1,{"code":5}],"code":34,"y":null,"flag":1,"z":"\"}","opaque":7,"version":479,"w":1.5e3}"#,
        ),
        ("duplicate keys", r#"{"code":1,"flag":1,"opaque":7,"version":479,"code":34}"#),
        ("upper case", r#"{"Code":34,"FLAG":1,"Opaque":7,"version":479}"#),
        ("text for numbers", r#"{"code":"34","flag":"1","opaque":"7","version":"479"}"#),
        ("decimals", r#"{"code":34.0,"flag":1.0,"opaque":7.00,"version":"479.0"}"#),
        ("a boolean for a number", r#"{"code":34,"flag":true,"opaque":7,"version":479}"#),
        (
            "nulls before numbers",
            r#"{"code":null,"code":34,"flag":1,"opaque":null,"opaque":7,"version":479}"#,
        ),
        ("escapes in keys", r#"{"\u0063ode":34,"fl\x61g":1,"opaque":7,"version":479}"#),
    ];
    for (name, header) in rows {
        let command = accepted(header);
        let numbers = (command.code, command.flag, command.opaque, command.version);
        assert_eq!(numbers, (34, 1, 7, 479), "{name}");
    }
}

#[test]
fn numbers() {
    let rows = [
        ("{}", 0),
        (r#"{"code":null}"#, 0),
        (r#"{"code":""}"#, 0),
        (r#"{"code":"null"}"#, 0),
        (r#"{"code":true}"#, 1),
        (r#"{"code":false}"#, 0),
        (r#"{"code":-1}"#, -1),
        (r#"{"code":2147483647}"#, i32::MAX),
        (r#"{"code":-2147483648}"#, i32::MIN),
        (r#"{"code":"-2147483648"}"#, i32::MIN),
        (r#"{"code":34L}"#, 34),
        (r#"{"code":5,"code":null}"#, 0),
    ];
    for (header, code) in rows {
        assert_eq!(accepted(header).code, code, "{header}");
    }
}

#[test]
fn numbers_that_are_not_there() {
    for header in ["{}", r#"{"code":null,"flag":null,"opaque":null,"version":null}"#] {
        let command = accepted(header);
        let numbers = (command.code, command.flag, command.opaque, command.version);
        assert_eq!(numbers, (0, 0, 0, 0), "{header}");
    }
}

#[test]
fn bad_numbers() {
    let number = JsonError::Number { offset: 8, bits: 32 };
    let rows = [
        (r#"{"code":2147483648}"#, number),
        (r#"{"code":-2147483649}"#, number),
        (r#"{"code":99999999999999999999}"#, number),
        (r#"{"code":"2147483648"}"#, number),
        (r#"{"code":"x"}"#, number),
        (r#"{"code":"1."}"#, number),
        (r#"{"code":" 1"}"#, number),
        (r#"{"code":1e3}"#, number),
        (r#"{"code":{}}"#, number),
        (r#"{"code":[]}"#, number),
        (r#"{"code":-}"#, JsonError::Unexpected { offset: 9, expected: "a digit" }),
        (r#"{"code":1.}"#, JsonError::Unexpected { offset: 10, expected: "a digit" }),
    ];
    for (header, error) in rows {
        assert_eq!(read_json(header), Err(DecodeError::Json(error)), "{header}");
    }
    for name in ["flag", "opaque", "version"] {
        let header = format!("{{\"{name}\":2147483648}}");
        let offset = name.len() + 4;
        let error = DecodeError::Json(JsonError::Number { offset, bits: 32 });
        assert_eq!(read_json(&header), Err(error), "{header}");
    }
}

#[test]
fn languages() {
    let rows = [
        ("{}", Ok(Some(Language::JAVA))),
        (r#"{"language":"rust"}"#, Ok(Some(Language::RUST))),
        (r#"{"language":"RUST"}"#, Ok(Some(Language::RUST))),
        (r#"{"language":"KLINGON"}"#, Ok(None)),
        (r#"{"language":""}"#, Ok(None)),
        (r#"{"language":null}"#, Ok(None)),
        (r#"{"language":"0"}"#, Ok(None)),
        (r#"{"language":12}"#, Ok(Some(Language::RUST))),
        (r#"{"language":99}"#, Err(DecodeError::Language(99))),
        (r#"{"language":-1}"#, Err(DecodeError::Language(-1))),
        (r#"{"language":256}"#, Err(DecodeError::Language(256))),
    ];
    for (header, language) in rows {
        assert_eq!(read_json(header).map(|command| command.language), language, "{header}");
    }
}

#[test]
fn remarks() {
    let rows = [
        ("{}", None),
        (r#"{"remark":null}"#, None),
        (r#"{"remark":"no route"}"#, Some("no route")),
        (r#"{"remark":""}"#, Some("")),
        (r#"{"remark":17}"#, Some("17")),
        (r#"{"remark":true}"#, Some("true")),
        (r#"{"remark":{"a":[1]}}"#, Some(r#"{"a":[1]}"#)),
        (r#"{"remark":"\u6d88\u606f 消息 \ud83d\ude00"}"#, Some("消息 消息 😀")),
        (
            r#"{"remark":"\uD83D|\uDE00|\uD83D\u0041|\uDE00\uD83D"}"#,
            Some("\u{fffd}|\u{fffd}|\u{fffd}A|\u{fffd}\u{fffd}"),
        ),
        (r#"{"remark":"\"\\\/\b\f\n\r\t\v\0\7\'\x41\F"}"#, Some("\"\\/\u{8}\u{c}\n\r\t\u{b}\0\u{7}'A\u{c}")),
        ("{\"remark\":\"raw\n\u{1}\"}", Some("raw\n\u{1}")),
        (r#"{"remark":'it"s'}"#, Some("it\"s")),
    ];
    for (header, remark) in rows {
        assert_eq!(accepted(header).remark.as_deref(), remark, "{header}");
    }
}

#[test]
fn bad_texts() {
    let rows = [
        (r#"{"remark":"\q"}"#, JsonError::Escape { offset: 11 }),
        (r#"{"remark":"ab\8"}"#, JsonError::Escape { offset: 13 }),
        (r#"{"remark":"\u00g0"}"#, JsonError::Escape { offset: 11 }),
        (r#"{"remark":"\xg0"}"#, JsonError::Escape { offset: 11 }),
        (r#"{"remark":"\u00"}"#, JsonError::Escape { offset: 11 }),
        (r#"{"remark":"open"#, JsonError::End { offset: 15 }),
        (r#"{"remark":"open\"#, JsonError::End { offset: 16 }),
        (r#"{"remark":"open\u12"#, JsonError::End { offset: 19 }),
        (r#"{"remark":"open'}"#, JsonError::End { offset: 17 }),
        (r#"{"a":"\q"}"#, JsonError::Escape { offset: 6 }),
        (r#"{"extFields":{"a":"\q"}}"#, JsonError::Escape { offset: 19 }),
        ("{/*}", JsonError::End { offset: 4 }),
        ("{/}", JsonError::Unexpected { offset: 1, expected: "a comment" }),
    ];
    for (header, error) in rows {
        assert_eq!(read_json(header), Err(DecodeError::Json(error)), "{header}");
    }
}

type Fields<'a> = &'a [(&'a str, &'a str)];

#[test]
fn ext_fields() {
    let rows: [(_, Option<Fields<'_>>); 9] = [
        ("{}", None),
        (r#"{"extFields":null}"#, None),
        (r#"{"extFields":{}}"#, Some(&[])),
        (r#"{"extFields":{"a":"1","b":"x"}}"#, Some(&[("a", "1"), ("b", "x")])),
        (
            r#"{"extFields":{"a":1,"b":true,"c":1.5,"d":{"e": 1},"f":[1, 2],"g":null}}"#,
            Some(&[("a", "1"), ("b", "true"), ("c", "1.5"), ("d", "{\"e\": 1}"), ("f", "[1, 2]")]),
        ),
        (r#"{"extFields":{ 'a' : 'it\'s' , /**/ b:"\u0001",}}"#, Some(&[("a", "it's"), ("b", "\u{1}")])),
        (r#"{"extFields":{"":"no name","\u952e":""}}"#, Some(&[("", "no name"), ("键", "")])),
        (r#"{"extFields":{"a":"1"},"extFields":{"b":"2"}}"#, Some(&[("b", "2")])),
        (r#"{"extFields":{"a":"1"},"extFields":null}"#, None),
    ];
    for (header, fields) in rows {
        let ext = accepted(header).ext;
        assert_eq!(ext.is_absent(), fields.is_none(), "{header}");
        let fields = fields.unwrap_or_default();
        assert_eq!(ext.is_empty(), fields.is_empty(), "{header}");
        let found: Vec<_> = ext.iter().collect();
        let expected: Vec<_> = fields.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        assert_eq!(found, expected, "{header}");
    }
}

#[test]
fn bad_ext_fields() {
    let no_object = DecodeError::ExtNotAnObject { offset: 13 };
    let rows = [
        (r#"{"extFields":""}"#, no_object),
        (r#"{"extFields":[]}"#, no_object),
        (r#"{"extFields":1}"#, no_object),
        (r#"{"extFields":true}"#, no_object),
        (r#"{"extFields":{"a"}}"#, DecodeError::Json(JsonError::Unexpected { offset: 17, expected: "`:`" })),
        (
            r#"{"extFields":{"a":"1""b":"2"}}"#,
            DecodeError::Json(JsonError::Unexpected { offset: 21, expected: "`,` or `}`" }),
        ),
        (
            r#"{"extFields":{"a":"1"]}"#,
            DecodeError::Json(JsonError::Unexpected { offset: 21, expected: "`,` or `}`" }),
        ),
        (r#"{"extFields":{"a":"1"}"#, DecodeError::Json(JsonError::End { offset: 22 })),
    ];
    for (header, error) in rows {
        assert_eq!(read_json(header), Err(error), "{header}");
    }
}

#[test]
fn cut_anywhere() {
    let whole = r#"{"code":34,"extFields":{"a":"\u0041\ud83d\ude00","b":[{1:true},null,-1.5e+3],{"k":{}}:'x'},"flag":1,"language":"RUST","opaque":7,"remark":"值","x":/*c*/false,"version":479}"#;
    accepted(whole);
    for len in 0..whole.len() {
        let error = read_json(&whole.as_bytes()[..len]).expect_err("it is cut");
        let is_cut = matches!(error, DecodeError::Json(JsonError::End { .. } | JsonError::Utf8 { .. }));
        assert!(is_cut, "{len} bytes: {error}");
    }
}

#[test]
fn depth() {
    // The header itself is one level, the 31 others are arrays.
    let nested = |levels: usize| format!("{{\"x\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    accepted(&nested(31));
    let error = DecodeError::Json(JsonError::Depth { offset: 5 + 31 });
    assert_eq!(read_json(nested(32)), Err(error));
}

#[test]
fn hostile_headers_take_no_longer_than_others() {
    const LEN: usize = 1 << 17;
    let texts = [
        "{".repeat(LEN),
        format!("{{\"a\":{}", "[".repeat(LEN)),
        format!("{{\"a\":\"{}", "\\\"".repeat(LEN)),
        format!("{{\"a\":\"{}\"}}", "\\ud83d".repeat(LEN / 6)),
        format!("{{{}", "/**/".repeat(LEN / 4)),
        format!("{{{}", "/*".repeat(LEN / 2)),
        format!("{{{}}}", "\"a\":{},".repeat(LEN / 7)),
        format!("{{\"extFields\":{{{}}}}}", "\"a\":\"b\",".repeat(LEN / 8)),
        format!("{{\"extFields\":{{{}}}}}", "a:[[[[{}]]]],".repeat(LEN / 13)),
        format!("{{{}}}", "\"extFields\":{},".repeat(LEN / 15)),
        format!("{{\"code\":{}}}", "9".repeat(LEN)),
        format!("{{{}:1}}", "k".repeat(LEN)),
    ];
    for text in texts {
        if let Ok(command) = read_json(&text) {
            assert!(command.ext.iter().count() <= LEN);
            assert_eq!(command.ext.value("absent"), None);
        }
    }
}

#[test]
fn depth_of_objects_as_keys() {
    let nested = |levels: usize| {
        let mut object = "{}".to_owned();
        for _ in 1..levels {
            object = format!("{{{object}:1}}");
        }
        object
    };
    accepted(&nested(32));
    let error = DecodeError::Json(JsonError::Depth { offset: 32 });
    assert_eq!(read_json(nested(33)), Err(error));
}
