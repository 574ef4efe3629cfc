//! Messages that clients give back, as consumers do whose work failed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rmq_core::{DelayLevel, Instant, Redelivery, SendBack, SendBackOptions};

use super::actor::Actor;
use super::operation::{GivenBack, Operation};
use super::weather::Action;
use super::{Run, Seen};
use crate::model::StoredMessage;
use crate::net::Network;
use crate::oracle::Violation;
use crate::rng::Rng;
use crate::trace::Happening;

/// Operations for each send-back.
const SHARE: u32 = 6;

/// What a client has given back. Each delivery is given back once, so that copies can be told apart.
pub(super) type Given = BTreeSet<(Box<str>, i32)>;

/// A message and how it is to be given back.
pub(super) struct BackErrand {
    message: SendBack,
    options: SendBackOptions,
    given: GivenBack,
}

fn group(client: u32) -> String {
    format!("readers-{client}")
}

impl Run {
    /// Draws when messages are given back. All that is about them is drawn apart from all else.
    pub(super) fn draw_give_backs(&mut self) {
        let working = self.options.storm + self.options.calm * 3 / 4;
        for _ in 0..self.options.operations / SHARE {
            let at = Instant::ZERO + self.backs.duration(&(Duration::ZERO..working));
            self.at(at, Action::GiveBack);
        }
    }

    pub(super) fn give_back(&mut self) -> Result<(), Violation> {
        let clients: Vec<_> = self.actors.keys().copied().collect();
        let Some(&client) = self.backs.pick(&clients) else { return Ok(()) };
        let found = find(client, &self.network, &mut self.backs);
        let errand = found.and_then(|stored| draw_errand(client, stored, &mut self.backs));
        let (Some(errand), true) = (errand, self.is_awake(client)) else { return Ok(()) };
        let Some(actor) = self.actors.get_mut(&client) else { return Ok(()) };
        let Some(operation) = actor.give_back(errand, &mut self.network) else { return Ok(()) };
        self.report.operations += 1;
        if self.backs.chance(50) {
            let at = operation.accepted + self.backs.duration(&(Duration::ZERO..operation.timeout));
            self.at(at, Action::Cancel { client, number: operation.number });
        }
        self.show(Seen::Accepted(&operation))
    }
}

/// Some message that a client of this group might read, if it hits one.
fn find<'n>(client: u32, network: &'n Network, rng: &mut Rng) -> Option<&'n StoredMessage> {
    let brokers = network.cluster().brokers();
    let store = brokers.get(rng.below(brokers.len().max(1) as u64) as usize)?.store();
    let stored = store.iter().nth(rng.below(store.iter().len().max(1) as u64) as usize)?;
    let retries = rmq_proto::names::retry_topic(&group(client));
    let is_read = ["topic-", "new-", &*retries].iter().any(|topic| stored.topic.starts_with(topic));
    is_read.then_some(stored)
}

fn draw_errand(client: u32, stored: &StoredMessage, rng: &mut Rng) -> Option<BackErrand> {
    let given = GivenBack {
        group: group(client),
        key: stored.unique_key()?.to_owned(),
        times: stored.reconsume_times,
        dead_letter: rng.chance(150),
    };
    let mut message = SendBack::new(&*given.group, &stored.record()).ok()?;
    message = match rng.below(100) {
        0..60 => message.broker(&stored.broker),
        60..80 => message,
        80..92 => message.broker("nobody"),
        _ => message.broker("__syslo__queues"),
    };
    message = match (given.dead_letter, rng.below(3)) {
        (true, _) => message.redelivery(Redelivery::DeadLetter),
        (false, 0) => message.redelivery(Redelivery::After(DelayLevel::new(1 + rng.below(4) as u8)?)),
        (false, _) => message,
    };
    if rng.chance(300) {
        message = message.max_reconsume_times(rng.below(3) as u32);
    }
    let mut options = SendBackOptions::default();
    if rng.chance(200) {
        options = options.timeout(Duration::from_millis(rng.within(20..8_000)));
    }
    if rng.chance(200) {
        options = options.retry_timeout(Duration::from_millis(rng.within(20..8_000)));
    }
    Some(BackErrand { message, options, given })
}

impl Actor {
    /// Gives a message back. `None` when that was done before, or the client rejects it.
    fn give_back(&mut self, errand: BackErrand, network: &mut Network) -> Option<Operation> {
        let BackErrand { message, options, given } = errand;
        if !self.given.insert((given.key.as_str().into(), given.times)) {
            return None;
        }
        let (now, client, number) = (network.now(), self.process.number(), self.next_number);
        let (topic, body): (Arc<str>, _) = (message.topic().into(), message.body().clone());
        let producer = *self.producers.first()?;
        let op = self.process.client().send_back(now, producer, message, options).ok()?;
        self.next_number += 1;
        self.is_touched = true;
        let operation = Operation {
            client,
            number,
            producer: 0,
            topic,
            body,
            oneway: false,
            has_given_queue: false,
            accepted: now,
            timeout: options.timeout + options.retry_timeout,
            attempts: 3,
            back: Some(given),
        };
        network.note(Happening::Accepted { client, op: number, what: "send-back" });
        self.open.insert(op, operation.clone());
        Some(operation)
    }
}
