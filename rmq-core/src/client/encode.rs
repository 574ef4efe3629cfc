//! From what waits on a link to the bytes of one write.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;

use bytes::{BufMut, Bytes, BytesMut};
use rmq_proto::body::HeartbeatData;
use rmq_proto::code::RequestCode;
use rmq_proto::command::{CommandHead, EncodeError, FLAG_ONEWAY, FLAG_RESPONSE, Language, encode_frame};
use rmq_proto::ext::{NoExt, WriteExt};
use rmq_proto::header::{
    GetMaxOffsetHeader, GetRouteHeader, RecallMessageHeader, SendMessageV2Header, UnregisterHeader,
};

use super::Client;
use crate::event::{OpId, ProducerId};
use crate::fault::ProbeId;
use crate::io::{ConnId, WriteData};
use crate::link::{Answer, Asking, Entry, Link, LinkId, Next, Owner, Request, Up};
use crate::producer::{SendOp, Step};
use crate::recall::Recall;
use crate::route::TopicId;

/// Bodies up to this many bytes are copied beside their headers; longer ones are segments of their own.
const COPY_UP_TO: usize = 4_096;
/// More than any header takes besides its texts.
const HEADER_ROOM: usize = 512;
/// Least room to start a batch with.
const BATCH_ROOM: usize = 4_096;

/// The bytes of one write as they grow.
pub(super) struct Batch {
    segments: Vec<Bytes>,
    segments_len: usize,
    buffer: BytesMut,
    frames: u64,
    link: LinkId,
    /// That of the last frame.
    code: RequestCode,
}

impl Batch {
    fn len(&self) -> usize {
        self.segments_len + self.buffer.len()
    }

    fn flush(&mut self) {
        if !self.buffer.is_empty() {
            self.push(self.buffer.len(), None);
        }
    }

    fn push(&mut self, buffered: usize, body: Option<Bytes>) {
        self.segments_len += buffered + body.as_ref().map_or(0, Bytes::len);
        if buffered > 0 {
            self.segments.push(self.buffer.split().freeze());
        }
        self.segments.extend(body);
    }

    fn body(&mut self, body: &Bytes) {
        if body.len() <= COPY_UP_TO {
            self.buffer.put_slice(body);
        } else {
            self.push(self.buffer.len(), Some(body.clone()));
        }
    }
}

impl Client {
    /// The bytes of the next write of a connection; `None` when all that waited was taken back.
    pub(super) fn make_write(&mut self, conn: ConnId, id: LinkId) -> Option<WriteData> {
        let up = self.links.get_mut(id).and_then(Link::up).filter(|up| up.conn == conn)?;
        up.write_queued = false;
        let mut batch = Batch {
            segments: Vec::new(),
            segments_len: 0,
            buffer: core::mem::take(&mut self.buffer),
            frames: 0,
            link: id,
            code: RequestCode(0),
        };
        batch.buffer.reserve(BATCH_ROOM);
        while self.fits(id, &batch) {
            let Some(next) = self.links.get_mut(id).and_then(|link| link.queue.pop()) else {
                break;
            };
            match next {
                Next::Answer(answer) => self.encode_answer(&answer, &mut batch),
                Next::Request(request) => self.encode_request(id, request, &mut batch),
            }
        }
        batch.flush();
        self.buffer = batch.buffer;
        if batch.segments.is_empty() {
            return None;
        }
        let (now, stall) = (self.now, self.now + self.config.write_stall);
        self.stats.frames_written += batch.frames;
        let up = self.links.get_mut(id).and_then(Link::up)?;
        up.hand_out(batch.segments_len, now, stall);
        self.rearm_link(id);
        Some(WriteData { segments: batch.segments })
    }

    /// Whether the next frame may join the batch: it is the first, or there is room for it.
    fn fits(&self, id: LinkId, batch: &Batch) -> bool {
        if batch.frames == 0 {
            return true;
        }
        // A control character takes six bytes in JSON.
        let escaped = |text: &str| text.len() * 6;
        let bound = match self.links.get(id).and_then(|link| link.queue.peek()) {
            Some(Owner::Send(OpId(op))) => self.sends.get(op).map_or(0, |op| {
                let broker = op.progress.as_ref().map_or("", |progress| &progress.choice.broker);
                op.body.len()
                    + self.carried_len(op)
                    + op.topic.len()
                    + op.config.group.len()
                    + escaped(&op.properties)
                    + escaped(broker)
                    + op.recall().map_or(0, |recall| recall.handle().len())
                    + op.ending().map_or(0, |end| (end.bytes() + op.message_id().len()) * 6)
            }),
            Some(Owner::SendBack(OpId(op))) => {
                let header = self.sends.get(op).and_then(SendOp::back).map(|back| back.header());
                header.map_or(0, |header| {
                    let texts = [header.origin_message_id, header.origin_topic, header.broker_name];
                    header.group.len() + texts.iter().flatten().map(|text| escaped(text)).sum::<usize>()
                })
            }
            Some(Owner::Heartbeat(_)) => self.producers.groups().map(|group| group.len() + HEADER_ROOM).sum(),
            _ => 0,
        };
        batch.len() + bound + self.extras_room() + HEADER_ROOM <= self.config.limits.write_batch
    }

