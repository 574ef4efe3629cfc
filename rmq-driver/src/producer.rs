//! The producer's handle and the futures of its calls.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use rmq_core::proto::message::Message;
use rmq_core::{MessageQueue, OpId, ProducerId, SendOptions, SendResult};

use crate::error::Error;
use crate::shared::Owner;
use crate::waiters::{Key, Outcome};

/// Sends messages of one producer group. Cheap to clone, and usable from any number of tasks at once.
#[derive(Clone)]
pub struct Producer {
    pub(crate) owner: Arc<Owner>,
    pub(crate) id: ProducerId,
    /// Time of one send.
    pub(crate) timeout: Duration,
}

impl Producer {
    pub(crate) const fn new(owner: Arc<Owner>, id: ProducerId, timeout: Duration) -> Self {
        Self { owner, id, timeout }
    }

    /// Sends a message to its topic and waits until a broker has stored it; see [`SendFuture`].
    ///
    /// A send that fails is repeated as the producer's configuration says, at another broker where there is one, all
    /// within the send timeout. Attempts at different brokers do not wait for one another: where two or more brokers refuse at
    /// once, all attempts are used up at once, and it is for the caller to wait before the next call. Those at the only broker
    /// there is [do](rmq_core::ProducerConfig::retry_backoff).
    pub fn send(&self, message: Message) -> SendFuture {
        self.send_with(message, SendOptions::default())
    }

    /// [`send`](Self::send) with options of its own. [`SendOptions::oneway`] is not looked at: that is
    /// [`send_oneway`](Self::send_oneway).
    pub fn send_with(&self, message: Message, mut options: SendOptions) -> SendFuture {
        options.oneway = false;
        SendFuture::new(self, message, None, options)
    }

    /// Sends a message to a queue of its topic, such as [`queues`](Self::queues) tells, and waits until its broker has stored
    /// it. There is one attempt unless the [retry policy](rmq_core::RetryPolicy::at_given_queue) says otherwise, and no other
    /// broker will do.
    pub fn send_to(&self, queue: MessageQueue, message: Message) -> SendFuture {
        SendFuture::new(self, message, Some(queue), SendOptions::default())
    }

    /// Hands a message to the connection of a broker and waits until its bytes are written; see [`OnewayFuture`]. No
    /// broker confirms it: it may be lost.
    pub fn send_oneway(&self, message: Message) -> OnewayFuture {
        OnewayFuture(Operation::new(self, message, None, SendOptions::default().oneway()))
    }
}

impl fmt::Debug for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A message on its way; its outcome is where a broker stored it.
///
/// Nothing happens before the first poll, or [`detach`](Self::detach). The first poll checks the message and hands it to
/// the client, which refuses it at once when too much is under way.
///
/// # Cancel safety
///
/// Dropping the future cancels the send. What was not yet handed to a connection is then never written. What was is
/// written to its end, so that the connection stays usable, and nobody can know whether the broker stored it. No further
/// attempt is made.
///
/// # Errors
///
/// [`Error`] says what was tried, whether to [try again](Error::is_retryable), and whether the message
/// [may be stored](Error::may_have_been_stored) all the same.
#[must_use = "a send begins when its future is first polled"]
#[derive(Debug)]
pub struct SendFuture(Operation);

impl SendFuture {
    pub(crate) fn new(
        producer: &Producer,
        message: Message,
        queue: Option<MessageQueue>,
        options: SendOptions,
    ) -> Self {
        Self(Operation::new(producer, message, queue, options))
    }

    /// Lets the send run on by itself. Its outcome is seen by nobody; dropping the last handle of the client still
    /// cancels it.
    ///
    /// # Errors
    ///
    /// The message is not accepted.
    pub fn detach(self) -> Result<(), Error> {
        self.0.detach()
    }
}

impl Future for SendFuture {
    type Output = Result<SendResult, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.get_mut().0.poll(cx))? {
            Outcome::Sent(result) => Ok(result),
            Outcome::Failed(error) => Err(Error::Send(error)),
            Outcome::OnewayWritten | Outcome::Found(_) | Outcome::Lost => Err(Error::TaskLost),
        })
    }
}

/// A one-way message on its way; it ends when all its bytes are in the stream to a broker.
///
/// Begins, and is cancelled, as a [`SendFuture`]. There is one attempt.
#[must_use = "a send begins when its future is first polled"]
#[derive(Debug)]
pub struct OnewayFuture(Operation);

impl OnewayFuture {
    /// Lets the send run on by itself, as [`SendFuture::detach`].
    ///
    /// # Errors
    ///
    /// The message is not accepted.
    pub fn detach(self) -> Result<(), Error> {
        self.0.detach()
    }
}

impl Future for OnewayFuture {
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.get_mut().0.poll(cx))? {
            Outcome::OnewayWritten => Ok(()),
            Outcome::Failed(error) => Err(Error::Send(error)),
            Outcome::Sent(_) | Outcome::Found(_) | Outcome::Lost => Err(Error::TaskLost),
        })
    }
}

struct Operation {
    owner: Arc<Owner>,
    producer: ProducerId,
    options: SendOptions,
    queue: Option<MessageQueue>,
    stage: Stage,
}

enum Stage {
    New(Message),
    /// The body is kept, so that the core's drop of it, under the lock, is not the last.
    Waiting(OpId, Key, Bytes),
    Done,
}

impl Operation {
    fn new(producer: &Producer, message: Message, queue: Option<MessageQueue>, options: SendOptions) -> Self {
        let stage = Stage::New(message);
        Self { owner: Arc::clone(&producer.owner), producer: producer.id, options, queue, stage }
    }

    /// Checks and encodes the message here, in the caller's task, and only then takes the lock.
    fn submit(&self, message: Message, waker: Option<Waker>) -> Result<Stage, Error> {
        let message = message.prepare(self.owner.rules())?;
        let body = message.body().clone();
        let (op, key) =
            self.owner.send(self.producer, message, self.queue.as_ref(), self.options, waker, &body)?;
        Ok(key.map_or(Stage::Done, |key| Stage::Waiting(op, key, body)))
    }

    /// # Panics
    ///
    /// When polled after it ended, as futures may.
    fn poll(&mut self, cx: &Context<'_>) -> Poll<Result<Outcome, Error>> {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::New(message) => {
                self.stage = self.submit(message, Some(cx.waker().clone()))?;
                Poll::Pending
            }
            Stage::Waiting(op, key, body) => match self.owner.poll_outcome(key, cx) {
                Poll::Ready(outcome) => Poll::Ready(Ok(outcome)),
                Poll::Pending => {
                    self.stage = Stage::Waiting(op, key, body);
                    Poll::Pending
                }
            },
            Stage::Done => panic!("a send's future was polled after it had ended"),
        }
    }

    fn detach(mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::New(message) => {
                self.submit(message, None)?;
            }
            Stage::Waiting(op, key, body) => self.owner.detach(op, key, body),
            Stage::Done => {}
        }
        Ok(())
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        if let Stage::Waiting(op, key, _) = self.stage {
            self.owner.cancel(op, key);
        }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.stage {
            Stage::New(_) => "New",
            Stage::Waiting(..) => "Waiting",
            Stage::Done => "Done",
        })
    }
}
