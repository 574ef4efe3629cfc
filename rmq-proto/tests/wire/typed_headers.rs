//! Typed headers.

use std::borrow::Cow;
use std::fmt::Debug;

use bytes::BytesMut;
use proptest::prelude::*;
use rmq_proto::command::{CommandHead, RemotingCommand, encode_frame};
use rmq_proto::ext::{ExtFields, HeaderError, ReadExt, WriteExt};
use rmq_proto::header::{
    GetRouteHeader, HeartbeatResponseHeader, SendMessageHeader, SendMessageV2Header, SendResponseHeader,
    UnregisterHeader,
};

use crate::json_texts::any_text;
use crate::support::{FORMATS, read};

type Text = Cow<'static, str>;

/// Checks that a header is read as it was written: from a frame in each format, and from a command built by hand.
macro_rules! assert_read_back {
    ($header:expr, $type:ty) => {{
        let header = $header;
        for format in FORMATS {
            let mut out = BytesMut::new();
            encode_frame(&mut out, format, &CommandHead::request(1, 1), &header, 0)
                .expect("it can be written");
            let command = read(&out).expect("our own frame");
            assert_eq!(command.header::<$type>().as_ref(), Ok(&header), "{format:?}");
        }
        let command = RemotingCommand::request(1).with_ext(&header);
        assert_eq!(command.header::<$type>().as_ref(), Ok(&header));
    }};
}

/// What a value of an optional field may be; empty text reads as none.
fn some_text() -> impl Strategy<Value = Text> {
    any_text().prop_filter("empty", |text| !text.is_empty()).prop_map(Cow::Owned)
}

fn texts<const N: usize>() -> impl Strategy<Value = [Text; N]> {
    proptest::collection::vec(some_text(), N).prop_map(|texts| texts.try_into().expect("N texts"))
}

/// The value, if the subset has the field with this number.
fn pick<T>(subset: u32, field: u32, value: T) -> Option<T> {
    (subset >> field & 1 == 1).then_some(value)
}

