//! Batches that a user makes (producer §10.5).

use rmq_proto::message::PreparedBatch;

use super::Client;
use crate::config::SendOptions;
use crate::error::{RejectReason, Rejected};
use crate::event::{MessageQueue, OpId, ProducerId};
use crate::producer::{Batch, MessageId, NewSend, Purpose, SendOp, Target};
use crate::time::Instant;

impl Client {
    /// Sends several messages to their topic in one request: a broker stores all or none, one behind the other in one
    /// queue. It is one operation, which ends as that of a [`send`](Self::send); the [result](crate::SendResult) has all ids
    /// and the offset of the first message.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send); the batch is handed back.
    pub fn send_batch(
        &mut self,
        now: Instant,
        producer: ProducerId,
        batch: PreparedBatch,
        options: SendOptions,
    ) -> Result<OpId, Rejected<PreparedBatch>> {
        self.submit_batch(now, producer, None, batch, options)
    }

    /// Sends a batch to a queue of its topic; else as [`send_batch`](Self::send_batch), with the attempts of
    /// [`send_to`](Self::send_to).
    ///
    /// # Errors
    ///
    /// Those of [`send_to`](Self::send_to); the batch is handed back.
    pub fn send_batch_to(
        &mut self,
        now: Instant,
        producer: ProducerId,
        queue: &MessageQueue,
        batch: PreparedBatch,
        options: SendOptions,
    ) -> Result<OpId, Rejected<PreparedBatch>> {
        self.submit_batch(now, producer, Some(queue), batch, options)
    }

    fn submit_batch(
        &mut self,
        now: Instant,
        producer: ProducerId,
        queue: Option<&MessageQueue>,
        batch: PreparedBatch,
        options: SendOptions,
    ) -> Result<OpId, Rejected<PreparedBatch>> {
        self.advance(now);
        let admitted = self.admit_any(producer).and_then(|config| {
            if queue.is_some_and(|queue| *queue.topic != *batch.topic()) {
                return Err(RejectReason::OtherTopic);
            }
            self.admit_good_topic(batch.topic())?;
            self.admit_bytes(batch.max_len())?;
            if options.no_wait {
                self.admit_at_once(producer, &config, batch.max_len())?;
            }
            Ok(config)
        });
        let (config, batch) = self.or_hand_back(admitted, batch)?;
        let unix_ms = self.unix_ms();
        let encoded = batch.encode(|| self.unique_keys.next(unix_ms));
        let new = NewSend {
            topic: batch.shared_topic(),
            target: queue.map_or(Target::Topic, Target::queue),
            code: PreparedBatch::REQUEST_CODE,
            body: encoded.body,
            flag: 0,
            sys_flag: 0,
            properties: encoded.properties,
            message_id: MessageId::Own(encoded.message_ids),
        };
        let timeout = options.timeout.unwrap_or(config.send_timeout);
        let born_ms = self.born_ms();
        let mut send = SendOp::new(producer, config, new, (self.now, timeout), born_ms, options.oneway);
        send.purpose = Purpose::Batch(Batch::explicit(encoded.id));
        self.stats.sends += 1;
        Ok(self.begin(send))
    }
}
