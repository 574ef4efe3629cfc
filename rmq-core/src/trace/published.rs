//! What is told of a message that a broker stored.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use rmq_proto::properties::{self, DELAY, KEYS, START_DELIVER_TIME, TAGS, TRAN_MSG};
use rmq_proto::trace::{MessageKind, Pub, TraceRecord};

use crate::event::{SendResult, SendStatus};
use crate::producer::SendOp;
use crate::time::Instant;

/// The record of the attempt under way, which a broker answered with `result`, if its producer tells such things; with the
/// names on the wire. A message that takes the place of one that was given back is none of the producer's.
pub(crate) fn published(send: &SendOp, now: Instant, result: &SendResult) -> Option<Box<TraceRecord>> {
    let trace = send.config.trace.as_ref()?;
    if send.back().is_some() || !result.trace_on || send.topic.starts_with(trace.topic_name()) {
        return None;
    }
    let progress = send.progress.as_ref()?;
    let since = |from: Instant, to: Instant| to.saturating_since(from).as_millis();
    let waited = i64::try_from(since(send.began, progress.began)).unwrap_or(i64::MAX);
    let property = |name| properties::value(&send.properties, name).map(ToString::to_string);
    Some(Box::new(TraceRecord::Pub(Pub {
        time: send.born_ms.saturating_add(waited),
        region: Some(result.region_id.to_string()),
        group: send.config.group.clone(),
        topic: send.topic.to_string(),
        message_id: send.message_id().into(),
        tags: property(TAGS),
        keys: property(KEYS),
        broker: progress.address.as_ref().map_or_else(String::new, ToString::to_string),
        body_len: i32::try_from(send.body.len()).unwrap_or(i32::MAX),
        cost_ms: i32::try_from(since(progress.began, now)).unwrap_or(i32::MAX),
        kind: kind(&send.properties),
        offset_message_id: Some(result.offset_message_id.clone()),
        success: result.status == SendStatus::SendOk,
        client_host: None,
    })))
}

/// What kind of message has these properties (producer §5.4, step 7). The newer properties of delay do not count, and order
/// is no matter of the message.
fn kind(text: &str) -> MessageKind {
    let has = |name| properties::value(text, name).is_some();
    if has(START_DELIVER_TIME) || has(DELAY) {
        MessageKind::Delay
    } else if properties::value(text, TRAN_MSG) == Some("true") {
        MessageKind::TransactionHalf
    } else {
        MessageKind::Normal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_messages() {
        let rows = [
            ("TAGS\u{1}a\u{2}", MessageKind::Normal),
            ("TRAN_MSG\u{1}true\u{2}", MessageKind::TransactionHalf),
            ("TRAN_MSG\u{1}false\u{2}", MessageKind::Normal),
            ("DELAY\u{1}3\u{2}", MessageKind::Delay),
            ("__STARTDELIVERTIME\u{1}1700000000000\u{2}", MessageKind::Delay),
            ("TRAN_MSG\u{1}true\u{2}DELAY\u{1}3\u{2}", MessageKind::Delay),
            ("TIMER_DELAY_SEC\u{1}3\u{2}", MessageKind::Normal),
        ];
        for (properties, expected) in rows {
            assert_eq!(kind(properties), expected, "{properties:?}");
        }
    }
}
