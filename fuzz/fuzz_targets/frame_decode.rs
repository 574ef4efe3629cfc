//! Any bytes, as a stream of frames, in pieces and at once. The first byte says how the pieces are cut; the stream follows.

#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use rmq_proto::command::{EncodeError, HeaderFormat, RemotingCommand};
use rmq_proto::ext::{ExtFields, HeaderError, ReadExt};
use rmq_proto::frame::{Frame, FrameDecoder, FrameError, MAX_FRAME_LEN};
use rmq_proto::header::*;

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
        let command = RemotingCommand::decode(frame.clone());
        assert_eq!(RemotingCommand::decode(in_another_form(&frame)).ok(), command.clone().ok());
        if let Ok(command) = command {
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
            Ok(_) => assert_read_back(command, out),
            Err(error) => {
                assert!(matches!(error, EncodeError::NameTooLong { .. }), "{error}");
                assert!(out.is_empty());
            }
        }
    }
    for (name, _) in command.ext.iter() {
        assert!(command.ext.value(&name).is_some());
    }
    check_headers(command);
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

/// The same frame in a form that no peer writes, so that it is read another way: a byte more behind the header, a blank in
/// JSON.
fn in_another_form(frame: &Frame) -> Frame {
    let after = match frame.format {
        HeaderFormat::Json => b' ',
        HeaderFormat::RocketMq => 0,
    };
    // What ends early may well be whole with another byte.
    if RemotingCommand::decode(frame.clone()).is_err() {
        return frame.clone();
    }
    Frame { header: [&frame.header[..], &[after]].concat().into(), ..frame.clone() }
}

/// Each header is read alike from the frame and from a map of the same fields.
fn check_headers(command: &RemotingCommand) {
    let fields = ExtFields::from_iter(command.ext.iter());
    macro_rules! check {
        ($($header:ty,)*) => {
            $({
                let read: Result<$header, HeaderError> = command.header();
                assert_eq!(read, <$header>::read_ext(&fields));
            })*
        };
    }
    check! {
        AckMessageHeader<'_>,
        ChangeInvisibleTimeHeader<'_>,
        ChangeInvisibleTimeResponseHeader,
        CheckTransactionHeader<'_>,
        CommonHeader<'_>,
        ConsumeDirectlyHeader<'_>,
        ConsumersChangedHeader<'_>,
        CreateTopicHeader<'_>,
        EarliestStoreTimeResponseHeader,
        EndTransactionHeader<'_>,
        GetClusterTopicsHeader<'_>,
        GetConsumerListHeader<'_>,
        GetConsumerStatusHeader<'_>,
        GetEarliestStoreTimeHeader<'_>,
        GetKvHeader<'_>,
        GetKvListHeader<'_>,
        GetMaxOffsetHeader<'_>,
        GetMinOffsetHeader<'_>,
        GetRouteHeader<'_>,
        GetRunningInfoHeader<'_>,
        HeartbeatResponseHeader,
        KvResponseHeader<'_>,
        OffsetResponseHeader,
        PopMessageHeader<'_>,
        PopResponseHeader<'_>,
        PullMessageHeader<'_>,
        PullResponseHeader,
        PushReplyHeader<'_>,
        QueryMessageHeader<'_>,
        QueryOffsetHeader<'_>,
        QueryResponseHeader,
        RecallMessageHeader<'_>,
        RecallResponseHeader<'_>,
        RegisterBrokerHeader<'_>,
        ResetOffsetHeader<'_>,
        SearchOffsetHeader<'_>,
        SendBackHeader<'_>,
        SendMessageHeader<'_>,
        SendMessageV2Header<'_>,
        SendResponseHeader<'_>,
        UnregisterHeader<'_>,
        UpdateOffsetHeader<'_>,
        ViewMessageHeader<'_>,
    }
}
