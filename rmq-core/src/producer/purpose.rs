//! What a send is for.

use alloc::boxed::Box;

use super::{Batch, RequestOp, SendOp};
use crate::send_back::SendBackOp;
use crate::trace::Cargo;
use crate::transaction::End;

/// What a send is for, and what that takes besides the send itself.
#[derive(Clone, Debug, Default)]
pub(crate) enum Purpose {
    /// One message of a user; or what its [target](super::Target) says, where that is no queue.
    #[default]
    Message,
    /// The batch that it sends.
    Batch(Box<Batch>),
    /// A request, whose reply is waited for.
    Request(Box<RequestOp>),
    /// The send-back that this message to a retry topic belongs to.
    Back(Box<SendBackOp>),
    /// The end of a transaction that is told in place of a message: one-way, past the choice of a queue.
    End(Box<End>),
    /// The trace records that this message carries: then no user knows of it.
    Trace(Cargo),
}

impl SendOp {
    pub(crate) fn batch(&self) -> Option<&Batch> {
        if let Purpose::Batch(batch) = &self.purpose { Some(batch) } else { None }
    }

    pub(crate) fn request(&self) -> Option<&RequestOp> {
        if let Purpose::Request(request) = &self.purpose { Some(request) } else { None }
    }

    pub(crate) fn request_mut(&mut self) -> Option<&mut RequestOp> {
        if let Purpose::Request(request) = &mut self.purpose { Some(request) } else { None }
    }

    pub(crate) fn back(&self) -> Option<&SendBackOp> {
        if let Purpose::Back(back) = &self.purpose { Some(back) } else { None }
    }

    pub(crate) fn back_mut(&mut self) -> Option<&mut SendBackOp> {
        if let Purpose::Back(back) = &mut self.purpose { Some(back) } else { None }
    }

    pub(crate) fn ending(&self) -> Option<&End> {
        if let Purpose::End(end) = &self.purpose { Some(end) } else { None }
    }
}
