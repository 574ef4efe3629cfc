//! A name server and a broker that answer out of templates.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use rmq_core::proto::body::{BrokerData, QueueData, TopicRouteData};
use rmq_core::proto::code::RequestCode;
use rmq_core::proto::command::{CommandHead, HeaderFormat, RemotingCommand, encode_frame};
use rmq_core::proto::ext::{NoExt, WriteExt};
use rmq_core::proto::frame::FrameDecoder;
use rmq_core::proto::header::SendResponseHeader;

pub(crate) const TOPIC: &str = "BenchTopic";
pub(crate) const NAME_SERVER: &str = "10.0.0.1:9876";
const BROKER: &str = "10.0.0.2:10911";

/// What the broker says to a send, but for the opaque: the fields that 5.3 has, as long as they are there.
pub(crate) struct Template {
    format: HeaderFormat,
    frame: Vec<u8>,
    /// Where the opaque stands.
    at: usize,
}

impl Template {
    /// `opaque` is the first one; in JSON all others have to have as many digits.
    pub(crate) fn new(format: HeaderFormat, opaque: i32) -> Self {
        let header = SendResponseHeader {
            message_id: "7F00000100002A9F0000000000000400".into(),
            queue_id: 3,
            queue_offset: 42_000,
            transaction_id: Some("7F000001000000000000000000001234ABCD00000000".into()),
            batch_unique_id: None,
            recall_handle: None,
            region_id: Some("DefaultRegion".into()),
            trace_on: Some("true".into()),
        };
        let frame = answer(format, opaque, &header, &[]);
        let text = match format {
            HeaderFormat::Json => opaque.to_string().into_bytes(),
            HeaderFormat::RocketMq => opaque.to_be_bytes().to_vec(),
        };
        let at = frame.windows(text.len()).position(|window| window == text).expect("it is in there");
        Self { format, frame: frame.to_vec(), at }
    }

    pub(crate) fn write(&self, opaque: i32, out: &mut Vec<u8>) {
        let at = out.len() + self.at;
        out.extend_from_slice(&self.frame);
        match self.format {
            HeaderFormat::Json => {
                let mut rest = opaque;
                for digit in out[at..at + 7].iter_mut().rev() {
                    *digit = b'0' + (rest % 10) as u8;
                    rest /= 10;
                }
            }
            HeaderFormat::RocketMq => out[at..at + 4].copy_from_slice(&opaque.to_be_bytes()),
        }
    }
}

/// Answers all that comes before the measurement, and notes the opaques of sends.
pub(crate) struct Peer {
    format: HeaderFormat,
    decoder: FrameDecoder,
    pub(crate) sends: VecDeque<i32>,
}

impl Peer {
    pub(crate) fn new(format: HeaderFormat) -> Self {
        Self { format, decoder: FrameDecoder::default(), sends: VecDeque::new() }
    }

    /// What it says at once; sends wait.
    pub(crate) fn receive(&mut self, mut data: Bytes) -> Vec<Bytes> {
        let mut answers = Vec::new();
        while let Some(frame) = self.decoder.decode(&mut data).expect("good frames") {
            let command = RemotingCommand::decode(frame).expect("good headers");
            match RequestCode(command.code) {
                RequestCode::SEND_MESSAGE_V2 => self.sends.push_back(command.opaque),
                RequestCode::GET_ROUTEINFO_BY_TOPIC => {
                    answers.push(answer(self.format, command.opaque, &NoExt, &route().encode()));
                }
                _ => answers.push(answer(self.format, command.opaque, &NoExt, &[])),
            }
        }
        answers
    }
}

fn answer(format: HeaderFormat, opaque: i32, header: &impl WriteExt, body: &[u8]) -> Bytes {
    let mut out = BytesMut::new();
    encode_frame(&mut out, format, &CommandHead::response(0, opaque), header, body.len()).expect("short");
    out.extend_from_slice(body);
    out.freeze()
}

fn route() -> TopicRouteData {
    let queues = QueueData {
        broker_name: "broker-a".into(),
        read_queue_nums: 4,
        write_queue_nums: 4,
        perm: 6,
        topic_sys_flag: 0,
    };
    let broker = BrokerData {
        cluster: "DefaultCluster".into(),
        broker_name: "broker-a".into(),
        addresses: [(0, BROKER.into())].into(),
        ..BrokerData::default()
    };
    TopicRouteData { queue_datas: vec![queues], broker_datas: vec![broker], ..TopicRouteData::default() }
}
