//! The calls of a program's user.

use core::fmt::Debug;
use core::time::Duration;

use bytes::Bytes;
use rmq_core::proto::message::{Message, MessageError, Prepared, PreparedBatch, Reply, StoredMessage};
use rmq_core::{Address, MessageQueue, OpId, ProducerId, Rejected, Resolution, SendBackOptions, SendOptions};

use super::setup::{NAME_SERVERS, credentials, given_back, producer, recalled};
use super::world::World;
use super::{Op, What};

const REMARKS: [Option<&str>; 3] = [None, Some("why"), Some(LONG)];
const LONG: &str = match core::str::from_utf8(&[b'y'; 2_000]) {
    Ok(text) => text,
    Err(_) => "",
};

impl World {
    pub(super) fn call(&mut self, op: &Op) {
        match *op {
            Op::AddProducer { group, timeout, attempts, policy } => {
                let config = producer(&format!("PG{group}"), timeout, attempts, policy);
                let added = self.client.add_producer(self.now, config);
                self.producers.extend(added);
            }
            Op::Send { times, .. } => (0..times).for_each(|_| self.send(op)),
            Op::Queues { .. } => self.queues(op),
            Op::SendBack { .. } => self.send_back(op),
            Op::Recall { producer, choice } => {
                let Some(producer) = self.producer(producer) else { return };
                let result = self.client.recall(self.now, producer, recalled(choice));
                self.began(result);
            }
            Op::EndTransaction { .. } => self.end_transaction(op),
            Op::AnswerCheck { check, resolution, remark } => self.answer_check(check, resolution, remark),
            Op::Cancel { op } => {
                if let Some(op) = self.ops.iter().rev().nth(usize::from(op) % self.ops.len().max(1)) {
                    self.client.cancel(self.now, *op);
                }
            }
            Op::NameServers { list } => {
                let list = Address::parse_list(NAME_SERVERS[usize::from(list) % NAME_SERVERS.len()]);
                let changed = self.client.set_name_servers(self.now, list.unwrap_or_default());
                self.tell(&changed);
            }
            Op::Credentials { some } => {
                self.client.set_credentials(self.now, credentials().filter(|_| some));
            }
            _ => {}
        }
    }

    fn producer(&self, number: u8) -> Option<ProducerId> {
        self.producers.get(usize::from(number) % self.producers.len().max(1)).copied()
    }

    fn began<T>(&mut self, result: Result<OpId, Rejected<T>>) {
        self.accepted(result.map_err(|rejected| rejected.reason));
    }

    fn accepted(&mut self, result: Result<OpId, impl Debug>) {
        match result {
            Ok(op) => self.ops.push(op),
            Err(reason) => self.tell(&reason),
        }
    }

    fn send(&mut self, op: &Op) {
        let Op::Send { producer, topic, body, timeout, oneway, no_wait, what, .. } = *op else { return };
        let Some(producer) = self.producer(producer) else { return };
        let (topic, body) = (format!("T{topic}"), Bytes::from(vec![b'x'; body]));
        let message = Message::new(&*topic, body.clone()).tag("created");
        let rules = self.client.message_rules().clone();
        let mut options = SendOptions::default();
        (options.timeout, options.oneway, options.no_wait) = (timeout, oneway, no_wait);
        match what {
            What::Message => self.send_prepared(producer, message.prepare(&rules), options),
            What::To(queue) => {
                let queue = self.queue(&topic, queue);
                let Ok(message) = message.prepare(&rules) else { return };
                let result = self.client.send_to(self.now, producer, &queue, message, options);
                self.began(result);
            }
            What::Batch { messages, queue } => {
                let all = core::iter::repeat_n(message, usize::from(messages));
                let Ok(batch) = PreparedBatch::new(all, &rules) else { return };
                let result = match queue.map(|queue| self.queue(&topic, queue)) {
                    Some(queue) => self.client.send_batch_to(self.now, producer, &queue, batch, options),
                    None => self.client.send_batch(self.now, producer, batch, options),
                };
                self.began(result);
            }
            What::Half => {
                // Few programs have another producer.
                let group = if no_wait { "PG1" } else { "PG" };
                let Ok(message) = message.prepare_half(&rules, group) else { return };
                let result = self.client.send_half(self.now, producer, message, options);
                self.began(result);
            }
            What::Request => {
                let id = if no_wait { "another" } else { self.client.client_id() };
                let time = timeout.unwrap_or(Duration::from_secs(3));
                let Ok(request) = message.prepare_request(&rules, id, time) else { return };
                let result = self.client.send_request(self.now, producer, request);
                self.began(result);
            }
            What::Reply => {
                let Ok(reply) = Reply::new(&asked(), body) else { return };
                self.send_prepared(producer, reply.prepare(&rules), options);
            }
        }
    }

