//! Commands that begin operations.

use std::time::Duration;

use rmq_core::proto::message::{CORRELATION_ROOM, ID_ROOM, Prepared, PreparedBatch, PreparedRequest};
use rmq_core::{ProducerId, Recall, Redelivery, SendBack, SendBackOptions, SendOptions};

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
        }
    }

    /// Whether a broker's answer ends it well.
    pub(super) const fn is_two_way(self) -> bool {
        matches!(self, Self::Send | Self::SendTo)
    }

    pub(super) const fn is_back(self) -> bool {
        matches!(self, Self::Back { .. } | Self::DeadLetter)
    }
}

/// What a command brings, as far as the contract speaks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) producer: ProducerId,
    pub(super) timeout: Option<Duration>,
    pub(super) kind: Kind,
    /// Least bytes that it holds: without message ids.
    pub(super) bytes: usize,
    /// Most bytes of the ids.
    pub(super) ids: usize,
}

impl Call {
    pub(super) fn new(kind: Kind, producer: ProducerId, message: &Prepared, options: SendOptions) -> Self {
        let SendOptions { timeout, oneway, .. } = options;
        let kind = if oneway { Kind::Oneway } else { kind };
        let bytes = message.body().len() + message.properties().len();
        Self { producer, timeout, kind, bytes, ids: ID_ROOM }
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
        Self { producer, timeout, kind, bytes: batch.max_len() - ids, ids }
    }

    /// The same call with the message that came back.
    pub(super) fn again(self, message: &Prepared, options: SendOptions) -> Self {
        Self::new(self.kind, self.producer, message, options)
    }

    pub(super) const fn find_queues(producer: ProducerId, timeout: Option<Duration>) -> Self {
        Self { producer, timeout, kind: Kind::FindQueues, bytes: 0, ids: ID_ROOM }
    }

    pub(super) fn recall(producer: ProducerId, recall: &Recall) -> Self {
        Self { producer, timeout: None, kind: Kind::Recall, bytes: recall.bytes(), ids: ID_ROOM }
    }

    pub(super) fn request(producer: ProducerId, request: &PreparedRequest) -> Self {
        let message = request.message();
        let bytes = message.body().len() + message.properties().len() + CORRELATION_ROOM;
        Self { producer, timeout: Some(request.timeout()), kind: Kind::Request, bytes, ids: ID_ROOM }
    }

    /// What a send-back brings. A dead letter has no time of its own for the retry topic.
    pub(super) fn back(producer: ProducerId, message: &SendBack, options: SendBackOptions) -> Self {
        let kind = match message.redelivers() {
            Redelivery::DeadLetter => Kind::DeadLetter,
            Redelivery::ByBroker | Redelivery::After(_) => Kind::Back { retry: options.retry_timeout },
        };
        Self { producer, timeout: Some(options.timeout), kind, bytes: message.bytes(), ids: ID_ROOM }
    }
}
