//! The client: its surface, its timers, and the settling of what its machines order.

mod admission;
mod attempts;
mod batches;
mod connections;
mod draining;
mod encode;
mod extras;
mod faults;
mod gathering;
mod heartbeats;
mod inbound;
#[cfg(rmq_mutate)]
mod mutations;
mod name_servers;
mod namespaces;
mod outputs;
mod queues;
mod recalling;
mod requests;
mod routing;
mod sending;
mod sending_back;
mod shutdown;
mod tracing;
mod transactions;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::sync::Arc;

use bytes::BytesMut;
use rmq_proto::command::RemotingCommand;
use rmq_proto::id::{CorrelationId, UniqueKeyGenerator};
use rmq_proto::message::MessageRules;
use rmq_proto::sign::Credentials;

use crate::address::Address;
use crate::config::{ClientConfig, ConfigError, ProducerConfig, Start};
use crate::deadlines::{Deadlines, Rank};
use crate::error::RequestError;
use crate::event::{Event, OpId, ProducerId};
use crate::fault::{Probe, ProbeId};
use crate::io::{Input, Output};
use crate::link::{Link, LinkId, Owner};
use crate::producer::{Gathering, GroupId, Producers, SendOp};
use crate::rng::Rng;
use crate::route::{Brokers, NameServers, RouteTable, TopicId};
use crate::slab::Slab;
use crate::stats::Stats;
use crate::time::{Instant, WallClock};
use crate::trace::Tracers;
use crate::transaction::{Check, CheckToken};
use outputs::{Item, Outputs};
use shutdown::Lifecycle;

/// What a timer is for.
#[derive(Clone, Copy, Debug)]
enum Timer {
    Send(OpId),
    SendBack(OpId),
    Group(GroupId),
    Link(LinkId),
    Query(TopicId),
    Refresh(TopicId),
    Probe(ProbeId),
    Trace(ProducerId),
    Check(CheckToken),
    Shutdown,
}

impl Rank for Timer {
    /// A link's timer is armed when a write is polled, too.
    fn rank(&self) -> u32 {
        match self {
            Self::Link(link) => link.slot.saturating_add(1),
            _ => 0,
        }
    }

    fn is_of_operation(&self) -> bool {
        matches!(self, Self::Send(_) | Self::SendBack(_))
    }
}

/// What a machine ordered and the client has not carried out yet.
#[derive(Clone, Debug)]
enum Effect {
    Failed { owner: Owner, error: RequestError },
    Proceed(OpId),
}

/// A RocketMQ client for one cluster: any number of producers, the connections they share, and all that keeps them
/// going.
///
/// The [crate's page](crate) has the contract and the loop that drives it. Clients share nothing; a clone is a snapshot
/// that goes on by itself. A client is not usable in the child after a `fork`.
#[derive(Clone, Debug)]
pub struct Client {
    config: Arc<ClientConfig>,
    credentials: Option<Arc<Credentials>>,
    client_id: Arc<str>,
    now: Instant,
    clock: WallClock,
    rng: Rng,
    unique_keys: UniqueKeyGenerator,
    next_serial: u64,
    next_conn: u32,
    timers: Deadlines<Timer>,
    effects: VecDeque<Effect>,
    outputs: Outputs,
    links: Slab<Link>,
    link_by_address: BTreeMap<Address, LinkId>,
    /// Links that drain, the one longest at it first.
    draining: VecDeque<LinkId>,
    name_servers: NameServers,
    routes: RouteTable,
    brokers: Brokers,
    producers: Producers,
    gathering: Gathering,
    tracers: Tracers,
    probes: Slab<Probe>,
    sends: Slab<SendOp>,
    send_bytes: usize,
    checks: Slab<Check>,
    check_bytes: usize,
    /// The requests under way.
    requests: BTreeMap<CorrelationId, OpId>,
    /// Those that wait until brokers know this client.
    registering: BTreeSet<OpId>,
    lifecycle: Lifecycle,
    buffer: BytesMut,
    stats: Stats,
}

