//! Escapes against the plainest code that writes and reads them (wire §2.1, §2.4). Our own goes by the word, so each
//! character is tried in each place of a word.

use bytes::BytesMut;
use proptest::prelude::*;
use rmq_proto::json::{Reader, Writer};

/// As fastjson writes a character.
fn escaped(character: char) -> String {
    match character {
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\u{8}' => "\\b".into(),
        '\u{c}' => "\\f".into(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        '\0'..='\u{1f}' | '\u{7f}' | '\u{2028}' | '\u{2029}' => format!("\\u{:04X}", u32::from(character)),
        _ => character.into(),
    }
}

/// The texts that a character, given as it is written, can be part of: in each place of a word, followed by nothing, by
/// less than a word, by more, and by another one.
fn around(character: &str, check: impl Fn(&str)) {
    for before in 0..=9 {
        for after in ["", "z", "zzzzzzzzz", character] {
            check(&format!("{}{character}{after}", &"aaaaaaaaa"[..before]));
        }
    }
}

fn assert_written(text: &str) {
    let expected = format!("\"{}\"", text.chars().map(escaped).collect::<String>());
    let mut out = BytesMut::new();
    Writer::new(&mut out).text(text);
    assert_eq!(out, expected.as_bytes(), "{text:?}");
    assert_eq!(Reader::of(&expected).text().expect("text").as_deref(), Some(text));
}

#[test]
fn every_character_in_every_place() {
    let planes = ['\u{d7ff}', '\u{e000}', '\u{fffd}', '\u{ffff}', '\u{10000}', '\u{1f600}', '\u{10ffff}'];
    for character in ('\0'..='\u{ff}').chain('\u{2020}'..='\u{2030}').chain(planes) {
        around(character.encode_utf8(&mut [0; 4]), assert_written);
    }
}

/// Beyond ASCII there are two with an escape, which differ from others in their last byte.
#[test]
fn every_character_of_two_bytes_and_some_of_three() {
    for character in '\u{100}'..='\u{2100}' {
        let before = &"aaaaaaaaa"[..u32::from(character) as usize % 10];
        assert_written(&format!("{before}{character}z"));
    }
}

/// What `\` and these characters mean; `None` if that is no escape.
fn meant(escape: &str) -> Option<char> {
    let hex = |digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?);
    match escape {
        "b" => Some('\u{8}'),
        "f" | "F" => Some('\u{c}'),
        "n" => Some('\n'),
        "r" => Some('\r'),
        "t" => Some('\t'),
        "v" => Some('\u{b}'),
        "\"" | "'" | "\\" | "/" => escape.chars().next(),
        "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" => hex(escape),
        _ if escape.starts_with('x') && escape.len() == 3 => hex(&escape[1..]),
        _ if escape.starts_with('u') && escape.len() == 5 => Some(hex(&escape[1..]).unwrap_or('\u{fffd}')),
        _ => None,
    }
}

#[test]
fn every_escape_in_every_place() {
    let units = (0..0x100).chain([0x7FF, 0x800, 0x2028, 0x20AC, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF]);
    // Halves of surrogate pairs that stand alone.
    let units = units.chain([0xD800, 0xDBFF, 0xDC00, 0xDFFF]);
    let long = units.flat_map(|unit: u32| [format!("u{unit:04x}"), format!("u{unit:04X}")]);
    let short = (0..0x80_u8).map(|byte| char::from(byte).to_string());
    let bytes = (0..0x100).flat_map(|byte: u32| [format!("x{byte:02x}"), format!("x{byte:02X}")]);
    for escape in short.chain(long).chain(bytes) {
        let meant = meant(&escape);
        let escape = format!("\\{escape}");
        around(&escape, |text| {
            let found = Reader::of(&format!("\"{text}\"")).text().map(|text| text.map(String::from));
            let expected = meant.map(|meant| text.replace(&escape, meant.encode_utf8(&mut [0; 4])));
            assert_eq!(found.ok(), expected.map(Some), "{text}");
        });
    }
}

/// Separators of properties are looked for a word at a time, in texts that much follows after.
#[test]
fn every_escape_among_separators() {
    let odd = ["\\\"", "\\\\", "\\n", "\\u0000", "\\u0003", "\\u0011", "\\u1001", "\\U0001", "\\q"];
    for escape in ["\\u0001", "\\u0002"].into_iter().chain(odd) {
        for (before, after) in (0..=9).flat_map(|before| (0..=9).map(move |after| (before, after))) {
            let meant = meant(&escape[1..]).map(|meant| {
                format!("k\u{1}{}{meant}{}\u{2}", &"aaaaaaaaa"[..before], &"zzzzzzzzz"[..after])
            });
            let text = format!("k\\u0001{}{escape}{}\\u0002", &"aaaaaaaaa"[..before], &"zzzzzzzzz"[..after]);
            let json = format!("\"{text}\",\"what follows\"");
            let found = Reader::of(&json).text().map(|text| text.map(String::from));
            assert_eq!(found.ok(), meant.map(Some), "{text}");
        }
    }
}

#[test]
fn halves_of_pairs() {
    let rows = [
        (r"\ud83d\ude00", "😀"),
        (r"\uDBFF\uDFFF", "\u{10ffff}"),
        (r"\ud800\udc00", "\u{10000}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"\ud83d\ue000", "\u{fffd}\u{e000}"),
        (r"\ud83d\udbff", "\u{fffd}\u{fffd}"),
        (r"\ud83d\\ude00", "\u{fffd}\\ude00"),
        (r"\ud83dude00", "\u{fffd}ude00"),
        (r"\ud83d\x61", "\u{fffd}a"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
    ];
    for (text, expected) in rows {
        for before in 0..=8 {
            let before = &"aaaaaaaa"[..before];
            let found = Reader::of(&format!("\"{before}{text}\"")).text().expect("text").map(String::from);
            assert_eq!(found, Some(format!("{before}{expected}")), "{text}");
        }
    }
}

proptest! {
    #[test]
    fn any_text(text in proptest::collection::vec(any_character(), 0..64).prop_map(String::from_iter)) {
        assert_written(&text);
    }
}

/// Few characters, so that those with escapes come close to each other.
fn any_character() -> impl Strategy<Value = char> {
    let any =
        ['a', ' ', '!', '#', '[', ']', '~', '\u{80}', '\u{c2}', '\u{2027}', '\u{202a}', '\u{2128}', '😀'];
    let special = ['"', '\\', '\0', '\u{1}', '\u{2}', '\u{1f}', '\u{7f}', '\u{2028}', '\u{2029}', '\n'];
    proptest::sample::select([&any[..], &special[..]].concat())
}
