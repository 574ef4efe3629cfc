//! A world for a service: servers, a network with faults and a runtime without real time, all from one seed.
//!
//! A [`World`] runs a user's async code against the model's servers. There is no broker, no port and no thread; sleeping
//! takes no time; and the same seed brings the same run, byte for byte.
//!
//! ```
//! use std::time::Duration;
//!
//! use rmq_driver::Message;
//! use rmq_sim::World;
//!
//! let secs = Duration::from_secs;
//! let world = World::builder(7).brokers(2).topic("orders", 4).build();
//! world.broker("broker-a").hang(secs(2)..secs(5));
//! let sim = world.runtime();
//! let outcome = world.run(async |client| {
//!     let producer = client.producer("order-service").unwrap();
//!     for number in 0..10 {
//!         producer.send(Message::new("orders", format!("order {number}"))).await.unwrap();
//!         sim.sleep(secs(1)).await;
//!     }
//! });
//! assert_eq!(outcome.stored().count(), 10);
//! assert!(outcome.time >= secs(10));
//! ```
//!
//! # Acknowledgements
//!
//! What a service tells its own callers is what it has to keep. Say so where the reply arrives, with
//! [`World::acknowledge_key`] or one of those beside it, and [`Outcome::missing`] has what is not stored although it was
//! acknowledged; [`Outcome::early`], what was acknowledged before it was stored. Successes that clients read from their
//! connections are acknowledgements, too.
//!
//! # Other runtimes
//!
//! [`World::run`] brings its own executor. Another runtime whose time can be controlled takes its place by
//! [`World::under_clock`], [`World::pump`] and [`World::host`]: `rmq_tokio::sim` is made of these.

mod builder;
mod executor;
mod host;
mod ledger;
mod outcome;
mod seeds;
mod server;
mod sim;
mod state;
mod stream;
mod wire;

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::Bytes;
use rmq_core::Instant;

pub use builder::WorldBuilder;
pub use executor::{Failure, FailureKind};
pub use host::Host;
pub use ledger::{Acknowledged, Acknowledgement};
pub use outcome::Outcome;
pub use seeds::SEED_VARIABLE;
pub use server::ServerFaults;
pub use sim::{Elapsed, JoinHandle, Sim, SimClient, Sleep};
pub use stream::{Connecting, SimStream};

use crate::net::{Network, NetworkConfig};
use crate::rng::Rng;
use crate::trace::Happening;
use executor::Running;
use state::State;

/// Servers, a network and a seed. Clones are the same world.
#[derive(Clone)]
pub struct World {
    shared: Arc<Shared>,
}

struct Shared {
    seed: u64,
    /// The wall clock at the world's beginning, in milliseconds since the Unix epoch.
    unix_ms: u64,
    time_limit: Duration,
    name_servers: String,
    /// The clock of another runtime. Without one, time is what the executor makes it.
    clock: OnceLock<Box<dyn Fn() -> Instant + Send + Sync>>,
    state: Mutex<State>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    /// A world with one name server and one broker.
    pub fn new(seed: u64) -> Self {
        Self::builder(seed).build()
    }

    /// A world with this network and these servers.
    pub fn with_network(seed: u64, config: NetworkConfig) -> Self {
        Self::builder(seed).network(config).build()
    }

    /// A builder, for everything else.
    pub fn builder(seed: u64) -> WorldBuilder {
        WorldBuilder::new(seed)
    }

    fn from_builder(builder: WorldBuilder) -> Self {
        let WorldBuilder { seed, config, topics, records, time_limit } = builder;
        let unix_ms = config.unix_ms;
        let mut rng = Rng::new(seed);
        let mut network = Network::new(config, rng.next_u64());
        if records {
            network.record();
        }
        network.with_cluster(|cluster| topics.iter().for_each(|topic| cluster.create_topic(topic)));
        let name_servers: Vec<_> = network.cluster().name_server_addresses().collect();
        let name_servers = name_servers.join(";");
        let (clock, state) = (OnceLock::new(), Mutex::new(State::new(network, rng)));
        Self { shared: Arc::new(Shared { seed, unix_ms, time_limit, name_servers, clock, state }) }
    }

    /// Runs `body` with a client of this world, to its end, and drops what it leaves under way.
    ///
    /// It may be called again: the world goes on where it was, its servers keep what they stored. So does a service that
    /// is started anew.
    ///
    /// # Panics
    ///
    /// When `body` or a task panics; when it does not end ([`try_run`](Self::try_run) says so without a panic); when this
    /// world runs already, or is [under the clock](Self::under_clock) of another runtime.
    #[track_caller]
    pub fn run<F: Future>(&self, body: impl FnOnce(SimClient) -> F) -> Outcome<F::Output> {
        self.run_with(|sim| body(sim.client()))
    }

