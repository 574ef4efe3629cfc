//! Peers that answer what they are told to.

use bytes::{Bytes, BytesMut};
use rmq_core::ConnId;
use rmq_core::proto::body::{BrokerData, QueueData, TopicRouteData};
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_core::proto::frame::FrameDecoder;
use rmq_core::proto::header::{
    GetRouteHeader, RecallResponseHeader, SendMessageV2Header, SendResponseHeader,
};
use rmq_core::proto::message::BatchElements;
use rmq_core::proto::names::{DEFAULT_TOPIC, namespace};

/// How a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// As it should be.
    Good,
    /// As it should be, twice.
    Twice,
    /// As it should be, but with the opaque of nobody.
    Misaddressed,
    /// With this code.
    Code(i32),
    /// With a full header and this code, as a broker that stored a message answers.
    Stored(i32),
    /// Success, with neither header nor body.
    Bare,
    /// Success, with a body that cannot be read.
    BadBody,
}

const CODES: [i32; 12] = [1, 2, 3, 9, 13, 14, 16, 17, 207, 1_500, 215, -1];

impl Reply {
    pub(super) fn of(byte: u8) -> Self {
        match byte % 32 {
            0..=8 => Self::Good,
            9..=11 => Self::Code(ResponseCode::GO_AWAY.0),
            12 => Self::Twice,
            13 => Self::Misaddressed,
            14..=16 => Self::Stored(i32::from(byte % 32) - 14 + 10),
            17 => Self::Bare,
            18 => Self::BadBody,
            other => Self::Code(CODES[usize::from(other - 19) % CODES.len()]),
        }
    }
}

/// One connection as its peer sees it.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) conn: ConnId,
    decoder: FrameDecoder,
    /// Two-way requests that were written and not answered.
    pub(super) requests: Vec<RemotingCommand>,
    /// Bytes handed out and not reported written.
    pub(super) outstanding: usize,
    /// The second half of an answer.
    pub(super) rest: Bytes,
    pub(super) open: bool,
    pub(super) gone: bool,
}

impl Peer {
    pub(super) fn new(conn: ConnId) -> Self {
        Self {
            conn,
            decoder: FrameDecoder::new(64 << 20),
            requests: Vec::new(),
            outstanding: 0,
            rest: Bytes::new(),
            open: false,
            gone: false,
        }
    }

    /// Takes what was written. Returns the whole requests in it.
    pub(super) fn written(&mut self, segments: &[Bytes]) -> Vec<RemotingCommand> {
        let mut commands = Vec::new();
        for segment in segments {
            self.outstanding += segment.len();
            let mut segment = segment.clone();
            while let Ok(Some(frame)) = self.decoder.decode(&mut segment) {
                commands.extend(RemotingCommand::decode(frame));
            }
        }
        let two_way = |command: &&RemotingCommand| !command.is_response() && !command.is_oneway();
        self.requests.extend(commands.iter().filter(two_way).cloned());
        commands
    }

    /// Takes out the request with that number, modulo those that wait.
    pub(super) fn take(&mut self, number: u8) -> Option<RemotingCommand> {
        let len = self.requests.len();
        (len > 0).then(|| self.requests.remove(usize::from(number) % len))
    }

    /// `data` behind what is left of the last answer.
    pub(super) fn with_rest(&mut self, data: &[u8]) -> Bytes {
        let rest = core::mem::take(&mut self.rest);
        if rest.is_empty() { Bytes::copy_from_slice(data) } else { [&rest, data].concat().into() }
    }
}

/// The bytes of the answer.
pub(super) fn reply(request: &RemotingCommand, reply: Reply, routes: u8, format: HeaderFormat) -> Bytes {
    let code = |code: i32| RemotingCommand::response_to(request, ResponseCode(code));
    let mut answer = match reply {
        Reply::Good | Reply::Twice | Reply::Misaddressed => good(request, routes),
        Reply::Code(number) => code(number).with_remark("no"),
        Reply::Stored(number) => stored(request, ResponseCode(number), 1),
        Reply::Bare => code(0),
        Reply::BadBody => code(0).with_body(Bytes::from_static(b"{\"queueDatas\":7")),
    };
    if reply == Reply::Misaddressed {
        answer.opaque ^= 0x4000_0000;
    }
    let bytes = frame(&answer, format);
    if reply == Reply::Twice { bytes.repeat(2).into() } else { bytes }
}

