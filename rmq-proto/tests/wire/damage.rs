//! Good frames with something cut off or changed: never a panic, never a command that says something else unnoticed.

use bytes::Bytes;
use proptest::prelude::*;
use rmq_proto::command::{DecodeError, HeaderFormat, RemotingCommand};
use rmq_proto::frame::{Frame, FrameDecoder};
use rmq_proto::json::JsonError;

use crate::golden;
use crate::round_trips::any_command;
use crate::support::{FORMATS, Refused, read, written};

/// Frames that peers wrote: the vectors in both formats, and the captured ones.
fn good_frames() -> Vec<Vec<u8>> {
    [golden::vector_frames(), golden::captured_frames_of_peers()].concat()
}

fn cut_out(bytes: &[u8]) -> Frame {
    let frame = FrameDecoder::default().decode(&mut Bytes::copy_from_slice(bytes));
    frame.expect("good").expect("whole")
}

#[test]
fn the_beginning_of_a_frame_is_no_frame() {
    for bytes in good_frames() {
        for len in 0..bytes.len() {
            assert_eq!(read(&bytes[..len]), Err(Refused::Incomplete), "{len} bytes of {bytes:02x?}");
        }
    }
}

/// Whether the header is too short for what it says, as the error tells.
fn is_cut(error: &DecodeError) -> bool {
    matches!(
        error,
        DecodeError::Json(JsonError::End { .. } | JsonError::Utf8 { .. })
            | DecodeError::Cut { .. }
            | DecodeError::RemarkLength { .. }
            | DecodeError::ExtLength { .. }
    )
}

/// No beginning of a header is a header: JSON has its last bracket, the binary format its lengths.
fn assert_no_beginning_is_a_header(frame: &Frame) {
    for len in 0..frame.header.len() {
        let header = frame.header.slice(..len);
        let error = RemotingCommand::decode(Frame { header, ..frame.clone() }).expect_err("it is cut");
        assert!(is_cut(&error), "{len} bytes of {:?}: {error}", frame.header);
    }
}

#[test]
fn the_beginning_of_a_header_is_no_header() {
    for bytes in good_frames() {
        assert_no_beginning_is_a_header(&cut_out(&bytes));
    }
}

/// Where the length of the ext fields lies in a binary header: behind the fixed part and the remark (wire §3.1).
fn ext_length_at(header: &[u8]) -> usize {
    let remark_len = header[13..].first_chunk().map(|len| u32::from_be_bytes(*len)).expect("the fixed part");
    17 + remark_len as usize
}

#[test]
fn a_binary_header_that_agrees_with_its_cut_lacks_fields_and_no_more() {
    let frames = golden::vector_frames().into_iter().map(|bytes| cut_out(&bytes));
    let binary: Vec<_> = frames.filter(|frame| frame.format == HeaderFormat::RocketMq).collect();
    assert_eq!(binary.len(), 21);
    for frame in binary {
        let whole = RemotingCommand::decode(frame.clone()).expect("good");
        let fields: Vec<_> = whole.ext.iter().collect();
        let entries_at = ext_length_at(&frame.header) + 4;
        let mut readable = 0;
        for len in entries_at..=frame.header.len() {
            let mut header = frame.header[..len].to_vec();
            let ext_len = (len - entries_at) as u32;
            header[entries_at - 4..entries_at].copy_from_slice(&ext_len.to_be_bytes());
            let Ok(command) = RemotingCommand::decode(Frame { header: header.into(), ..frame.clone() })
            else {
                continue;
            };
            let found: Vec<_> = command.ext.iter().collect();
            assert_eq!(found, fields[..readable], "the fields before the cut");
            assert_eq!(RemotingCommand { ext: whole.ext.clone(), ..command.clone() }, whole, "all else");
            readable += 1;
        }
        // It is a header where a field ends, and nowhere else.
        assert_eq!(readable, fields.len() + 1);
    }
}

/// What is read is read again from what is written of it, and written alike.
fn assert_stable(command: &RemotingCommand) {
    for format in FORMATS {
        let bytes = written(command, format);
        let again = read(&bytes).expect("our own frame");
        let mut expected = command.clone();
        // The binary format cannot tell an empty remark from none.
        let written_in = cut_out(&bytes).format;
        expected.remark.take_if(|remark| remark.is_empty() && written_in == HeaderFormat::RocketMq);
        assert_eq!(again, expected);
        assert_eq!(written(&again, format), bytes);
    }
}

/// Reads frames until something is wrong or the end. Returns how many commands there were.
fn read_on(stream: Vec<u8>) -> usize {
    let (mut decoder, mut input, mut commands) = (FrameDecoder::default(), Bytes::from(stream), 0);
    while let Ok(Some(frame)) = decoder.decode(&mut input) {
        if let Ok(command) = RemotingCommand::decode(frame) {
            assert_stable(&command);
            commands += 1;
        }
    }
    commands
}

#[test]
fn any_byte_may_be_wrong() {
    let mut commands = 0;
    for (index, frame) in golden::vector_frames().into_iter().enumerate() {
        for at in 0..frame.len() {
            let mut damaged = frame.clone();
            damaged[at] ^= [0x01, 0x20, 0x80][(at + index) % 3];
            commands += read_on(damaged);
        }
    }
    assert!(commands > 3_000, "most changes are to some text: {commands}");
}

/// Each third byte: many of the frames are alike, and others of them have the turn of the next one.
#[test]
fn any_byte_of_what_peers_wrote_may_be_wrong() {
    for (index, frame) in golden::captured_frames_of_peers().into_iter().enumerate() {
        let header_end = frame.len() - cut_out(&frame).body.len();
        for at in (index % 3..header_end).step_by(3) {
            let mut damaged = frame.clone();
            damaged[at] ^= 1 << ((at + index) % 8);
            read_on(damaged);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_beginning_of_any_command_is_one(command in any_command()) {
        for format in FORMATS {
            let bytes = written(&command, format);
            for len in 0..bytes.len() {
                prop_assert_eq!(read(&bytes[..len]), Err(Refused::Incomplete));
            }
            assert_no_beginning_is_a_header(&cut_out(&bytes));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_of_any_command_may_be_wrong(
        command in any_command(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for format in FORMATS {
            let mut bytes = written(&command, format);
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            read_on(bytes);
        }
    }
}
