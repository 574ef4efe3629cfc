//! Carries out what a script says.

use std::sync::Arc;
use std::time::Duration;

use rmq_core::{Instant, SendOptions};

use super::actor::Errand;
use super::options::{FaultKind, RunOptions};
use super::script::Action;
use super::{Run, weather};
use crate::model::TopicConfig;
use crate::net::Fault;
use crate::oracle::{GRACE, ISOLATED_LEFT_ALONE, UNTRIED_FIRST, Violation};

/// Queues that a topic has on each broker, unless a script changes it.
pub(super) const QUEUES: i32 = 4;

/// Time that a probe has: more than a send takes with nothing wrong.
const PROBE_TIMEOUT: Duration = Duration::from_secs(4);

impl Run {
    /// A run in which these actions happen, at these times from the beginning, besides what the options draw. Those that
    /// come after the storm are brought forward to its end; then all topics are as at the beginning again. Long after it
    /// there is a [`Probe`](Action::Probe).
    pub fn scripted(options: RunOptions, actions: impl IntoIterator<Item = (Duration, Action)>) -> Self {
        let mut run = Self::new(options);
        let storm = run.options.storm;
        let last = Instant::ZERO + storm.saturating_sub(Duration::from_micros(1));
        let mut changed = std::collections::BTreeSet::new();
        let mut routes_change = false;
        for (at, action) in actions {
            if let Action::Change { topic, .. } = &action {
                changed.insert(topic % run.options.topics.max(1));
            }
            routes_change |= action.changes_routes();
            run.at((Instant::ZERO + at).min(last), weather::Action::Scripted(action));
        }
        for topic in changed {
            let perm = TopicConfig::new("", QUEUES).perm;
            let restore = Action::Change { topic, broker: None, queues: QUEUES, perm };
            run.at(last, weather::Action::Scripted(restore));
        }
        if routes_change {
            run.oracles.retain(|oracle| ![UNTRIED_FIRST, ISOLATED_LEFT_ALONE].contains(&oracle.name()));
        }
        run.at(Instant::ZERO + storm + GRACE, weather::Action::Scripted(Action::Probe));
        run
    }

    pub(super) fn play(&mut self, action: Action) -> Result<(), Violation> {
        match action {
            Action::Send { client, topic, body_len, timeout, oneway, count } => {
                let topic = if topic < self.options.topics { weather::topic(topic) } else { "new".into() };
                let mut options = SendOptions::default();
                options.timeout = timeout;
                options.oneway = oneway;
                let errand = Errand { topic: topic.into(), body_len, options, queue: None };
                let client = self.nth_client(client);
                (0..count).try_for_each(|_| self.begin(client, &errand).map(drop))
            }
            Action::Cancel { client, which } => {
                let client = self.nth_client(client);
                let numbers = self.actors.get(&client).map(|actor| actor.open().map(|open| open.number));
                let numbers: Vec<_> = numbers.into_iter().flatten().collect();
                match numbers.get(which % numbers.len().max(1)) {
                    Some(&number) => self.act(weather::Action::Cancel { client, number }),
                    None => Ok(()),
                }
            }
            Action::Fault { address, fault, lasts } => {
                self.plan_at(address, fault, lasts);
                Ok(())
            }
            Action::Suspend { client, time } => {
                self.suspend(self.nth_client(client), time);
                Ok(())
            }
            Action::StepClock { client, millis } => {
                self.step_clock(self.nth_client(client), millis);
                Ok(())
            }
            Action::Kill { client } => self.kill(self.nth_client(client)),
            Action::Change { topic, broker, queues, perm } => {
                self.change_topic(topic, broker, queues, perm);
                Ok(())
            }
            Action::Probe => self.probe(),
        }
    }

    fn nth_client(&self, number: u32) -> u32 {
        let index = number as usize % self.actors.len().max(1);
        self.actors.keys().nth(index).copied().unwrap_or_default()
    }

    fn plan_at(&mut self, address: usize, fault: Fault, lasts: Duration) {
        let addresses: Vec<Arc<str>> = self.network.addresses().cloned().collect();
        let now = self.network.now();
        let is_planned = self.network.plan(&addresses[address % addresses.len()], fault, now..now + lasts);
        debug_assert!(is_planned, "the network knows its own addresses");
    }

    fn change_topic(&mut self, topic: u32, broker: Option<usize>, queues: i32, perm: i32) {
        let name = weather::topic(topic % self.options.topics.max(1));
        let brokers = self.options.network.cluster.brokers;
        let topic = TopicConfig { perm, ..TopicConfig::new(name, queues) };
        self.network.with_cluster(|cluster| match broker {
            Some(broker) if brokers > 0 => cluster.create_topic_on(broker % brokers, &topic),
            _ => cluster.create_topic(&topic),
        });
    }

    /// Waits for those that stand still, and for them to learn what they missed.
    fn probe(&mut self) -> Result<(), Violation> {
        let now = self.network.now();
        let suspended = self.actors.values().filter(|actor| actor.process.is_suspended(now));
        if let Some(until) = suspended.filter_map(|actor| actor.process.suspended_until()).max() {
            self.at(until + GRACE, weather::Action::Scripted(Action::Probe));
            return Ok(());
        }
        let clients: Vec<_> = self.actors.keys().copied().collect();
        for client in clients {
            for topic in 0..self.options.topics {
                let options = SendOptions::default().timeout(PROBE_TIMEOUT);
                let errand =
                    Errand { topic: weather::topic(topic).into(), body_len: 0, options, queue: None };
                self.begin(client, &errand)?;
            }
        }
        Ok(())
    }
}

impl Action {
    /// Whether routes may lose brokers by it.
    fn changes_routes(&self) -> bool {
        match self {
            Self::Change { .. } => true,
            Self::Fault { fault, .. } => {
                [FaultKind::Crash, FaultKind::Vanish].iter().any(|kind| kind.name() == fault.name())
            }
            _ => false,
        }
    }
}
