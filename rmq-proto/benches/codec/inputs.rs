//! The commands measured: those of a producer, with the values that the comparison with another codec uses.

use bytes::{BufMut, Bytes, BytesMut};
use rmq_proto::code::RequestCode;
use rmq_proto::command::{CommandHead, HeaderFormat, encode_frame};
use rmq_proto::ext::WriteExt;
use rmq_proto::header::{SendMessageV2Header, SendResponseHeader};

pub(crate) const FORMATS: [(HeaderFormat, &str); 2] =
    [(HeaderFormat::Json, "json"), (HeaderFormat::RocketMq, "binary")];

pub(crate) const BODY: [u8; 128] = [b'a'; 128];

pub(crate) fn send_head() -> CommandHead<'static> {
    CommandHead::request(RequestCode::SEND_MESSAGE_V2, 7)
}

pub(crate) fn send_header() -> SendMessageV2Header<'static> {
    SendMessageV2Header {
        producer_group: "bench_group".into(),
        topic: "BenchTopic".into(),
        default_topic: "TBW102".into(),
        default_topic_queue_nums: 4,
        queue_id: 3,
        sys_flag: 0,
        born_timestamp: 1_700_000_000_123,
        flag: 0,
        properties: Some(
            "KEYS\u{1}k\u{2}TAGS\u{1}T\u{2}WAIT\u{1}true\u{2}UNIQ_KEY\u{1}7F00000100001234ABCD00000000\u{2}"
                .into(),
        ),
        reconsume_times: Some(0),
        unit_mode: Some(false),
        max_reconsume_times: None,
        batch: Some(false),
        broker_name: Some("broker-a".into()),
    }
}

pub(crate) fn response_head() -> CommandHead<'static> {
    CommandHead::response(0, 7)
}

pub(crate) fn response_header() -> SendResponseHeader<'static> {
    SendResponseHeader {
        message_id: "7F00000100002A9F0000000000000400".into(),
        queue_id: 3,
        queue_offset: 42,
        transaction_id: Some("7F00000100001234ABCD00000000".into()),
        batch_unique_id: None,
        recall_handle: None,
        region_id: None,
        trace_on: None,
    }
}

pub(crate) fn frame(
    format: HeaderFormat,
    head: &CommandHead<'_>,
    header: &impl WriteExt,
    body: &[u8],
) -> Bytes {
    let mut out = BytesMut::new();
    encode_frame(&mut out, format, head, header, body.len()).expect("it can be written");
    out.put_slice(body);
    out.freeze()
}
