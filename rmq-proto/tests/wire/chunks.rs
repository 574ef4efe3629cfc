//! Streams of frames in pieces of any size.

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::frame::{Frame, FrameDecoder, FrameError, MAX_FRAME_LEN};

use crate::golden;
use crate::round_trips::any_command;
use crate::support::{Refused, json_frame, read, written};

/// The frames of a stream that comes in these pieces. Sees to it that never more than the beginning of one is kept.
fn frames<'a>(decoder: &mut FrameDecoder, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame> {
    let (mut frames, mut unfinished) = (Vec::new(), 0);
    for piece in pieces {
        unfinished += piece.len();
        let mut input = Bytes::copy_from_slice(piece);
        while let Some(frame) = decoder.decode(&mut input).expect("good frames") {
            unfinished -= 8 + frame.header.len() + frame.body.len();
            assert_eq!(decoder.buffered(), 0, "nothing is kept after a frame");
            frames.push(frame);
        }
        assert!(input.is_empty(), "all is taken");
        assert_eq!(decoder.buffered(), unfinished, "only what is not yet a frame is kept");
    }
    frames
}

#[test]
fn glued_and_split() {
    // Case A3: three responses.
    let request = |opaque| RemotingCommand { opaque, ..RemotingCommand::request(34) };
    let commands: Vec<_> = (0..3)
        .map(|opaque| RemotingCommand::response_to(&request(opaque), 0).with_body("body".into()))
        .collect();
    let stream: Vec<_> = commands.iter().flat_map(|command| written(command, HeaderFormat::Json)).collect();
    for size in [stream.len(), 1, 3, 7, 8, 9, 100] {
        let mut decoder = FrameDecoder::default();
        let found = frames(&mut decoder, stream.chunks(size));
        assert_eq!(decoder.buffered(), 0, "nothing is left over");
        let found: Vec<_> =
            found.into_iter().map(|frame| RemotingCommand::decode(frame).expect("fine")).collect();
        assert_eq!(found, commands, "pieces of {size}");
    }
}

#[test]
fn a_stream_may_be_cut_anywhere() {
    let vectors = golden::vector_frames();
    let captured = golden::captured_frames_of_peers();
    assert_cut_anywhere(&vectors);
    // All of them at once would take minutes. A decoder forgets a frame when it is whole, so neighbours tell as much.
    captured.windows(2).for_each(assert_cut_anywhere);

    let all = [vectors, captured].concat();
    let stream = all.concat();
    let found = frames(&mut FrameDecoder::default(), stream.chunks(1));
    assert_eq!(found.len(), 42 + 120);
    for (found, bytes) in found.into_iter().zip(&all) {
        assert_eq!(RemotingCommand::decode(found).map_err(Refused::Header), read(bytes));
    }
}

/// Each command is read in whatever two pieces their stream comes.
fn assert_cut_anywhere(commands: &[Vec<u8>]) {
    let stream = commands.concat();
    let whole = frames(&mut FrameDecoder::default(), [&stream[..]]);
    let decode = |frame: &Frame| RemotingCommand::decode(frame.clone()).map_err(Refused::Header);
    assert!(whole.iter().map(decode).eq(commands.iter().map(|bytes| read(bytes))));
    for at in 0..=stream.len() {
        let (first, second) = stream.split_at(at);
        // Equal frames are equal commands.
        assert_eq!(frames(&mut FrameDecoder::default(), [first, second]), whole, "cut at {at}");
    }
}

#[test]
fn decoders_share_nothing() {
    let one = written(&RemotingCommand::request(1).with_body(vec![1; 300].into()), HeaderFormat::Json);
    let two = written(&RemotingCommand::request(2).with_body(vec![2; 300].into()), HeaderFormat::Json);
    assert_eq!(one.len(), two.len());
    let mut decoders = [FrameDecoder::default(), FrameDecoder::default()];
    let mut found = [Vec::new(), Vec::new()];
    for (one, two) in one.chunks(1).zip(two.chunks(1)) {
        found[0].extend(frames_of_piece(&mut decoders[0], one));
        found[1].extend(frames_of_piece(&mut decoders[1], two));
    }
    for (found, byte) in found.iter().zip([1, 2]) {
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].body, vec![byte; 300]);
    }
}

fn frames_of_piece(decoder: &mut FrameDecoder, piece: &[u8]) -> Option<Frame> {
    decoder.decode(&mut Bytes::copy_from_slice(piece)).expect("good frames")
}