pub(super) fn frame(command: &RemotingCommand, format: HeaderFormat) -> Bytes {
    let mut out = BytesMut::new();
    // Nothing here is too long for a frame; were it so, nothing would be answered.
    let _ = command.encode(format, &mut out);
    out.freeze()
}

fn good(request: &RemotingCommand, routes: u8) -> RemotingCommand {
    let success = RemotingCommand::response_to(request, ResponseCode::SUCCESS);
    match RequestCode(request.code) {
        RequestCode::SEND_MESSAGE_V2 | RequestCode::SEND_REPLY_MESSAGE_V2 => {
            stored(request, ResponseCode::SUCCESS, 1)
        }
        RequestCode::SEND_BATCH_MESSAGE => {
            let messages = BatchElements::new(request.body.clone()).count();
            stored(request, ResponseCode::SUCCESS, messages)
        }
        RequestCode::GET_ROUTEINFO_BY_TOPIC => {
            let topic = request.header::<GetRouteHeader<'_>>().map(|header| header.topic.into_owned());
            match route(&namespace::unwrap_any(&topic.unwrap_or_default()), routes) {
                Some(route) => success.with_body(route.encode()),
                None => RemotingCommand::response_to(request, ResponseCode::TOPIC_NOT_EXIST),
            }
        }
        RequestCode::RECALL_MESSAGE => success.with_ext(&RecallResponseHeader { message_id: "AC0A".into() }),
        _ => success,
    }
}

/// So many messages are stored. What is optional depends on the queue and the code.
fn stored(request: &RemotingCommand, code: ResponseCode, messages: usize) -> RemotingCommand {
    let header = request.header::<SendMessageV2Header<'_>>();
    let queue_id = header.map_or(-1, |header| header.queue_id);
    let odd = queue_id % 2 != 0;
    RemotingCommand::response_to(request, code).with_ext(&SendResponseHeader {
        message_id: ["0A00000100002A9F0000000000000400"].repeat(messages).join(",").into(),
        queue_id,
        queue_offset: i64::from(request.opaque),
        transaction_id: odd.then(|| "AC0A".into()),
        batch_unique_id: None,
        recall_handle: None,
        region_id: odd.then(|| "north".into()),
        trace_on: (code != ResponseCode::SUCCESS).then(|| "false".into()),
    })
}

/// The route of a topic in one of the sets. `T6` and above are in none but the default topic's stead; `T5` has brokers of
/// its own.
fn route(topic: &str, set: u8) -> Option<TopicRouteData> {
    let number = topic.strip_prefix('T').and_then(|number| number.parse::<u8>().ok());
    let exists = topic == DEFAULT_TOPIC || number.is_some_and(|number| number < 6);
    let brokers: &[(&str, &str)] = match (set % 8, number) {
        (5, _) => return None,
        (_, Some(5)) => &[("c", "c:1"), ("d", "d:1"), ("e", "e:1"), ("f", "f:1")],
        (1, _) => &[("a", "a:1")],
        (2, _) => &[("a", "a:1"), ("b", "b:2")],
        (3, _) => &[("a", ""), ("b", "b:1"), ("c", "no address")],
        (6, _) => &[("a", "a:1"), ("b", "a:1")],
        (7, _) => &[("a", "ns:9876"), ("b", "b:1")],
        _ => &[("a", "a:1"), ("b", "b:1")],
    };
    exists.then(|| TopicRouteData {
        queue_datas: brokers.iter().map(|(name, _)| queue(name, if set % 8 == 4 { 4 } else { 6 })).collect(),
        broker_datas: brokers.iter().map(|(name, address)| broker(name, address)).collect(),
        ..TopicRouteData::default()
    })
}

fn queue(broker: &str, perm: i32) -> QueueData {
    QueueData { broker_name: broker.into(), read_queue_nums: 2, write_queue_nums: 2, perm, topic_sys_flag: 0 }
}

fn broker(name: &str, address: &str) -> BrokerData {
    let master = (!address.is_empty()).then(|| (0, address.into()));
    BrokerData {
        cluster: "c".into(),
        broker_name: name.into(),
        addresses: master.into_iter().collect(),
        ..BrokerData::default()
    }
}
