//! What goes over the connections: whole frames, opaques of their own, one key per message.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use rmq_core::proto::body::HeartbeatData;
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::RemotingCommand;
use rmq_core::proto::frame::FrameDecoder;
use rmq_core::proto::header::{
    GetMaxOffsetHeader, GetRouteHeader, PushReplyHeader, RecallMessageHeader, SendBackHeader,
    SendMessageV2Header, UnregisterHeader,
};
use rmq_core::proto::message::BatchElements;
use rmq_core::proto::names::RETRY_PREFIX;
use rmq_core::proto::properties;
use rmq_core::{ConnId, Event, SentBack};

use super::keys::{Keys, Sent};
use super::{FRAMES_DECODE, ONE_TERMINAL_EVENT, UNIQUE_OPAQUE};
use crate::model::is_stored;
use crate::oracle::Violation;

/// Longest frame that is taken for one: no client writes longer ones.
const LONGEST: usize = (352 << 20) - 1;
/// Unanswered requests of a connection that are remembered; the oldest beyond them are forgotten.
const WAITING: usize = 16_384;

/// What a request's answer may mean.
#[derive(Clone, Debug)]
enum Waits {
    Nothing,
    /// The messages of these keys are stored.
    Send(Vec<Bytes>),
    /// A message was taken back.
    Back,
    /// A message was recalled.
    Recall,
    /// A message is in a retry topic. It has the key of the message that was given back, so keys say nothing of it.
    Retry,
}

/// Both directions of one connection.
#[derive(Clone, Debug)]
struct Tap {
    written: FrameDecoder,
    /// None once the peer broke the rules.
    received: Option<FrameDecoder>,
    /// Requests without a whole answer.
    waiting: BTreeMap<i32, Waits>,
    order: VecDeque<i32>,
    handed: u64,
    taken: u64,
    /// Where each one-way request ends that was not taken in full.
    oneways: VecDeque<u64>,
}

impl Tap {
    /// Whether the oldest one was forgotten for it.
    fn wait(&mut self, opaque: i32, waits: Waits) -> bool {
        self.waiting.insert(opaque, waits);
        self.order.push_back(opaque);
        if self.order.len() > WAITING
            && let Some(oldest) = self.order.pop_front()
        {
            return self.waiting.remove(&oldest).is_some();
        }
        false
    }
}

#[derive(Clone, Debug)]
pub(super) struct Frames {
    max_received: usize,
    taps: BTreeMap<ConnId, Tap>,
    keys: Keys,
    oneways_written: u64,
    oneways_taken: u64,
    oneways_told: u64,
    /// Messages that brokers said to have taken back, to have stored in retry topics, and to have recalled, less those that
    /// were told.
    untold: [u64; 3],
    forgot: bool,
    pushed: Pushed,
}

/// Correlation ids of the replies that brokers pushed, less those that were told; the oldest of more than so many as
/// unanswered requests are forgotten.
#[derive(Clone, Debug, Default)]
struct Pushed {
    ids: BTreeSet<String>,
    order: VecDeque<String>,
    forgot: bool,
}

impl Pushed {
    fn note(&mut self, command: &RemotingCommand) {
        let is_push = RequestCode(command.code) == RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT;
        let Some(header) = is_push.then(|| command.header::<PushReplyHeader<'_>>().ok()).flatten() else {
            return;
        };
        let text = header.properties.unwrap_or_default();
        let Some(id) = properties::value(&text, properties::CORRELATION_ID) else { return };
        if self.ids.insert(id.to_owned()) {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > WAITING
            && let Some(oldest) = self.order.pop_front()
        {
            self.forgot |= self.ids.remove(&oldest);
        }
    }

    /// Whether the reply of that id may be told, once.
    fn take(&mut self, id: &str) -> bool {
        self.ids.remove(id) || self.forgot
    }
}

impl Frames {
    pub(super) fn new(max_received: usize) -> Self {
        Self {
            max_received,
            taps: BTreeMap::new(),
            keys: Keys::default(),
            oneways_written: 0,
            oneways_taken: 0,
            oneways_told: 0,
            untold: [0; 3],
            forgot: false,
            pushed: Pushed::default(),
        }
    }

    pub(super) fn opened(&mut self, conn: ConnId) {
        let tap = Tap {
            written: FrameDecoder::new(LONGEST),
            received: Some(FrameDecoder::new(self.max_received)),
            waiting: BTreeMap::new(),
            order: VecDeque::new(),
            handed: 0,
            taken: 0,
            oneways: VecDeque::new(),
        };
        self.taps.insert(conn, tap);
    }

    pub(super) fn gone(&mut self, conn: ConnId) {
        self.taps.remove(&conn);
    }

    /// The stream took `bytes` more.
    pub(super) fn taken(&mut self, conn: ConnId, bytes: usize) {
        let Some(tap) = self.taps.get_mut(&conn) else { return };
        tap.taken += bytes as u64;
        while tap.oneways.front().is_some_and(|end| *end <= tap.taken) {
            tap.oneways.pop_front();
            self.oneways_taken += 1;
        }
    }

