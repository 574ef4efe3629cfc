//! Timers: a message with one waits, like a delayed one, until its time, and may be recalled before (producer §10.2, §10.3).
//! Brokers of 5.3 have them, as they come; those of 4.9 do not look at the properties (seen on both).

use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::{RecallMessageHeader, RecallResponseHeader};
use rmq_proto::names::RETRY_PREFIX;
use rmq_proto::properties::{
    self as wire_properties, REAL_TOPIC, TIMER_DELAY_MS, TIMER_DELAY_SEC, TIMER_DELIVER_MS, TIMER_OUT_MS,
    UNIQ_KEY,
};
use rmq_proto::recall::RecallHandle;

use super::{Broker, delay};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::profile::ProfileRules;
use crate::model::store::StoredMessage;

/// Where timer messages wait, all in one queue.
pub(crate) const TIMER_TOPIC: &str = "rmq_sys_wheel_timer";

/// Longest time that a timer may have: 3 days (seen on 5.3).
const MAX_DELAY_MS: u64 = 259_200_000;

/// Messages are delivered at whole seconds, rounded down (producer §10.2).
const PRECISION_MS: u64 = 1_000;

/// The remark of a timer that is too long (seen on 5.3), or that is no number.
pub(super) const ILLEGAL: &str = "timer message illegal, the delay time should not be bigger than the max delay 259200000ms; \
     or if set del msg, the delay time should be bigger than the current time";

/// A timer that the broker refuses, with code 13 (producer §10.2, wire §4.1).
pub(super) struct Illegal;

/// When a message with these properties is to be delivered, in milliseconds since the Unix epoch; `None` for at once. Of
/// several timers the first in this order counts (producer §10.2), and a delay level before all. A message whose timer ran
/// already has no other, whoever stores it again.
pub(super) fn time(rules: &ProfileRules, unix_ms: u64, text: &str) -> Result<Option<u64>, Illegal> {
    // Nearly no message has one, and all names of timers begin so.
    if !rules.timers || !text.contains("TIMER_") {
        return Ok(None);
    }
    let value = |name| wire_properties::value(text, name);
    if delay::level(text).is_some() || value(TIMER_OUT_MS).is_some() {
        return Ok(None);
    }
    let number = |text: &str| text.parse::<i64>().map_err(|_| Illegal);
    let after = |span: i64| i64::try_from(unix_ms).unwrap_or(i64::MAX).saturating_add(span);
    let at = if let Some(seconds) = value(TIMER_DELAY_SEC) {
        after(number(seconds)?.saturating_mul(1_000))
    } else if let Some(millis) = value(TIMER_DELAY_MS) {
        after(number(millis)?)
    } else if let Some(millis) = value(TIMER_DELIVER_MS) {
        number(millis)?
    } else {
        return Ok(None);
    };
    match u64::try_from(at).unwrap_or(0) {
        at if at <= unix_ms => Ok(None),
        at if at - unix_ms > MAX_DELAY_MS => Err(Illegal),
        at => Ok(Some(at / PRECISION_MS * PRECISION_MS)),
    }
}

impl Broker {
    /// What a message can be recalled by: timer messages alone have it, but for those to retry topics (producer §10.3).
    pub(super) fn recall_handle(&self, unix_ms: u64, message: &StoredMessage) -> Option<String> {
        let timestamp = time(self.rules, unix_ms, &message.properties).ok().flatten()?;
        if message.topic.starts_with(RETRY_PREFIX) {
            return None;
        }
        let handle = RecallHandle {
            topic: message.topic.to_string(),
            broker_name: self.name.to_string(),
            timestamp: i64::try_from(timestamp).unwrap_or(i64::MAX),
            unique_key: message.property(UNIQ_KEY)?.to_owned(),
        };
        handle.encode().ok()
    }

    /// RECALL_MESSAGE (wire §5.19). A message that is recalled is never delivered, and can be recalled again (seen on 5.3).
    pub(super) fn answer_recall(&mut self, unix_ms: u64, request: &RemotingCommand) -> Answer {
        let header = match request.header::<RecallMessageHeader<'_>>() {
            Ok(header) => header,
            Err(error) => return Answer::bad_header(&error),
        };
        let refused = |code, remark: String| Answer::error(code, AnswerExt::Empty, remark);
        if self.topic(&header.topic).is_none() {
            let remark = format!("topic[{}] not exist", header.topic);
            return refused(ResponseCode::TOPIC_NOT_EXIST, remark);
        }
        let illegal = |remark: String| refused(ResponseCode::ILLEGAL_OPERATION, remark);
        let handle = match RecallHandle::decode(&header.recall_handle) {
            Ok(handle) => handle,
            Err(error) => return illegal(format!("recall handle is invalid: {error}")),
        };
        if handle.topic != header.topic || handle.broker_name != *self.name {
            return illegal(format!(
                "the message is of topic {} at {}, not of {} at {}",
                handle.topic, handle.broker_name, header.topic, self.name,
            ));
        }
        if u64::try_from(handle.timestamp).unwrap_or(0) <= unix_ms {
            return illegal("the time of the message is over".to_owned());
        }
        self.forget_timer(&handle);
        Answer::success(AnswerExt::Recalled(RecallResponseHeader { message_id: handle.unique_key.into() }))
    }

    fn forget_timer(&mut self, handle: &RecallHandle) {
        let is_meant = |message: &StoredMessage| {
            &*message.topic == TIMER_TOPIC && message.property(REAL_TOPIC) == Some(&*handle.topic)
        };
        let store = &self.store;
        self.delayed.retain(|&(_, sequence)| {
            let message = store.by_sequence(sequence).filter(|message| is_meant(message));
            message.is_none_or(|message| message.unique_key() != Some(&*handle.unique_key))
        });
    }
}
