//! Frames of the official client and servers.

use rmq_proto::command::{HeaderFormat, Language, RemotingCommand};
use rmq_proto::ext::ExtFields;

use crate::support::{FORMATS, Line, hex, read, written};

const VECTORS: &str = include_str!("../golden/vectors.jsonl");
const CAPTURE: &str = include_str!("../golden/capture-5.3.3.jsonl");

/// Every frame of the vectors, in both formats.
pub(crate) fn vector_frames() -> Vec<Vec<u8>> {
    let lines = VECTORS.lines().map(Line::of);
    lines.filter(|line| line.text("kind").as_deref() == Some("frame")).map(|line| bytes_of(&line)).collect()
}

/// Every captured frame.
pub(crate) fn captured_frames_of_peers() -> Vec<Vec<u8>> {
    CAPTURE.lines().map(|line| bytes_of(&Line::of(line))).collect()
}

fn bytes_of(line: &Line) -> Vec<u8> {
    hex(&line.text("hex").expect("a frame"))
}

/// The command that the line states, with this language, version and body.
fn stated(line: &Line, language: Language, version: i32, body: Vec<u8>) -> RemotingCommand {
    RemotingCommand {
        code: line.number("code"),
        language: Some(language),
        version,
        opaque: line.number("opaque"),
        flag: line.number("flag"),
        remark: line.text("remark"),
        ext: ExtFields::from_iter(line.map("ext")),
        body: body.into(),
    }
}

fn assert_written_alike(command: &RemotingCommand) {
    for format in FORMATS {
        let again = read(&written(command, format)).expect("our own frame");
        let mut expected = command.clone();
        // The binary format cannot tell an empty remark from none.
        expected.remark.take_if(|remark| remark.is_empty() && format == HeaderFormat::RocketMq);
        assert_eq!(again, expected, "{format:?}");
    }
}

#[test]
fn vectors() {
    let lines = VECTORS.lines().map(Line::of);
    let frames: Vec<_> = lines.filter(|line| line.text("kind").as_deref() == Some("frame")).collect();
    assert_eq!(frames.len(), 42);
    for line in frames {
        let name = line.text("name").expect("a name");
        let language = line.text("language").and_then(|name| Language::from_name(&name));
        let body = hex(&line.text("body").expect("a body"));
        let stated = stated(&line, language.expect("a language"), line.number("version"), body);
        let bytes = bytes_of(&line);
        let command = read(&bytes).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(command, stated, "{name}");
        assert_written_alike(&command);
        let format = match &*line.text("serialize").expect("a format") {
            "JSON" => HeaderFormat::Json,
            _ => HeaderFormat::RocketMq,
        };
        assert_eq!(written(&command, format), bytes, "{name}: the order of the ext fields is kept");
    }
}

#[test]
fn captured_frames() {
    let lines: Vec<_> = CAPTURE.lines().map(Line::of).collect();
    assert_eq!(lines.len(), 120);
    for line in lines {
        let bytes = bytes_of(&line);
        let command = read(&bytes).unwrap_or_else(|error| panic!("{}: {error:?}", line.number("code")));
        let body = command.body.to_vec();
        assert_eq!(body.len(), line.number("body_len") as usize);
        assert_eq!(command, stated(&line, Language::JAVA, 479, body));
        assert_written_alike(&command);
        assert_eq!(written(&command, HeaderFormat::Json), bytes);
    }
}

/// Peers write headers in one form, and that form is read in a way of its own. Read in the way of all others, they say the
/// same.
#[test]
fn a_form_that_no_peer_writes_reads_alike() {
    let lines = VECTORS.lines().chain(CAPTURE.lines()).map(Line::of);
    let frames = lines.filter(|line| line.text("kind").is_none_or(|kind| kind == "frame"));
    let mut count = 0;
    for bytes in frames.filter_map(|line| line.text("hex")).map(|text| hex(&text)) {
        let command = read(&bytes).expect("a command");
        let header_end = 8 + usize::from(bytes[6]) * 256 + usize::from(bytes[7]);
        let (words, header, body) = (&bytes[..8], &bytes[8..header_end], &bytes[header_end..]);
        let blank = if words[4] == 0 { b' ' } else { 0 };
        let mut longer = [words, header, &[blank], body].concat();
        let length = (bytes.len() - 4 + 1) as u32;
        longer[..4].copy_from_slice(&length.to_be_bytes());
        longer[6..8].copy_from_slice(&(header.len() as u16 + 1).to_be_bytes());
        assert_eq!(read(&longer), Ok(command));
        count += 1;
    }
    assert_eq!(count, 42 + 120);
}
