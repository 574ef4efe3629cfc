//! Brokers' questions about transactions, as a user sees them.

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use rmq_core::proto::compress::DEFAULT_MAX_LEN;
use rmq_core::proto::message::StoredMessage;
use rmq_core::{CheckToken, ProducerId, Rejected, Resolution};

use crate::error::Error;
use crate::listeners::{ListenerKey, Question};
use crate::operation::{Command, Operation, Submitted};
use crate::producer::Producer;
use crate::shared::{Owner, Shared};
use crate::transaction::{EndFuture, IntoResolution, Unwinding};

/// As Java words it.
const CHECK_FAILED: &str = "checkLocalTransactionState Exception: ";

impl Producer {
    /// Listens to brokers that ask how transactions of this group went: those of processes that ended or were too slow, and
    /// those that were not decided. Several such handles share the questions. While there is none, they are counted in
    /// [`DriverStats::checks_unheard`](crate::DriverStats::checks_unheard) and let go: the broker asks again, 15 times as a
    /// rule, and then gives the message up.
    ///
    /// A broker asks clients that it knows: those that have sent to one of its topics, or have asked for the
    /// [`queues`](Self::queues) of one. A process that has just started does one of the two.
    ///
    /// Answer by what is stored of the local work, and with [`Resolution::Unknown`](rmq_core::Resolution::Unknown) where nothing
    /// is known: brokers of 5.x were seen to ask about transactions that had just been decided, and one that is committed twice
    /// stores its message twice.
    ///
    /// ```
    /// # use rmq_driver::{Producer, Resolution, StoredMessage};
    /// # async fn is_booked(_: &str) -> Result<bool, std::io::Error> { Ok(true) }
    /// # async fn example(producer: Producer) {
    /// let checks = producer.transaction_checks();
    /// checks.run(async |message: StoredMessage| {
    ///     let booked = is_booked(&message.message_id()).await?;
    ///     Ok::<_, std::io::Error>(if booked { Resolution::Commit } else { Resolution::Rollback })
    /// }).await;
    /// # }
    /// ```
    pub fn transaction_checks(&self) -> TransactionChecks {
        let key = self.owner.lock().checks.listen(self.id);
        TransactionChecks { owner: Arc::clone(&self.owner), producer: self.id, key }
    }
}

/// The questions to one producer group, in the order they came. As any handle, it keeps its client alive.
#[must_use = "nobody answers unless it is polled"]
pub struct TransactionChecks {
    owner: Arc<Owner>,
    producer: ProducerId,
    key: ListenerKey,
}

impl TransactionChecks {
    /// The next question; none when the client has shut down.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: a question that it did not return stays.
    pub async fn next(&mut self) -> Option<TransactionCheck> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// [`next`](Self::next), for streams of one's own. Nothing is lost when it is not called again: a question that it did not
    /// return stays.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<TransactionCheck>> {
        let owner = &self.owner;
        owner.poll_check(self.producer, self.key, cx).map(|question| {
            let Question { token, mut message } = question?;
            // Here, in the caller's task. A body that cannot be inflated is left as it is.
            let _ = message.inflate(DEFAULT_MAX_LEN);
            Some(TransactionCheck { claim: Claim { owner: Arc::clone(owner), token }, message })
        })
    }

    /// Answers all questions with what `checker` says, one after the other, until the client shuts down. Several handles do so
    /// side by side. A checker that fails, or panics, answers [`Resolution::Unknown`], and the next question is looked
    /// at. Whether an answer reaches its broker is in [`Stats`](rmq_core::Stats).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the broker asks again about the message that was looked at, and the questions not
    /// looked at go to another handle, or are let go.
    pub async fn run<F, R>(mut self, mut checker: F)
    where
        F: AsyncFnMut(StoredMessage) -> R,
        R: IntoResolution,
    {
        while let Some(TransactionCheck { claim, message }) = self.next().await {
            let checked = Unwinding(pin!(async { checker(message).await })).await;
            let (resolution, failure) = match checked {
                Ok(checked) => checked.into_resolution(),
                Err(_) => (Resolution::Unknown, Some("panic".to_owned())),
            };
            let remark = failure.map(|failure| format!("{CHECK_FAILED}{failure}"));
            // Counted by the core; the broker asks again.
            let _ = AnswerFuture::new(claim, resolution, remark).await;
        }
    }
}

