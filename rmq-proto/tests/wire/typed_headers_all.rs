//! What holds for every typed header, tried with every one of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rmq_proto::command::RemotingCommand;
use rmq_proto::ext::{ExtFields, FieldKind, HeaderError};
use rmq_proto::header::FieldSpec;

use crate::header_table::{Header, common, every_header};
use crate::json_texts::any_text;
use crate::support::{FORMATS, read, written};

const TEXTS: [&str; 16] = [
    "TopicTest",
    "消息 é",
    "😀",
    "\u{10ffff}\u{10000}",
    "TAGS\u{1}TagA\u{2}WAIT\u{1}true\u{2}",
    "\"",
    "\\",
    "\\u0041 \\\"",
    "\u{8}\u{c}\n\r\t",
    "\0\u{1f}\u{7f}\u{80}",
    "\u{2028}\u{2029}",
    " around ",
    "null",
    "{\"a\":[1]}",
    "a,b:c/d'e",
    "%RETRY%group",
];

const I32S: [i32; 16] = [
    0,
    1,
    -1,
    9,
    10,
    -10,
    255,
    32_767,
    32_768,
    -32_769,
    65_536,
    1_700_000_000,
    i32::MAX,
    i32::MAX - 1,
    i32::MIN,
    i32::MIN + 1,
];

const I64S: [i64; 16] = [
    0,
    1,
    -1,
    10,
    255,
    32_768,
    2_147_483_647,
    2_147_483_648,
    -2_147_483_649,
    4_294_967_296,
    1_700_000_000_000,
    9_007_199_254_740_993,
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
    i64::MIN + 1,
];

/// A value for the field with this number; in some turn it differs from that of any other field of the header.
fn value(field: &FieldSpec, index: usize, turn: usize) -> String {
    let place = (index + turn) % 16;
    match field.kind {
        FieldKind::Text => TEXTS[place].into(),
        FieldKind::I32 => I32S[place].to_string(),
        FieldKind::I64 => I64S[place].to_string(),
        FieldKind::Boolean => (turn >> (index % 4) & 1 == 0).to_string(),
    }
}

/// The ext fields that `value` gives a value, for the number of each field.
fn fields(header: &Header, value: impl Fn(&FieldSpec, usize) -> Option<String>) -> ExtFields {
    let with_value = |(index, field): (usize, &FieldSpec)| Some((field.name, value(field, index)?));
    header.fields.iter().enumerate().filter_map(with_value).collect()
}

/// Every set of fields that a header can have: those that must be there and any of the others.
fn subsets(header: &Header) -> impl Iterator<Item = BTreeSet<&'static str>> {
    let (required, optional): (Vec<&FieldSpec>, Vec<&FieldSpec>) =
        header.fields.iter().partition(|field| field.required);
    assert!(optional.len() <= 10, "{} has too many optional fields to try every subset", header.name);
    (0..1_u32 << optional.len()).map(move |subset| {
        let chosen = optional.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
        required.iter().chain(chosen.map(|(_, field)| field)).map(|field| field.name).collect()
    })
}

/// The typed header that these fields are, read from a frame in each format, is written as the same fields, in the order of
/// the header.
fn assert_kept(header: &Header, ext: &ExtFields) {
    let names = header.fields.iter().map(|field| field.name).filter(|name| ext.value(name).is_some());
    let names: Vec<_> = names.collect();
    for format in FORMATS {
        let found = (header.resend)(&in_frame(ext, format), format).expect("all that must be there is");
        assert_eq!(&found, ext, "{} in {format:?}", header.name);
        let in_order: Vec<_> = found.iter().map(|(name, _)| name).collect();
        assert_eq!(in_order, names, "{} in {format:?}", header.name);
    }
}

/// The fields as a frame holds them.
fn in_frame(ext: &ExtFields, format: rmq_proto::command::HeaderFormat) -> ExtFields {
    let command = RemotingCommand { ext: ext.clone(), ..RemotingCommand::request(1) };
    read(&written(&command, format)).expect("our own frame").ext
}

