//! Bytes that are no frames or have no header (wire §1.3, §12 E18).

use bytes::Bytes;
use rmq_proto::command::DecodeError::{self, *};
use rmq_proto::command::{self, RemotingCommand};
use rmq_proto::frame::FrameError::{self, *};
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_proto::json::JsonError;

use crate::support::{Refused, hex, json_frame, read};

const MIB_16: usize = 16_777_216;

/// Bytes that the frame decoder refuses, whole and byte by byte, and at which of them.
const BAD_FRAMES: &[(&str, &str, FrameError, usize)] = &[
    ("BUG-01 a", "00000002 0000", TooShort { length: 2 }, 4),
    ("BUG-01 b", "00000004 02000000", UnknownFormat(2), 8),
    (
        "BUG-01 c",
        "00000019 0100ffff 00000000000000000100000001 00000000 00000000",
        HeaderTooLong { header: 65_535, available: 21 },
        8,
    ),
    ("BUG-01 h", "01000001 00", TooLong { length: 16_777_217, max: MIB_16 }, 4),
    ("E18 length 0", "00000000 00000000", TooShort { length: 0 }, 4),
    ("length 1", "00000001 00", TooShort { length: 1 }, 4),
    ("E18 length 3", "00000003 000000", TooShort { length: 3 }, 4),
    ("E18 negative length", "ffffffff 00000000", NegativeLength(-1), 4),
    ("most negative length", "80000000 00000000", NegativeLength(i32::MIN), 4),
    ("E18 one too long", "00fffffd 00000000", TooLong { length: 16_777_213, max: MIB_16 }, 4),
    (
        "E18 header 11 > 10",
        "0000000e 0000000b 7b22636f6465223a317d",
        HeaderTooLong { header: 11, available: 10 },
        8,
    ),
    ("E18 format 2", "0000000e 0200000a 7b22636f6465223a317d", UnknownFormat(2), 8),
    ("format 255", "0000000e ff00000a 7b22636f6465223a317d", UnknownFormat(255), 8),
    ("header word without body", "00000004 00000001", HeaderTooLong { header: 1, available: 0 }, 8),
    (
        "longest header",
        "00000019 01ffffff 00000000000000000100000001 00000000 00000000",
        HeaderTooLong { header: 16_777_215, available: 21 },
        8,
    ),
];

#[test]
fn frames() {
    for (name, bytes, error, at) in BAD_FRAMES {
        let bytes = hex(bytes);
        assert_eq!(read(&bytes), Err(Refused::Frame(*error)), "{name}");
        let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
        for (index, byte) in bytes.iter().enumerate() {
            let decoded = decoder.decode(&mut Bytes::copy_from_slice(&[*byte]));
            let expected = if index + 1 < *at { Ok(None) } else { Err(*error) };
            assert_eq!(decoded, expected, "{name}, byte {index}");
        }
        assert_eq!(decoder.buffered(), 0, "{name}");
        let good = json_frame("{}", b"");
        assert_eq!(decoder.decode(&mut good.into()), Err(*error), "{name}: stays failed");
    }
}