    /// The peer's bytes: whatever answers they hold free their opaques.
    pub(super) fn received(&mut self, conn: ConnId, mut data: Bytes) {
        let Some(tap) = self.taps.get_mut(&conn) else { return };
        while let Some(decoder) = &mut tap.received {
            let frame = match decoder.decode(&mut data) {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(_) => {
                    tap.received = None;
                    break;
                }
            };
            let Ok(command) = RemotingCommand::decode(frame) else {
                tap.received = None;
                break;
            };
            if !command.is_response() {
                self.pushed.note(&command);
                continue;
            }
            let code = ResponseCode(command.code);
            match tap.waiting.remove(&command.opaque) {
                Some(Waits::Send(keys)) if is_stored(code) => {
                    keys.iter().for_each(|key| self.keys.stored(key));
                }
                Some(Waits::Back) if code == ResponseCode::SUCCESS => self.untold[0] += 1,
                Some(Waits::Retry) if is_stored(code) => self.untold[1] += 1,
                Some(Waits::Recall) if code == ResponseCode::SUCCESS => self.untold[2] += 1,
                _ => {}
            }
        }
    }

    /// A write was ordered. `oneways` is how many one-way sends were accepted.
    pub(super) fn write(&mut self, conn: ConnId, segments: &[Bytes], oneways: u64) -> Result<(), Violation> {
        let Some(tap) = self.taps.get_mut(&conn) else { return Ok(()) };
        for segment in segments {
            let mut rest = segment.clone();
            loop {
                let frame = tap.written.decode(&mut rest).map_err(|error| bad(conn, &error))?;
                let Some(frame) = frame else { break };
                let command = RemotingCommand::decode(frame).map_err(|error| bad(conn, &error))?;
                if command.is_response() {
                    continue;
                }
                let taken = tap.waiting.contains_key(&command.opaque);
                Violation::unless(!taken, UNIQUE_OPAQUE, || {
                    format!("opaque {} of {conn:?} waits already", command.opaque)
                })?;
                let waits = request(&command, &mut self.keys).map_err(|violation| of(conn, violation))?;
                if !command.is_oneway() {
                    self.forgot |= tap.wait(command.opaque, waits);
                    continue;
                }
                self.oneways_written += 1;
                tap.oneways.push_back(tap.handed + (segment.len() - rest.len()) as u64);
                Violation::unless(self.oneways_written <= oneways, ONE_TERMINAL_EVENT, || {
                    format!("{} one-way requests are written for {oneways} sends", self.oneways_written)
                })?;
            }
            tap.handed += segment.len() as u64;
        }
        let cut = tap.written.buffered();
        Violation::unless(cut == 0, FRAMES_DECODE, || {
            format!("a write of {conn:?} ends {cut} bytes into a frame")
        })
    }

    /// An operation ended.
    pub(super) fn event(&mut self, event: &Event) -> Result<(), Violation> {
        match event {
            Event::Sent { result, .. } => self.keys.ended(&result.message_id, result.attempts as usize, true),
            // A question for queues has no message.
            Event::SendFailed { error, .. } if error.message_id().is_empty() => Ok(()),
            Event::SendFailed { error, .. } => {
                self.keys.ended(error.message_id(), error.attempts().len(), false)
            }
            Event::Replied { op, reply } => {
                let id = reply.message.property(properties::CORRELATION_ID).unwrap_or_default();
                let pushed = self.pushed.take(id);
                Violation::unless(pushed, ONE_TERMINAL_EVENT, || {
                    format!("{op:?} is Replied, but no broker pushed {id}")
                })?;
                self.keys.ended(&reply.message_id, reply.attempts as usize, reply.sent.is_some())
            }
            Event::RequestFailed { error, .. } => match error.request() {
                Ok(sent) => self.keys.ended(&sent.message_id, sent.attempts as usize, true),
                Err(error) => self.keys.ended(error.message_id(), error.attempts().len(), false),
            },
            Event::OnewayWritten { op } => {
                self.oneways_told += 1;
                Violation::unless(self.oneways_told <= self.oneways_taken, ONE_TERMINAL_EVENT, || {
                    format!("{op:?} is OnewayWritten before its bytes were taken")
                })
            }
            Event::SentBack { how, .. } => {
                self.told(usize::from(matches!(how, SentBack::RetryTopic(_))), event)
            }
            Event::Recalled { .. } => self.told(2, event),
            _ => Ok(()),
        }
    }