impl Drop for TransactionChecks {
    fn drop(&mut self) {
        self.owner.leave_checks(self.producer, self.key);
    }
}

impl fmt::Debug for TransactionChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransactionChecks").field("producer", &self.producer).finish_non_exhaustive()
    }
}

/// One question of a broker: was this half message's local work done? Dropped without an answer, it is let go, and the
/// broker asks again.
#[must_use = "without an answer the broker asks again"]
pub struct TransactionCheck {
    claim: Claim,
    message: StoredMessage,
}

impl TransactionCheck {
    /// The half message, with the topic and the queue that it is meant for, and its properties. A compressed body is
    /// inflated, if it can be; its system flag says so if not.
    pub fn message(&self) -> &StoredMessage {
        &self.message
    }

    /// The id that the producer gave it: `message_id` of its [`SendResult`](rmq_core::SendResult).
    pub fn message_id(&self) -> Cow<'_, str> {
        self.message.message_id()
    }

    /// Answers; see [`AnswerFuture`]. [`Resolution::Unknown`] has the broker ask again.
    pub fn answer(self, resolution: Resolution) -> AnswerFuture {
        AnswerFuture::new(self.claim, resolution, None)
    }

    /// Answers, and says why to whoever reads the broker's log; at most 1 KiB of it is sent.
    pub fn answer_with(self, resolution: Resolution, remark: impl Into<String>) -> AnswerFuture {
        AnswerFuture::new(self.claim, resolution, Some(remark.into()))
    }
}

impl fmt::Debug for TransactionCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransactionCheck").field("message", &self.message).finish_non_exhaustive()
    }
}

/// An answer on its way; it ends when its bytes are in the stream to the broker that asked. No broker confirms it.
///
/// Nothing happens before the first poll, or [`detach`](Self::detach).
///
/// # Cancel safety
///
/// Dropping the future takes the answer back unless it was handed to a connection. The broker then asks again.
///
/// # Errors
///
/// The question is [over](rmq_core::RejectReason::CheckOver), 60 s after it came; the client is shut down; or the broker
/// cannot be reached. Nothing is lost.
#[must_use = "an answer goes out when its future is first polled"]
pub struct AnswerFuture(EndFuture<Answer>);

impl AnswerFuture {
    fn new(claim: Claim, resolution: Resolution, remark: Option<String>) -> Self {
        let owner = Arc::clone(&claim.owner);
        Self(EndFuture(Operation::new(owner, Answer { claim, resolution, remark })))
    }

    /// Lets it run on by itself.
    ///
    /// # Errors
    ///
    /// The answer is not accepted.
    pub fn detach(self) -> Result<(), Error> {
        self.0.0.detach()
    }
}

impl Future for AnswerFuture {
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.get_mut().0).poll(cx)
    }
}

impl fmt::Debug for AnswerFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnswerFuture").field(&self.0.0).finish()
    }
}

/// The right to answer one question.
struct Claim {
    owner: Arc<Owner>,
    token: CheckToken,
}

impl Drop for Claim {
    /// A question that was answered is not there any more.
    fn drop(&mut self) {
        self.owner.ignore_check(self.token);
    }
}

struct Answer {
    claim: Claim,
    resolution: Resolution,
    remark: Option<String>,
}

impl Command for Answer {
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { claim, resolution, remark } = self;
        let token = claim.token;
        let submitted = shared.submit(waker, Bytes::new(), (), |core, now, ()| {
            let answered = core.answer_check(now, token, resolution, remark.as_deref());
            answered.map_err(|reason| Rejected { reason, given: () })
        });
        drop(claim);
        submitted
    }
}
