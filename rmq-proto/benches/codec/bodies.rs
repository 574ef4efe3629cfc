//! Commands of a consumer, and bodies.

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use rmq_proto::body::{BrokerData, QueueData, TopicRouteData};
use rmq_proto::code::RequestCode;
use rmq_proto::command::{CommandHead, RemotingCommand};
use rmq_proto::frame::FrameDecoder;
use rmq_proto::header::{PullMessageHeader, PullResponseHeader};
use rmq_proto::message::{Messages, StoredMessage, body_crc};

use crate::Bench;
use crate::commands::{decode, encode};
use crate::inputs::{self, BODY, FORMATS};

const MESSAGES: i64 = 32;

pub(crate) fn run(bench: &Bench) {
    for (format, label) in FORMATS {
        let (head, header) = (CommandHead::request(RequestCode::PULL_MESSAGE, 7), pull_header());
        encode(bench, &format!("encode-pull-request-{label}"), format, &head, &header, &[]);
        let frame = inputs::frame(format, &head, &header, &[]);
        decode(bench, &format!("decode-pull-request-{label}"), &frame, |command| {
            assert!(black_box(&command.header::<PullMessageHeader<'_>>()).is_ok());
        });

        let head = CommandHead { remark: Some("FOUND"), ..CommandHead::response(0, 7) };
        let frame = inputs::frame(format, &head, &pull_response_header(), &records());
        bench.measure(&format!("decode-pull-response-32-{label}"), || {
            let mut input = frame.clone();
            let frame = FrameDecoder::default().decode(&mut input).expect("good").expect("whole");
            let command = RemotingCommand::decode(frame).expect("a command");
            assert!(black_box(&command.header::<PullResponseHeader>()).is_ok());
            let messages = Messages::new(command.body.clone()).map(|message| message.expect("a message"));
            let count = messages.map(|message| drop(black_box(message))).count();
            assert_eq!(count as i64, MESSAGES);
        });
    }
    let route = route();
    bench.measure("encode-route-body", || route.encode());
    let body = route.encode();
    bench.measure("decode-route-body", || TopicRouteData::decode(&body).expect("a route"));
}

fn pull_header() -> PullMessageHeader<'static> {
    PullMessageHeader {
        consumer_group: "bench_group".into(),
        topic: "BenchTopic".into(),
        queue_id: 3,
        queue_offset: 42,
        max_messages: 32,
        sys_flag: 3,
        commit_offset: 42,
        suspend_timeout: 15_000,
        subscription: None,
        subscription_version: 1_700_000_000_123,
        expression_type: Some("TAG".into()),
        max_bytes: Some(262_144),
        request_source: None,
        proxied_client_id: None,
        broker_name: Some("broker-a".into()),
    }
}

fn pull_response_header() -> PullResponseHeader {
    PullResponseHeader {
        suggested_broker_id: 0,
        next_begin_offset: 42 + MESSAGES,
        min_offset: 0,
        max_offset: 1_000,
        offset_delta: None,
        topic_sys_flag: Some(0),
        group_sys_flag: Some(0),
        forbidden_type: None,
    }
}

/// Records of messages with bodies of 128 bytes and the properties that a 5.3 broker stores.
fn records() -> Bytes {
    let mut out = BytesMut::new();
    for number in 0..MESSAGES {
        let message = StoredMessage {
            body_crc: body_crc(&BODY),
            queue_id: 3,
            queue_offset: 42 + number,
            commit_log_offset: 1_024 * number,
            born_timestamp: 1_700_000_000_123,
            store_timestamp: 1_700_000_000_125,
            topic: "BenchTopic".into(),
            body: Bytes::from_static(&BODY),
            properties: "MSG_REGION\u{1}DefaultRegion\u{2}UNIQ_KEY\u{1}7F00000100001234ABCD00000000\u{2}\
                         CLUSTER\u{1}DefaultCluster\u{2}TAGS\u{1}T\u{2}KEYS\u{1}k\u{2}WAIT\u{1}true\u{2}TRACE_ON\u{1}true\u{2}"
                .into(),
            ..StoredMessage::default()
        };
        message.encode(&mut out).expect("it can be written");
    }
    out.freeze()
}

/// Of a topic on four brokers, each with a slave.
fn route() -> TopicRouteData {
    let names = ["broker-a", "broker-b", "broker-c", "broker-d"];
    TopicRouteData {
        queue_datas: names
            .iter()
            .map(|name| QueueData {
                broker_name: (*name).into(),
                read_queue_nums: 8,
                write_queue_nums: 8,
                perm: 6,
                topic_sys_flag: 0,
            })
            .collect(),
        broker_datas: names
            .iter()
            .map(|name| BrokerData {
                cluster: "DefaultCluster".into(),
                broker_name: (*name).into(),
                addresses: [(0, "10.0.0.1:10911".into()), (1, "10.0.0.2:10911".into())].into(),
                enable_acting_master: Some(false),
                ..BrokerData::default()
            })
            .collect(),
        ..TopicRouteData::default()
    }
}
