//! What is written is read back, in both formats.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use rmq_proto::command::{CommandHead, EncodeError, HeaderFormat, Language, RemotingCommand, encode_frame};
use rmq_proto::ext::{ExtFields, ExtSink, NoExt, WriteExt};

use crate::json_texts::any_text;
use crate::support::{FORMATS, read, written};

fn any_number() -> impl Strategy<Value = i32> {
    prop_oneof![any::<i32>(), any::<i16>().prop_map(i32::from), -32_770..-32_766, 32_766..32_770]
}

fn any_ext() -> impl Strategy<Value = ExtFields> {
    let fields = proptest::collection::btree_map(any_text(), any_text(), 0..5);
    prop_oneof![Just(ExtFields::absent()), fields.prop_map(ExtFields::from_iter)]
}

pub(crate) fn any_command() -> impl Strategy<Value = RemotingCommand> {
    let language = proptest::option::of((0..14_u8).prop_map(Language));
    let numbers = (any_number(), any_number(), any::<i32>(), any::<i32>());
    let remark = proptest::option::of(any_text());
    let body = proptest::collection::vec(any::<u8>(), 0..64);
    (language, numbers, remark, any_ext(), body).prop_map(|(language, numbers, remark, ext, body)| {
        let (code, version, opaque, flag) = numbers;
        RemotingCommand { code, language, version, opaque, flag, remark, ext, body: body.into() }
    })
}

proptest! {
    #[test]
    fn commands(command in any_command()) {
        let json = read(&written(&command, HeaderFormat::Json));
        prop_assert_eq!(json.as_ref(), Ok(&command));
        prop_assert_eq!(json.map(|json| json.ext.is_absent()), Ok(command.ext.is_absent()));
        let binary = read(&written(&command, HeaderFormat::RocketMq));
        // The binary format has no empty remark; a command that it cannot hold is written as JSON.
        let is_narrow = [command.code, command.version].iter().all(|number| i16::try_from(*number).is_ok());
        let lost = is_narrow && command.remark.as_deref() == Some("");
        let remark = command.remark.clone().filter(|_| !lost);
        prop_assert_eq!(binary, Ok(RemotingCommand { remark, ..command }));
    }

    #[test]
    fn read_commands_are_written_alike(command in any_command()) {
        for format in FORMATS {
            let bytes = written(&command, format);
            let again = read(&bytes).expect("our own frame");
            prop_assert_eq!(written(&again, format), bytes);
        }
    }

    #[test]
    fn ext_fields_are_a_map(
        fields in proptest::collection::vec((any_text(), any_text()), 0..6),
        extra in (any_text(), any_text()),
    ) {
        let mut expected = ExtFields::from_iter(fields);
        for format in FORMATS {
            let command = RemotingCommand { ext: expected.clone(), ..RemotingCommand::request(1) };
            let mut found = read(&written(&command, format)).expect("our own frame").ext;
            for (name, value) in expected.iter() {
                prop_assert_eq!(found.value(&name), Some(value));
            }
            found.insert(extra.0.clone(), extra.1.clone());
            expected.insert(extra.0.clone(), extra.1.clone());
            prop_assert_eq!(&found, &expected);
        }
    }
}

#[test]
fn codes_that_do_not_fit_the_binary_format() {
    for (number, format) in [
        (i32::from(i16::MAX), HeaderFormat::RocketMq),
        (i32::from(i16::MIN), HeaderFormat::RocketMq),
        (32_768, HeaderFormat::Json),
        (-32_769, HeaderFormat::Json),
        (200_050, HeaderFormat::Json),
    ] {
        let head = CommandHead::request(number, 1);
        for head in [head, CommandHead { version: number, ..CommandHead::request(1, 1) }] {
            let mut out = BytesMut::new();
            assert_eq!(encode_frame(&mut out, HeaderFormat::RocketMq, &head, &NoExt, 0), Ok(format));
            let command = read(&out).expect("our own frame");
            assert_eq!((command.code, command.version), (head.code, head.version));
        }
    }
}

