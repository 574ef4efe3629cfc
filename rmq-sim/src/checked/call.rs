//! Commands that begin operations.

use std::time::Duration;

use rmq_core::proto::message::{CORRELATION_ROOM, ID_ROOM, Prepared, PreparedBatch, PreparedRequest};
use rmq_core::{ProducerId, Recall, Redelivery, SendBack, SendBackOptions, SendOptions, SendResult};

/// Time of an answer to a check.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of a remark that are sent.
const MAX_REMARK: usize = 1_024;

/// Bytes of a remark as it is sent.
fn cut(remark: Option<&str>) -> usize {
    remark.map_or(0, |remark| {
        let most = remark.len().min(MAX_REMARK);
        (0..=most).rev().find(|at| remark.is_char_boundary(*at)).unwrap_or_default()
    })
}

/// What an operation is, which decides how it may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// To any queue of its topic.
    Send,
    /// To a given one.
    SendTo,
    /// Either of them, without an answer.
    Oneway,
    /// Nowhere: it asks for the queues.
    FindQueues,
    /// To the broker that has the message, and else to a retry topic, with so much time.
    Back {
        retry: Duration,
    },
    DeadLetter,
    /// To the broker that a handle names.
    Recall,
    /// To any queue of its topic, with a reply to wait for.
    Request,
    /// To the broker of a half message, which does not answer.
    End,
    /// The same, to a broker that asked.
    Answer,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Send => "a two-way send",
            Self::SendTo => "a send to a given queue",
            Self::Oneway => "a one-way send",
            Self::FindQueues => "a question for queues",
            Self::Back { .. } => "a send-back",
            Self::DeadLetter => "a dead letter",
            Self::Recall => "a recall",
            Self::Request => "a request",
            Self::End => "the end of a transaction",
            Self::Answer => "the answer to a check",
        }
    }

    /// Whether a broker's answer ends it well.
    pub(super) const fn is_two_way(self) -> bool {
        matches!(self, Self::Send | Self::SendTo)
    }

    pub(super) const fn is_end(self) -> bool {
        matches!(self, Self::End | Self::Answer)
    }

    pub(super) const fn is_back(self) -> bool {
        matches!(self, Self::Back { .. } | Self::DeadLetter)
    }
}

/// What a command brings, as far as the contract speaks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// None where a check says which.
    pub(super) producer: Option<ProducerId>,
    pub(super) timeout: Option<Duration>,
    pub(super) kind: Kind,
    /// Least bytes that it holds: without message ids.
    pub(super) bytes: usize,
    /// Most bytes of the ids, and of other texts that cannot be seen from outside.
    pub(super) ids: usize,
}

impl Call {
    pub(super) fn new(kind: Kind, producer: ProducerId, message: &Prepared, options: SendOptions) -> Self {
        let SendOptions { timeout, oneway, .. } = options;
        let kind = if oneway { Kind::Oneway } else { kind };
        let bytes = message.body().len() + message.properties().len();
        Self { producer: Some(producer), timeout, kind, bytes, ids: ID_ROOM }
    }

    pub(super) fn batch(
        kind: Kind,
        producer: ProducerId,
        batch: &PreparedBatch,
        options: SendOptions,
    ) -> Self {
        let SendOptions { timeout, oneway, .. } = options;
        let kind = if oneway { Kind::Oneway } else { kind };
        // An id for each message, and one for the batch.
        let ids = (batch.messages().len() + 1) * ID_ROOM;
        Self { producer: Some(producer), timeout, kind, bytes: batch.max_len() - ids, ids }
    }

    /// The same call with the message that came back.
    pub(super) fn again(self, message: &Prepared) -> Self {
        let bytes = message.body().len() + message.properties().len();
        Self { bytes, ..self }
    }

    pub(super) const fn find_queues(producer: ProducerId, timeout: Option<Duration>) -> Self {
        Self { producer: Some(producer), timeout, kind: Kind::FindQueues, bytes: 0, ids: ID_ROOM }
    }

    pub(super) fn recall(producer: ProducerId, recall: &Recall) -> Self {
        Self {
            producer: Some(producer),
            timeout: None,
            kind: Kind::Recall,
            bytes: recall.bytes(),
            ids: ID_ROOM,
        }
    }

    pub(super) fn request(producer: ProducerId, request: &PreparedRequest) -> Self {
        let message = request.message();
        let bytes = message.body().len() + message.properties().len() + CORRELATION_ROOM;
        Self {
            producer: Some(producer),
            timeout: Some(request.timeout()),
            kind: Kind::Request,
            bytes,
            ids: ID_ROOM,
        }
    }

    /// What a send-back brings. A dead letter has no time of its own for the retry topic.
    pub(super) fn back(producer: ProducerId, message: &SendBack, options: SendBackOptions) -> Self {
        let kind = match message.redelivers() {
            Redelivery::DeadLetter => Kind::DeadLetter,
            Redelivery::ByBroker | Redelivery::After(_) => Kind::Back { retry: options.retry_timeout },
        };
        Self {
            producer: Some(producer),
            timeout: Some(options.timeout),
            kind,
            bytes: message.bytes(),
            ids: ID_ROOM,
        }
    }

    /// The end of a half message, which holds its names and the remark.
    pub(super) fn end(producer: ProducerId, half: &SendResult, remark: Option<&str>) -> Self {
        let texts = [&*half.queue.topic, &*half.queue.broker, half.transaction_id.as_deref().unwrap_or("")];
        let bytes = texts.map(str::len).iter().sum::<usize>() + cut(remark);
        Self { producer: Some(producer), timeout: None, kind: Kind::End, bytes, ids: 0 }
    }

    /// The answer to a check. What else it holds came in the check's frame, of at most so many bytes.
    pub(super) fn answer(remark: Option<&str>, frame: usize) -> Self {
        let timeout = Some(ANSWER_TIMEOUT);
        Self { producer: None, timeout, kind: Kind::Answer, bytes: cut(remark), ids: frame }
    }
}
