//! A client of a run, with the operations it has under way.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use rmq_core::proto::message::Message;
use rmq_core::{Event, Identity, MessageQueue, OpId, ProducerId, SendOptions, Start};

use super::give_back::Given;
use super::operation::{Operation, end_name};
use super::options::RunOptions;
use super::process::Process;
use crate::net::Network;
use crate::rng::Rng;
use crate::trace::Happening;

/// One client, its producers, and what it was asked for.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) process: Process,
    pub(super) producers: Vec<ProducerId>,
    pub(super) open: BTreeMap<OpId, Operation>,
    pub(super) next_number: u64,
    pub(super) given: Given,
    pub(super) has_shut_down: bool,
    /// Whether it has commands that no turn followed yet.
    pub(super) is_touched: bool,
}

/// What a client is to send.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) topic: Arc<str>,
    pub(super) body_len: usize,
    pub(super) options: SendOptions,
    /// The queue that it is to go to, if one is chosen.
    pub(super) queue: Option<MessageQueue>,
}

impl Errand {
    fn attempts(&self, options: &RunOptions) -> u32 {
        match self.queue {
            _ if self.options.oneway => 1,
            Some(_) => options.settings.producer(String::new()).max_attempts_at_queue().get(),
            None => options.settings.attempts.get(),
        }
    }
}

impl Actor {
    pub(super) fn start(number: u32, options: &RunOptions, network: &mut Network, rng: &mut Rng) -> Self {
        let now = network.now();
        network.note(Happening::Started { client: number });
        let settings = &options.settings;
        let addresses: Vec<_> = network.cluster().name_server_addresses().collect();
        let builder = rmq_core::ClientConfig::builder().name_server(&addresses.join(";"));
        let start = Start {
            now,
            unix_ms: network.unix_ms(),
            seed: rng.next_u64(),
            identity: Identity { ip: [10, 0, 0, 1].into(), pid: number },
        };
        let mut process = Process::new(number, settings.client(builder), start, settings.read_len);
        let groups = 1 + u32::from(rng.chance(300));
        let producers = (0..groups).map(|group| {
            let config = settings.producer(format!("group-{number}-{group}"));
            match process.client().add_producer(now, config) {
                Ok(producer) => producer,
                Err(error) => unreachable!("the settings of a run are checked by its tests: {error}"),
            }
        });
        let producers = producers.collect();
        Self {
            process,
            producers,
            open: BTreeMap::new(),
            next_number: 0,
            given: Given::new(),
            has_shut_down: false,
            is_touched: true,
        }
    }

    /// Begins to send. `None` when the client rejects it.
    pub(super) fn send(
        &mut self,
        errand: &Errand,
        options: &RunOptions,
        network: &mut Network,
        rng: &mut Rng,
    ) -> Option<Operation> {
        let (now, client) = (network.now(), self.process.number());
        let number = self.next_number;
        let mut body = format!("c{client} op {number} ").into_bytes();
        body.resize(errand.body_len.max(body.len()), b'.');
        let body = Bytes::from(body);
        let message = Message::new(&*errand.topic, body.clone()).tag("t").key(format!("c{client}-{number}"));
        let message = message.prepare(self.process.client().message_rules()).ok()?;
        let index = rng.index(self.producers.len());
        let producer = *self.producers.get(index)?;
        let sent = match &errand.queue {
            Some(queue) => self.process.client().send_to(now, producer, queue, message, errand.options),
            None => self.process.client().send(now, producer, message, errand.options),
        };
        let op = sent.ok()?;
        self.next_number += 1;
        self.is_touched = true;
        let operation = Operation {
            client,
            number,
            producer: index,
            topic: Arc::clone(&errand.topic),
            body,
            oneway: errand.options.oneway,
            has_given_queue: errand.queue.is_some(),
            accepted: now,
            timeout: errand.options.timeout.unwrap_or(options.settings.send_timeout),
            attempts: errand.attempts(options),
            back: None,
        };
        let what = if operation.oneway { "one-way send" } else { "send" };
        network.note(Happening::Accepted { client, op: number, what });
        self.open.insert(op, operation.clone());
        Some(operation)
    }

    /// Takes an operation back, if it is still under way.
    pub(super) fn cancel(&mut self, number: u64, network: &mut Network) {
        let open = self.open.iter().find(|(_, operation)| operation.number == number);
        if let Some(op) = open.map(|(op, _)| *op) {
            let client = self.process.number();
            network.note(Happening::Cancelled { client, op: number });
            self.process.client().cancel(network.now(), op);
            self.is_touched = true;
        }
    }

    /// What the client told, and the operation that it ends, if it ends one.
    pub(super) fn poll_event(&mut self, network: &mut Network) -> Option<(Option<Operation>, Event)> {
        let client = self.process.number();
        let event = self.process.poll_event()?;
        let op = match &event {
            Event::Sent { op, .. } | Event::OnewayWritten { op } | Event::QueuesFound { op, .. } => *op,
            Event::SendFailed { op, .. } | Event::Cancelled { op } => *op,
            Event::SentBack { op, .. } | Event::SendBackFailed { op, .. } => *op,
            Event::Recalled { op, .. } | Event::RecallFailed { op, .. } => *op,
            Event::ShutDown => {
                self.has_shut_down = true;
                network.note(Happening::ShutDown { client });
                return Some((None, event));
            }
            _ => return Some((None, event)),
        };
        // That an operation ends twice is found by the checked client.
        let operation = self.open.remove(&op);
        if let Some(operation) = &operation {
            let how = match &event {
                Event::SendFailed { error, .. } => error.to_string().into(),
                Event::SendBackFailed { error, .. } => error.to_string().into(),
                event => end_name(event).into(),
            };
            network.note(Happening::Finished { client, op: operation.number, how });
        }
        Some((operation, event))
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &Operation> {
        self.open.values()
    }
}