#[test]
fn lengths_are_of_bytes() {
    let ext = ExtFields::from_iter([("键", "值 😀")]);
    let command = RemotingCommand { ext, ..RemotingCommand::request(1) };
    let bytes = written(&command, HeaderFormat::RocketMq);
    assert_eq!(bytes.len(), 8 + 21 + 2 + 3 + 4 + 8);
    assert_eq!(read(&bytes), Ok(command));
}

#[test]
fn an_empty_value_reads_as_empty() {
    let ext = ExtFields::from_iter([("empty", "")]);
    let command = RemotingCommand { ext, ..RemotingCommand::request(1) };
    for format in FORMATS {
        let found = read(&written(&command, format)).expect("our own frame");
        assert_eq!(found.ext.value("empty").as_deref(), Some(""), "{format:?}");
    }
}

/// Writes one field, some of whose texts are long.
struct Field<'a>(&'a str, &'a str);

impl WriteExt for Field<'_> {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        sink.text("first", "1");
        sink.text(self.0, self.1);
        sink.integer("last", 1);
    }
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let name = |length| Err(EncodeError::NameTooLong { length, max: 32_767 });
    let header = |length| Err(EncodeError::HeaderTooLong { length, max: (1 << 24) - 1 });
    let (json, binary) = (HeaderFormat::Json, HeaderFormat::RocketMq);
    let json_len = 8 + {
        let mut out = BytesMut::new();
        encode_frame(&mut out, json, &CommandHead::request(1, 1), &Field("", ""), 0).expect("fine");
        out.len() - 16
    };
    let binary_len = 21 + (2 + 5 + 4 + 1) + (2 + 4) + (2 + 4 + 4 + 1);
    let room = |len: usize| (1 << 24) - 1 - len;
    let rows = [
        (binary, 32_767, 0, 0, Ok(binary)),
        (binary, 32_768, 0, 0, name(32_768)),
        (binary, 40_000, 0, 0, name(40_000)),
        (json, 40_000, 0, 0, Ok(json)),
        (json, 0, room(json_len), 0, Ok(json)),
        (json, 0, room(json_len) + 1, 0, header(1 << 24)),
        (binary, 0, room(binary_len), 0, Ok(binary)),
        (binary, 0, room(binary_len) + 1, 0, header(1 << 24)),
        (binary, 0, 0, i32::MAX as usize - 4 - binary_len, Ok(binary)),
        (
            binary,
            0,
            0,
            i32::MAX as usize - 3 - binary_len,
            Err(EncodeError::FrameTooLong { length: 1 << 31, max: i32::MAX as usize }),
        ),
    ];
    for (format, name_len, value_len, body_len, expected) in rows {
        let (name, value) = ("n".repeat(name_len), "v".repeat(value_len));
        let mut out = BytesMut::from(&b"before"[..]);
        let head = CommandHead::request(1, 1);
        let found = encode_frame(&mut out, format, &head, &Field(&name, &value), body_len);
        assert_eq!(found, expected, "{format:?} {name_len} {value_len} {body_len}");
        assert_eq!(out == b"before"[..], expected.is_err(), "{format:?} {name_len} {value_len} {body_len}");
    }
}

/// Panics behind a field.
struct Broken;

impl WriteExt for Broken {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        sink.text("first", "1");
        panic!("on purpose");
    }
}

#[test]
fn a_panic_leaves_nothing_behind() {
    for format in FORMATS {
        let mut out = BytesMut::from(&b"before"[..]);
        let head = CommandHead::request(1, 1);
        let written = catch_unwind(AssertUnwindSafe(|| encode_frame(&mut out, format, &head, &Broken, 0)));
        assert!(written.is_err());
        assert_eq!(out, b"before"[..], "{format:?}");
    }
}

#[test]
fn requests_and_responses() {
    let request = RemotingCommand { opaque: 7, ..RemotingCommand::request(34) };
    assert!(!request.is_response() && !request.is_oneway());
    let response = RemotingCommand::response_to(&request, 1).with_remark("no").with_body(Bytes::from("x"));
    assert_eq!((response.code, response.opaque, response.flag, response.version), (1, 7, 1, 479));
    assert_eq!(response.language, Some(Language::RUST));
    assert!(response.is_response() && !response.is_oneway());
    let oneway = RemotingCommand { flag: 2, ..request };
    assert!(oneway.is_oneway());
}
