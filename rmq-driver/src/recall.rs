//! The future of a recall.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use rmq_core::{ProducerId, Recall};

use crate::error::Error;
use crate::operation::{Command, Operation, Submitted};
use crate::producer::Producer;
use crate::shared::Shared;
use crate::waiters::Outcome;

impl Producer {
    /// Takes back a message that was sent with [`deliver_after`](rmq_core::proto::message::Message::deliver_after) or
    /// [`deliver_at`](rmq_core::proto::message::Message::deliver_at), before it is delivered; see [`RecallFuture`]. `handle` is the
    /// [`recall_handle`](rmq_core::SendResult::recall_handle) of its send. Brokers since 5.3.2 can do it, if they are told to
    /// (`recallMessageEnable`); messages with a delay level cannot be recalled.
    ///
    /// ```
    /// # use rmq_driver::{Error, Message, Producer};
    /// # use std::time::Duration;
    /// # async fn example(producer: Producer) -> Result<(), Error> {
    /// let message = Message::new("orders", "not paid in time").deliver_after(Duration::from_secs(900));
    /// let sent = producer.send(message).await?;
    /// // Paid after all:
    /// if let Some(handle) = sent.recall_handle {
    ///     producer.recall("orders", handle).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn recall(&self, topic: impl Into<String>, handle: impl Into<String>) -> RecallFuture {
        let take_back = TakeBack { producer: self.id, topic: topic.into(), handle: handle.into() };
        RecallFuture(Operation::new(Arc::clone(&self.owner), take_back))
    }
}

/// A message that is recalled; the outcome is its id. A message that was recalled before is recalled again.
///
/// Nothing happens before the first poll, or [`detach`](Self::detach). There is one attempt, with the time of the producer's
/// sends.
///
/// # Cancel safety
///
/// Dropping the future cancels the recall. What was not yet handed to a connection is then never written. Of what was, nobody can
/// know whether the broker acts on it.
///
/// # Errors
///
/// [`Error::RecallInvalid`] when the topic or the handle cannot be right, and nothing was sent. With [`Error::Recall`] the message
/// is delivered in its time, unless it [may have been recalled](rmq_core::RecallError::may_have_been_recalled) all the same.
#[must_use = "a message is recalled when the future is first polled"]
#[derive(Debug)]
pub struct RecallFuture(Operation<TakeBack>);

impl RecallFuture {
    /// Lets it run on by itself. Its outcome is seen by nobody; dropping the last handle of the client still cancels it.
    ///
    /// # Errors
    ///
    /// The recall is not accepted.
    pub fn detach(self) -> Result<(), Error> {
        self.0.detach()
    }
}

impl Future for RecallFuture {
    type Output = Result<String, Error>;

    /// # Panics
    ///
    /// When polled after it ended, as futures may.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.get_mut().0.poll(cx))? {
            Outcome::Recalled(message_id) => Ok(message_id),
            Outcome::RecallFailed(error) => Err(Error::Recall(error)),
            _ => Err(Error::TaskLost),
        })
    }
}

struct TakeBack {
    producer: ProducerId,
    topic: String,
    handle: String,
}

impl Command for TakeBack {
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { producer, topic, handle } = self;
        let recall = Recall::new(&topic, handle)?;
        shared.submit(waker, Bytes::new(), recall, |core, now, recall| core.recall(now, producer, recall))
    }
}
