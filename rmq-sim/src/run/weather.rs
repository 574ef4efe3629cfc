//! What happens to a run from outside: work for its clients, faults, and the end of the faults.

use std::sync::Arc;
use std::time::Duration;

use rmq_core::{Instant, MessageQueue, SendOptions};

use super::actor::Errand;
use super::options::{FaultKind, FaultRate};
use super::{Operation, Run, Seen, script};
use crate::oracle::Violation;
use crate::trace::Happening;

/// Of a thousand moments of work, how many bring a burst.
const BURSTS: u32 = 100;

/// Most operations of a burst.
const BURST: u64 = 30;

/// For so long one in twenty of the clients that stand still does.
const HOUR: Duration = Duration::from_secs(3_600);

/// Something that happens at a moment drawn before.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// A client begins to send, once or many times.
    Send,
    /// A client gives a message back.
    GiveBack,
    /// A client takes an operation back.
    Cancel { client: u32, number: u64 },
    /// Something happens to a client.
    Strike { kind: FaultKind, lasts: Duration },
    /// All faults end.
    Heal,
    /// What a script says.
    Scripted(script::Action),
}

/// Name of a topic that exists from the beginning.
pub(super) fn topic(number: u32) -> String {
    format!("topic-{number}")
}

impl Run {
    /// Draws when what happens.
    pub(super) fn draw_weather(&mut self) {
        for rate in self.options.faults.clone() {
            self.draw_faults(&rate);
        }
        let storm = Instant::ZERO + self.options.storm;
        self.at(storm, Action::Heal);
        let working = self.options.storm + self.options.calm * 3 / 4;
        let per_moment = 1 + u64::from(BURSTS) * BURST / 2 / 1_000;
        let moments = (u64::from(self.options.operations) / per_moment).max(1);
        for _ in 0..moments {
            let at = Instant::ZERO + self.rng.duration(&(Duration::ZERO..working));
            self.at(at, Action::Send);
        }
    }

    fn draw_faults(&mut self, rate: &FaultRate) {
        let (storm, mut at) = (Instant::ZERO + self.options.storm, Instant::ZERO);
        let addresses: Vec<_> = self.network.addresses().cloned().collect();
        loop {
            at = at + self.rng.duration(&(rate.every / 5..rate.every * 9 / 5));
            if at >= storm {
                return;
            }
            let lasts = self.rng.duration(&(Duration::from_millis(1)..rate.lasts));
            match rate.kind.draw(&mut self.rng) {
                Some(fault) => {
                    let address = self.rng.pick(&addresses);
                    let is_planned =
                        address.is_some_and(|address| self.network.plan(address, fault, at..at + lasts));
                    debug_assert!(is_planned, "the network knows its own addresses");
                }
                None => self.at(at, Action::Strike { kind: rate.kind, lasts }),
            }
        }
    }

    pub(super) fn at(&mut self, at: Instant, action: Action) {
        self.actions.insert((at, self.serial), action);
        self.serial += 1;
    }

    pub(super) fn act(&mut self, action: Action) -> Result<(), Violation> {
        match action {
            Action::Send => {
                let burst = self.rng.chance(BURSTS);
                let count = if burst { self.rng.within(2..BURST) } else { 1 };
                let clients: Vec<_> = self.actors.keys().copied().collect();
                let client = *self.rng.pick(&clients).unwrap_or(&0);
                (0..count).try_for_each(|_| self.send(client))
            }
            Action::Cancel { client, number } => {
                if self.is_awake(client)
                    && let Some(actor) = self.actors.get_mut(&client)
                {
                    actor.cancel(number, &mut self.network);
                }
                Ok(())
            }
            Action::GiveBack => self.give_back(),
            Action::Strike { kind, lasts } => self.strike(kind, lasts),
            Action::Scripted(action) => self.play(action),
            Action::Heal => {
                let now = self.network.now();
                self.network.heal(now);
                self.show(Seen::Healed)
            }
        }
    }

    fn send(&mut self, client: u32) -> Result<(), Violation> {
        let errand = self.draw_errand();
        let Some(operation) = self.begin(client, &errand)? else { return Ok(()) };
        if self.rng.chance(50) {
            let at = operation.accepted + self.rng.duration(&(Duration::ZERO..operation.timeout));
            self.at(at, Action::Cancel { client, number: operation.number });
        }
        Ok(())
    }

