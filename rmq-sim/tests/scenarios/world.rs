//! Clients on a network, driven step by step, with everything noted that can be seen from outside.

use std::sync::Arc;
use std::time::Duration;

use rmq_core::proto::message::Message;
use rmq_core::{
    ClientConfig, ClientConfigBuilder, Event, Identity, Instant, OpId, ProducerConfig, ProducerId, SendError,
    SendOptions, SendResult, Start, Stats,
};
use rmq_proto::code::RequestCode;
use rmq_sim::model::{ClusterConfig, ModelEvent, TopicConfig};
use rmq_sim::net::{Fault, Network, NetworkConfig};
use rmq_sim::run::Process;
use rmq_sim::trace::Happening;

pub(crate) const TOPIC: &str = "orders";

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn at(seconds: u64) -> Instant {
    Instant::ZERO + secs(seconds)
}

/// A request that a server read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) at: Instant,
    pub(crate) peer: Arc<str>,
    pub(crate) code: RequestCode,
}

/// The one end of an operation.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) at: Instant,
    pub(crate) client: usize,
    pub(crate) op: OpId,
    pub(crate) event: Event,
}

impl End {
    pub(crate) fn sent(&self) -> &SendResult {
        match &self.event {
            Event::Sent { result, .. } => result,
            event => panic!("at {:?}: {event:?}", self.at),
        }
    }

    pub(crate) fn error(&self) -> &SendError {
        match &self.event {
            Event::SendFailed { error, .. } => error,
            event => panic!("at {:?}: {event:?}", self.at),
        }
    }
}

pub(crate) struct World {
    pub(crate) network: Network,
    processes: Vec<Process>,
    producers: Vec<ProducerId>,
    touched: Vec<bool>,
    pub(crate) requests: Vec<Request>,
    pub(crate) ends: Vec<End>,
}

impl World {
    /// So many brokers and one name server, with one topic and one client.
    pub(crate) fn new(brokers: usize) -> Self {
        let cluster = ClusterConfig { brokers, ..ClusterConfig::default() };
        Self::with(NetworkConfig { cluster, ..NetworkConfig::default() }, |builder| builder)
    }

    pub(crate) fn with(
        config: NetworkConfig,
        settings: impl FnOnce(ClientConfigBuilder) -> ClientConfigBuilder,
    ) -> Self {
        let mut network = Network::new(config, 7);
        network.record();
        network.with_cluster(|cluster| {
            cluster.watch_requests(true);
            cluster.create_topic(&TopicConfig::new(TOPIC, 4));
        });
        let mut world = Self {
            network,
            processes: Vec::new(),
            producers: Vec::new(),
            touched: Vec::new(),
            requests: Vec::new(),
            ends: Vec::new(),
        };
        world.add_client(settings);
        world
    }

    pub(crate) fn add_client(
        &mut self,
        settings: impl FnOnce(ClientConfigBuilder) -> ClientConfigBuilder,
    ) -> usize {
        let index = self.processes.len();
        let now = self.network.now();
        let name_servers: Vec<_> = self.network.cluster().name_server_addresses().collect();
        let builder = ClientConfig::builder().name_server(&name_servers.join(";"));
        let start = Start {
            now,
            unix_ms: self.network.unix_ms(),
            seed: 42 + index as u64,
            identity: Identity { ip: [10, 0, 0, 1].into(), pid: index as u32 },
        };
        let config = settings(builder).build().unwrap();
        let mut process = Process::new(index as u32, config, start, 64 * 1024);
        let producer = process.client().add_producer(now, ProducerConfig::new("group")).unwrap();
        self.processes.push(process);
        self.producers.push(producer);
        self.touched.push(true);
        index
    }

    pub(crate) fn now(&self) -> Instant {
        self.network.now()
    }

    pub(crate) fn process(&mut self, client: usize) -> &mut Process {
        self.touched[client] = true;
        &mut self.processes[client]
    }

    pub(crate) fn stats(&mut self, client: usize) -> Stats {
        self.processes[client].client().stats()
    }

    pub(crate) fn broker(&self) -> String {
        self.network.cluster().broker_address(0).to_owned()
    }

    pub(crate) fn name_server(&self) -> String {
        self.network.cluster().name_server().to_owned()
    }

    pub(crate) fn plan(&mut self, address: &str, fault: Fault, from: Instant, to: Instant) {
        assert!(self.network.plan(address, fault, from..to), "no server at {address}");
    }

