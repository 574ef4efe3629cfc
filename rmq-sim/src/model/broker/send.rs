//! SEND_MESSAGE (10) and SEND_MESSAGE_V2 (310): what a broker checks, and what it stores. Batches (320) are beside.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::ext::HeaderError;
use rmq_proto::header::{SendMessageHeader, SendMessageV2Header, SendResponseHeader};
use rmq_proto::id::OffsetMessageId;
use rmq_proto::message::ID_SEPARATOR;
use rmq_proto::names::{self, NameError, RETRY_PREFIX};
use rmq_proto::properties as wire_properties;

use super::send_back::max_reconsume_times;
use super::{Broker, Turn, batch, properties, timer, transactions};
use crate::model::answer::{Answer, AnswerExt, REGION};
use crate::model::store::StoredMessage;
use crate::model::topic::{PERM_INHERIT, TopicConfig};

/// Largest body, in bytes: `maxMessageSize` (wire §1.2).
pub(super) const MAX_BODY_LEN: usize = 4 * 1024 * 1024;

/// The fields of either header.
pub(super) struct SendRequest<'a> {
    pub(super) producer_group: Cow<'a, str>,
    pub(super) topic: Cow<'a, str>,
    default_topic: Cow<'a, str>,
    default_topic_queue_nums: i32,
    queue_id: i32,
    pub(super) sys_flag: i32,
    pub(super) born_timestamp: i64,
    flag: i32,
    pub(super) properties: Cow<'a, str>,
    reconsume_times: i32,
    max_reconsume_times: Option<i32>,
    batch: bool,
}

macro_rules! from_header {
    ($header:ident) => {
        impl<'a> From<$header<'a>> for SendRequest<'a> {
            fn from(header: $header<'a>) -> Self {
                Self {
                    producer_group: header.producer_group,
                    topic: header.topic,
                    default_topic: header.default_topic,
                    default_topic_queue_nums: header.default_topic_queue_nums,
                    queue_id: header.queue_id,
                    sys_flag: header.sys_flag,
                    born_timestamp: header.born_timestamp,
                    flag: header.flag,
                    properties: header.properties.unwrap_or_default(),
                    reconsume_times: header.reconsume_times.unwrap_or(0),
                    max_reconsume_times: header.max_reconsume_times,
                    batch: header.batch.unwrap_or(false),
                }
            }
        }
    };
}

from_header!(SendMessageHeader);
from_header!(SendMessageV2Header);

impl<'a> SendRequest<'a> {
    fn read(request: &'a RemotingCommand) -> Result<Self, HeaderError> {
        let long = [RequestCode::SEND_MESSAGE, RequestCode::SEND_REPLY_MESSAGE];
        if long.contains(&RequestCode(request.code)) {
            request.header::<SendMessageHeader<'_>>().map(Self::from)
        } else {
            request.header::<SendMessageV2Header<'_>>().map(Self::from)
        }
    }
}

/// What a send asked for, and whether it stored a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendSummary {
    /// Topic.
    pub topic: Arc<str>,
    /// Queue that was asked for; a negative one leaves the choice to the broker.
    pub queue_id: i32,
    /// The id that the client gave the message (wire §6.5); of a batch those of its messages, joined by `,`.
    pub unique_key: Option<String>,
    /// The stored message's [`sequence`](StoredMessage::sequence), or that of the first; `None` when nothing was stored.
    pub stored: Option<u64>,
}

impl SendSummary {
    /// `None` when the header cannot be read. `topic` is the topic where it is at hand already.
    pub(crate) fn read(
        request: &RemotingCommand,
        stored: Option<u64>,
        topic: Option<&Arc<str>>,
    ) -> Option<Self> {
        let header = SendRequest::read(request).ok()?;
        Some(Self {
            topic: topic
                .filter(|topic| ***topic == *header.topic)
                .map_or_else(|| header.topic.into(), Arc::clone),
            queue_id: header.queue_id,
            unique_key: if header.batch {
                batch::unique_keys(&request.body)
            } else {
                wire_properties::value(&header.properties, wire_properties::UNIQ_KEY).map(str::to_owned)
            },
            stored,
        })
    }
}

impl SendSummary {
    /// The ids of all its messages.
    pub fn unique_keys(&self) -> impl Iterator<Item = &str> {
        self.unique_key.iter().flat_map(|keys| keys.split(ID_SEPARATOR))
    }
}

impl fmt::Display for SendSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { topic, queue_id, unique_key, stored } = self;
        write!(f, "topic {topic}, queue {queue_id}")?;
        if let Some(key) = unique_key {
            write!(f, ", {key}")?;
        }
        f.write_str(if stored.is_some() { ", stored" } else { ", not stored" })
    }
}

