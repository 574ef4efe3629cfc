//! Requests, whose outcome is a reply, and the replies to others' requests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use rmq_core::proto::compress;
use rmq_core::proto::message::{Message, Reply, ReplyError, StoredMessage};
use rmq_core::{ProducerId, SendOptions, SendResult};

use crate::error::Error;
use crate::operation::{Command, Operation, Submitted};
use crate::producer::Producer;
use crate::shared::Shared;
use crate::waiters::Outcome;

impl Producer {
    /// Sends a message and waits for the reply to it, all within the producer's send timeout; see [`RequestFuture`].
    ///
    /// Whoever consumes the message replies, as by [`reply`](Self::reply). Where its send fails at the connection or times
    /// out, it is repeated as any other, and the other side may get it more than once; what a broker answers is final.
    ///
    /// ```
    /// # use rmq_driver::{Error, Message, Producer};
    /// # async fn example(producer: Producer) -> Result<(), Error> {
    /// let reply = producer.request(Message::new("prices", "order-42")).await?;
    /// println!("{}", String::from_utf8_lossy(&reply.body));
    /// # Ok(())
    /// # }
    /// ```
    pub fn request(&self, message: Message) -> RequestFuture {
        self.request_within(message, self.timeout)
    }

    /// [`request`](Self::request) with a time of its own for the send and the reply together. Java: the `timeout` argument.
    pub fn request_within(&self, message: Message, timeout: Duration) -> RequestFuture {
        let asking = Asking { producer: self.id, message, timeout };
        RequestFuture(Operation::new(Arc::clone(&self.owner), asking))
    }

    /// Replies to a request, which is read as a consumer reads it; see [`ReplyFuture`].
    ///
    /// ```
    /// # use rmq_driver::{Error, Producer, StoredMessage};
    /// # async fn example(producer: Producer, request: StoredMessage) -> Result<(), Error> {
    /// producer.reply(&request, "42.50").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn reply(&self, request: &StoredMessage, body: impl Into<Bytes>) -> ReplyFuture {
        self.replying(Reply::new(request, body))
    }

    /// [`reply`](Self::reply) with a reply that has more than a body.
    pub fn reply_with(&self, reply: Reply) -> ReplyFuture {
        self.replying(Ok(reply))
    }

    fn replying(&self, reply: Result<Reply, ReplyError>) -> ReplyFuture {
        let replying = Replying { producer: self.id, reply };
        ReplyFuture(Operation::new(Arc::clone(&self.owner), replying))
    }
}

/// A request on its way; its outcome is the reply.
///
/// Nothing happens before the first poll, which checks the message and hands it to the client. The client refuses it at once
/// when too much is under way. The reply's body is inflated here, in the caller's task.
///
/// # Cancel safety
///
/// Dropping the future cancels the request: what was not yet handed to a connection is never written, no further attempt is
/// made, and a reply that comes is dropped. Whoever has the request by then may act on it all the same.
///
/// # Errors
///
/// [`Error::NoReply`] says whether the request could not be sent, or was and nobody replied in time;
/// [`may_have_been_stored`](Error::may_have_been_stored) is true where the other side may act on it.
/// [`Error::ReplyBody`] is a reply whose body cannot be inflated.
#[must_use = "a request begins when its future is first polled"]
#[derive(Debug)]
pub struct RequestFuture(Operation<Asking>);

impl Future for RequestFuture {
    type Output = Result<StoredMessage, Error>;

    /// # Panics
    ///
    /// When polled after it ended, as futures may.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.get_mut().0.poll(cx))? {
            Outcome::Replied(reply) => {
                let mut message = reply.message;
                message.inflate(compress::DEFAULT_MAX_LEN)?;
                Ok(message)
            }
            Outcome::NoReply(error) => Err(Error::NoReply(error)),
            _ => Err(Error::TaskLost),
        })
    }
}

/// A reply on its way; it ends when the client that asked has it.
///
/// Begins and can be detached as a [`SendFuture`](crate::SendFuture).
///
/// # Cancel safety
///
/// Dropping the future cancels the reply, as it does a [`SendFuture`](crate::SendFuture): once it was handed to a connection, nobody
/// can know whether the other side gets it.
///
/// # Errors
///
/// [`Error::NotARequest`] before anything is sent. A broker that does not know the client that asked, or gets no answer from
/// it within 10 s, says SYSTEM_ERROR, which other attempts follow by the producer's
/// [retry policy](rmq_core::RetryPolicy); it stores the reply all the same.
#[must_use = "a reply begins when its future is first polled"]
#[derive(Debug)]
pub struct ReplyFuture(Operation<Replying>);

impl ReplyFuture {
    /// Lets the reply run on by itself, as [`SendFuture::detach`](crate::SendFuture::detach).
    ///
    /// # Errors
    ///
    /// The reply is not accepted.
    pub fn detach(self) -> Result<(), Error> {
        self.0.detach()
    }
}

impl Future for ReplyFuture {
    type Output = Result<SendResult, Error>;

    /// # Panics
    ///
    /// When polled after it ended, as futures may.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().0.poll_sent(cx)
    }
}

struct Asking {
    producer: ProducerId,
    message: Message,
    timeout: Duration,
}

impl Command for Asking {
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { producer, message, timeout } = self;
        let request = message.prepare_request(shared.rules(), shared.client_id(), timeout)?;
        let body = request.message().body().clone();
        shared.submit(waker, body, request, |core, now, request| core.send_request(now, producer, request))
    }
}

struct Replying {
    producer: ProducerId,
    reply: Result<Reply, ReplyError>,
}

impl Command for Replying {
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { producer, reply } = self;
        let message = reply?.prepare(shared.rules())?;
        let body = message.body().clone();
        let options = SendOptions::default();
        shared.submit(waker, body, message, |core, now, message| core.send(now, producer, message, options))
    }
}
