//! The tokenizer and the writer of JSON on their own (wire §2.1, §2.4).

use bytes::BytesMut;
use proptest::prelude::*;
use rmq_proto::json::{JsonError, Kind, MAX_DEPTH, Reader, Writer};

use crate::support::read_json;

fn written(write: impl FnOnce(&mut Writer<'_>)) -> String {
    let mut out = BytesMut::new();
    write(&mut Writer::new(&mut out));
    String::from_utf8(out.to_vec()).expect("UTF-8")
}

#[test]
fn escapes_are_those_of_fastjson() {
    let rows = [
        ("plain", r#""plain""#),
        ("", r#""""#),
        ("\"\\", r#""\"\\""#),
        ("\u{8}\u{c}\n\r\t", r#""\b\f\n\r\t""#),
        ("\0\u{1}\u{2}\u{b}\u{1f}", r#""\u0000\u0001\u0002\u000B\u001F""#),
        ("\u{7f}", r#""\u007F""#),
        ("a\u{2028}b\u{2029}", r#""a\u2028b\u2029""#),
        ("/<>'&", r#""/<>'&""#),
        ("消息 😀 é", "\"消息 😀 é\""),
        ("\u{80}\u{2027}\u{202a}\u{20a8}€☃", "\"\u{80}\u{2027}\u{202a}\u{20a8}€☃\""),
    ];
    for (text, expected) in rows {
        assert_eq!(written(|json| json.text(text)), expected);
        assert_eq!(Reader::of(expected).text(), Ok(Some(text.into())));
    }
}

#[test]
fn numbers_are_written_in_full() {
    let around_powers = (0..19).map(|power| 10_i64.pow(power)).flat_map(|power| power - 1..=power + 1);
    let numbers = (0..=10_100).chain(around_powers).chain([1_700_000_000_000, i64::MAX]);
    for number in numbers.flat_map(|number| [number, -number]).chain([i64::MIN]) {
        assert_eq!(written(|json| json.integer(number)), number.to_string());
    }
}

#[test]
fn commas_and_brackets() {
    let text = written(|json| {
        json.begin_object();
        json.key("a");
        json.begin_array();
        json.integer(1);
        json.null();
        json.begin_object();
        json.end_object();
        json.end_array();
        json.key("b");
        json.boolean(true);
        json.key("c");
        json.begin_object();
        json.key("\n");
        json.text("x");
        json.end_object();
        json.end_object();
    });
    assert_eq!(text, r#"{"a":[1,null,{}],"b":true,"c":{"\n":"x"}}"#);
}

#[test]
fn keys_of_any_kind() -> Result<(), JsonError> {
    let rows = [
        (r#"{0:"x"}"#, "0"),
        (r#"{-1:"x"}"#, "-1"),
        (r#"{ name : "x"}"#, "name"),
        (r#"{$ref:"x"}"#, "$ref"),
        ("{键:'x'}", "键"),
        (r#"{"q\"}":"x"}"#, "q\"}"),
        (r#"{{"topic":"T","queueId":1}:"x"}"#, r#"{"topic":"T","queueId":1}"#),
        (r#"{"{\"topic\":\"T\"}":"x"}"#, r#"{"topic":"T"}"#),
    ];
    for (text, key) in rows {
        let mut json = Reader::of(text);
        assert!(json.object()?);
        assert_eq!(json.key()?.as_deref(), Some(key), "{text}");
        assert_eq!(json.text()?.as_deref(), Some("x"), "{text}");
        assert_eq!(json.key()?, None, "{text}");
        json.finish()?;
    }
    Ok(())
}

#[test]
fn kinds() {
    let rows = [
        ("null", Kind::Null),
        ("true", Kind::Boolean),
        ("-1", Kind::Number),
        ("'a'", Kind::Text),
        ("{}", Kind::Object),
        (" /**/[]", Kind::Array),
    ];
    for (text, kind) in rows {
        let mut json = Reader::of(text);
        assert_eq!(json.peek(), Ok(kind));
        assert_eq!(json.skip_raw(), Ok(text.trim_start_matches(" /**/")));
        assert_eq!(json.finish(), Ok(()));
        let raw = Reader::of(text).text();
        assert_eq!(raw.is_ok_and(|text| text.is_none()), kind == Kind::Null);
    }
}

#[test]
fn booleans() {
    let rows = [
        ("true", Some(Some(true))),
        ("false", Some(Some(false))),
        ("null", Some(None)),
        ("\"True\"", Some(Some(true))),
        ("\"false\"", Some(Some(false))),
        ("\"\"", Some(None)),
        ("1", Some(Some(true))),
        ("0", Some(Some(false))),
        ("\"yes\"", None),
        ("{}", None),
    ];
    for (text, expected) in rows {
        assert_eq!(Reader::of(text).boolean().ok(), expected, "{text}");
    }
}

#[test]
fn whole_numbers() {
    let rows = [
        // A counter of a broker's `dataVersion` (A19).
        ("2147871249", Some(2_147_871_249)),
        ("9007199254740993", Some(9_007_199_254_740_993)),
        ("\"9223372036854775807\"", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("-0", Some(0)),
        ("1.9", Some(1)),
        ("\"+5\"", Some(5)),
    ];
    for (text, expected) in rows {
        assert_eq!(Reader::of(text).i64().ok().flatten(), expected, "{text}");
    }
}

#[test]
fn null_is_no_object_and_no_array() {
    assert_eq!(Reader::of("null").object(), Ok(false));
    assert_eq!(Reader::of("null").array(), Ok(false));
    let expected = |expected| Err(JsonError::Unexpected { offset: 0, expected });
    assert_eq!(Reader::of("[]").object(), expected("an object"));
    assert_eq!(Reader::of("{}").array(), expected("an array"));
}

#[test]
fn arrays() -> Result<(), JsonError> {
    for text in ["[1,2]", "[ 1 , 2 , ]", "[\"1\",2.0]"] {
        let mut json = Reader::of(text);
        let mut found = Vec::new();
        assert!(json.array()?);
        while json.element()? {
            found.extend(json.i64()?);
        }
        json.finish()?;
        assert_eq!(found, [1, 2], "{text}");
    }
    Ok(())
}

#[test]
fn messages_of_errors() {
    let rows = [
        (Reader::of("{").skip(), "the JSON text ends early, at byte 1"),
        (Reader::of("[1 2]").skip(), "expected `,` or `]` at byte 3 of the JSON text"),
        (Reader::of(&"[".repeat(MAX_DEPTH + 1)).skip(), "JSON text nested deeper than 32 at byte 32"),
        (
            Reader::of("1 x").skip().and_then(|()| Reader::of(" x").finish()),
            "the JSON value ends before byte 1, and something follows",
        ),
        (Reader::of("x").i32().map(drop), "expected a value at byte 0 of the JSON text"),
        (Reader::of("4294967296").i32().map(drop), "no number of 32 bits at byte 0 of the JSON text"),
    ];
    for (result, message) in rows {
        assert_eq!(result.expect_err("an error").to_string(), message);
    }
}

proptest! {
    #[test]
    fn any_text_is_read_back(text in any_text()) {
        let json = written(|json| json.text(&text));
        prop_assert!(json.bytes().all(|byte| byte >= 0x20 && byte != 0x7F));
        prop_assert_eq!(Reader::of(&json).text(), Ok(Some(text.into())));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = read_json(bytes);
    }

    #[test]
    fn anything_like_json_is_read_without_panic(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..24),
    ) {
        let text = parts.concat();
        if let Ok(command) = read_json(&text) {
            // A byte order mark is one at the very beginning alone.
            let (mark, rest) = text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 });
            prop_assert_eq!(read_json(format!("{mark} {rest} ")), Ok(command));
        }
        let mut json = Reader::of(&text);
        if json.skip().is_ok() {
            let end = json.offset();
            prop_assert_eq!(Reader::of(&text[..end]).skip(), Ok(()));
        }
    }
}

const PARTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "'",
    "\\",
    "\\u",
    "00",
    "\\ud83d",
    "\\ude00",
    "/*",
    "*/",
    "//",
    "\n",
    " ",
    "1",
    "-",
    ".5",
    "e9",
    "true",
    "null",
    "nul",
    "\"code\":",
    "\"extFields\":",
    "\"language\":",
    "\"remark\":",
    "值",
    "\"a\"",
    "{}",
    "\u{feff}",
];

/// Text in which characters that matter are not rare.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let special = proptest::sample::select(
        &['"', '\\', '/', '\u{7f}', '\u{2028}', '\u{2029}', '\u{2027}', '消', '😀'][..],
    );
    let character = prop_oneof![any::<char>(), proptest::char::range('\0', '\u{7f}'), special];
    proptest::collection::vec(character, 0..24).prop_map(String::from_iter)
}
