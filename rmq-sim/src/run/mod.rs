//! Runs: clients, servers and faults that a seed decides, watched by oracles.
//!
//! A [`Run`] has a storm, in which things go wrong, and a calm, in which nothing does and everything has to come
//! right. Then its clients shut down.

mod actor;
mod give_back;
mod operation;
mod options;
mod play;
mod process;
mod report;
pub mod script;
mod weather;

use std::collections::BTreeMap;
use std::time::Duration;

use rmq_core::Instant;

pub use operation::{GivenBack, Operation, end_name};
pub use options::{ClientSettings, FaultKind, FaultRate, RunOptions};
pub use process::Process;
pub use report::RunReport;

use crate::model::{ModelEvent, TopicConfig};
use crate::net::Network;
use crate::oracle::{self, Oracle, Seen, Violation};
use crate::rng::Rng;
use crate::trace::{Happening, Trace};
use actor::Actor;
use weather::Action;

/// Time that work has to end after the last of it began, and clients to shut down.
const LAST_CALL: Duration = Duration::from_secs(60);

/// Time that a client's shutdown may take.
const FAREWELL: Duration = Duration::from_secs(3);

/// Steps after which a run is taken to be going in circles.
const MAX_STEPS: u64 = 5_000_000;

/// One run.
///
/// ```
/// use rmq_sim::run::{Run, RunOptions};
///
/// let report = Run::new(RunOptions::draw(7)).finish();
/// assert_eq!(report.violation, None);
/// ```
#[derive(Debug)]
pub struct Run {
    options: RunOptions,
    network: Network,
    rng: Rng,
    /// Draws what is about send-backs.
    backs: Rng,
    actors: BTreeMap<u32, Actor>,
    next_client: u32,
    actions: BTreeMap<(Instant, u64), Action>,
    serial: u64,
    oracles: Vec<Box<dyn Oracle>>,
    report: RunReport,
    is_over: bool,
}

impl Run {
    /// A run that has not begun, with all the oracles there are.
    pub fn new(options: RunOptions) -> Self {
        let mut rng = Rng::new(options.seed);
        let mut network = Network::new(options.network.clone(), rng.next_u64());
        network.with_cluster(|cluster| {
            cluster.watch_requests(true);
            for topic in 0..options.topics {
                cluster.create_topic(&TopicConfig::new(weather::topic(topic), play::QUEUES));
            }
        });
        let oracles = oracle::all(&options);
        Self {
            network,
            rng,
            backs: Rng::new(options.seed ^ 0x6B_ACBA_C0DE),
            actors: BTreeMap::new(),
            next_client: 0,
            actions: BTreeMap::new(),
            serial: 0,
            oracles,
            report: RunReport { seed: options.seed, ..RunReport::default() },
            is_over: false,
            options,
        }
    }

    /// Adds an oracle of one's own.
    pub fn watch(&mut self, oracle: impl Oracle + 'static) {
        self.oracles.push(Box::new(oracle));
    }

    /// Keeps the trace from now on, to be read afterwards.
    pub fn record(&mut self) {
        self.network.record();
    }

    /// What happened so far.
    pub const fn trace(&self) -> &Trace {
        self.network.trace()
    }

    /// The network and its servers.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Runs to the end, or to the first violation. A second call does nothing but report the same.
    pub fn finish(&mut self) -> RunReport {
        if std::mem::replace(&mut self.is_over, true) {
            return self.report.clone();
        }
        for _ in 0..self.options.clients {
            self.start_client();
        }
        self.draw_weather();
        self.draw_give_backs();
        let ended = self.live().and_then(|()| self.wind_up());
        if let Err(violation) = ended {
            let now = self.network.now();
            self.network.note(Happening::Violated(violation.clone()));
            self.report.violation = Some((now, violation));
        }
        self.report.hash = self.network.trace().hash();
        self.report.time = self.network.now().saturating_since(Instant::ZERO);
        for (name, count) in self.network.fault_counts() {
            *self.report.faults.entry(name).or_default() += count;
        }
        self.report.clone()
    }

    /// Storm and calm.
    fn live(&mut self) -> Result<(), Violation> {
        let storm = Instant::ZERO + self.options.storm;
        self.run_until(storm, |_| false)?;
        // Who stands still learns of the calm when it goes on.
        let frozen = self.actors.values().filter_map(|actor| actor.process.suspended_until());
        let end = frozen.max().unwrap_or(storm).max(storm) + self.options.calm;
        self.run_until(end, |_| false)?;
        let limit = end + LAST_CALL;
        self.run_until(limit, |run| run.actors.values().all(|actor| actor.open().next().is_none()))?;
        match self.actors.values().flat_map(Actor::open).next() {
            Some(operation) => Err(Violation {
                oracle: oracle::ALL_WORK_ENDS,
                detail: format!("{LAST_CALL:?} after the last, this is still under way: {operation:?}"),
            }),
            None => Ok(()),
        }
    }

    /// All clients shut down.
    fn wind_up(&mut self) -> Result<(), Violation> {
        self.check_idle_clients()?;
        let now = self.network.now();
        for (&client, actor) in &mut self.actors {
            self.network.note(Happening::ShuttingDown { client });
            actor.process.client().shutdown(now, FAREWELL);
            actor.is_touched = true;
        }
        self.run_until(now + LAST_CALL, |run| run.actors.values().all(|actor| actor.has_shut_down))?;
        self.check_shut_down_clients()?;
        self.consult(|oracle, network| oracle.finish(network))
    }