/// Whole frames whose header is refused.
const BAD_HEADERS: &[(&str, &str, DecodeError)] = &[
    (
        "BUG-01 d",
        "00000019 01000015 00000000000000000100000001 ffffffff 00000000",
        RemarkLength { length: -1, available: 4 },
    ),
    (
        "BUG-01 e",
        "00000019 01000015 00000000000000000100000001 7fffffff 00000000",
        RemarkLength { length: i32::MAX, available: 4 },
    ),
    (
        "BUG-01 f",
        "00000019 01000015 00000000000000000100000001 00000000 00000040",
        ExtLength { length: 64, available: 0 },
    ),
    (
        "BUG-01 g",
        "0000001f 0100001b 00000000000000000100000001 00000000 00000006 ffff 61626364",
        NameLength { length: -1, available: 4 },
    ),
    ("E18 empty JSON header", "00000004 00000000", Json(JsonError::End { offset: 0 })),
    ("E18 bad JSON", "00000007 00000003 7b783a", Json(JsonError::End { offset: 3 })),
    (
        "E18 negative remark length",
        "00000019 01000015 000500 01df 0000000e 00000000 ff000000 00000000",
        RemarkLength { length: -16_777_216, available: 4 },
    ),
    (
        "E18 ext length without bytes",
        "00000019 01000015 000500 01df 0000000e 00000000 00000000 00000005",
        ExtLength { length: 5, available: 0 },
    ),
    ("empty binary header", "00000004 01000000", Cut { offset: 0, needed: 2, available: 0 }),
    ("half an opaque", "0000000b 01000007 000500 01df 0000", Cut { offset: 5, needed: 4, available: 2 }),
    (
        "no ext length",
        "00000015 01000011 000500 01df 0000000e 00000000 00000000",
        Cut { offset: 17, needed: 4, available: 0 },
    ),
    (
        "the remark takes the ext length's place",
        "00000019 01000015 000500 01df 0000000e 00000000 00000002 61626364",
        Cut { offset: 19, needed: 4, available: 2 },
    ),
    (
        "half a name length",
        "0000001a 01000016 000500 01df 0000000e 00000000 00000000 00000001 00",
        Cut { offset: 21, needed: 2, available: 1 },
    ),
    (
        "a name over the end",
        "0000001c 01000018 000500 01df 0000000e 00000000 00000000 00000003 0002 61",
        NameLength { length: 2, available: 1 },
    ),
    (
        "a name over the end of the ext fields, but not of the header",
        "0000001d 01000019 000500 01df 0000000e 00000000 00000000 00000003 0002 61 62",
        NameLength { length: 2, available: 1 },
    ),
    (
        "X4: a name of 40,000 bytes whose length has 16 bits",
        "0000001c 01000018 000500 01df 0000000e 00000000 00000000 00000003 9c40 6e",
        NameLength { length: -25_536, available: 1 },
    ),
    (
        "a remark that the header has room for, but not behind its own length",
        "0000001b 01000017 000500 01df 0000000e 00000000 00000007 616263646566",
        RemarkLength { length: 7, available: 6 },
    ),
    (
        "ext fields that the header has room for, but not behind their length",
        "0000001c 01000018 000500 01df 0000000e 00000000 00000000 00000010 000161",
        ExtLength { length: 16, available: 3 },
    ),
    (
        "longest ext fields",
        "00000019 01000015 000500 01df 0000000e 00000000 00000000 7fffffff",
        ExtLength { length: i32::MAX, available: 0 },
    ),
    (
        "half a value length",
        "0000001e 0100001a 000500 01df 0000000e 00000000 00000000 00000005 0001 61 0000",
        Cut { offset: 24, needed: 4, available: 2 },
    ),
    (
        "the body takes no part in the header",
        "0000001b 01000015 000500 01df 0000000e 00000000 00000000 00000002 0000",
        ExtLength { length: 2, available: 0 },
    ),
    (
        "a name and no value",
        "0000001c 01000018 000500 01df 0000000e 00000000 00000000 00000003 0001 61",
        Cut { offset: 24, needed: 4, available: 0 },
    ),
    (
        "a value over the end",
        "00000020 0100001c 000500 01df 0000000e 00000000 00000000 00000007 0001 61 00000001",
        ValueLength { length: 1, available: 0 },
    ),
    (
        "a value over the end of the ext fields, but not of the header",
        "00000021 0100001d 000500 01df 0000000e 00000000 00000000 00000007 0001 61 00000001 62",
        ValueLength { length: 1, available: 0 },
    ),
    (
        "a negative value length",
        "00000020 0100001c 000500 01df 0000000e 00000000 00000000 00000007 0001 61 80000000",
        ValueLength { length: i32::MIN, available: 0 },
    ),
    (
        "a remark that is not UTF-8",
        "0000001b 01000017 000500 01df 0000000e 00000000 00000002 61ff 00000000",
        Utf8 { offset: 18 },
    ),
    (
        "a name that is not UTF-8",
        "00000020 0100001c 000500 01df 0000000e 00000000 00000000 00000007 0001 c3 00000000",
        Utf8 { offset: 23 },
    ),
    (
        "a value that is not UTF-8",
        "00000021 0100001d 000500 01df 0000000e 00000000 00000000 00000008 0001 61 00000001 80",
        Utf8 { offset: 28 },
    ),
];

#[test]
fn headers() {
    for (name, bytes, error) in BAD_HEADERS {
        assert_eq!(read(&hex(bytes)), Err(Refused::Header(*error)), "{name}");
    }
}

/// The length of a name has a sign, even where so many bytes are there.
#[test]
fn a_name_longer_than_its_length_can_say() {
    let mut frame = hex("0000801f 0100801b 000500 01df 0000000e 00000000 00000000 00008006 8000");
    frame.resize(frame.len() + 0x8000, b'n');
    frame.extend([0; 4]);
    let error = NameLength { length: i16::MIN, available: 0x8004 };
    assert_eq!(read(&frame), Err(Refused::Header(error)));
}