    pub(super) fn head<'a>(
        &self,
        code: i32,
        opaque: i32,
        flag: i32,
        remark: Option<&'a str>,
    ) -> CommandHead<'a> {
        CommandHead { code, language: Language::RUST, version: self.config.version, opaque, flag, remark }
    }

    pub(super) fn frame_to<H: WriteExt>(
        &self,
        batch: &mut Batch,
        head: &CommandHead<'_>,
        ext: &H,
        body: &Bytes,
    ) -> Result<(), EncodeError> {
        if self.is_plain() || head.flag & FLAG_RESPONSE != 0 {
            encode_frame(&mut batch.buffer, self.config.header_format, head, ext, body.len())?;
        } else {
            self.encode_extended(&mut batch.buffer, batch.link, head, ext, body)?;
        }
        batch.code = RequestCode(head.code);
        batch.body(body);
        batch.frames += 1;
        Ok(())
    }

    fn encode_answer(&mut self, answer: &Answer, batch: &mut Batch) {
        let head = self.head(answer.code, answer.opaque, FLAG_RESPONSE, answer.remark.as_deref());
        if self.frame_to(batch, &head, &NoExt, &Bytes::new()).is_err() {
            self.stats.misuses += 1;
        }
    }

    /// Names and sizes were checked when the request was accepted, so its frame can be made; should one not be, its
    /// owner's deadline ends it.
    fn encode_request(&mut self, id: LinkId, request: Request, batch: &mut Batch) {
        let Some(opaque) = self.links.get_mut(id).and_then(Link::up).map(Up::take_opaque) else { return };
        let before = batch.len();
        let made = match request.owner {
            Owner::Send(op) => {
                self.board(op);
                self.encode_send(op, opaque, batch)
            }
            Owner::SendBack(op) => self.encode_send_back(op, opaque, batch),
            Owner::Route(topic) => self.encode_route(topic, opaque, batch),
            Owner::Heartbeat(_) => self.encode_heartbeat(opaque, batch),
            Owner::Unregister(producer) => self.encode_unregister(producer, opaque, batch),
            Owner::Probe(probe) => self.encode_probe(probe, opaque, batch),
        };
        match made {
            Ok(()) if batch.len() > before => self.request_written(request, opaque, batch),
            Ok(()) => {}
            Err(_) => self.stats.misuses += 1,
        }
    }

    /// The request is in the batch: from now on its owner waits for the answer, or for the bytes to go.
    fn request_written(&mut self, request: Request, opaque: i32, batch: &Batch) {
        let Request { owner, again } = request;
        if mutated!(AcknowledgeWhenWritten, self.acknowledged_unasked(owner)) {
            return;
        }
        let (now, id, code, end) = (self.now, batch.link, batch.code, batch.len());
        let Some(up) = self.links.get_mut(id).and_then(Link::up) else { return };
        if let Owner::Send(op) = owner
            && let Some(send) = self.sends.get_mut(op.0).filter(|send| send.oneway)
        {
            send.step = Step::Writing;
            return up.push_oneway(end, op);
        }
        let received = up.received;
        up.pending.insert(opaque, Entry { owner: Some(owner), code, again, written_at: now, received });
        self.stands(owner, Asking::Awaiting { link: id, opaque });
    }

    fn encode_send(&self, OpId(op): OpId, opaque: i32, batch: &mut Batch) -> Result<(), EncodeError> {
        let Some(send) = self.sends.get(op) else {
            return Ok(());
        };
        if let Some(riders) = send.riders() {
            return self.encode_riders(send, riders, opaque, batch);
        }
        if let Some(recall) = send.recall() {
            let head = self.head(RequestCode::RECALL_MESSAGE.0, opaque, 0, None);
            return self.frame_to(batch, &head, &recall_header(send, recall), &Bytes::new());
        }
        if let Some(end) = send.ending() {
            return self.encode_end(send, end, opaque, batch);
        }
        let flag = if send.oneway { FLAG_ONEWAY } else { 0 };
        let head = self.head(send.code.0, opaque, flag, None);
        self.frame_to(batch, &head, &send_header(send), &send.body)
    }

    fn encode_send_back(&self, OpId(op): OpId, opaque: i32, batch: &mut Batch) -> Result<(), EncodeError> {
        let Some(back) = self.sends.get(op).and_then(SendOp::back) else {
            return Ok(());
        };
        let head = self.head(RequestCode::CONSUMER_SEND_MSG_BACK.0, opaque, 0, None);
        self.frame_to(batch, &head, &back.header(), &Bytes::new())
    }

    fn encode_route(&self, topic: TopicId, opaque: i32, batch: &mut Batch) -> Result<(), EncodeError> {
        let Some(topic) = self.routes.get(topic) else {
            return Ok(());
        };
        let head = self.head(RequestCode::GET_ROUTEINFO_BY_TOPIC.0, opaque, 0, None);
        let ext = GetRouteHeader { topic: Cow::Borrowed(&topic.name), accept_standard_json_only: Some(true) };
        self.frame_to(batch, &head, &ext, &Bytes::new())
    }

    /// Any question that a broker answers from memory will do (producer §4.5).
    fn encode_probe(
        &self,
        ProbeId(probe): ProbeId,
        opaque: i32,
        batch: &mut Batch,
    ) -> Result<(), EncodeError> {
        let Some(probe) = self.probes.get(probe) else {
            return Ok(());
        };
        let head = self.head(RequestCode::GET_MAX_OFFSET.0, opaque, 0, None);
        let topic = Cow::Borrowed(&*probe.topic);
        let ext = GetMaxOffsetHeader { topic, queue_id: 0, committed: None, broker_name: None };
        self.frame_to(batch, &head, &ext, &Bytes::new())
    }

    fn encode_heartbeat(&self, opaque: i32, batch: &mut Batch) -> Result<(), EncodeError> {
        let data = HeartbeatData {
            client_id: self.client_id.to_string(),
            producers: self.producers.groups().map(ToString::to_string).collect(),
            consumers: Vec::new(),
            fingerprint: 0,
            without_sub: false,
        };
        let head = self.head(RequestCode::HEART_BEAT.0, opaque, 0, None);
        self.frame_to(batch, &head, &(), &data.encode())
    }

    fn encode_unregister(
        &self,
        producer: ProducerId,
        opaque: i32,
        batch: &mut Batch,
    ) -> Result<(), EncodeError> {
        let Some(config) = self.producers.get(producer) else {
            return Ok(());
        };
        let head = self.head(RequestCode::UNREGISTER_CLIENT.0, opaque, 0, None);
        let ext = UnregisterHeader {
            client_id: Cow::Borrowed(&self.client_id),
            producer_group: Some(Cow::Borrowed(&config.group)),
            consumer_group: None,
        };
        self.frame_to(batch, &head, &ext, &Bytes::new())
    }
}