    /// Asks every oracle, to the first that finds something.
    fn consult(
        &mut self,
        ask: impl Fn(&mut dyn Oracle, &Network) -> Result<(), String>,
    ) -> Result<(), Violation> {
        self.oracles.iter_mut().try_for_each(|oracle| {
            ask(&mut **oracle, &self.network).map_err(|detail| Violation::new(oracle.name(), detail))
        })
    }

    /// With nothing under way, nothing may be held.
    fn check_idle_clients(&mut self) -> Result<(), Violation> {
        self.consult(|oracle, network| oracle.rest(network))?;
        for (client, actor) in &mut self.actors {
            let stats = actor.process.client().stats();
            let open = actor.process.connections();
            Violation::unless(open == stats.connections, oracle::NO_LEAK, || {
                format!("c{client} says it has {} connections, and {open} are open", stats.connections)
            })?;
            // A look at a route, or a heartbeat, may be about to be written just now.
            let queued = if actor.process.is_connecting() { 0 } else { stats.queued };
            let timers = stats.operation_timers.saturating_sub(stats.trace_sends);
            let held = (stats.operations, stats.operation_bytes, timers, queued, stats.misuses);
            if held != (0, 0, 0, 0, 0) {
                let detail = format!(
                    "c{client} has nothing to do and still holds (operations, bytes, timers, queued, misuses) {held:?}"
                );
                return Err(Violation { oracle: oracle::NOTHING_IS_KEPT, detail });
            }
        }
        Ok(())
    }

    fn check_shut_down_clients(&self) -> Result<(), Violation> {
        for (&client, actor) in &self.actors {
            let streams = self.network.streams_of(client).count();
            if !actor.has_shut_down || streams > 0 {
                let has = if actor.has_shut_down { "has" } else { "has not" };
                let detail =
                    format!("c{client} {has} shut down within {LAST_CALL:?}, {streams} streams left");
                return Err(Violation { oracle: oracle::SHUTDOWN_ENDS, detail });
            }
        }
        Ok(())
    }

    fn run_until(&mut self, end: Instant, done: impl Fn(&Self) -> bool) -> Result<(), Violation> {
        while !done(self) {
            let next = self.next_time().max(self.network.now());
            if next > end {
                self.network.handle_timeout(end);
                return Ok(());
            }
            self.step(next)?;
        }
        Ok(())
    }

    fn next_time(&self) -> Instant {
        let actors = self.actors.values().map(|actor| {
            let process = &actor.process;
            let at_once = || process.suspended_until().unwrap_or(Instant::ZERO);
            if actor.is_touched { at_once() } else { process.poll_timeout() }
        });
        let action = self.actions.first_key_value().map(|((at, _), _)| *at);
        let times = actors.chain(action).chain(self.network.poll_timeout());
        times.min().unwrap_or_else(|| self.network.now())
    }

    fn step(&mut self, now: Instant) -> Result<(), Violation> {
        self.report.turns += 1;
        if self.report.turns > MAX_STEPS {
            let detail = format!("{MAX_STEPS} steps, and the run is still at {now:?}");
            return Err(Violation { oracle: oracle::ENDLESS, detail });
        }
        self.network.handle_timeout(now);
        self.show_servers()?;
        while let Some(((at, serial), _)) = self.actions.first_key_value() {
            let key = (*at, *serial);
            if key.0 > now {
                break;
            }
            if let Some(action) = self.actions.remove(&key) {
                self.act(action)?;
            }
        }
        while let Some((client, stream)) = self.network.poll_news() {
            if let Some(actor) = self.actors.get_mut(&client) {
                actor.process.wake(stream);
            }
        }
        let clients: Vec<_> = self.actors.keys().copied().collect();
        clients.into_iter().try_for_each(|client| self.turn(client, now))
    }

    fn turn(&mut self, client: u32, now: Instant) -> Result<(), Violation> {
        let Some(actor) = self.actors.get_mut(&client) else { return Ok(()) };
        if actor.process.is_suspended(now) || (!actor.is_touched && actor.process.poll_timeout() > now) {
            return Ok(());
        }
        actor.is_touched = false;
        actor.process.turn(&mut self.network, now);
        if let Some(violation) = actor.process.take_violation() {
            return Err(violation);
        }
        while let Some((operation, event)) =
            self.actors.get_mut(&client).and_then(|actor| actor.poll_event(&mut self.network))
        {
            match &operation {
                Some(operation) => {
                    *self.report.ends.entry(end_name(&event)).or_default() += 1;
                    self.show(Seen::Ended { operation, event: &event })?;
                }
                None => self.show(Seen::Told { client, event: &event })?,
            }
        }
        Ok(())
    }

    fn show_servers(&mut self) -> Result<(), Violation> {
        while let Some(event) = self.network.poll_server_event() {
            self.report.requests += u64::from(matches!(event, ModelEvent::Requested { .. }));
            self.show(Seen::Served(&event))?;
        }
        Ok(())
    }

    fn show(&mut self, seen: Seen<'_>) -> Result<(), Violation> {
        self.consult(|oracle, network| oracle.see(network.now(), seen, network))
    }

    fn start_client(&mut self) -> u32 {
        let number = self.next_client;
        self.next_client += 1;
        let actor = Actor::start(number, &self.options, &mut self.network, &mut self.rng);
        self.actors.insert(number, actor);
        number
    }
}