/// JSON headers that are refused.
const BAD_JSON_HEADERS: &[(&str, DecodeError)] = &[
    ("[]", NotAnObject),
    ("null", NotAnObject),
    ("17", NotAnObject),
    ("\"{}\"", NotAnObject),
    ("   ", Json(JsonError::End { offset: 3 })),
    ("{\"code\":1", Json(JsonError::End { offset: 9 })),
    ("{\"code\":1}x", Json(JsonError::Trailing { offset: 10 })),
    ("{\"code\":1}\0", Json(JsonError::Trailing { offset: 10 })),
    ("{\"code\":1}{}", Json(JsonError::Trailing { offset: 10 })),
    ("{\"code\" 1}", Json(JsonError::Unexpected { offset: 8, expected: "`:`" })),
    ("{\"code\":1 \"flag\":2}", Json(JsonError::Unexpected { offset: 10, expected: "`,` or `}`" })),
    ("{\"code\":one}", Json(JsonError::Unexpected { offset: 8, expected: "a value" })),
    ("{,}", Json(JsonError::Unexpected { offset: 1, expected: "a key" })),
    (r#"{,"code":1}"#, Json(JsonError::Unexpected { offset: 1, expected: "a key" })),
    (r#"{"extFields":{,"a":"1"}}"#, Json(JsonError::Unexpected { offset: 14, expected: "a key" })),
];

#[test]
fn json_headers() {
    for (header, error) in BAD_JSON_HEADERS {
        assert_eq!(read(&json_frame(header, b"body")), Err(Refused::Header(*error)), "{header}");
    }
    let mut not_utf8 = json_frame("{\"code\":1,\"remark\":\"??\"}", b"");
    let at = not_utf8.len() - 4;
    not_utf8[at] = 0xC3;
    let error = Json(JsonError::Utf8 { offset: 20 });
    assert_eq!(read(&not_utf8), Err(Refused::Header(error)));
}

#[test]
fn json_header_with_blanks_behind_it() {
    let command = read(&json_frame("{\"code\":1} \t\r\n", b"body")).expect("fine");
    assert_eq!((command.code, &command.body[..]), (1, &b"body"[..]));
}

#[test]
fn the_least_that_is_accepted() {
    let json = read(&hex("0000000e 0000000a 7b22636f6465223a317d")).expect("fine");
    assert_eq!((json.code, json.version, json.opaque, json.flag), (1, 0, 0, 0));
    assert_eq!(
        (json.language, &json.remark, json.ext.is_absent()),
        (Some(command::Language::JAVA), &None, true)
    );
    let binary = hex("00000019 01000015 000500 01df 0000000e 00000000 00000000 00000000");
    let binary = read(&binary).expect("fine");
    assert_eq!((binary.code, binary.version, binary.opaque, binary.flag), (5, 479, 14, 0));
    assert_eq!(
        (binary.language, &binary.remark, binary.ext.is_absent()),
        (Some(command::Language::JAVA), &None, true)
    );
    let response = hex("00000019 01000015 00000000000000000100000001 00000000 00000000");
    let response = read(&response).expect("fine");
    assert_eq!((response.code, response.opaque, response.is_response()), (0, 1, true));
    assert_eq!((&response.remark, response.ext.is_absent(), response.body.len()), (&None, true, 0));
}

#[test]
fn an_incomplete_frame_waits() {
    let whole = hex("0000000e 0000000a 7b22636f6465223a317d");
    for len in 0..whole.len() {
        assert_eq!(read(&whole[..len]), Err(Refused::Incomplete), "{len} bytes");
    }
}

#[test]
fn no_memory_beyond_that_of_the_frame() {
    // Case A1: no length that a frame states makes anything larger than the frame.
    let rows = BAD_FRAMES.iter().map(|(name, bytes, ..)| (*name, hex(bytes)));
    let rows = rows.chain(BAD_HEADERS.iter().map(|(name, bytes, _)| (*name, hex(bytes))));
    let rows = rows.chain(BAD_JSON_HEADERS.iter().map(|(header, _)| (*header, json_frame(header, b"body"))));
    for (name, bytes) in rows {
        let len = bytes.len();
        let whole = Bytes::from(bytes);
        let most = most_memory(|| drop(decode([whole.clone()])));
        assert!(most <= len + SHARED, "{name}: {most} bytes for {len}");
        let split = || (0..len).map(|at| whole.slice(at..at + 1));
        let most = most_memory(|| drop(decode(split())));
        // What is kept of a frame doubles as it grows, from 64 bytes on, and is copied on the way.
        assert!(most <= 4 * len + 64 + SHARED, "{name}: {most} bytes for {len}, byte by byte");
    }
}

/// What `Bytes` takes to count its users.
const SHARED: usize = 64;

fn most_memory(decode: impl FnOnce()) -> usize {
    usize::try_from(allocation_counter::measure(decode).bytes_max).expect("memory fits")
}

/// The command of the one frame that comes in these pieces.
fn decode(pieces: impl IntoIterator<Item = Bytes>) -> Option<RemotingCommand> {
    let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
    for mut piece in pieces {
        if let Some(frame) = decoder.decode(&mut piece).ok()? {
            return RemotingCommand::decode(frame).ok();
        }
    }
    None
}
