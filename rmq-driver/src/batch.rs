//! Batches: several messages of one topic in one request.

use std::task::Waker;

use bytes::Bytes;
use rmq_core::proto::message::{Message, PreparedBatch};
use rmq_core::{MessageQueue, ProducerId, SendOptions};

use crate::error::Error;
use crate::operation::Submitted;
use crate::producer::{OnewayFuture, Parcel, Producer, SendFuture};
use crate::shared::Shared;

impl Producer {
    /// Sends several messages to their topic in one request, and waits until a broker has stored all of them, one behind the
    /// other in one queue, or none; else as [`send`](Self::send). What the result says of one message, it
    /// [says of each](rmq_core::SendResult::message_ids).
    ///
    /// They must have the same topic, which is no retry topic, and the same `wait_store_ok`, must not be delayed, and together
    /// must not be longer than a body may be. [`Error::Batch`] says which rule is broken; nothing is sent then.
    ///
    /// To have single sends put into batches, see [`ProducerConfig::auto_batch`](rmq_core::ProducerConfig::auto_batch).
    ///
    /// ```
    /// # use rmq_driver::{Error, Message, Producer};
    /// # async fn example(producer: Producer) -> Result<(), Error> {
    /// let messages = ["one", "two", "three"].map(|body| Message::new("orders", body));
    /// let sent = producer.send_batch(messages).await?;
    /// for (place, id) in sent.message_ids().enumerate() {
    ///     println!("{id} in {} at offset {}", sent.queue, sent.queue_offset + place as i64);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_batch(&self, messages: impl IntoIterator<Item = Message>) -> SendFuture {
        SendFuture::new(self, batch(messages), None, SendOptions::default())
    }

    /// Sends a batch to a queue of its topic; else as [`send_batch`](Self::send_batch), with the attempts of
    /// [`send_to`](Self::send_to).
    pub fn send_batch_to(
        &self,
        queue: MessageQueue,
        messages: impl IntoIterator<Item = Message>,
    ) -> SendFuture {
        SendFuture::new(self, batch(messages), Some(queue), SendOptions::default())
    }

    /// Hands a batch to the connection of a broker, as [`send_oneway`](Self::send_oneway) a message.
    pub fn send_batch_oneway(&self, messages: impl IntoIterator<Item = Message>) -> OnewayFuture {
        OnewayFuture::new(self, batch(messages))
    }
}

fn batch(messages: impl IntoIterator<Item = Message>) -> Parcel {
    Parcel::Batch(messages.into_iter().collect())
}

/// Checks the messages in the caller's task. Under the lock their bodies are copied, so that none is dropped there.
pub(crate) fn submit(
    shared: &Shared,
    waker: Option<Waker>,
    producer: ProducerId,
    messages: Vec<Message>,
    queue: Option<&MessageQueue>,
    options: SendOptions,
) -> Result<Submitted, Error> {
    let batch = PreparedBatch::new(messages, shared.rules())?;
    let _kept = batch.clone();
    shared.submit(waker, Bytes::new(), batch, |core, now, batch| match queue {
        Some(queue) => core.send_batch_to(now, producer, queue, batch, options),
        None => core.send_batch(now, producer, batch, options),
    })
}