    /// A client begins to send, unless it stands still or rejects it.
    pub(super) fn begin(&mut self, client: u32, errand: &Errand) -> Result<Option<Operation>, Violation> {
        if !self.is_awake(client) {
            return Ok(None);
        }
        let Some(actor) = self.actors.get_mut(&client) else { return Ok(None) };
        let accepted = actor.send(errand, &self.options, &mut self.network, &mut self.rng);
        let Some(operation) = accepted else {
            self.report.rejected += 1;
            return Ok(None);
        };
        self.report.operations += 1;
        self.show(Seen::Accepted(&operation))?;
        Ok(Some(operation))
    }

    /// Whether a client does not stand still: while it does, its user asks for nothing either.
    pub(super) fn is_awake(&self, client: u32) -> bool {
        let now = self.network.now();
        self.actors.get(&client).is_some_and(|actor| !actor.process.is_suspended(now))
    }

    fn draw_errand(&mut self) -> Errand {
        let rng = &mut self.rng;
        let topic: Arc<str> = match rng.below(100) {
            0..90 => topic(rng.below(self.options.topics.into()) as u32).into(),
            90..97 => format!("new-{}", rng.below(4)).into(),
            _ => "nowhere".into(),
        };
        let longest = 4 * self.options.network.send_buffer as u64;
        let body_len = match rng.below(100) {
            0..80 => rng.within(0..200),
            80..98 => rng.within(200..6_000),
            _ => rng.within(6_000..longest.max(6_001)),
        };
        let mut options = SendOptions::default();
        if rng.chance(200) {
            options = options.timeout(Duration::from_millis(rng.within(20..8_000)));
        }
        if rng.chance(100) {
            options = options.oneway();
        }
        let queue = self.draw_queue(&topic);
        Errand { topic, body_len: body_len as usize, options, queue }
    }

    /// A queue of a topic that exists, now and then.
    fn draw_queue(&mut self, topic: &Arc<str>) -> Option<MessageQueue> {
        let to_queue = self.options.settings.to_queue;
        if to_queue == 0 || !self.rng.chance(to_queue) || !topic.starts_with("topic-") {
            return None;
        }
        let broker = self.rng.pick(self.network.cluster().brokers())?.name().into();
        Some(MessageQueue { topic: Arc::clone(topic), broker, queue_id: self.rng.below(4) as i32 })
    }

    /// Something happens to one of the clients.
    fn strike(&mut self, kind: FaultKind, lasts: Duration) -> Result<(), Violation> {
        let clients: Vec<_> = self.actors.keys().copied().collect();
        let Some(&client) = self.rng.pick(&clients) else { return Ok(()) };
        match kind {
            FaultKind::Suspend => {
                let time = if self.rng.chance(50) { HOUR } else { lasts };
                self.suspend(client, time);
            }
            FaultKind::ClockStep => {
                let millis = self.rng.within(0..2 * 86_400_000) as i64 - 86_400_000;
                self.step_clock(client, millis);
            }
            FaultKind::Kill => self.kill(client)?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn suspend(&mut self, client: u32, time: Duration) {
        let now = self.network.now();
        self.count(FaultKind::Suspend);
        self.network.note(Happening::Suspended { client, time });
        if let Some(actor) = self.actors.get_mut(&client) {
            actor.process.suspend(now + time);
        }
    }

    pub(super) fn step_clock(&mut self, client: u32, millis: i64) {
        let now = self.network.now();
        self.count(FaultKind::ClockStep);
        self.network.note(Happening::ClockStepped { client, millis });
        if let Some(actor) = self.actors.get_mut(&client) {
            actor.process.step_clock(now, millis);
        }
    }

    /// Another client takes its place.
    pub(super) fn kill(&mut self, client: u32) -> Result<(), Violation> {
        let now = self.network.now();
        self.count(FaultKind::Kill);
        self.network.note(Happening::Killed { client });
        if let Some(actor) = self.actors.remove(&client) {
            for operation in actor.open() {
                *self.report.ends.entry("lost").or_default() += 1;
                self.show(Seen::Lost(operation))?;
            }
            actor.process.kill(&mut self.network, now);
        }
        self.start_client();
        Ok(())
    }

    fn count(&mut self, kind: FaultKind) {
        *self.report.faults.entry(kind.name()).or_default() += 1;
    }
}
