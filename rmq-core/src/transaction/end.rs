//! What a broker is told.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};

use rmq_proto::header::EndTransactionHeader;
use rmq_proto::id::OffsetMessageId;

use crate::error::{EndTransactionError, cut};
use crate::event::{Event, Resolution, SendResult};
use crate::producer::SendOp;
use crate::trace::Labels;

/// Bytes of a remark that are sent.
const MAX_REMARK: usize = 1_024;

/// Where the half message is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offsets {
    pub(crate) transaction: i64,
    pub(crate) commit_log: i64,
}

/// The parts of an END_TRANSACTION that a [`SendOp`] has no place for.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) offsets: Offsets,
    pub(crate) resolution: Resolution,
    pub(crate) from_check: bool,
    pub(crate) topic: Option<String>,
    pub(crate) broker: Option<String>,
    pub(crate) transaction_id: Option<String>,
    pub(crate) remark: Option<String>,
    /// For message trace, where it is on.
    pub(crate) labels: Option<Labels>,
}

impl End {
    /// The end of the half message with this result; its topic is the user's, without a namespace (producer §9.2). None when
    /// its offset id is none.
    pub(crate) fn of_half(half: &SendResult, resolution: Resolution, remark: Option<&str>) -> Option<Self> {
        let id: OffsetMessageId = half.offset_message_id.parse().ok()?;
        Some(Self {
            offsets: Offsets { transaction: half.queue_offset, commit_log: id.offset },
            resolution,
            from_check: false,
            topic: Some(half.queue.topic.to_string()),
            broker: Some(half.queue.broker.to_string()),
            transaction_id: half.transaction_id.clone(),
            remark: remark.map(Self::cut),
            labels: None,
        })
    }

    pub(crate) fn cut(remark: &str) -> String {
        cut(remark, MAX_REMARK).to_string()
    }

    /// Bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [&self.topic, &self.broker, &self.transaction_id, &self.remark];
        texts.into_iter().flatten().map(String::len).sum()
    }

    pub(crate) fn header<'a>(&'a self, send: &'a SendOp) -> EndTransactionHeader<'a> {
        EndTransactionHeader {
            producer_group: Cow::Borrowed(&send.config.group),
            transaction_offset: self.offsets.transaction,
            commit_log_offset: self.offsets.commit_log,
            commit_or_rollback: self.resolution.to_i32(),
            from_check: Some(self.from_check),
            message_id: Cow::Borrowed(send.message_id()),
            transaction_id: self.transaction_id.as_deref().map(Cow::Borrowed),
            topic: self.topic.as_deref().map(Cow::Borrowed),
            broker_name: self.broker.as_deref().map(Cow::Borrowed),
        }
    }

    /// What the end of the send that carries it means.
    pub(crate) fn conclude(&self, event: Event) -> Event {
        match event {
            Event::OnewayWritten { op } => Event::TransactionEnded { op },
            Event::SendFailed { op, error } => {
                Event::EndTransactionFailed { op, error: EndTransactionError::of(error, self.resolution) }
            }
            other => other,
        }
    }
}
