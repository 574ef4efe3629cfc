//! The future of a send-back.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use rmq_core::{ProducerId, SendBack, SendBackOptions, SentBack};

use crate::error::Error;
use crate::operation::{Command, Operation, Submitted};
use crate::shared::{Owner, Shared};
use crate::waiters::Outcome;

/// A message that is given back; its outcome says by whom.
///
/// Nothing happens before the first poll, or [`detach`](Self::detach). The first poll hands the message to the client, which
/// refuses it at once when too much is under way.
///
/// # Cancel safety
///
/// Dropping the future cancels the send-back: what was not yet handed to a connection is never written, and no further
/// attempt is made. Of what was, nobody can know whether a broker acts on it: the message may be consumed again, and is
/// still the caller's, too.
///
/// # Errors
///
/// With any [`Error`] the message is still the caller's. [`Error::SendBack`] lists what was tried: the attempts at its broker,
/// and the send to the retry topic. Ask whether to [try again](Error::is_retryable), and whether the message
/// [may have been given back](Error::may_have_been_stored) all the same.
#[must_use = "a message is given back when the future is first polled"]
#[derive(Debug)]
pub struct SendBackFuture(Operation<GiveBack>);

impl SendBackFuture {
    pub(crate) const fn new(
        owner: Arc<Owner>,
        producer: ProducerId,
        message: SendBack,
        options: SendBackOptions,
    ) -> Self {
        Self(Operation::new(owner, GiveBack { producer, message, options }))
    }

    /// Lets it run on by itself. Its outcome is seen by nobody, so a message that cannot be given back is lost to its
    /// group; dropping the last handle of the client still cancels it.
    ///
    /// # Errors
    ///
    /// The message is not accepted.
    pub fn detach(self) -> Result<(), Error> {
        self.0.detach()
    }
}

impl Future for SendBackFuture {
    type Output = Result<SentBack, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.get_mut().0.poll(cx))? {
            Outcome::SentBack(how) => Ok(how),
            Outcome::BackFailed(error) => Err(Error::SendBack(error)),
            _ => Err(Error::TaskLost),
        })
    }
}

struct GiveBack {
    producer: ProducerId,
    message: SendBack,
    options: SendBackOptions,
}

impl Command for GiveBack {
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { producer, message, options } = self;
        let body = message.body().clone();
        shared.submit(waker, body, message, |core, now, message| {
            core.send_back(now, producer, message, options)
        })
    }
}