proptest! {
    #[test]
    fn get_route([topic] in texts(), flag: bool) {
        for subset in 0..2 {
            let header = GetRouteHeader { topic: topic.clone(), accept_standard_json_only: pick(subset, 0, flag) };
            assert_read_back!(header, GetRouteHeader<'_>);
        }
    }

    #[test]
    fn send_message([t0, t1, t2, t3, t4] in texts(), [i0, i1, i2, i3, i4, i5]: [i32; 6], time: i64, flag: bool) {
        for subset in 0..64 {
            let header = SendMessageHeader {
                producer_group: t0.clone(),
                topic: t1.clone(),
                default_topic: t2.clone(),
                default_topic_queue_nums: i0,
                queue_id: i1,
                sys_flag: i2,
                born_timestamp: time,
                flag: i3,
                properties: pick(subset, 0, t3.clone()),
                reconsume_times: pick(subset, 1, i4),
                unit_mode: pick(subset, 2, flag),
                max_reconsume_times: pick(subset, 3, i5),
                batch: pick(subset, 4, !flag),
                broker_name: pick(subset, 5, t4.clone()),
            };
            assert_read_back!(header, SendMessageHeader<'_>);
        }
    }

    #[test]
    fn send_message_v2([t0, t1, t2, t3, t4] in texts(), [i0, i1, i2, i3, i4, i5]: [i32; 6], time: i64, flag: bool) {
        for subset in 0..64 {
            let header = SendMessageV2Header {
                producer_group: t0.clone(),
                topic: t1.clone(),
                default_topic: t2.clone(),
                default_topic_queue_nums: i0,
                queue_id: i1,
                sys_flag: i2,
                born_timestamp: time,
                flag: i3,
                properties: pick(subset, 0, t3.clone()),
                reconsume_times: pick(subset, 1, i4),
                unit_mode: pick(subset, 2, flag),
                max_reconsume_times: pick(subset, 3, i5),
                batch: pick(subset, 4, !flag),
                broker_name: pick(subset, 5, t4.clone()),
            };
            assert_read_back!(header, SendMessageV2Header<'_>);
        }
    }

    #[test]
    fn send_response([t0, t1, t2, t3, t4, t5] in texts(), queue_id: i32, queue_offset: i64) {
        for subset in 0..32 {
            let header = SendResponseHeader {
                message_id: t0.clone(),
                queue_id,
                queue_offset,
                transaction_id: pick(subset, 0, t1.clone()),
                batch_unique_id: pick(subset, 1, t2.clone()),
                recall_handle: pick(subset, 2, t3.clone()),
                region_id: pick(subset, 3, t4.clone()),
                trace_on: pick(subset, 4, t5.clone()),
            };
            assert_read_back!(header, SendResponseHeader<'_>);
        }
    }

    #[test]
    fn unregister([client_id, producer, consumer] in texts()) {
        for subset in 0..4 {
            let header = UnregisterHeader {
                client_id: client_id.clone(),
                producer_group: pick(subset, 0, producer.clone()),
                consumer_group: pick(subset, 1, consumer.clone()),
            };
            assert_read_back!(header, UnregisterHeader<'_>);
        }
    }
}

#[test]
fn heartbeat_response() {
    for first in [None, Some(false), Some(true)] {
        for second in [None, Some(false), Some(true)] {
            let header = HeartbeatResponseHeader { supports_v2: first, subscription_changed: second };
            assert_read_back!(header, HeartbeatResponseHeader);
        }
    }
}

/// Reads a header from fields given as `name=value`, separated by blanks.
fn from_fields<H>(fields: &str, check: impl FnOnce(Result<H, HeaderError>))
where
    H: for<'a> ReadExt<'a> + Debug,
{
    let fields = fields.split_whitespace().filter_map(|field| field.split_once('='));
    check(H::read_ext(&ExtFields::from_iter(fields)));
}

#[test]
fn missing_and_bad_fields() {
    let missing = |field| Err(HeaderError::Missing { field });
    let invalid = |field, value: &str| Err(HeaderError::Invalid { field, value: value.into() });
    let good = Ok((1, 2));
    let rows = [
        ("msgId=A queueId=1 queueOffset=2", good.clone()),
        ("msgId= queueId=+1 queueOffset=2 transactionId= unknown=x", good),
        ("queueId=1 queueOffset=2", missing("msgId")),
        ("msgId=A queueOffset=2", missing("queueId")),
        ("msgId=A queueId= queueOffset=2", missing("queueId")),
        ("msgId=A queueId=1", missing("queueOffset")),
        ("msgId=A queueId=x queueOffset=2", invalid("queueId", "x")),
        ("msgId=A queueId=1.0 queueOffset=2", invalid("queueId", "1.0")),
        ("msgId=A queueId=2147483648 queueOffset=2", invalid("queueId", "2147483648")),
        ("msgId=A queueId=1 queueOffset=9223372036854775808", invalid("queueOffset", "9223372036854775808")),
    ];
    for (fields, expected) in rows {
        let pairs = fields.split(' ').filter_map(|field| field.split_once('='));
        let ext = ExtFields::from_iter(pairs);
        let found = SendResponseHeader::read_ext(&ext).map(|header| (header.queue_id, header.queue_offset));
        assert_eq!(found, expected, "{fields}");
    }
}

#[test]
fn only_true_is_true() {
    for (text, expected) in [
        ("true", Some(true)),
        ("TRUE", Some(true)),
        ("false", Some(false)),
        ("1", Some(false)),
        ("yes", Some(false)),
        ("", None),
    ] {
        from_fields::<HeartbeatResponseHeader>(&format!("IS_SUB_CHANGE={text}"), |header| {
            assert_eq!(header.expect("fine").subscription_changed, expected, "{text}");
        });
    }
}

#[test]
fn texts_are_borrowed_from_the_frame() {
    let header = GetRouteHeader { topic: "TopicTest".into(), accept_standard_json_only: Some(true) };
    for format in FORMATS {
        let mut out = BytesMut::new();
        encode_frame(&mut out, format, &CommandHead::request(105, 1), &header, 0).expect("it can be written");
        let command = read(&out).expect("our own frame");
        let found: GetRouteHeader<'_> = command.header().expect("fine");
        assert!(matches!(found.topic, Cow::Borrowed("TopicTest")), "{format:?}");
    }
}

#[test]
fn reading_and_writing_allocate_nothing() {
    let header = SendResponseHeader {
        message_id: "0A00000100002A9F0000000000000400".into(),
        queue_id: 1,
        queue_offset: 7,
        transaction_id: Some("0A00000904D201020304050607080001".into()),
        batch_unique_id: None,
        recall_handle: None,
        region_id: Some("DefaultRegion".into()),
        trace_on: Some("true".into()),
    };
    for format in FORMATS {
        let mut out = BytesMut::with_capacity(1_024);
        let writing = allocation_counter::measure(|| write(&mut out, format, &header));
        assert_eq!(writing.count_total, 0, "{format:?}");
        let bytes = out.freeze();
        // From here on the bytes are shared, which takes one allocation whoever reads them.
        let input = bytes.clone();
        let reading = allocation_counter::measure(|| {
            let frame = rmq_proto::frame::FrameDecoder::default().decode(&mut input.clone());
            let command = RemotingCommand::decode(frame.expect("good").expect("whole")).expect("good");
            assert_eq!(command.header::<SendResponseHeader<'_>>().as_ref(), Ok(&header));
        });
        assert_eq!(reading.count_total, 0, "{format:?}");
    }
}

fn write(out: &mut BytesMut, format: rmq_proto::command::HeaderFormat, header: &impl WriteExt) {
    encode_frame(out, format, &CommandHead::response(0, 1), header, 0).expect("it can be written");
}

#[test]
fn messages_of_errors() {
    let missing = HeaderError::Missing { field: "msgId" };
    assert_eq!(missing.to_string(), "the ext field `msgId` is missing");
    let ext = ExtFields::from_iter([("msgId", "A"), ("queueOffset", "2"), ("queueId", &"9".repeat(1_000))]);
    let error = SendResponseHeader::read_ext(&ext).expect_err("no number");
    assert_eq!(error.to_string(), format!("the ext field `queueId` cannot be `{}`", "9".repeat(64)));
}