    /// From `from` to `to` nothing can be reached at an address: connections end and none is accepted.
    pub(crate) fn cut_off(&mut self, address: &str, from: Instant, to: Instant) {
        self.plan(address, Fault::Refuse, from, to);
        self.plan(address, Fault::Reset, from, from);
    }

    pub(crate) fn send(&mut self, client: usize) -> OpId {
        self.send_to(client, TOPIC, SendOptions::default())
    }

    pub(crate) fn send_to(&mut self, client: usize, topic: &str, options: SendOptions) -> OpId {
        let (now, producer) = (self.now(), self.producers[client]);
        let core = self.process(client).client();
        let message = Message::new(topic, "body").prepare(core.message_rules()).unwrap();
        core.send(now, producer, message, options).unwrap()
    }

    pub(crate) fn end_of(&self, client: usize, op: OpId) -> &End {
        // The process' own check sees to it that there is no second one.
        let end = self.ends.iter().rev().find(|end| end.client == client && end.op == op);
        end.unwrap_or_else(|| panic!("{op:?} of client {client} has not ended"))
    }

    /// Sends and runs until the end of it.
    pub(crate) fn send_and_wait(&mut self, client: usize) -> End {
        let op = self.send(client);
        self.run_until_ended();
        self.end_of(client, op).clone()
    }

    pub(crate) fn run_until_ended(&mut self) {
        while (0..self.processes.len()).any(|client| self.stats(client).operations > 0) {
            let next = self.next_time();
            self.step(next);
        }
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        self.run_to(self.now() + time);
    }

    /// Runs everything that is due up to `end`, that included.
    pub(crate) fn run_to(&mut self, end: Instant) {
        loop {
            let next = self.next_time();
            if next > end {
                self.network.handle_timeout(end);
                return;
            }
            self.step(next);
        }
    }

    fn next_time(&self) -> Instant {
        let clients = self.processes.iter().zip(&self.touched).map(|(process, touched)| {
            if *touched { process.suspended_until().unwrap_or(Instant::ZERO) } else { process.poll_timeout() }
        });
        let next = clients.chain(self.network.poll_timeout()).min();
        next.unwrap_or_else(|| self.now()).max(self.now())
    }

    fn step(&mut self, now: Instant) {
        self.network.handle_timeout(now);
        while let Some(event) = self.network.poll_server_event() {
            if let ModelEvent::Requested { peer, code, .. } = event {
                self.requests.push(Request { at: now, peer, code });
            }
        }
        while let Some((client, stream)) = self.network.poll_news() {
            self.processes[client as usize].wake(stream);
        }
        for client in 0..self.processes.len() {
            let process = &mut self.processes[client];
            if process.is_suspended(now) || (!self.touched[client] && process.poll_timeout() > now) {
                continue;
            }
            self.touched[client] = false;
            process.turn(&mut self.network, now);
            assert_eq!(process.take_violation(), None, "at {now:?}");
            while let Some(event) = process.poll_event() {
                let op = match &event {
                    Event::Sent { op, .. } | Event::SendFailed { op, .. } => *op,
                    Event::OnewayWritten { op } | Event::Cancelled { op } => *op,
                    _ => continue,
                };
                self.ends.push(End { at: now, client, op, event });
            }
        }
    }

    /// When a client dialed an address.
    pub(crate) fn dials(&self, of: usize, to: &str) -> Vec<Instant> {
        let entries = self.network.trace().entries();
        let dials = entries.filter(|entry| match &entry.happening {
            Happening::Dialed { client, address, .. } => *client as usize == of && **address == *to,
            _ => false,
        });
        dials.map(|entry| entry.at).collect()
    }

    /// When brokers read heartbeats.
    pub(crate) fn heartbeats(&self) -> Vec<Instant> {
        self.times_of(RequestCode::HEART_BEAT)
    }

    pub(crate) fn times_of(&self, code: RequestCode) -> Vec<Instant> {
        self.requests.iter().filter(|request| request.code == code).map(|request| request.at).collect()
    }
}

/// The times between those of `times` that lie in `from..to`.
pub(crate) fn gaps(times: &[Instant], from: Instant, to: Instant) -> Vec<Duration> {
    let within: Vec<_> = times.iter().copied().filter(|time| (from..to).contains(time)).collect();
    within.windows(2).map(|pair| pair[1].saturating_since(pair[0])).collect()
}
