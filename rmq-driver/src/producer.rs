//! The producer's handle and the futures of its calls.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use rmq_core::proto::message::Message;
use rmq_core::{MessageQueue, ProducerId, SendBack, SendBackOptions, SendOptions, SendResult};

use crate::batch;
use crate::error::Error;
use crate::operation::{Command, Operation, Submitted};
use crate::send_back::SendBackFuture;
use crate::shared::{Owner, Shared};
use crate::waiters::Outcome;

/// Sends messages of one producer group. Cheap to clone, and usable from any number of tasks at once.
#[derive(Clone)]
pub struct Producer {
    pub(crate) owner: Arc<Owner>,
    pub(crate) id: ProducerId,
    pub(crate) group: Arc<str>,
    /// Time of one send.
    pub(crate) timeout: Duration,
}

impl Producer {
    pub(crate) const fn new(owner: Arc<Owner>, id: ProducerId, group: Arc<str>, timeout: Duration) -> Self {
        Self { owner, id, group, timeout }
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
        SendFuture::new(self, message.into(), None, options)
    }

    /// [`send`](Self::send), unless the message would have to wait because as many of the producer's are under way as its
    /// [limits](rmq_core::ProducerConfig::in_flight) allow: then it fails at its first poll with
    /// [`RejectReason::NoPermit`](rmq_core::RejectReason::NoPermit).
    pub fn try_send(&self, message: Message) -> SendFuture {
        self.send_with(message, SendOptions::default().no_wait())
    }

    /// Sends a message to a queue of its topic, such as [`queues`](Self::queues) tells, and waits until its broker has stored
    /// it. There is one attempt unless the [retry policy](rmq_core::RetryPolicy::at_given_queue) says otherwise, and no other
    /// broker will do.
    pub fn send_to(&self, queue: MessageQueue, message: Message) -> SendFuture {
        SendFuture::new(self, message.into(), Some(queue), SendOptions::default())
    }

    /// Hands a message to the connection of a broker and waits until its bytes are written; see [`OnewayFuture`]. No
    /// broker confirms it: it may be lost.
    pub fn send_oneway(&self, message: Message) -> OnewayFuture {
        OnewayFuture::new(self, message.into())
    }

    /// Gives a stored message back to its broker, to be consumed again later or never; see [`SendBackFuture`].
    ///
    /// When the broker cannot be asked or says anything but yes within 5 s, a copy is sent to the group's retry topic, with
    /// three attempts within 3 s. A [dead letter](rmq_core::Redelivery::DeadLetter) is never sent so: the broker is
    /// asked again until the 5 s are over.
    pub fn send_back(&self, message: SendBack) -> SendBackFuture {
        self.send_back_with(message, SendBackOptions::default())
    }

    /// [`send_back`](Self::send_back) with times of its own.
    pub fn send_back_with(&self, message: SendBack, options: SendBackOptions) -> SendBackFuture {
        SendBackFuture::new(Arc::clone(&self.owner), self.id, message, options)
    }

    fn operation(
        &self,
        message: Parcel,
        queue: Option<MessageQueue>,
        options: SendOptions,
    ) -> Operation<Sending> {
        let sending = Sending { producer: self.id, message, queue, options };
        Operation::new(Arc::clone(&self.owner), sending)
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
pub struct SendFuture(Operation<Sending>);

impl SendFuture {
    pub(crate) fn new(
        producer: &Producer,
        message: Parcel,
        queue: Option<MessageQueue>,
        options: SendOptions,
    ) -> Self {
        Self(producer.operation(message, queue, options))
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
        self.get_mut().0.poll_sent(cx)
    }
}

/// A one-way message on its way; it ends when all its bytes are in the stream to a broker.
///
/// Begins as a [`SendFuture`]. There is one attempt.
///
/// # Cancel safety
///
/// Dropping the future cancels the send, as it does a [`SendFuture`]: either none of its bytes are handed to a connection, or all.
///
/// # Errors
///
/// Those of a [`SendFuture`], except that no broker answers.
#[must_use = "a send begins when its future is first polled"]
#[derive(Debug)]
pub struct OnewayFuture(Operation<Sending>);

impl OnewayFuture {
    pub(crate) fn new(producer: &Producer, message: Parcel) -> Self {
        Self(producer.operation(message, None, SendOptions::default().oneway()))
    }

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
            _ => Err(Error::TaskLost),
        })
    }
}

/// What is to be sent.
pub(crate) enum Parcel {
    One(Message),
    Batch(Vec<Message>),
}

impl From<Message> for Parcel {
    fn from(message: Message) -> Self {
        Self::One(message)
    }
}

/// A message, or a batch of them, that is to be sent.
struct Sending {
    producer: ProducerId,
    message: Parcel,
    options: SendOptions,
    queue: Option<MessageQueue>,
}

impl Command for Sending {
    /// Checks and encodes the message here, in the caller's task, and only then takes the lock.
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { producer, message, queue, options } = self;
        let message = match message {
            Parcel::One(message) => message.prepare(shared.rules())?,
            Parcel::Batch(messages) => {
                return batch::submit(shared, waker, producer, messages, queue.as_ref(), options);
            }
        };
        let body = message.body().clone();
        shared.submit(waker, body, message, |core, now, message| match &queue {
            Some(queue) => core.send_to(now, producer, queue, message, options),
            None => core.send(now, producer, message, options),
        })
    }
}
