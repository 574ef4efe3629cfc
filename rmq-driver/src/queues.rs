//! Queues that a user chooses: the futures that look for them, and sends by choice.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use rmq_core::proto::hash::java_hash;
use rmq_core::proto::message::{Message, MessageError};
use rmq_core::proto::names;
use rmq_core::{MessageQueue, ProducerId, Rejected, SendOptions, SendResult};

use crate::error::Error;
use crate::operation::{Command, Operation, Submitted};
use crate::producer::{Producer, SendFuture};
use crate::shared::Shared;
use crate::waiters::Outcome;

impl Producer {
    /// The queues of a topic that can be written to, in the order that sends go round; at least one. A topic that is yet to be
    /// created has those that it will have. Where the route is known, which it is after the first send, the answer is
    /// there at the first poll.
    ///
    /// ```
    /// # use rmq_driver::{Error, Producer};
    /// # async fn example(producer: Producer) -> Result<(), Error> {
    /// for queue in &*producer.queues("orders").await? {
    ///     println!("queue {} of {}", queue.queue_id, queue.broker);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn queues(&self, topic: impl Into<String>) -> QueuesFuture {
        let question = Question { producer: self.id, topic: topic.into() };
        QueuesFuture(Operation::new(Arc::clone(&self.owner), question))
    }

    /// Sends a message to the queue that `selector` picks of those that [`queues`](Self::queues) tells, all within one send
    /// timeout; else as [`send_to`](Self::send_to). The selector runs in the caller's task.
    ///
    /// ```
    /// # use rmq_driver::{Error, Message, Producer};
    /// # async fn example(producer: Producer) -> Result<(), Error> {
    /// let message = Message::new("orders", "hello");
    /// producer.send_by(message, |queues, _| queues.iter().min_by_key(|queue| queue.queue_id)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels whatever it waits for: the question for queues, or the send, as it does a [`SendFuture`].
    ///
    /// # Errors
    ///
    /// Those of [`queues`](Self::queues) and [`send_to`](Self::send_to), and [`Error::NoQueueChosen`] when the selector picks
    /// none: nothing is sent then.
    pub fn send_by<F>(
        &self,
        message: Message,
        selector: F,
    ) -> impl Future<Output = Result<SendResult, Error>> + use<F>
    where
        F: for<'a> FnOnce(&'a [MessageQueue], &Message) -> Option<&'a MessageQueue>,
    {
        let producer = self.clone();
        async move {
            let began = producer.owner.now();
            let queues = producer.queues(message.topic()).await?;
            let queue = selector(&queues, &message).cloned().ok_or(Error::NoQueueChosen)?;
            let spent = producer.owner.now().saturating_since(began);
            let left = producer.timeout.saturating_sub(spent);
            SendFuture::new(&producer, message.into(), Some(queue), SendOptions::default().timeout(left))
                .await
        }
    }

    /// Sends a message to the queue that `key` stands for: messages of one key go to one queue, in their order if each is
    /// awaited before the next, as long as the topic keeps its queues. It is the same queue that Java's
    /// `SelectMessageQueueByHash` picks for a text. Else as [`send_by`](Self::send_by), and as safe to cancel.
    ///
    /// # Errors
    ///
    /// Those of [`send_by`](Self::send_by).
    pub fn send_by_key(
        &self,
        message: Message,
        key: &str,
    ) -> impl Future<Output = Result<SendResult, Error>> + use<> {
        let hash = java_hash(key);
        self.send_by(message, move |queues, _| queues.get(place_of(hash, queues.len())))
    }
}

/// The absolute value of the remainder, which has the sign of the hash.
fn place_of(hash: i32, queues: usize) -> usize {
    let queues = i32::try_from(queues).unwrap_or(i32::MAX).max(1);
    (hash % queues).unsigned_abs() as usize
}

/// A question for the queues of a topic. Nothing happens before the first poll.
///
/// # Cancel safety
///
/// Dropping the future takes the question back. An answer that comes all the same is used for the sends that follow.
///
/// # Errors
///
/// A name that no topic can have, a topic that does not exist, or no answer in the producer's send timeout.
#[must_use = "a question is put when its future is first polled"]
#[derive(Debug)]
pub struct QueuesFuture(Operation<Question>);

impl Future for QueuesFuture {
    type Output = Result<Arc<[MessageQueue]>, Error>;

    /// # Panics
    ///
    /// When polled after it ended, as futures may.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.get_mut().0.poll(cx))? {
            Outcome::Found(queues) => Ok(queues),
            Outcome::Failed(error) => Err(Error::Send(error)),
            _ => Err(Error::TaskLost),
        })
    }
}

struct Question {
    producer: ProducerId,
    topic: String,
}

impl Command for Question {
    fn known(&self, shared: &Shared) -> Option<Outcome> {
        shared.known_queues(&self.topic).map(Outcome::Found)
    }

    fn submit(self, shared: &Shared, waker: Option<Waker>) -> Result<Submitted, Error> {
        let Self { producer, topic } = self;
        if let Err(error) = names::validate_topic(&topic) {
            return Err(MessageError::Topic { topic, error }.into());
        }
        shared.submit(waker, Bytes::new(), topic, |core, now, topic| {
            let found = core.find_queues(now, producer, &topic, None);
            found.map_err(|reason| Rejected { reason, given: topic })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_places_that_java_gives_them() {
        // "polygenelubricants" has the least hash there is, whose absolute value Java cannot say.
        let rows = [
            ("", 4, 0),
            ("TagA", 4, 3),
            ("order-42", 1, 0),
            ("polygenelubricants", 4, 0),
            ("polygenelubricants", 7, 2),
        ];
        for (key, queues, place) in rows {
            assert_eq!(place_of(java_hash(key), queues), place, "{key} among {queues}");
        }
    }
}