#[test]
fn whole_frames_are_slices_of_the_input() {
    let stream = [json_frame("{}", b"first"), json_frame("{}", b""), json_frame("{}", b"third")].concat();
    let input = Bytes::from(stream);
    let range = input.as_ptr_range();
    let mut rest = input.clone();
    let mut decoder = FrameDecoder::default();
    while let Some(frame) = decoder.decode(&mut rest).expect("good frames") {
        assert!(range.contains(&frame.header.as_ptr()));
        assert!(frame.body.is_empty() || range.contains(&frame.body.as_ptr()));
    }
    assert_eq!(decoder.buffered(), 0);
}

#[test]
fn a_frame_that_began_before_takes_only_its_own_bytes() {
    let (first, second) = (json_frame("{}", b"first"), json_frame("{}", b"second"));
    let mut decoder = FrameDecoder::default();
    let mut head = Bytes::copy_from_slice(&first[..9]);
    assert_eq!(decoder.decode(&mut head), Ok(None));
    let mut rest = Bytes::from([&first[9..], &second[..]].concat());
    let range = rest.as_ptr_range();
    let frame = decoder.decode(&mut rest).expect("fine").expect("the first");
    assert!(!range.contains(&frame.body.as_ptr()), "it is a copy");
    assert_eq!(rest, second, "the second is not touched");
    let frame = decoder.decode(&mut rest).expect("fine").expect("the second");
    assert!(range.contains(&frame.body.as_ptr()), "it is no copy");
}

#[test]
fn the_limit_is_of_the_whole_frame() {
    let frame = json_frame("{}", &[0; 90]);
    assert_eq!(frame.len(), 100);
    let decode = |max| FrameDecoder::new(max).decode(&mut frame.clone().into());
    assert!(matches!(decode(100), Ok(Some(_))));
    assert_eq!(decode(99), Err(FrameError::TooLong { length: 96, max: 99 }));
    // The longest by default waits for its bytes; none are asked for in advance.
    let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
    assert_eq!(decoder.decode(&mut Bytes::from_static(b"\x00\xff\xff\xfc\x00")), Ok(None));
    assert_eq!(decoder.buffered(), 5);
}

#[test]
fn memory_grows_with_what_arrives() {
    let used = |bytes: &'static [u8]| {
        allocation_counter::measure(|| {
            let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
            for piece in bytes.chunks(16) {
                assert_eq!(decoder.decode(&mut Bytes::from_static(piece)), Ok(None));
            }
        })
    };
    const LONGEST: [u8; 1_024] = {
        let mut bytes = [0; 1_024];
        bytes[1] = 0xFF;
        bytes[2] = 0xFF;
        bytes[3] = 0xFC;
        bytes
    };
    for len in [1, 4, 5, 8, 9, 100, 1_024] {
        let most = used(&LONGEST[..len]).bytes_max;
        assert!(most <= 4 * len as u64 + 64, "{most} bytes for {len}");
    }
}

#[test]
fn what_is_printed_tells_no_content() {
    let frame = json_frame(r#"{"extFields":{"Signature":"c2VjcmV0"}}"#, b"private");
    let mut decoder = FrameDecoder::default();
    assert_eq!(decoder.decode(&mut Bytes::copy_from_slice(&frame[..50])), Ok(None));
    let partial = format!("{decoder:?}");
    let whole = decoder.decode(&mut Bytes::copy_from_slice(&frame[50..])).expect("fine");
    let printed = format!("{partial} {whole:?}");
    assert!(printed.contains("buffered: 50") && printed.contains("body_len: 7"), "{printed}");
    for secret in ["c2VjcmV0", "private", "Signature"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chunking_does_not_matter(
        commands in proptest::collection::vec((any_command(), any::<bool>()), 1..6),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut stream = BytesMut::new();
        for (command, json) in &commands {
            let format = if *json { HeaderFormat::Json } else { HeaderFormat::RocketMq };
            command.encode(format, &mut stream).expect("it can be written");
        }
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]);
        let found = frames(&mut FrameDecoder::default(), pieces);
        prop_assert_eq!(&found, &frames(&mut FrameDecoder::default(), [&stream[..]]));
        prop_assert_eq!(&found, &frames(&mut FrameDecoder::default(), stream.chunks(1)));
        prop_assert_eq!(found.len(), commands.len());
    }
}

proptest! {
    #[test]
    fn any_bytes_are_decoded_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = read(&bytes);
        // Most random lengths are refused; short ones get further.
        let mut short = vec![0, 0, 0];
        short.extend(bytes);
        let mut input = Bytes::from(short);
        let mut decoder = FrameDecoder::default();
        while let Ok(Some(frame)) = decoder.decode(&mut input) {
            let _ = RemotingCommand::decode(frame);
        }
    }
}
