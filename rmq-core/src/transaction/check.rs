//! What a broker wants to know.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use rmq_proto::header::CheckTransactionHeader;
use rmq_proto::message::StoredMessage;

use super::{End, Offsets};
use crate::address::Address;
use crate::deadlines::Armed;
use crate::event::{ProducerId, Resolution};
use crate::io::ConnId;
use crate::slab::Id;
use crate::trace::Labels;

/// How long a check can be answered. The broker asks again long before that.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(60);

/// Time of an answer, as in Java (producer §9.3).
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Names one question of a broker. Good for one answer, and for 60 s; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckToken(pub(crate) Id);

impl fmt::Debug for CheckToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "check {}", self.0)
    }
}

/// A check that is not answered yet.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) producer: ProducerId,
    /// The user's topic.
    pub(crate) topic: Arc<str>,
    pub(crate) message_id: String,
    /// Bytes of the message, which its user has.
    pub(crate) bytes: usize,
    pub(crate) asked_on: ConnId,
    pub(crate) asked_by: Address,
    /// The broker that asks, by the name it says it has or else the one that routes give it.
    pub(crate) broker: Option<Arc<str>>,
    pub(crate) timer: Option<Armed>,
    /// For message trace, where it is on.
    pub(crate) labels: Option<Labels>,
    offsets: Offsets,
    transaction_id: Option<String>,
    header_topic: Option<String>,
    header_broker: Option<String>,
}

impl Check {
    pub(crate) fn new(
        producer: ProducerId,
        header: &CheckTransactionHeader<'_>,
        message: &StoredMessage,
        (asked_on, asked_by): (ConnId, Address),
        broker: Option<Arc<str>>,
    ) -> Self {
        Self {
            producer,
            topic: message.topic.clone(),
            message_id: message.message_id().into_owned(),
            bytes: message.body.len() + message.properties.len(),
            asked_on,
            asked_by,
            broker,
            timer: None,
            labels: None,
            offsets: Offsets { transaction: header.transaction_offset, commit_log: header.commit_log_offset },
            transaction_id: header.transaction_id.as_ref().map(ToString::to_string),
            header_topic: header.topic.as_ref().map(ToString::to_string),
            header_broker: header.broker_name.as_ref().map(ToString::to_string),
        }
    }

    /// The answer: whatever the check said of the half message is said again (wire §5.15).
    pub(crate) fn end(&self, resolution: Resolution, remark: Option<&str>) -> End {
        End {
            offsets: self.offsets,
            resolution,
            from_check: true,
            topic: self.header_topic.clone(),
            broker: self.header_broker.clone(),
            transaction_id: self.transaction_id.clone(),
            remark: remark.map(End::cut),
            labels: self.labels.clone(),
        }
    }
}
