//! Transactions: a half message, local work, and word of its outcome.

use std::fmt::Display;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use rmq_core::proto::message::Message;
use rmq_core::{ProducerId, Rejected, Resolution, SendOptions, SendResult};

use crate::error::Error;
use crate::operation::{Command, Operation, Submitted};
use crate::producer::Producer;
use crate::shared::{Owner, Shared};
use crate::waiters::Outcome;

/// What Java writes before the text of an exception, so that both are found in a broker's log by the same words.
const LOCAL_WORK_FAILED: &str = "executeLocalTransactionBranch exception: ";

/// What local work, or a look at it, comes to: a [`Resolution`], or a `Result` with one. An error means that nobody knows:
/// [`Resolution::Unknown`], and its text goes to the broker.
pub trait IntoResolution {
    /// The resolution, and what went wrong.
    fn into_resolution(self) -> (Resolution, Option<String>);
}

impl IntoResolution for Resolution {
    fn into_resolution(self) -> (Resolution, Option<String>) {
        (self, None)
    }
}

impl<E: Display> IntoResolution for Result<Resolution, E> {
    fn into_resolution(self) -> (Resolution, Option<String>) {
        match self {
            Ok(resolution) => (resolution, None),
            Err(error) => (Resolution::Unknown, Some(error.to_string())),
        }
    }
}

/// What came of a transaction whose half message was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransactionResult {
    /// Where the half message is, and its ids.
    pub sent: SendResult,
    /// What the broker was told.
    pub resolution: Resolution,
    /// The text of the error that the local work ended with.
    pub failure: Option<String>,
    /// Whether the broker was told. If not, nothing is lost: it asks after a while, and
    /// [checks](Producer::transaction_checks) answer.
    pub told: Result<(), Error>,
}

impl Producer {
    /// Sends a half message, does local work once it is stored, and tells the broker how that went. Consumers see the
    /// message when the outcome is [`Resolution::Commit`], and never when it is [`Resolution::Rollback`]. After
    /// [`Resolution::Unknown`], and whenever the broker missed what it was told, it asks: have something that answers
    /// [`transaction_checks`](Self::transaction_checks) in every process of the group.
    ///
    /// ```
    /// # use rmq_driver::{Error, Message, Producer, Resolution, SendResult};
    /// # async fn book(_: &str) -> Result<bool, std::io::Error> { Ok(true) }
    /// # async fn example(producer: Producer) -> Result<(), Error> {
    /// let order = Message::new("orders", "hello").key("order-42");
    /// let result = producer
    ///     .send_transaction(order, async |sent: SendResult| {
    ///         let booked = book(&sent.message_id).await?;
    ///         Ok::<_, std::io::Error>(if booked { Resolution::Commit } else { Resolution::Rollback })
    ///     })
    ///     .await?;
    /// println!("{}: {:?}", result.sent.message_id, result.resolution);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The half message is sent with retries, within the send timeout; so is the word of the outcome, without. The local work
    /// runs in the caller's task and has whatever time it takes. While it runs, a question of the broker about this message is
    /// answered with `Unknown`, and nobody is bothered with it.
    ///
    /// It does not run where the broker may yet lose the half message, having stored it with
    /// [any status](rmq_core::SendStatus) but SEND_OK: that is rolled back at once, as in Java.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops it where it is: the local work is dropped as well, and nothing more is said to the broker,
    /// which asks. What went out before stays out.
    ///
    /// # Errors
    ///
    /// The half message was not stored, or may have been: then the local work did not run, and nothing is to be undone. All
    /// else is in the [`TransactionResult`].
    ///
    /// # Panics
    ///
    /// When the local work does: the broker is told `Unknown` first.
    pub fn send_transaction<F, W>(
        &self,
        message: Message,
        local_work: F,
    ) -> impl Future<Output = Result<TransactionResult, Error>> + use<F, W>
    where
        F: FnOnce(SendResult) -> W,
        W: Future,
        W::Output: IntoResolution,
    {
        let producer = self.clone();
        async move {
            let sent = HalfFuture::new(&producer, message).await?;
            if sent.is_to_be_rolled_back() {
                let told = producer.end(&sent, Resolution::Rollback, None).await;
                return Ok(TransactionResult { sent, resolution: Resolution::Rollback, failure: None, told });
            }
            let working = Working::new(&producer.owner, &sent);
            let work = sent.clone();
            let outcome = Unwinding(pin!(async move { local_work(work).await })).await;
            drop(working);
            let (resolution, failure) = match outcome {
                Ok(outcome) => outcome.into_resolution(),
                Err(panic) => {
                    let remark = format!("{LOCAL_WORK_FAILED}panic");
                    // Whether it arrives or not: the panic is what the caller has to hear of.
                    let _ = producer.end(&sent, Resolution::Unknown, Some(remark)).await;
                    resume_unwind(panic)
                }
            };
            let remark = failure.as_ref().map(|failure| format!("{LOCAL_WORK_FAILED}{failure}"));
            let told = producer.end(&sent, resolution, remark).await;
            Ok(TransactionResult { sent, resolution, failure, told })
        }
    }