/// wire §5.19.
fn recall_header<'a>(send: &'a SendOp, recall: &'a Recall) -> RecallMessageHeader<'a> {
    RecallMessageHeader {
        producer_group: Some(Cow::Borrowed(&send.config.group)),
        topic: Cow::Borrowed(&send.topic),
        recall_handle: Cow::Borrowed(recall.handle()),
        broker_name: send.progress.as_ref().map(|progress| Cow::Borrowed(&*progress.choice.broker)),
    }
}

/// The header of the attempt under way (producer §5.4, steps 8, 9 and 12): made anew in each, so that all of a message to a
/// retry topic say how often it was consumed.
pub(super) fn send_header(send: &SendOp) -> SendMessageV2Header<'_> {
    let (queue_id, broker) = match &send.progress {
        Some(progress) => (progress.choice.queue_id, &*progress.choice.broker),
        None => (-1, ""),
    };
    SendMessageV2Header {
        default_topic_queue_nums: send.config.default_topic_queues.get() as i32,
        queue_id,
        sys_flag: send.sys_flag,
        born_timestamp: send.born_ms,
        flag: send.flag,
        batch: Some(send.code == RequestCode::SEND_BATCH_MESSAGE),
        broker_name: Some(Cow::Borrowed(broker)),
        ..SendMessageV2Header::new(&send.config.group, &*send.topic).with_properties(&send.properties)
    }
}