pub(super) fn refused(code: ResponseCode, remark: impl Into<Cow<'static, str>>) -> Box<Answer> {
    Box::new(Answer::error(code, AnswerExt::Region, remark))
}

impl Broker {
    /// Real brokers do without `a`, `c` and `d` when they happen not to need them; the model wants what wire §5.1
    /// calls required.
    pub(super) fn answer_send(&mut self, turn: &mut Turn<'_>, request: &RemotingCommand) -> Answer {
        let header = match SendRequest::read(request) {
            Ok(header) => header,
            Err(error) => return Answer::bad_header(&error),
        };
        if request.body.is_empty() && (self.rules.refuses_empty_body || header.batch) {
            return Answer::exception("java.lang.NullPointerException: the request has no body");
        }
        let queue_id = match self.check(turn, &header) {
            Ok(queue_id) => queue_id,
            Err(answer) => return *answer,
        };
        if header.batch {
            return self.answer_batch(turn, header, queue_id, &request.body);
        }
        // A dead letter's answer tells the queue that was asked for, too (seen on both).
        let mut header = SendRequest { queue_id, ..header };
        let given_up = match self.is_given_up(request, &header) {
            Ok(group) => group.map(|group| self.dead_letters(turn, &group)),
            Err(answer) => return *answer,
        };
        let fresh_key = || self.unique_keys.next(turn.unix_ms);
        let stored_properties = properties::stored(self.rules, &header.properties, fresh_key);
        if request.body.len() > MAX_BODY_LEN || stored_properties.len() > wire_properties::MAX_LEN {
            return *refused(ResponseCode::MESSAGE_ILLEGAL, TOO_LARGE);
        }
        if timer::time(self.rules, turn.unix_ms, &stored_properties).is_err() {
            return *refused(ResponseCode::MESSAGE_ILLEGAL, timer::ILLEGAL);
        }
        let (queue_id, stored_properties) = match given_up {
            None => (queue_id, stored_properties),
            Some(topic) => {
                header.topic = Cow::Owned(topic);
                match self.rules.dead_letter_level {
                    level @ Some(_) => {
                        let level = [(wire_properties::DELAY, level)];
                        (0, properties::changed(self.rules, &stored_properties, &level))
                    }
                    None => (0, stored_properties),
                }
            }
        };
        self.store_message(turn, header, queue_id, stored_properties, &request.body)
    }

    /// The group of a retry topic whose message was consumed too often: it is a dead letter (producer §12.4). Here its
    /// number counts this time already, so the limit itself is still within.
    fn is_given_up(
        &mut self,
        request: &RemotingCommand,
        header: &SendRequest<'_>,
    ) -> Result<Option<String>, Box<Answer>> {
        let Some(name) = header.topic.strip_prefix(RETRY_PREFIX) else { return Ok(None) };
        let Some(group) = self.group(name) else {
            return Err(Box::new(self.unknown_group(name, AnswerExt::Region)));
        };
        let most = max_reconsume_times(request, header.max_reconsume_times, &group);
        Ok((header.reconsume_times > most).then_some(group.name))
    }

    /// The checks before storing, in the real order (seen on both); gives the queue. That the topic may be written is not
    /// among them, and the queue may be one that is only read: whoever has an old route is not refused.
    fn check(&mut self, turn: &mut Turn<'_>, header: &SendRequest<'_>) -> Result<i32, Box<Answer>> {
        let topic = header.topic.as_ref();
        if let Err(error) = names::validate_topic(topic) {
            return Err(refused(self.rules.invalid_parameter, name_remark(&error)));
        }
        if !names::is_for_sending(topic) {
            let remark = format!("Sending message to topic[{topic}] is forbidden.");
            return Err(refused(ResponseCode::NO_PERMISSION, remark));
        }
        if !self.topics.contains_key(topic) {
            self.create_topic_for(turn, header);
        }
        let Some(config) = self.topics.get(topic) else {
            let remark = format!(
                "topic[{topic}] not exist, apply first please!\nSee {} for further details.",
                self.rules.faq,
            );
            return Err(refused(ResponseCode::TOPIC_NOT_EXIST, remark));
        };
        if header.queue_id >= config.write_queue_nums.max(config.read_queue_nums) {
            let remark = format!(
                "request queueId[{}] is illegal, {} Producer: {}",
                header.queue_id,
                config.described(self.rules),
                turn.from,
            );
            return Err(refused(self.rules.invalid_parameter, remark));
        }
        match u64::try_from(config.write_queue_nums) {
            _ if header.queue_id >= 0 => Ok(header.queue_id),
            // The real one draws a queue at random; the model goes round, so that the same calls give the same bytes.
            Ok(queues @ 1..) => Ok(i32::try_from(*turn.sequence % queues).unwrap_or(0)),
            _ => Err(Box::new(Answer::exception(
                "java.lang.ArithmeticException: the topic has no queue to choose from",
            ))),
        }
    }

