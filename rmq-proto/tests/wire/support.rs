//! What the tests share.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use rmq_proto::command::{DecodeError, HeaderFormat, RemotingCommand};
use rmq_proto::frame::{Frame, FrameDecoder, FrameError, MAX_FRAME_LEN};
use rmq_proto::json::Reader;

pub(crate) const FORMATS: [HeaderFormat; 2] = [HeaderFormat::Json, HeaderFormat::RocketMq];

/// Why bytes are no command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refused {
    Frame(FrameError),
    Header(DecodeError),
    Incomplete,
}

/// The one command that the bytes are.
pub(crate) fn read(bytes: &[u8]) -> Result<RemotingCommand, Refused> {
    let mut input = Bytes::copy_from_slice(bytes);
    let frame = FrameDecoder::new(MAX_FRAME_LEN).decode(&mut input).map_err(Refused::Frame)?;
    assert!(input.is_empty(), "bytes are left over");
    RemotingCommand::decode(frame.ok_or(Refused::Incomplete)?).map_err(Refused::Header)
}

/// The command whose JSON header is this text.
pub(crate) fn read_json(header: impl AsRef<[u8]>) -> Result<RemotingCommand, DecodeError> {
    let header = Bytes::copy_from_slice(header.as_ref());
    RemotingCommand::decode(Frame { format: HeaderFormat::Json, header, body: Bytes::new() })
}

pub(crate) fn written(command: &RemotingCommand, format: HeaderFormat) -> Vec<u8> {
    let mut out = BytesMut::new();
    command.encode(format, &mut out).expect("it can be written");
    out.to_vec()
}

/// A frame of this JSON header and body.
pub(crate) fn json_frame(header: &str, body: &[u8]) -> Vec<u8> {
    let mut frame = ((4 + header.len() + body.len()) as u32).to_be_bytes().to_vec();
    frame.extend((header.len() as u32).to_be_bytes());
    frame.extend(header.as_bytes());
    frame.extend(body);
    frame
}

/// Bytes from hex, with or without blanks.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// A line of a file of golden vectors: its members, each as JSON text.
pub(crate) struct Line(BTreeMap<String, String>);

impl Line {
    pub(crate) fn of(line: &str) -> Self {
        Self(members(line, |value| Some(value.skip_raw().expect("a value").to_owned())))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let text = Reader::of(self.0.get(name)?).text().expect("text");
        Some(text?.into_owned())
    }

    pub(crate) fn number(&self, name: &str) -> i32 {
        Reader::of(&self.0[name]).i32().expect("a number").expect("not null")
    }

    pub(crate) fn map(&self, name: &str) -> BTreeMap<String, String> {
        members(&self.0[name], |value| Some(value.text().expect("text")?.into_owned()))
    }
}

fn members(
    object: &str,
    mut value: impl FnMut(&mut Reader<'_>) -> Option<String>,
) -> BTreeMap<String, String> {
    let mut members = BTreeMap::new();
    let mut json = Reader::of(object);
    json.object().expect("an object");
    while let Some(name) = json.key().expect("a key") {
        members.extend(value(&mut json).map(|value| (name.into_owned(), value)));
    }
    json.finish().expect("nothing more");
    members
}
