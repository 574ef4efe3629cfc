//! What makes a request of a send: once a broker has it, its reply is waited for, within the same time
//! (producer §10.1).

use alloc::boxed::Box;
use core::time::Duration;

use rmq_proto::id::CorrelationId;

use crate::error::{NoReply, NoReplyError, NoReplyErrorKind, SendErrorKind};
use crate::event::{Event, SendResult};

#[derive(Clone, Debug)]
pub(crate) struct RequestOp {
    pub(crate) correlation_id: CorrelationId,
    timeout: Duration,
    /// Whether it was seen to that brokers know this client.
    pub(crate) registered: bool,
    /// Where the request is, once a broker said so.
    pub(crate) sent: Option<SendResult>,
}

impl RequestOp {
    pub(crate) const fn new(correlation_id: CorrelationId, timeout: Duration) -> Self {
        Self { correlation_id, timeout, registered: false, sent: None }
    }

    /// The end of a request, made of the end of its send.
    pub(crate) fn conclude(self, event: Event) -> Event {
        let Event::SendFailed { op, error } = event else { return event };
        let kind = match error.kind() {
            SendErrorKind::ShutDown => NoReplyErrorKind::ShutDown,
            _ if self.sent.is_some() || error.took() >= self.timeout => NoReplyErrorKind::TimedOut,
            _ => NoReplyErrorKind::SendFailed,
        };
        Event::RequestFailed { op, error: NoReplyError(Box::new(NoReply { kind, sent: self.sent, error })) }
    }
}
