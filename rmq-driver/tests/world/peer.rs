//! A name server and a broker that do as they are told.

use std::collections::{BTreeMap, VecDeque};

use bytes::{Bytes, BytesMut};
use rmq_driver::rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_driver::rmq_core::proto::command::{FLAG_ONEWAY, HeaderFormat, RemotingCommand};
use rmq_driver::rmq_core::proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_driver::rmq_core::proto::header::{
    CheckTransactionHeader, PushReplyHeader, RecallResponseHeader, SendMessageV2Header, SendResponseHeader,
};
use rmq_driver::rmq_core::proto::message::{BatchElements, StoredMessage};
use rmq_driver::rmq_core::proto::properties;

use super::route::route;
use super::{Pipes, World};

pub(crate) const NAME_SERVER: &str = "names:9876";
pub(crate) const BROKER: &str = "broker:10911";

/// A send that the broker saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) body: Bytes,
    pub(crate) born_ms: i64,
    /// 1, or those of a batch.
    pub(crate) messages: usize,
    pub(crate) properties: String,
    pub(crate) code: RequestCode,
    pipe: usize,
    opaque: i32,
}

/// What lies between a stream's bytes and its frames.
pub(crate) trait Wire {
    /// What the client's bytes say. It may write to the stream, and close it.
    fn open(&self, pipes: &Pipes, pipe: usize, data: Vec<u8>) -> Vec<u8>;

    /// The bytes that say this to the client.
    fn seal(&self, pipe: usize, data: Vec<u8>) -> Vec<u8>;
}

pub(crate) struct Peer {
    world: World,
    pub(crate) wire: Option<Box<dyn Wire>>,
    decoders: BTreeMap<usize, FrameDecoder>,
    /// The broker keeps sends without answering them.
    pub(crate) holds: bool,
    held: Vec<Seen>,
    pub(crate) seen: Vec<Seen>,
    /// The answers to the messages given back; when used up, they are taken.
    pub(crate) backs: VecDeque<ResponseCode>,
    /// Whether the broker carries recalls out, or leaves them without an answer.
    pub(crate) recalls: bool,
    /// What sends are answered with in place of SUCCESS.
    pub(crate) status: Option<ResponseCode>,
    /// What requests are refused with, and in which words.
    pub(crate) refuses: BTreeMap<i32, (ResponseCode, String)>,
    /// The ends of transactions.
    pub(crate) ends: Vec<RemotingCommand>,
    /// The client's answers to what the broker asked.
    pub(crate) answered: Vec<ResponseCode>,
    /// Groups that unregistered.
    pub(crate) unregistered: usize,
    offset: i64,
}

impl Peer {
    pub(crate) fn new(world: &World) -> Self {
        let world = world.clone();
        Self {
            world,
            wire: None,
            decoders: BTreeMap::new(),
            holds: false,
            held: Vec::new(),
            seen: Vec::new(),
            backs: VecDeque::new(),
            recalls: true,
            status: None,
            refuses: BTreeMap::new(),
            ends: Vec::new(),
            answered: Vec::new(),
            unregistered: 0,
            offset: 0,
        }
    }

    /// Runs the world and answers until neither has anything to do. Panics when a stream carries anything but frames.
    pub(crate) fn run(&mut self) {
        loop {
            self.world.run();
            if !self.take_all() {
                return;
            }
        }
    }

    /// Polls each woken task once and answers what came of it.
    pub(crate) fn step(&mut self) {
        self.world.run_once();
        self.take_all();
    }

    /// Bytes of frames that have begun and not ended.
    pub(crate) fn unfinished(&self) -> usize {
        self.decoders.values().map(FrameDecoder::buffered).sum()
    }

    fn take_all(&mut self) -> bool {
        let mut progress = false;
        for index in 0..self.world.pipes.len() {
            let data = self.world.pipes.with(index, |end| std::mem::take(&mut end.written));
            if data.is_empty() {
                continue;
            }
            progress = true;
            let data = match &self.wire {
                Some(wire) => wire.open(&self.world.pipes, index, data),
                None => data,
            };
            self.take(index, data.into());
        }
        progress
    }

    fn take(&mut self, pipe: usize, mut data: Bytes) {
        loop {
            let decoder = self.decoders.entry(pipe).or_insert_with(|| FrameDecoder::new(MAX_FRAME_LEN));
            let Some(frame) = decoder.decode(&mut data).unwrap() else { return };
            let request = RemotingCommand::decode(frame).unwrap();
            self.request(pipe, &request);
        }
    }