impl Client {
    /// A client that has done nothing yet: it connects when there is something to send.
    pub fn new(mut config: ClientConfig, start: Start) -> Self {
        let Start { now, unix_ms, seed, identity } = start;
        let mut rng = Rng::new(seed);
        let salt = (rng.next() as u32).to_be_bytes();
        let name_servers = NameServers::new(config.name_servers.clone(), &mut rng);
        let client_id = format!("{}@{}#{:016x}", identity.ip, identity.pid, rng.next());
        Self {
            client_id: client_id.into(),
            credentials: config.credentials.take().map(Arc::new),
            now,
            clock: WallClock::new(now, unix_ms),
            rng,
            unique_keys: UniqueKeyGenerator::new(identity.ip, identity.pid as u16, salt),
            next_serial: 0,
            next_conn: 0,
            timers: Deadlines::new(),
            effects: VecDeque::new(),
            outputs: Outputs::new(config.limits.notices),
            links: Slab::new(),
            link_by_address: BTreeMap::new(),
            draining: VecDeque::new(),
            name_servers,
            routes: RouteTable::new(),
            brokers: Brokers::default(),
            producers: Producers::default(),
            gathering: Gathering::new(),
            tracers: Tracers::default(),
            probes: Slab::new(),
            sends: Slab::new(),
            send_bytes: 0,
            checks: Slab::new(),
            check_bytes: 0,
            requests: BTreeMap::new(),
            registering: BTreeSet::new(),
            lifecycle: Lifecycle::Running,
            buffer: BytesMut::new(),
            stats: Stats::default(),
            config: Arc::new(config),
        }
    }

    /// The id that brokers know this client by: `ip@pid#number` (producer §1.4).
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// The rules to [prepare](rmq_proto::message::Message::prepare) messages by.
    pub fn message_rules(&self) -> &MessageRules {
        self.config.message_rules()
    }

    /// Registers a producer group. It costs no connection of its own; brokers that are connected hear of it at once.
    ///
    /// # Errors
    ///
    /// A name or value that cannot work, a group that this client has already, one producer too many, or a client that
    /// is shut down.
    pub fn add_producer(&mut self, now: Instant, config: ProducerConfig) -> Result<ProducerId, ConfigError> {
        self.advance(now);
        config.check()?;
        if !self.lifecycle.accepts() {
            return Err(ConfigError::ShutDown);
        }
        let config = self.producer_on_the_wire(config)?;
        let limit = self.config.limits.producers;
        if self.producers.len() >= limit {
            return Err(ConfigError::TooManyProducers { limit });
        }
        let id = self.producers.insert(config);
        if let Some(config) = self.producers.get(id).cloned() {
            self.add_tracer(id, &config);
        }
        self.beat_now();
        self.settle();
        Ok(id)
    }

