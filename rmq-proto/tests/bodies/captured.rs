//! The JSON bodies taken off the wire between the official client, name server and broker.

use bytes::Bytes;
use rmq_proto::body::*;
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_proto::json::Reader;

use crate::support::Body;

/// A captured command: the code of the request, whether it is the answer, and the body.
struct Captured {
    code: i64,
    is_answer: bool,
    body: Bytes,
}

fn captured() -> impl Iterator<Item = Captured> {
    include_str!("../golden/capture-5.3.3.jsonl").lines().map(|line| {
        let mut json = Reader::of(line);
        let (mut request, mut response_to, mut hex) = (None, None, String::new());
        json.object().expect("an object");
        while let Some(member) = json.key().expect("a key") {
            match &*member {
                "request" => request = json.i64().expect("a number"),
                "response_to" => response_to = json.i64().expect("a number"),
                "hex" => hex = json.text().expect("text").expect("no null").into_owned(),
                _ => json.skip().expect("a value"),
            }
        }
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
        let mut frame: Bytes = (0..hex.len()).step_by(2).map(byte).collect();
        let frame = FrameDecoder::new(MAX_FRAME_LEN)
            .decode(&mut frame)
            .expect("a captured frame")
            .expect("a whole frame");
        Captured {
            code: request.or(response_to).expect("a code"),
            is_answer: response_to.is_some(),
            body: RemotingCommand::decode(frame).expect("a captured frame").body,
        }
    })
}

#[test]
fn captured_bodies_byte_for_byte() {
    fn check<B: Body>(body: &[u8]) {
        let value = B::decode(body).unwrap();
        assert_eq!(value.encode(), body);
    }
    let mut counts = std::collections::BTreeMap::new();
    for Captured { code, is_answer, body } in
        captured().filter(|captured| captured.body.first() == Some(&b'{'))
    {
        match (code, is_answer) {
            (34, false) => check::<HeartbeatData>(&body),
            (38, true) => check::<ConsumerList>(&body),
            (41 | 42, false) => check::<LockBatchRequest>(&body),
            (41, true) => check::<LockBatchResponse>(&body),
            (46, false) => check::<CheckClientConfig>(&body),
            (103, false) => check::<RegisterBroker>(&body),
            (105, true) => check::<TopicRouteData>(&body),
            (106, true) => check::<ClusterInfo>(&body),
            _ => panic!("{code} has a body that is not known: {body:?}"),
        }
        *counts.entry((code, is_answer)).or_insert(0) += 1;
    }
    let expected = [
        ((34, false), 3),
        ((38, true), 3),
        ((41, false), 3),
        ((41, true), 3),
        ((42, false), 1),
        ((46, false), 1),
        ((103, false), 3),
        ((105, true), 3),
        ((106, true), 3),
    ];
    assert_eq!(counts, expected.into());
}