    fn request(&mut self, pipe: usize, request: &RemotingCommand) {
        if let Some((code, remark)) = self.refuses.get(&request.code).filter(|_| !request.is_response()) {
            let answer = RemotingCommand::response_to(request, *code).with_remark(remark.clone());
            return self.write(pipe, &answer);
        }
        match RequestCode(request.code) {
            RequestCode::GET_ROUTEINFO_BY_TOPIC => {
                let answer = RemotingCommand::response_to(request, ResponseCode::SUCCESS)
                    .with_body(route(BROKER).encode());
                self.write(pipe, &answer);
            }
            _ if request.is_response() => self.answered.push(ResponseCode(request.code)),
            code @ (RequestCode::SEND_MESSAGE_V2
            | RequestCode::SEND_BATCH_MESSAGE
            | RequestCode::SEND_REPLY_MESSAGE_V2) => {
                let header = request.header::<SendMessageV2Header<'_>>().unwrap();
                let (born_ms, properties) = (header.born_timestamp, header.properties.unwrap().into_owned());
                let is_batch = code == RequestCode::SEND_BATCH_MESSAGE;
                let messages = if is_batch { BatchElements::new(request.body.clone()).count() } else { 1 };
                let (body, opaque) = (request.body.clone(), request.opaque);
                let seen = Seen { body, born_ms, properties, code, messages, pipe, opaque };
                self.seen.push(seen.clone());
                if self.holds {
                    self.held.push(seen);
                } else if !request.is_oneway() {
                    self.stored(&seen);
                }
            }
            RequestCode::RECALL_MESSAGE if !self.recalls => {}
            RequestCode::RECALL_MESSAGE => {
                let header = RecallResponseHeader { message_id: "AC0A".into() };
                let answer = RemotingCommand::response_to(request, ResponseCode::SUCCESS).with_ext(&header);
                self.write(pipe, &answer);
            }
            RequestCode::CONSUMER_SEND_MSG_BACK => {
                let code = self.backs.pop_front().unwrap_or(ResponseCode::SUCCESS);
                self.write(pipe, &RemotingCommand::response_to(request, code));
            }
            RequestCode::END_TRANSACTION => self.ends.push(request.clone()),
            code => {
                self.unregistered += usize::from(code == RequestCode::UNREGISTER_CLIENT);
                self.write(pipe, &RemotingCommand::response_to(request, ResponseCode::SUCCESS));
            }
        }
    }

    /// Answers the sends that were kept. The answers lie in the streams; nothing runs.
    pub(crate) fn release(&mut self) -> usize {
        let held = std::mem::take(&mut self.held);
        held.iter().for_each(|seen| self.stored(seen));
        held.len()
    }

    fn stored(&mut self, seen: &Seen) {
        let ids: Vec<_> = (0..seen.messages).map(|place| format!("0A00000100002A9F{place:016X}")).collect();
        let header = SendResponseHeader {
            message_id: ids.join(",").into(),
            queue_id: 0,
            queue_offset: self.offset,
            transaction_id: None,
            batch_unique_id: None,
            recall_handle: None,
            region_id: None,
            trace_on: None,
        };
        self.offset += seen.messages as i64;
        let request =
            RemotingCommand { opaque: seen.opaque, ..RemotingCommand::request(RequestCode::SEND_MESSAGE_V2) };
        let code = self.status.unwrap_or(ResponseCode::SUCCESS);
        let answer = RemotingCommand::response_to(&request, code).with_ext(&header);
        self.write(seen.pipe, &answer);
    }

    /// The broker pushes a reply to a request that it saw.
    pub(crate) fn push_reply(&self, request: &Seen, sys_flag: i32, body: &'static str) {
        let id = properties::value(&request.properties, properties::CORRELATION_ID).unwrap();
        let header = PushReplyHeader {
            producer_group: "repliers".into(),
            topic: "cluster_REPLY_TOPIC".into(),
            default_topic: "TBW102".into(),
            default_topic_queue_nums: 4,
            queue_id: 0,
            sys_flag,
            born_timestamp: 0,
            flag: 0,
            properties: Some(format!("CORRELATION_ID\u{1}{id}\u{2}").into()),
            reconsume_times: Some(0),
            unit_mode: Some(false),
            born_host: "10.0.0.7:40001".into(),
            store_host: "10.0.0.2:10911".into(),
            store_timestamp: 0,
        };
        let push = RemotingCommand::request(RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT).with_ext(&header);
        self.write(request.pipe, &push.with_body(body.into()));
    }

    /// The broker asks about a half message. Nothing runs.
    pub(crate) fn ask_about(&self, message: &StoredMessage) {
        let mut body = BytesMut::new();
        message.encode(&mut body).unwrap();
        let header = CheckTransactionHeader {
            topic: None,
            transaction_offset: 3,
            commit_log_offset: 2_048,
            message_id: None,
            transaction_id: None,
            offset_message_id: None,
            broker_name: None,
        };
        let check = RemotingCommand::request(RequestCode::CHECK_TRANSACTION_STATE).with_ext(&header);
        let check = RemotingCommand { flag: FLAG_ONEWAY, ..check.with_body(body.freeze()) };
        self.write(self.pipe(BROKER), &check);
    }

    pub(crate) fn write(&self, pipe: usize, answer: &RemotingCommand) {
        let mut out = BytesMut::new();
        answer.encode(HeaderFormat::Json, &mut out).unwrap();
        let out = match &self.wire {
            Some(wire) => wire.seal(pipe, out.into()),
            None => out.into(),
        };
        self.world.pipes.with(pipe, |end| end.unread.extend(out));
    }

    /// The bodies of the sends that the broker saw, in their order.
    pub(crate) fn bodies(&self) -> Vec<&[u8]> {
        self.seen.iter().map(|seen| &*seen.body).collect()
    }

    /// The open stream to an address.
    pub(crate) fn pipe(&self, address: &str) -> usize {
        let pipes = &self.world.pipes;
        let found = (0..pipes.len())
            .rev()
            .find(|&index| pipes.with(index, |end| end.address == address && !end.dropped));
        found.unwrap_or_else(|| panic!("no open stream to {address}"))
    }
}

/// A half message of the producer group `group`, as a broker keeps it.
pub(crate) fn half_message(id: &str) -> StoredMessage {
    StoredMessage {
        topic: "orders".into(),
        body: "hello".into(),
        properties: format!("PGROUP\u{1}group\u{2}TRAN_MSG\u{1}true\u{2}UNIQ_KEY\u{1}{id}\u{2}"),
        ..StoredMessage::default()
    }
}