    /// Takes what a driver reports. Fires no timer.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        self.advance(now);
        match input {
            Input::Connected { conn } => self.connected(conn),
            Input::Received { conn, data } => self.received(conn, data),
            Input::Written { conn, bytes } => self.written(conn, bytes),
            Input::Closed { conn, reason } => self.closed(conn, reason),
            Input::WallClock { unix_ms } => self.clock = WallClock::new(self.now, unix_ms),
        }
        self.settle();
    }

    /// Fires every timer that is due at `now`. Early and repeated calls do nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        while let Some(timer) = self.timers.pop_due(self.now) {
            match timer {
                Timer::Send(op) => self.send_timer(op),
                Timer::SendBack(op) => self.back_timer(op),
                Timer::Group(group) => self.group_timer(group),
                Timer::Link(link) => self.link_timer(link),
                Timer::Query(topic) => self.query_timer(topic),
                Timer::Refresh(topic) => self.refresh_timer(topic),
                Timer::Probe(probe) => self.probe_timer(probe),
                Timer::Trace(producer) => self.trace_timer(producer),
                Timer::Check(token) => self.check_timer(token),
                Timer::Shutdown => self.shutdown_timer(),
            }
            self.settle();
        }
    }

    /// The next thing to do, or `None` until something else is called. The bytes of a write are made here, so a cancel
    /// before this call keeps them from being written.
    pub fn poll_output(&mut self) -> Option<Output> {
        loop {
            let output = match self.outputs.pop()? {
                Item::Connect { conn, address } => Output::Connect { conn, address },
                Item::Close { conn } => Output::Close { conn },
                Item::Terminal { event, bytes } => {
                    self.send_bytes -= bytes;
                    Output::Event(event)
                }
                Item::Notice(event) => Output::Event(event),
                Item::Write { conn, link } => match self.make_write(conn, link) {
                    Some(data) => Output::Write { conn, data },
                    None => continue,
                },
            };
            return Some(output);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called; `None` when only input or a command can change
    /// anything.
    pub fn poll_timeout(&self) -> Option<Instant> {
        mutated!(SpinOnDeadline => return self.timers.next().map(mutations::whole_millis));
        self.timers.next()
    }

    /// What was done and what is held.
    pub fn stats(&self) -> Stats {
        let up = |link: &Link| link.is_up();
        let (permits, permit_bytes, in_line) = self.producers.permits();
        Stats {
            operations: self.operations(),
            operation_bytes: self.send_bytes,
            open_checks: self.checks.len(),
            check_bytes: self.check_bytes,
            requests_waiting: self.requests.len(),
            producers: self.producers.len(),
            permits,
            permit_bytes,
            in_line,
            fault_items: self.producers.fault_items(),
            brokers_isolated: self.producers.isolated(self.now),
            brokers: self.brokers.len(),
            gathered: self.gathering.messages(),
            gathered_bytes: self.gathering.bytes(),
            groups: self.gathering.groups(),
            auto_batches: self.gathering.batches,
            topics: self.routes.len(),
            links: self.links.len() - self.draining.len(),
            draining: self.draining.len(),
            connections: self.links.iter().filter(|(_, link)| up(link)).count(),
            queued: self.links.iter().map(|(_, link)| link.queue.len()).sum(),
            awaited: self.links.iter().map(|(_, link)| link.awaited()).sum(),
            unwritten_bytes: self.links.iter().map(|(_, link)| link.buffered().0).sum(),
            unread_bytes: self.links.iter().map(|(_, link)| link.buffered().1).sum(),
            traces_waiting: self.tracers.waiting(),
            trace_sends: self.tracers.under_way(),
            operation_timers: self.timers.of_operations(),
            timers: self.timers.len(),
            ..self.stats
        }
    }

    /// Operations under way, those included whose end waits to be polled.
    fn operations(&self) -> usize {
        self.sends.len() - self.gathering.batches - self.tracers.under_way() + self.outputs.terminals()
    }

    /// Time never goes back.
    fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// Carries out orders until there are none. Each send has a bounded number of attempts and each question a bounded
    /// number of servers, so there is an end.
    fn settle(&mut self) {
        let is_settled = self.effects.is_empty() && self.registering.is_empty() && self.lifecycle.accepts();
        if is_settled {
            return;
        }
        loop {
            self.carry_out();
            self.shutdown_step();
            if self.effects.is_empty() {
                break;
            }
        }
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.effects.pop_front().or_else(|| self.next_registered()) {
            match effect {
                Effect::Proceed(op) => self.proceed(op),
                Effect::Failed { owner, error } => match owner {
                    Owner::Send(op) => self.attempt_failed(op, error),
                    Owner::SendBack(op) => self.back_failed(op, error),
                    Owner::Route(topic) => self.server_failed(topic, error),
                    Owner::Heartbeat(_) => {}
                    Owner::Unregister(_) => self.unregistered(),
                    Owner::Probe(probe) => self.probe_failed(probe),
                },
            }
        }
    }

    /// Takes the answer to a request. Nothing was left to be carried out before it came.
    fn answered(&mut self, owner: Owner, command: &RemotingCommand) {
        debug_assert!(self.effects.is_empty(), "each call carries its orders out");
        match owner {
            Owner::Send(op) => self.send_answered(op, command),
            Owner::SendBack(op) => self.back_answered(op, command),
            Owner::Route(topic) => self.route_answered(topic, command),
            Owner::Heartbeat(link) => self.heartbeat_answered(link, command),
            Owner::Unregister(_) => self.unregistered(),
            Owner::Probe(probe) => self.probe_answered(probe, command),
        }
    }

    fn notice(&mut self, event: Event) {
        if !self.outputs.push_notice(event) {
            self.stats.notices_dropped += 1;
        }
    }

    fn serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    fn unix_ms(&self) -> u64 {
        self.clock.unix_ms(self.now)
    }

    /// When a message is born that is sent now.
    fn born_ms(&self) -> i64 {
        i64::try_from(self.unix_ms()).unwrap_or(i64::MAX)
    }
}