    /// [`run`](Self::run) for code that starts its clients itself, or none.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    #[track_caller]
    pub fn run_with<F: Future>(&self, body: impl FnOnce(Sim) -> F) -> Outcome<F::Output> {
        match self.try_run(body) {
            Ok(outcome) => outcome,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// [`run_with`](Self::run_with), for tests that mean to see a run that does not end.
    ///
    /// # Errors
    ///
    /// The body waits for what can never happen, takes more virtual time than the [limit](WorldBuilder::time_limit), or
    /// keeps itself busy without any.
    ///
    /// # Panics
    ///
    /// When `body` or a task panics, or when this world cannot run.
    #[track_caller]
    pub fn try_run<F: Future>(&self, body: impl FnOnce(Sim) -> F) -> Result<Outcome<F::Output>, Failure> {
        let running = Running::begin(self, Location::caller());
        let value = running.drive(body(self.runtime()))?;
        Ok(self.outcome(value))
    }

    /// The runtime, for sleeping, spawning and starting clients.
    pub fn runtime(&self) -> Sim {
        Sim::new(self.host())
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.shared.seed
    }

    /// Random numbers for the user's own choices, out of the world's seed. Each call gives others.
    pub fn rng(&self) -> Rng {
        self.with(|state, _| state.rng.fork())
    }

    /// Virtual time since the world's beginning.
    pub fn elapsed(&self) -> Duration {
        self.now().saturating_since(Instant::ZERO)
    }

    /// The wall clock of clients and servers, in milliseconds since the Unix epoch.
    pub fn unix_ms(&self) -> u64 {
        self.shared.unix_ms.saturating_add(self.now().as_micros() / 1_000)
    }

    /// Virtual time that a run may take.
    pub fn time_limit(&self) -> Duration {
        self.shared.time_limit
    }

    /// The addresses of the name servers, joined by `;` as clients take them.
    pub fn name_servers(&self) -> &str {
        &self.shared.name_servers
    }

    /// Looks at the network and its servers, or changes them as an administrator would. The world stands still meanwhile:
    /// `look` must not use it, nor clients or streams.
    pub fn network<R>(&self, look: impl FnOnce(&mut Network) -> R) -> R {
        self.with(|state, _| look(&mut state.network))
    }

    /// Somebody was told that a message with this key is safe.
    pub fn acknowledge_key(&self, key: impl Into<String>) {
        self.acknowledge(Acknowledged::Key(key.into()));
    }

    /// Somebody was told that a message with this body is safe.
    pub fn acknowledge_body(&self, body: impl Into<Bytes>) {
        self.acknowledge(Acknowledged::Body(body.into()));
    }

    /// Somebody was told that the message with this id is safe.
    pub fn acknowledge_id(&self, message_id: impl Into<String>) {
        self.acknowledge(Acknowledged::MessageId(message_id.into()));
    }

    /// Somebody was told that a message is safe. The same once more adds nothing: it is one message that is to be there.
    pub fn acknowledge(&self, what: Acknowledged) {
        self.with(|state, now| {
            state.network.note(Happening::Note(format!("acknowledged: {what}").into()));
            state.ledger.acknowledge(now, what);
        });
    }

    /// Adds a line to the trace, and so to the hash.
    pub fn note(&self, text: impl Into<Arc<str>>) {
        self.with(|state, _| state.network.note(Happening::Note(text.into())));
    }

    /// How things stand now. Runs return it; under another runtime's clock it is for whoever runs the test.
    pub fn outcome<T>(&self, value: T) -> Outcome<T> {
        self.with(|state, now| Outcome {
            value,
            seed: self.seed(),
            time: now.saturating_since(Instant::ZERO),
            hash: state.network.trace().hash(),
            network: state.network.clone(),
            acknowledgements: state.ledger.acknowledgements(),
        })
    }

    fn now(&self) -> Instant {
        match self.shared.clock.get() {
            Some(clock) => clock(),
            None => self.shared.lock().network.now(),
        }
    }

    /// Does something under the lock, and then without it what came of it.
    fn with<R>(&self, work: impl FnOnce(&mut State, Instant) -> R) -> R {
        let clock = self.shared.clock.get().map(|clock| clock());
        let mut state = self.shared.lock();
        if let Some(now) = clock {
            state.advance(now);
        }
        let now = state.network.now();
        let result = work(&mut state, now);
        state.settle();
        let (woken, discarded) = (std::mem::take(&mut state.woken), std::mem::take(&mut state.discarded));
        drop(state);
        drop(discarded);
        woken.into_iter().for_each(Waker::wake);
        result
    }
}

/// # Under another runtime
///
/// What it takes to have a world's time pass with that of another runtime. Users of tokio take `rmq_tokio::sim`.
impl World {
    /// A process in this world, for a runtime of one's own.
    pub fn host(&self) -> Host {
        Host::new(self.clone())
    }

    /// Takes the time from `clock` from now on, which counts from the world's beginning and never goes back. Whoever calls
    /// this also sees to it that [`pump`](Self::pump) is called.
    ///
    /// # Panics
    ///
    /// When the world is under a clock, or has run by itself.
    pub fn under_clock(&self, clock: impl Fn() -> Instant + Send + Sync + 'static) {
        let is_new = self.now() == Instant::ZERO && self.shared.clock.set(Box::new(clock)).is_ok();
        assert!(is_new, "this world has a clock already");
    }

    /// Lets everything happen on the network that is due, and says when to call again. The waker of `cx` is woken when
    /// that becomes earlier.
    pub fn pump(&self, cx: &Context<'_>) -> Instant {
        self.with(|state, _| {
            let next = state.network.poll_timeout().unwrap_or(Instant::from_micros(u64::MAX));
            let old = state.pump.replace((cx.waker().clone(), next));
            state.discarded.extend(old.map(|(waker, _)| waker));
            next
        })
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("seed", &self.seed()).finish_non_exhaustive()
    }
}
