//! A simulated world under tokio's paused clock. With the feature `sim`.
//!
//! [`World`] is a cluster of model servers and a network with faults, drawn from a seed; see [`rmq_sim::world`]. Here it
//! is used inside a tokio test, so that a service made for tokio is tested as it is: its connections lead into the world,
//! and no time passes but tokio's.
//!
//! ```
//! use std::time::Duration;
//!
//! use rmq_tokio::Message;
//! use rmq_tokio::sim::{self, World};
//!
//! #[tokio::main(flavor = "current_thread", start_paused = true)] // in a test: #[tokio::test(start_paused = true)]
//! async fn main() {
//!     let secs = Duration::from_secs;
//!     let world = World::builder(7).brokers(2).topic("orders", 4).build();
//!     world.broker("broker-a").hang(secs(2)..secs(5));
//!     let outcome = sim::run(&world, async |client| {
//!         let producer = client.producer("order-service").unwrap();
//!         for number in 0..10 {
//!             producer.send(Message::new("orders", format!("order {number}"))).await.unwrap();
//!             tokio::time::sleep(secs(1)).await;
//!         }
//!     })
//!     .await;
//!     assert_eq!(outcome.stored().count(), 10);
//! }
//! ```
//!
//! # The same run for the same seed
//!
//! It takes tokio's `current_thread` flavor, which `#[tokio::test]` has by default, and a paused clock. With several
//! threads their order is the system's, and with a running clock its time is. What else stays outside is said on
//! [`rmq_sim`]'s page; tokio adds that `select!` draws its own random numbers, unless it is `biased` or the runtime has a
//! `rng_seed`.
//!
//! Tokio's timers go off at whole milliseconds, and so does what the network does. A blocking call, `spawn_blocking`
//! included, keeps tokio's clock from jumping.

use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use rmq_driver::rmq_core::{Address, Identity, Instant};
use rmq_driver::{Runtime, SpawnError};
pub use rmq_sim::World;
use rmq_sim::world::{Host, Outcome, SimStream};

use crate::{Client, ClientBuilder, Tokio};

/// Tokio, but for connections and chance: those are the world's.
///
/// A clone is the same runtime; a client that is started on it is a process of its own to the network.
#[derive(Clone, Debug)]
pub struct SimTokio {
    host: Host,
    tokio: Tokio,
}

impl SimTokio {
    /// Puts a world under tokio's clock: its beginning is now.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with its time driver on, and when the world is under a clock already or has run by itself.
    pub fn new(world: &World) -> Self {
        let tokio = Tokio::default();
        world.under_clock(move || tokio.now());
        tokio::spawn(tokio::task::unconstrained(pump(world.clone(), tokio)));
        Self { host: world.host(), tokio }
    }

    /// The world.
    pub const fn world(&self) -> &World {
        self.host.world()
    }

    /// A builder of clients that know the world's name servers; to be ended with `start_on(sim.clone())`.
    pub fn builder(&self) -> ClientBuilder {
        Client::builder().name_server(self.world().name_servers())
    }

    /// Starts a client with the defaults.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn client(&self) -> Client {
        match self.builder().start_on(self.clone()) {
            Ok(client) => client,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Lets the network's time pass with tokio's.
async fn pump(world: World, tokio: Tokio) {
    let mut sleep = pin!(tokio::time::sleep(Duration::ZERO));
    poll_fn(|cx| {
        loop {
            let next = Duration::from_micros(world.pump(cx).as_micros());
            sleep.as_mut().reset(tokio.epoch + next);
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::<()>::Pending;
            }
        }
    })
    .await;
}

/// Puts a world under tokio's clock and runs `body` with a client of it, as [`World::run`] does with a runtime of its own.
///
/// # Panics
///
/// As [`SimTokio::new`], and when `body` takes more of tokio's time than the world's
/// [limit](rmq_sim::world::WorldBuilder::time_limit). A panic in a spawned task is tokio's to report.
pub async fn run<F: Future>(world: &World, body: impl FnOnce(Client) -> F) -> Outcome<F::Output> {
    let sim = SimTokio::new(world);
    let limit = world.time_limit();
    match tokio::time::timeout(limit, body(sim.client())).await {
        Ok(value) => world.outcome(value),
        Err(_) => panic!("seed {}: not done within {limit:?} of tokio's time", world.seed()),
    }
}

impl Runtime for SimTokio {
    type Stream = SimStream;
    type Sleep = tokio::time::Sleep;

    fn now(&self) -> Instant {
        self.tokio.now()
    }

    fn unix_ms(&self) -> u64 {
        self.world().unix_ms()
    }

    fn seed(&self) -> u64 {
        self.host.seed()
    }

    fn connect(&self, address: &Address) -> impl Future<Output = io::Result<SimStream>> + Send + 'static {
        self.host.connect(address)
    }

    fn sleep_until(&self, at: Instant) -> Self::Sleep {
        self.tokio.sleep_until(at)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), SpawnError> {
        self.tokio.spawn(task)
    }

    fn identity(&self, _: Option<IpAddr>) -> Identity {
        self.host.identity()
    }
}