    /// A topic that is missing inherits from the one that the request names, if that one lends its settings, with at
    /// most as many queues as the request says (wire §5.1). Without that, only retry topics come into being, with one
    /// queue (wire §7.2, seen on both).
    fn create_topic_for(&mut self, turn: &mut Turn<'_>, header: &SendRequest<'_>) {
        let topic = header.topic.as_ref();
        let lender = self.topics.get(header.default_topic.as_ref());
        let created = if let Some(lender) = lender.filter(|lender| lender.lends_its_settings()) {
            let queues = header.default_topic_queue_nums.min(lender.write_queue_nums).max(0);
            TopicConfig { perm: lender.perm & !PERM_INHERIT, ..TopicConfig::new(topic, queues) }
        } else if topic.starts_with(RETRY_PREFIX) {
            TopicConfig::new(topic, 1)
        } else {
            return;
        };
        self.put_topic(created, turn.name_servers, turn.events);
    }

    /// The answer's fields are those of wire §5.1. `transactionId` is the message's UNIQ_KEY.
    fn store_message(
        &mut self,
        turn: &mut Turn<'_>,
        header: SendRequest<'_>,
        queue_id: i32,
        stored_properties: String,
        body: &Bytes,
    ) -> Answer {
        let transaction_id = if self.rules.transaction_id {
            wire_properties::value(&stored_properties, wire_properties::UNIQ_KEY)
                .map(|key| key.to_owned().into())
        } else {
            None
        };
        // A slice would keep the whole piece of input alive that it came in.
        let body = Bytes::copy_from_slice(body);
        let message = StoredMessage {
            body,
            properties: stored_properties,
            flag: header.flag,
            reconsume_times: header.reconsume_times,
            ..self.common(turn, &header, queue_id)
        };
        let recall_handle = self.recall_handle(turn.unix_ms, &message).map(Cow::Owned);
        let (queue_offset, offset) = if transactions::is_transactional(&message) {
            self.put_half(turn.unix_ms, turn.sequence, message)
        } else {
            self.put(turn.unix_ms, turn.sequence, message)
        };
        let sent = SendResponseHeader {
            message_id: OffsetMessageId { host: self.address, offset }.to_string().into(),
            queue_id: header.queue_id,
            queue_offset,
            transaction_id,
            batch_unique_id: None,
            recall_handle,
            region_id: Some(REGION.into()),
            trace_on: Some("true".into()),
        };
        stored_answer(turn, sent)
    }

    /// A record of this request, but for what each message of a batch has of its own.
    pub(super) fn common(&self, turn: &Turn<'_>, header: &SendRequest<'_>, queue_id: i32) -> StoredMessage {
        StoredMessage {
            sequence: 0,
            broker: self.shared_name(),
            topic: (&*header.topic).into(),
            queue_id,
            queue_offset: 0,
            commit_log_offset: 0,
            body: Bytes::new(),
            properties: String::new(),
            flag: 0,
            sys_flag: header.sys_flag,
            born_timestamp: header.born_timestamp,
            store_timestamp: i64::try_from(turn.unix_ms).unwrap_or(i64::MAX),
            born_host: turn.from,
            store_host: self.address,
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            producer_group: header.producer_group.as_ref().to_owned(),
        }
    }
}

/// The answer to what was stored, with another code if one is forced.
pub(super) fn stored_answer(turn: &mut Turn<'_>, sent: SendResponseHeader<'static>) -> Answer {
    let mut answer = Answer::success(AnswerExt::Sent(sent));
    if let Some(forced) = turn.forced.take() {
        answer.code = forced.code;
        answer.remark = forced.remark.map(Cow::Owned);
    }
    answer
}

/// The remark of a body or properties over the limit (producer §6.1; seen on both).
pub(super) const TOO_LARGE: &str = "the message is illegal, maybe msg body or properties length not matched. \
                         msg body length limit 4194304B, msg properties length limit 32KB.";

/// The remark of an illegal topic name (seen on both).
pub(super) const fn name_remark(error: &NameError) -> &'static str {
    match error {
        NameError::Blank => "The specified topic is blank.",
        NameError::TooLong { .. } => "The specified topic is longer than topic max length.",
        _ => "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$",
    }
}