    fn told(&mut self, what: usize, event: &Event) -> Result<(), Violation> {
        let untold = &mut self.untold[what];
        let said = self.forgot || *untold > 0;
        *untold = untold.saturating_sub(1);
        Violation::unless(said, ONE_TERMINAL_EVENT, || format!("no broker said so: {event:?}"))
    }
}

fn bad(conn: ConnId, error: &dyn std::error::Error) -> Violation {
    Violation::new(FRAMES_DECODE, format!("written on {conn:?}: {error}"))
}

fn of(conn: ConnId, violation: Violation) -> Violation {
    Violation { detail: format!("on {conn:?}: {}", violation.detail), ..violation }
}

/// Reads a request as its peer would; returns what its answer may mean.
fn request(command: &RemotingCommand, keys: &mut Keys) -> Result<Waits, Violation> {
    let bad = |error: &dyn std::error::Error| {
        Violation::new(FRAMES_DECODE, format!("request {}: {error}", command.code))
    };
    match RequestCode(command.code) {
        RequestCode::SEND_MESSAGE_V2 | RequestCode::SEND_REPLY_MESSAGE_V2 => {
            let header: SendMessageV2Header<'_> = command.header().map_err(|error| bad(&error))?;
            let text = header.properties.as_deref().unwrap_or_default();
            if is_retry(&header, text)? {
                return Ok(Waits::Retry);
            }
            let key = properties::first_value(text, properties::UNIQ_KEY)
                .ok_or_else(|| Violation::new(super::ONE_KEY, "a send without UNIQ_KEY"))?;
            keys.written(&Sent { key, header: &header, properties: text, body: &command.body })?;
            return Ok(Waits::Send(vec![Bytes::copy_from_slice(key.as_bytes())]));
        }
        RequestCode::SEND_BATCH_MESSAGE => return batch(command, keys),
        RequestCode::CONSUMER_SEND_MSG_BACK => {
            command.header::<SendBackHeader<'_>>().map_err(|error| bad(&error))?;
            return Ok(Waits::Back);
        }
        RequestCode::RECALL_MESSAGE => {
            command.header::<RecallMessageHeader<'_>>().map_err(|error| bad(&error))?;
            return Ok(Waits::Recall);
        }
        RequestCode::GET_ROUTEINFO_BY_TOPIC => {
            command.header::<GetRouteHeader<'_>>().map_err(|error| bad(&error))?;
        }
        RequestCode::GET_MAX_OFFSET => {
            command.header::<GetMaxOffsetHeader<'_>>().map_err(|error| bad(&error))?;
        }
        RequestCode::UNREGISTER_CLIENT => {
            command.header::<UnregisterHeader<'_>>().map_err(|error| bad(&error))?;
        }
        RequestCode::HEART_BEAT => {
            HeartbeatData::decode(&command.body).map_err(|error| bad(&error))?;
        }
        _ => return Err(Violation::new(FRAMES_DECODE, format!("an unknown request {}", command.code))),
    }
    Ok(Waits::Nothing)
}

/// A batch: each of its messages has a key, and so has the batch, which a result may name in place of the messages.
fn batch(command: &RemotingCommand, keys: &mut Keys) -> Result<Waits, Violation> {
    let bad = |error: &dyn std::error::Error| Violation::new(FRAMES_DECODE, format!("batch: {error}"));
    let header: SendMessageV2Header<'_> = command.header().map_err(|error| bad(&error))?;
    let is_plain = header.batch == Some(true) && header.sys_flag == 0;
    Violation::unless(is_plain, FRAMES_DECODE, || {
        format!("a batch does not say so in its header: {header:?}")
    })?;
    let text = header.properties.as_deref().unwrap_or_default();
    let lacks = || Violation::new(super::ONE_KEY, "a batch, or a message of one, without UNIQ_KEY");
    keys.batch(properties::first_value(text, properties::UNIQ_KEY).ok_or_else(lacks)?);
    let mut waits = Vec::new();
    for element in BatchElements::new(command.body.clone()) {
        let element = element.map_err(|error| bad(&error))?;
        let properties = &*element.properties;
        let key = properties::first_value(properties, properties::UNIQ_KEY).ok_or_else(lacks)?;
        keys.written(&Sent { key, header: &header, properties, body: &element.body })?;
        waits.push(Bytes::copy_from_slice(key.as_bytes()));
    }
    Ok(Waits::Send(waits))
}

/// Whether a send takes the place of a message that was given back. Such a one says in its header how often it was consumed
/// and may be (producer §5.4).
fn is_retry(header: &SendMessageV2Header<'_>, text: &str) -> Result<bool, Violation> {
    let given_back = properties::value(text, properties::ORIGIN_MESSAGE_ID).is_some();
    if !header.topic.starts_with(RETRY_PREFIX) || !given_back {
        return Ok(false);
    }
    let number = |name| properties::value(text, name).and_then(|text| text.parse().ok());
    let told = (header.reconsume_times, header.max_reconsume_times);
    let meant = (number(properties::RECONSUME_TIME), number(properties::MAX_RECONSUME_TIMES));
    Violation::unless(told == meant && told.1.is_some(), FRAMES_DECODE, || {
        format!("a retry says {told:?} in its header and {meant:?} in its properties")
    })?;
    Ok(true)
}
