//! Any bytes, as a stream of frames, in pieces and at once. The first byte says how the pieces are cut; the stream follows.

#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use rmq_proto::command::{EncodeError, HeaderFormat, RemotingCommand};
use rmq_proto::frame::{Frame, FrameDecoder, FrameError, MAX_FRAME_LEN};
use rmq_proto::header::{
    GetRouteHeader, HeartbeatResponseHeader, SendMessageHeader, SendMessageV2Header, SendResponseHeader,
    UnregisterHeader,
};

/// A limit that short inputs can reach, too.
const SMALL_LIMIT: usize = 512;

fuzz_target!(|data: &[u8]| {
    let Some((&cut, stream)) = data.split_first() else { return };
    let limit = if cut & 0x80 == 0 { MAX_FRAME_LEN } else { SMALL_LIMIT };
    let whole = frames(limit, [stream]);
    let most = usize::from(cut & 0x7F) + 1;
    assert_eq!(whole, frames(limit, pieces(stream, most)));
    let (frames, _) = whole;
    for frame in frames {
        assert!(8 + frame.header.len() + frame.body.len() <= limit);
        if let Ok(command) = RemotingCommand::decode(frame) {
            check(&command);
        }
    }
});

/// Pieces of 1 to `most` bytes.
fn pieces(mut stream: &[u8], most: usize) -> impl Iterator<Item = &[u8]> {
    let mut sizes = (1..=most).cycle();
    std::iter::from_fn(move || {
        let size = sizes.next()?.min(stream.len());
        let (piece, rest) = stream.split_at(size);
        stream = rest;
        (size > 0).then_some(piece)
    })
}

/// The frames of a stream, and what ends them. Sees to it that nothing but the beginning of a frame is kept.
fn frames<'a>(limit: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Frame>, Option<FrameError>) {
    let mut decoder = FrameDecoder::new(limit);
    let (mut frames, mut unfinished) = (Vec::new(), 0);
    for piece in pieces {
        unfinished += piece.len();
        let mut input = Bytes::copy_from_slice(piece);
        loop {
            match decoder.decode(&mut input) {
                Ok(Some(frame)) => {
                    unfinished -= 8 + frame.header.len() + frame.body.len();
                    frames.push(frame);
                    assert_eq!(decoder.buffered(), 0);
                }
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(decoder.buffered(), 0);
                    assert_eq!(decoder.decode(&mut Bytes::from_static(b"more")), Err(error));
                    return (frames, Some(error));
                }
            }
        }
        assert!(input.is_empty());
        assert_eq!(decoder.buffered(), unfinished);
        assert!(unfinished < limit);
    }
    (frames, None)
}

fn check(command: &RemotingCommand) {
    for format in [HeaderFormat::Json, HeaderFormat::RocketMq] {
        let mut out = BytesMut::new();
        match command.encode(format, &mut out) {
            Ok(()) => assert_read_back(command, out),
            Err(error) => {
                assert!(matches!(error, EncodeError::NameTooLong { .. }), "{error}");
                assert!(out.is_empty());
            }
        }
    }
    for (name, _) in command.ext.iter() {
        assert!(command.ext.value(&name).is_some());
    }
    let _ = command.header::<GetRouteHeader<'_>>();
    let _ = command.header::<SendMessageHeader<'_>>();
    let _ = command.header::<SendMessageV2Header<'_>>();
    let _ = command.header::<SendResponseHeader<'_>>();
    let _ = command.header::<UnregisterHeader<'_>>();
    let _ = command.header::<HeartbeatResponseHeader>();
    let _ = format!("{command:?}");
}

fn assert_read_back(command: &RemotingCommand, out: BytesMut) {
    let frame = FrameDecoder::new(usize::MAX).decode(&mut out.freeze()).expect("our own frame");
    let frame = frame.expect("a whole frame");
    let format = frame.format;
    let again = RemotingCommand::decode(frame).expect("our own header");
    let mut expected = command.clone();
    // The binary format cannot tell an empty remark from none.
    expected.remark.take_if(|remark| remark.is_empty() && format == HeaderFormat::RocketMq);
    assert_eq!(again, expected);
}
