//! What Java's reader takes, for all bodies: wire §2.2, §2.4.

use crate::samples::for_each_body;
use crate::support::{Body, decode};
use rmq_proto::body::*;

/// A piece of a strict JSON text.
enum Piece<'a> {
    /// Without its quotes; and whether a colon follows.
    Text(&'a str, bool),
    Number(&'a str),
    /// A bracket, comma or colon, or a word.
    Other(&'a str),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = |char: char| char.is_ascii_digit() || "-.E".contains(char);
        let len = match first {
            '"' => rest[1..].replace("\\n", "nn").replace("\\t", "tt").find('"').expect("a quote") + 2,
            char if is_number(char) => rest.find(|char| !is_number(char)).expect("an end"),
            char if char.is_alphabetic() => rest.find(|char: char| !char.is_alphabetic()).expect("an end"),
            _ => 1,
        };
        let (piece, after) = rest.split_at(len);
        pieces.push(match first {
            '"' => Piece::Text(&piece[1..len - 1], after.starts_with(':')),
            char if is_number(char) => Piece::Number(piece),
            _ => Piece::Other(piece),
        });
        rest = after;
    }
    pieces
}

fn rewritten(text: &str, rewrite: impl Fn(&Piece<'_>) -> Option<String>) -> String {
    let strict = |piece: &Piece<'_>| match piece {
        Piece::Text(text, _) => format!("\"{text}\""),
        Piece::Number(text) | Piece::Other(text) => (*text).to_owned(),
    };
    pieces(text).iter().map(|piece| rewrite(piece).unwrap_or_else(|| strict(piece))).collect()
}

fn assert_same<B: Body>(text: &str, rewrite: impl Fn(&Piece<'_>) -> Option<String>) {
    let other = rewritten(text, rewrite);
    assert_ne!(text, other);
    assert_eq!(decode::<B>(&other), decode::<B>(text), "{other}");
    assert!(decode::<B>(text).is_ok());
}

#[test]
fn single_quotes() {
    fn check<B: Body>(text: &str) {
        assert_same::<B>(text, |piece| match piece {
            Piece::Text(text, _) => Some(format!("'{text}'")),
            _ => None,
        });
    }
    for_each_body!(check);
}

#[test]
fn keys_without_quotes() {
    fn check<B: Body>(text: &str) {
        assert_same::<B>(text, |piece| match piece {
            Piece::Text(text, true) if text.chars().all(char::is_alphanumeric) => Some((*text).to_owned()),
            _ => None,
        });
    }
    for_each_body!(check);
}

#[test]
fn white_space_and_comments() {
    fn check<B: Body>(text: &str) {
        assert_same::<B>(text, |piece| match piece {
            Piece::Other("{" | "[" | "," | ":") => None,
            Piece::Other(text) => Some(format!(" // }}\n{text}\t/* \" */\r\n")),
            _ => None,
        });
        assert_same::<B>(text, |piece| match piece {
            Piece::Other(text @ ("{" | "[" | "," | ":")) => Some(format!("{text} /**/ \n")),
            _ => None,
        });
        assert_eq!(decode::<B>(&format!("\u{feff}{text} ")), decode::<B>(text));
    }
    for_each_body!(check);
}

#[test]
fn trailing_commas() {
    fn check<B: Body>(text: &str) {
        let other = rewritten(text, |piece| match piece {
            Piece::Other(end @ ("}" | "]")) => Some(format!(",{end}")),
            _ => None,
        });
        let other = other.replace("{,}", "{}").replace("[,]", "[]");
        assert_eq!(decode::<B>(&other), decode::<B>(text), "{other}");
    }
    for_each_body!(check);
}

#[test]
fn numbers_in_quotes() {
    fn check<B: Body>(text: &str) {
        let other = rewritten(text, |piece| match piece {
            Piece::Number(number) => Some(format!("\"{number}\"")),
            _ => None,
        });
        assert_eq!(decode::<B>(&other), decode::<B>(text), "{other}");
    }
    for_each_body!(check);
}

#[test]
fn members_that_nobody_knows() {
    fn check<B: Body>(text: &str) {
        let unknown = r#""unknown":{"a":[1,{"b":null}],{"c":1}:2},"Topic":"x""#;
        for other in [
            text.replacen('{', &format!("{{{unknown},"), 1),
            format!("{},{unknown}}}", &text[..text.len() - 1]),
        ] {
            assert_eq!(decode::<B>(&other), decode::<B>(text), "{other}");
        }
    }
    for_each_body!(check);
}

#[test]
fn the_last_member_of_a_name_counts() {
    fn check<B: Body>(text: &str) {
        // All members once more, before them: as `null`, which is another value or an error.
        let end = text.find("\":").unwrap();
        let other = format!("{}\":null,{}", &text[..end], &text[1..]);
        assert_eq!(decode::<B>(&other), decode::<B>(text), "{other}");
        let last = format!("{},{}\":null}}", &text[..text.len() - 1], &text[1..end]);
        assert_ne!(decode::<B>(&last), decode::<B>(text), "{last}");
    }
    for_each_body!(check);
}
