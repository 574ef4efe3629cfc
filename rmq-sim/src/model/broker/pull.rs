//! PULL_MESSAGE (11), and where queues begin and end (wire §5.3, §5.4). No request is held until a message comes.

use bytes::{Bytes, BytesMut};
use rmq_proto::body::{EXPRESSION_SQL92, PERM_READ, SubscriptionData};
use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::hash::java_hash;
use rmq_proto::header::{
    ForbiddenType, GetMaxOffsetHeader, GetMinOffsetHeader, OffsetResponseHeader, PullMessageHeader,
    PullResponseHeader, PullSysFlag,
};
use rmq_proto::properties::TAGS;

use super::{Broker, Turn};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::store::StoredMessage;

/// Most messages of one answer (seen on both).
const MOST_MESSAGES: usize = 32;

/// Bytes of records that one answer has at most, unless its first record is longer (seen on both).
const MOST_BYTES: usize = 256 * 1024;

/// What a pull reads from a queue.
struct Found {
    code: ResponseCode,
    remark: &'static str,
    next: i64,
    records: Bytes,
}

impl Found {
    const fn nothing(code: ResponseCode, remark: &'static str, next: i64) -> Self {
        Self { code, remark, next, records: Bytes::new() }
    }
}

impl Broker {
    /// The checks stand in the real order (seen on both). The model knows no subscriptions of heartbeats, so a pull
    /// has to bring its own.
    pub(super) fn answer_pull(&mut self, turn: &Turn<'_>, request: &RemotingCommand) -> Answer {
        let header = match request.header::<PullMessageHeader<'_>>() {
            Ok(header) => header,
            Err(error) => return Answer::bad_header(&error),
        };
        let group = &header.consumer_group;
        let faq = self.rules.faq;
        if self.group(group).is_none() {
            let remark =
                format!("subscription group [{group}] does not exist, \nSee {faq} for further details.");
            return Answer::error(ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST, AnswerExt::Empty, remark);
        }
        if let Err(answer) = self.check_readable(turn, &header) {
            return *answer;
        }
        if !PullSysFlag(header.sys_flag).has(PullSysFlag::SUBSCRIPTION) {
            let remark = format!("the consumer's group info not exist\nSee {faq} for further details.");
            return Answer::error(ResponseCode::SUBSCRIPTION_NOT_EXIST, AnswerExt::Empty, remark);
        }
        if header.expression_type.as_deref() == Some(EXPRESSION_SQL92) {
            let remark = "The broker does not support consumer to filter message by SQL92";
            return Answer::error(ResponseCode::SYSTEM_ERROR, AnswerExt::Empty, remark);
        }
        let expression = header.subscription.as_deref().unwrap_or_default();
        let tags = SubscriptionData::of_tags(&*header.topic, expression, header.subscription_version);
        let found = self.read(&header, &tags);
        let flag = self.rules.pull_flags.then_some(0);
        let ext = PullResponseHeader {
            suggested_broker_id: 0,
            next_begin_offset: found.next,
            min_offset: self.store.begin(&header.topic, header.queue_id),
            max_offset: self.store.end(&header.topic, header.queue_id),
            offset_delta: None,
            topic_sys_flag: flag,
            group_sys_flag: flag,
            forbidden_type: None,
        };
        Answer { body: found.records, ..Answer::error(found.code, AnswerExt::Pull(ext), found.remark) }
    }

    /// That there is such a topic and such a queue, and that it may be read.
    fn check_readable(&self, turn: &Turn<'_>, header: &PullMessageHeader<'_>) -> Result<(), Box<Answer>> {
        let (topic, queue_id) = (&header.topic, header.queue_id);
        let Some(config) = self.topics.get(&**topic) else {
            let faq = self.rules.faq;
            let remark =
                format!("topic[{topic}] not exist, apply first please! \nSee {faq} for further details.");
            return Err(Answer::error(ResponseCode::TOPIC_NOT_EXIST, AnswerExt::Empty, remark).into());
        };
        if config.perm & PERM_READ == 0 {
            let remark = format!("the topic[{topic}] pulling message is forbidden");
            let ext = if self.rules.pull_flags {
                AnswerExt::Forbidden(ForbiddenType::Topic)
            } else {
                AnswerExt::Empty
            };
            return Err(Answer::error(ResponseCode::NO_PERMISSION, ext, remark).into());
        }
        let queues = config.read_queue_nums;
        if !(0..queues).contains(&queue_id) {
            let remark = format!(
                "queueId[{queue_id}] is illegal, topic:[{topic}] topicConfig.readQueueNums:[{queues}] consumer:[/{}]",
                turn.from,
            );
            return Err(Answer::error(self.rules.invalid_parameter, AnswerExt::Empty, remark).into());
        }
        Ok(())
    }

    /// What there is at an offset: the statuses, their codes and where to go on (wire §5.3, seen on both).
    fn read(&self, header: &PullMessageHeader<'_>, tags: &SubscriptionData) -> Found {
        let (topic, queue_id, offset) = (&*header.topic, header.queue_id, header.queue_offset);
        let (begin, end) = (self.store.begin(topic, queue_id), self.store.end(topic, queue_id));
        let moved = ResponseCode::PULL_OFFSET_MOVED;
        match offset {
            0 if end == 0 => Found::nothing(ResponseCode::PULL_NOT_FOUND, "NO_MESSAGE_IN_QUEUE", 0),
            _ if end == 0 => Found::nothing(moved, "NO_MESSAGE_IN_QUEUE", 0),
            _ if offset < begin => Found::nothing(moved, "OFFSET_TOO_SMALL", begin),
            _ if offset == end => Found::nothing(ResponseCode::PULL_NOT_FOUND, "OFFSET_OVERFLOW_ONE", end),
            _ if offset > end => Found::nothing(moved, "OFFSET_OVERFLOW_BADLY", end),
            _ => self.read_records(header, tags, end),
        }
    }

    fn read_records(&self, header: &PullMessageHeader<'_>, tags: &SubscriptionData, end: i64) -> Found {
        // None wanted is one (seen on both).
        let most = usize::try_from(header.max_messages).unwrap_or(0).clamp(1, MOST_MESSAGES);
        let (mut records, mut count, mut next) = (BytesMut::new(), 0, header.queue_offset);
        while next < end && count < most {
            let Some(message) = self.store.at(&header.topic, header.queue_id, next) else { break };
            if matches(tags, message) {
                if count > 0 && records.len() + message.record_len() > MOST_BYTES {
                    break;
                }
                let record = message.record();
                if record.encode(&mut records).is_err() {
                    break;
                }
                count += 1;
            }
            next += 1;
        }
        if count == 0 {
            return Found::nothing(ResponseCode::PULL_RETRY_IMMEDIATELY, "NO_MATCHED_MESSAGE", next);
        }
        Found { code: ResponseCode::SUCCESS, remark: "FOUND", next, records: records.freeze() }
    }

    /// The offset of the message to come; 0 in a queue that has none, known or not (wire §5.4).
    pub(super) fn answer_max_offset(&self, request: &RemotingCommand) -> Answer {
        match request.header::<GetMaxOffsetHeader<'_>>() {
            Ok(header) => {
                let offset = self.store.end(&header.topic, header.queue_id);
                Answer::success(AnswerExt::Offset(OffsetResponseHeader { offset }))
            }
            Err(error) => Answer::bad_header(&error),
        }
    }

    /// The offset of the first message that is kept; 0 in a queue that never had any, known or not (wire §5.4, seen on
    /// both).
    pub(super) fn answer_min_offset(&self, request: &RemotingCommand) -> Answer {
        match request.header::<GetMinOffsetHeader<'_>>() {
            Ok(header) => {
                let offset = self.store.begin(&header.topic, header.queue_id);
                let remark = self.rules.min_offset_remark.then(|| "".into());
                Answer { remark, ..Answer::success(AnswerExt::Offset(OffsetResponseHeader { offset })) }
            }
            Err(error) => Answer::bad_header(&error),
        }
    }
}

/// As real brokers do, by the hash of the tag (wire §6.4).
fn matches(tags: &SubscriptionData, message: &StoredMessage) -> bool {
    tags.code_set.is_empty() || tags.code_set.contains(&message.property(TAGS).map_or(0, java_hash))
}
