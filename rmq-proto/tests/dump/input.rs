//! Hex, command lines, and frames that are none.

use std::io::{self, ErrorKind, Read, Write};

use proptest::prelude::*;

use crate::dump::{self, BAD_FRAME, BAD_INPUT, FINE};
use crate::support::{LEAST, OneByOne, json_frame, printed, run};

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
        (
            "ffffffff00000000",
            "bad frame at offset 0: a frame says its length is -1, which is negative: these bytes are no frame",
        ),
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
    let good_line = printed(&["--json", LEAST]);
    for (hex, error) in rows {
        assert_eq!(run(&[hex], io::empty()), (BAD_FRAME, String::new(), format!("{error}\n")));
        // What came before is printed; what comes after, if it is known where that begins.
        let after = if error.starts_with("bad header") { good_line.as_str() } else { "" };
        let out = format!("{good_line}{after}");
        let error = error.replace("offset 0", "offset 18");
        assert_eq!(run(&["--json", LEAST, hex, LEAST], io::empty()), (BAD_FRAME, out, format!("{error}\n")));
    }
}

#[test]
fn incomplete_frames() {
    let line = printed(&["--json", LEAST]);
    for len in 1..LEAST.len() / 2 {
        let of = if len < 4 { "at least 8" } else { "18" };
        let cut = &LEAST[..2 * len];
        let error = format!("incomplete frame at offset 0: {len} of {of} bytes\n");
        assert_eq!(run(&["--json", cut], io::empty()), (BAD_FRAME, String::new(), error.clone()));
        let error = error.replace("offset 0", "offset 18");
        assert_eq!(run(&["--json", LEAST, cut], io::empty()), (BAD_FRAME, line.clone(), error.clone()));
        let stream = format!("{LEAST}{cut}");
        let found = run(&["--json"], OneByOne(stream.as_bytes()));
        assert_eq!(found, (BAD_FRAME, line.clone(), error));
    }
    assert_eq!(printed(&[""]), "");
}

#[test]
fn styles_of_hex() {
    let expected = printed(&[LEAST]);
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
        (
            "0g",
            "bad hex: no digit at offset 1 but `g` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        ),
        (
            "00 0 0",
            "bad hex: no digit at offset 4 but ` ` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        ),
        (
            "00x0",
            "bad hex: no digit at offset 2 but `x` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        ),
        (
            "1x00",
            "bad hex: no digit at offset 1 but `x` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        ),
        (
            "x00",
            "bad hex: no digit at offset 0 but `x` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        ),
        (
            "00;",
            "bad hex: no digit at offset 2 but `;` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        ),
        (
            "00消",
            "bad hex: no digit at offset 2 but `\\xe6` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        ),
        (
            "00\u{1b}[2J",
            "bad hex: no digit at offset 2 but `\\x1b` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)",
        ),
        ("000", "bad hex: the text ends in the middle of a byte, at offset 3"),
        ("0x0", "bad hex: the text ends in the middle of a byte, at offset 3"),
    ];
    for (text, error) in rows {
        let expected = (BAD_INPUT, String::new(), format!("{error}\n"));
        assert_eq!(run(&[text], io::empty()), expected, "{text:?}");
        assert_eq!(run(&[], OneByOne(text.as_bytes())), expected, "{text:?}");
    }
    // The frames before it are printed.
    let found = run(&[LEAST, "zz"], io::empty());
    assert_eq!(found, (BAD_INPUT, printed(&[LEAST]), "bad hex: no digit at offset 37 but `z` (a file of hex is given as `< FILE`, one of bytes as `--raw FILE`)\n".to_owned()));
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
    let expected = (FINE, printed(&[LEAST]), String::new());
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
    for arguments in [&[LEAST][..], &["--json", LEAST], &["--help"], &["zz"]] {
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
}
