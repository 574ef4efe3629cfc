//! What is told of a transaction that was ended.

use alloc::string::{String, ToString};

use rmq_proto::message::StoredMessage;
use rmq_proto::properties::{KEYS, MSG_REGION, TAGS, TRACE_ON};
use rmq_proto::trace::{EndTransaction, TraceRecord};

use crate::event::SendResult;
use crate::producer::SendOp;

/// Region of brokers that name none.
const DEFAULT_REGION: &str = "DefaultRegion";

/// What the end of a transaction does not know of its half message by itself.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    region: String,
    tags: Option<String>,
    keys: Option<String>,
}

impl Labels {
    /// Of a half message just sent, whose tag and keys are in its own record; none if its broker does not want it traced.
    pub(crate) fn of_half(half: &SendResult) -> Option<Self> {
        half.trace_on.then(|| Self { region: half.region_id.to_string(), tags: None, keys: None })
    }

    /// Of a half message that a broker asks about; none if it does not want it traced.
    pub(crate) fn of_message(message: &StoredMessage) -> Option<Self> {
        if message.property(TRACE_ON) == Some("false") {
            return None;
        }
        let property = |name| message.property(name).map(ToString::to_string);
        let region = property(MSG_REGION).unwrap_or_else(|| DEFAULT_REGION.into());
        Some(Self { region, tags: property(TAGS), keys: property(KEYS) })
    }
}

/// The record of an end whose bytes were taken, if its producer tells such things; with the names on the wire. The
/// transaction is known by the id of its message (producer §9.1, §9.3).
pub(crate) fn ended(send: &SendOp, unix_ms: u64) -> Option<TraceRecord> {
    let trace = send.config.trace.as_ref()?;
    let end = send.ending()?;
    let labels = end.labels.as_ref().filter(|_| !send.topic.starts_with(trace.topic_name()))?;
    let address = send.progress.as_ref().and_then(|progress| progress.address.as_ref());
    Some(TraceRecord::EndTransaction(EndTransaction {
        time: i64::try_from(unix_ms).unwrap_or(i64::MAX),
        region: Some(labels.region.clone()),
        group: send.config.group.clone(),
        topic: send.topic.to_string(),
        message_id: send.message_id().into(),
        tags: labels.tags.clone(),
        keys: labels.keys.clone(),
        broker: address.map_or_else(String::new, ToString::to_string),
        transaction_id: Some(send.message_id().into()),
        state: end.resolution,
        from_check: end.from_check,
    }))
}