    fn send_prepared(
        &mut self,
        producer: ProducerId,
        message: Result<Prepared, MessageError>,
        options: SendOptions,
    ) {
        let Ok(message) = message else { return };
        let result = self.client.send(self.now, producer, message, options);
        self.began(result);
    }

    /// One that the client knows, if it does, or one of a few that it may know.
    fn queue(&mut self, topic: &str, choice: u8) -> MessageQueue {
        let known = self.client.publish_queues(self.now, topic).filter(|_| choice & 1 == 0);
        if let Some(queue) = known.and_then(|all| all.get(usize::from(choice / 2) % all.len()).cloned()) {
            return queue;
        }
        MessageQueue {
            topic: if choice < 0xf0 { topic } else { "another" }.into(),
            broker: ["a", "b", "c", "gone"][usize::from(choice >> 1) % 4].into(),
            queue_id: [0, 1, 7, -1][usize::from(choice >> 3) % 4],
        }
    }

    fn queues(&mut self, op: &Op) {
        let Op::Queues { producer, topic, timeout, wait } = *op else { return };
        let topic = format!("T{topic}");
        if !wait {
            let queues = self.client.publish_queues(self.now, &topic);
            return self.tell(&queues);
        }
        let Some(producer) = self.producer(producer) else { return };
        let result = self.client.find_queues(self.now, producer, &topic, timeout);
        self.accepted(result);
    }

    fn send_back(&mut self, op: &Op) {
        let Op::SendBack { producer, choice, timeout, dead } = *op else { return };
        let Some(producer) = self.producer(producer) else { return };
        let mut options = SendBackOptions::default();
        options.timeout = timeout.unwrap_or(options.timeout);
        let result = self.client.send_back(self.now, producer, given_back(choice, dead), options);
        self.began(result);
    }

    fn end_transaction(&mut self, op: &Op) {
        let Op::EndTransaction { producer, half, resolution, remark } = *op else { return };
        let Some(producer) = self.producer(producer) else { return };
        let Some(mut result) = self.results.get(half).cloned() else { return };
        if half >= 0xf0 {
            result.offset_message_id.truncate(7);
        }
        let remark = REMARKS[usize::from(remark) % REMARKS.len()];
        let result = self.client.end_transaction(self.now, producer, &result, resolution, remark);
        self.accepted(result);
    }

    fn answer_check(&mut self, check: u8, resolution: Option<Resolution>, remark: u8) {
        let Some(token) = self.checks.get(check).copied() else { return };
        let Some(resolution) = resolution else { return self.client.ignore_check(self.now, token) };
        let remark = REMARKS[usize::from(remark) % REMARKS.len()];
        let result = self.client.answer_check(self.now, token, resolution, remark);
        self.accepted(result);
    }
}

/// A request of another client, as a consumer gets it.
fn asked() -> StoredMessage {
    StoredMessage {
        topic: "T0".into(),
        properties:
            "CLUSTER\u{1}T1\u{2}CORRELATION_ID\u{1}7\u{2}REPLY_TO_CLIENT\u{1}another\u{2}TTL\u{1}3000\u{2}"
                .into(),
        ..StoredMessage::default()
    }
}
