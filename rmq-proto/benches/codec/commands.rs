//! Whole frames with typed headers.

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use rmq_proto::command::{CommandHead, HeaderFormat, RemotingCommand, encode_frame};
use rmq_proto::ext::WriteExt;
use rmq_proto::frame::FrameDecoder;
use rmq_proto::header::{SendMessageV2Header, SendResponseHeader};

use crate::Bench;
use crate::inputs::{self, BODY, FORMATS};

pub(crate) fn run(bench: &Bench) {
    for (format, label) in FORMATS {
        let (head, header) = (inputs::send_head(), inputs::send_header());
        encode(bench, &format!("encode-send-v2-{label}"), format, &head, &header, &BODY);
        let frame = inputs::frame(format, &head, &header, &BODY);
        decode(bench, &format!("decode-send-v2-{label}"), &frame, |command| {
            assert!(black_box(&command.header::<SendMessageV2Header<'_>>()).is_ok());
        });

        let (head, header) = (inputs::response_head(), inputs::response_header());
        encode(bench, &format!("encode-send-response-{label}"), format, &head, &header, &[]);
        let frame = inputs::frame(format, &head, &header, &[]);
        decode(bench, &format!("decode-send-response-{label}"), &frame, |command| {
            assert!(black_box(&command.header::<SendResponseHeader<'_>>()).is_ok());
        });
    }
}

pub(crate) fn encode(
    bench: &Bench,
    name: &str,
    format: HeaderFormat,
    head: &CommandHead<'_>,
    header: &impl WriteExt,
    body: &[u8],
) {
    let write = |out: &mut BytesMut| {
        encode_frame(out, format, head, header, body.len()).expect("it can be written");
        out.extend_from_slice(body);
    };
    bench.measure(name, || {
        let mut out = BytesMut::with_capacity(1024);
        write(&mut out);
        out
    });
    let mut out = BytesMut::new();
    bench.measure(&format!("{name}-reused"), || {
        out.clear();
        write(&mut out);
        out.len()
    });
}

pub(crate) fn decode(bench: &Bench, name: &str, frame: &Bytes, read: impl Fn(&RemotingCommand)) {
    let mut decoder = FrameDecoder::default();
    let mut decode = |mut input: Bytes| {
        let frame = decoder.decode(&mut input).expect("good").expect("whole");
        let command = RemotingCommand::decode(frame).expect("a command");
        read(black_box(&command));
    };
    bench.measure(name, || decode(Bytes::copy_from_slice(frame)));
    let mut buffer = BytesMut::with_capacity(4 * frame.len());
    bench.measure(&format!("{name}-reused"), || {
        buffer.extend_from_slice(frame);
        decode(buffer.split().freeze());
    });
}
