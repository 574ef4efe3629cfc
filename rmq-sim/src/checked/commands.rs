//! The commands that begin operations.

use core::fmt::Debug;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use rmq_core::proto::message::{Prepared, PreparedBatch, PreparedRequest};
use rmq_core::{
    Instant, MessageQueue, OpId, ProducerId, Recall, RejectReason, Rejected, SendBack, SendBackOptions,
    SendOptions,
};

use super::call::{Call, Kind};
use super::{CheckedClient, WITHIN_LIMITS};
use crate::oracle::Violation;

impl CheckedClient {
    /// See [`Client::send`](rmq_core::Client::send).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn send(
        &mut self,
        now: Instant,
        producer: ProducerId,
        message: Prepared,
        options: SendOptions,
    ) -> Result<OpId, Rejected<Prepared>> {
        self.called(now);
        let call = Call::new(Kind::Send, producer, &message, options);
        let body = message.body().clone();
        let result = self.client.send(now, producer, message, options);
        self.judge(call, &body, options, &result);
        result
    }

    /// See [`Client::send_to`](rmq_core::Client::send_to).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn send_to(
        &mut self,
        now: Instant,
        producer: ProducerId,
        queue: &MessageQueue,
        message: Prepared,
        options: SendOptions,
    ) -> Result<OpId, Rejected<Prepared>> {
        self.called(now);
        let call = Call::new(Kind::SendTo, producer, &message, options);
        let body = message.body().clone();
        let result = self.client.send_to(now, producer, queue, message, options);
        self.judge(call, &body, options, &result);
        result
    }

    /// See [`Client::send_batch`](rmq_core::Client::send_batch).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn send_batch(
        &mut self,
        now: Instant,
        producer: ProducerId,
        batch: PreparedBatch,
        options: SendOptions,
    ) -> Result<OpId, Rejected<PreparedBatch>> {
        self.called(now);
        let (call, before) = (Call::batch(Kind::Send, producer, &batch, options), batch.clone());
        let result = self.client.send_batch(now, producer, batch, options);
        self.judge_handed_back(call, &before, &result);
        result
    }

    /// See [`Client::send_batch_to`](rmq_core::Client::send_batch_to).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn send_batch_to(
        &mut self,
        now: Instant,
        producer: ProducerId,
        queue: &MessageQueue,
        batch: PreparedBatch,
        options: SendOptions,
    ) -> Result<OpId, Rejected<PreparedBatch>> {
        self.called(now);
        let (call, before) = (Call::batch(Kind::SendTo, producer, &batch, options), batch.clone());
        let result = self.client.send_batch_to(now, producer, queue, batch, options);
        self.judge_handed_back(call, &before, &result);
        result
    }

    /// See [`Client::publish_queues`](rmq_core::Client::publish_queues).
    pub fn publish_queues(&mut self, now: Instant, topic: &str) -> Option<Arc<[MessageQueue]>> {
        self.called(now);
        self.client.publish_queues(now, topic)
    }

    /// See [`Client::find_queues`](rmq_core::Client::find_queues).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn find_queues(
        &mut self,
        now: Instant,
        producer: ProducerId,
        topic: &str,
        timeout: Option<Duration>,
    ) -> Result<OpId, RejectReason> {
        self.called(now);
        let call = Call::find_queues(producer, timeout);
        let result = self.client.find_queues(now, producer, topic, timeout);
        match &result {
            Ok(op) => self.model.accepted(*op, call),
            Err(reason) => self.model.rejected(call, *reason),
        }
        result
    }

    /// See [`Client::send_back`](rmq_core::Client::send_back).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn send_back(
        &mut self,
        now: Instant,
        producer: ProducerId,
        message: SendBack,
        options: SendBackOptions,
    ) -> Result<OpId, Rejected<SendBack>> {
        self.called(now);
        let (call, before) = (Call::back(producer, &message, options), message.clone());
        let result = self.client.send_back(now, producer, message, options);
        self.judge_handed_back(call, &before, &result);
        result
    }

    /// See [`Client::recall`](rmq_core::Client::recall).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn recall(
        &mut self,
        now: Instant,
        producer: ProducerId,
        recall: Recall,
    ) -> Result<OpId, Rejected<Recall>> {
        self.called(now);
        let (call, before) = (Call::recall(producer, &recall), recall.clone());
        let result = self.client.recall(now, producer, recall);
        self.judge_handed_back(call, &before, &result);
        result
    }

    /// See [`Client::send_request`](rmq_core::Client::send_request).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn send_request(
        &mut self,
        now: Instant,
        producer: ProducerId,
        request: PreparedRequest,
    ) -> Result<OpId, Rejected<PreparedRequest>> {
        self.called(now);
        let (call, before) = (Call::request(producer, &request), request.clone());
        let result = self.client.send_request(now, producer, request);
        self.judge_handed_back(call, &before, &result);
        result
    }

    fn judge(
        &mut self,
        call: Call,
        body: &Bytes,
        options: SendOptions,
        result: &Result<OpId, Rejected<Prepared>>,
    ) {
        match result {
            Ok(op) => self.model.accepted(*op, call),
            Err(Rejected { reason, given }) => {
                self.model.rejected(call, *reason);
                let same = call.again(given, options) == call && given.body() == body;
                self.model.note(Violation::unless(same, WITHIN_LIMITS, || {
                    format!("{reason:?} hands back another message: {given:?}")
                }));
            }
        }
    }

    fn judge_handed_back<T: PartialEq + Debug>(
        &mut self,
        call: Call,
        before: &T,
        result: &Result<OpId, Rejected<T>>,
    ) {
        match result {
            Ok(op) => self.model.accepted(*op, call),
            Err(Rejected { reason, given }) => {
                self.model.rejected(call, *reason);
                self.model.note(Violation::unless(given == before, WITHIN_LIMITS, || {
                    format!("{reason:?} hands back something else: {given:?}")
                }));
            }
        }
    }
}