    fn end(&self, half: &SendResult, resolution: Resolution, remark: Option<String>) -> EndFuture<End> {
        let end = End { producer: self.id, half: Box::new(half.clone()), resolution, remark };
        EndFuture(Operation::new(Arc::clone(&self.owner), end))
    }
}

/// Catches what a user's future panics with.
pub(crate) struct Unwinding<F>(pub(crate) F);

impl<F: Future + Unpin> Future for Unwinding<F> {
    type Output = std::thread::Result<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // It is not polled again after a panic.
        match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut self.0).poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

/// Says that the local work of a message runs.
struct Working {
    owner: Arc<Owner>,
    message_id: String,
}

impl Working {
    fn new(owner: &Arc<Owner>, sent: &SendResult) -> Self {
        let message_id = sent.message_id.clone();
        owner.lock().checks.work_begins(message_id.clone());
        Self { owner: Arc::clone(owner), message_id }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.owner.lock().checks.work_ended(&self.message_id);
    }
}

struct HalfFuture(Operation<Half>);

impl HalfFuture {
    fn new(producer: &Producer, message: Message) -> Self {
        let half = Half { producer: producer.id, group: Arc::clone(&producer.group), message };
        Self(Operation::new(Arc::clone(&producer.owner), half))
    }
}

impl Future for HalfFuture {
    type Output = Result<SendResult, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().0.poll_sent(cx)
    }
}

struct Half {
    producer: ProducerId,
    group: Arc<str>,
    message: Message,
}

impl Command for Half {
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { producer, group, message } = self;
        let half = message.prepare_half(shared.rules(), &group)?;
        let body = half.body().clone();
        let options = SendOptions::default();
        shared.submit(waker, body, half, |core, now, half| core.send_half(now, producer, half, options))
    }
}

/// The broker is told; ends when the bytes are in its stream.
pub(crate) struct EndFuture<C>(pub(crate) Operation<C>);

impl<C: Command + Unpin> Future for EndFuture<C> {
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.get_mut().0.poll(cx))? {
            Outcome::TransactionEnded => Ok(()),
            Outcome::EndFailed(error) => Err(Error::EndTransaction(error)),
            _ => Err(Error::TaskLost),
        })
    }
}

struct End {
    producer: ProducerId,
    half: Box<SendResult>,
    resolution: Resolution,
    remark: Option<String>,
}

impl Command for End {
    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { producer, half, resolution, remark } = self;
        shared.submit(waker, Bytes::new(), half, |core, now, half| {
            let ended = core.end_transaction(now, producer, &half, resolution, remark.as_deref());
            ended.map_err(|reason| Rejected { reason, given: half })
        })
    }
}