#[test]
fn every_header_is_here() {
    let source = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/header")).expect("the sources");
    let mut declared = BTreeSet::new();
    for file in source {
        let path = file.expect("a file").path();
        assert!(path.extension().is_some_and(|extension| extension == "rs"), "{path:?} is not searched");
        let text = fs::read_to_string(path).expect("text");
        // Only what `headers!` makes stands further in.
        let lines = text.lines().filter_map(|line| line.strip_prefix("    pub struct "));
        let names = lines.filter_map(|rest| rest.split([' ', '<']).next());
        declared.extend(names.map(str::to_owned));
    }
    let listed: BTreeSet<_> = every_header().keys().map(|&name| name.to_owned()).collect();
    assert_eq!(declared, listed);
}

#[test]
fn names_do_not_repeat() {
    let names = |header: Header| header.fields.iter().map(|field| field.name);
    for header in every_header().into_values() {
        let with_common = (header.name != common().name).then(common).into_iter().flat_map(names);
        let all: Vec<_> = names(header).chain(with_common).collect();
        assert_eq!(BTreeSet::from_iter(&all).len(), all.len(), "{}", header.name);
        assert!(header.fields.len() <= 16, "{} has more fields than there are values", header.name);
    }
}

/// With all fields each of them has each value.
#[test]
fn every_subset_of_the_fields_is_kept() {
    for header in every_header().values() {
        for (number, subset) in subsets(header).enumerate() {
            let turns =
                if subset.len() == header.fields.len() { 0..16 } else { number % 16..number % 16 + 1 };
            for turn in turns {
                let value =
                    |field: &FieldSpec, index| subset.contains(field.name).then(|| value(field, index, turn));
                assert_kept(header, &fields(header, value));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_value_is_kept(
        texts in proptest::collection::vec(any_text().prop_filter("empty", |text| !text.is_empty()), 7),
        numbers: [i64; 7],
        subset: u32,
    ) {
        for header in every_header().values() {
            let value = |field: &FieldSpec, index: usize| {
                let number = numbers[index % 7];
                (field.required || subset >> index & 1 == 1).then(|| match field.kind {
                    FieldKind::Text => texts[index % 7].clone(),
                    FieldKind::I32 => (number as i32).to_string(),
                    FieldKind::I64 => number.to_string(),
                    FieldKind::Boolean => (number % 2 == 0).to_string(),
                })
            };
            assert_kept(header, &fields(header, value));
        }
    }
}

#[test]
fn fields_that_are_missing() {
    for header in every_header().values() {
        for missing in header.fields.iter().filter(|field| field.required) {
            let others =
                |field: &FieldSpec, index| (field.name != missing.name).then(|| value(field, index, 0));
            let expected = Err(HeaderError::Missing { header: header.name, field: missing.name });
            assert_read(header, &fields(header, others), expected);
        }
    }
}

#[test]
fn empty_fields() {
    for header in every_header().values() {
        for empty in header.fields {
            let with = |text: Option<&str>| {
                fields(header, |field, index| match text {
                    text if field.name == empty.name => text.map(str::to_owned),
                    _ => Some(value(field, index, 0)),
                })
            };
            let expected = match (empty.required, empty.kind) {
                (true, FieldKind::Text) => Ok(with(Some(""))),
                (true, _) => Err(HeaderError::Missing { header: header.name, field: empty.name }),
                (false, _) => Ok(with(None)),
            };
            assert_read(header, &with(Some("")), expected);
        }
    }
}

#[test]
fn numbers_that_are_none() {
    let of_any = ["x", "1.0", "1e3", "0x10", " 1", "1 ", "١", "true", "--1", "-"];
    let too_large = |kind| match kind {
        FieldKind::I32 => ["2147483648", "-2147483649"],
        _ => ["9223372036854775808", "-9223372036854775809"],
    };
    for header in every_header().values() {
        let numbers =
            header.fields.iter().filter(|field| matches!(field.kind, FieldKind::I32 | FieldKind::I64));
        for bad in numbers {
            for text in of_any.into_iter().chain(too_large(bad.kind)) {
                let value = |field: &FieldSpec, index| {
                    Some(if field.name == bad.name { text.to_owned() } else { value(field, index, 0) })
                };
                let expected =
                    Err(HeaderError::Invalid { header: header.name, field: bad.name, value: text.into() });
                assert_read(header, &fields(header, value), expected);
            }
        }
    }
}

/// What the header reads from these fields, in each format, is written as `expected`.
fn assert_read(header: &Header, ext: &ExtFields, expected: Result<ExtFields, HeaderError>) {
    for format in FORMATS {
        let found = (header.resend)(&in_frame(ext, format), format);
        assert_eq!(found, expected, "{} in {format:?}", header.name);
    }
}
