//! Simulation of RocketMQ, for tests: model name servers and brokers, a network with faults, and worlds in which a
//! service runs against them without a broker, without waiting, and the same each time.
//!
//! # Quick start
//!
//! Async code runs in a [`World`]. The client is the real one; its servers, its connections and its time are the world's:
//!
//! ```
//! use std::time::Duration;
//!
//! use rmq_driver::Message;
//! use rmq_sim::World;
//!
//! let secs = Duration::from_secs;
//! World::each_seed(0..5, |world| {
//!     let world = world.brokers(3).name_servers(2).topic("orders", 4).build();
//!     world.broker("broker-a").hang(secs(2)..secs(5));
//!     world.name_server(0).crash(secs(1)..secs(30));
//!     let sim = world.runtime();
//!     let outcome = world.run(async |client| {
//!         let producer = client.producer("order-service").unwrap();
//!         for number in 0..20 {
//!             let key = format!("order-{number}");
//!             if producer.send(Message::new("orders", "...").key(&key)).await.is_ok() {
//!                 world.acknowledge_key(key);
//!             }
//!             sim.sleep(secs(1)).await;
//!         }
//!     });
//!     outcome.assert_acknowledged_is_stored();
//! });
//! ```
//!
//! The example `lost_acknowledgement` is a service that fails such a test, and the same service mended.
//!
//! Code that names tokio runs in a tokio test, under its paused clock, with the same worlds and faults. The module
//! `rmq_tokio::sim` has the example:
//!
//! ```toml
//! [dev-dependencies]
//! rmq-tokio = { version = "0.1", features = ["sim"] }
//! tokio = { version = "1", features = ["macros", "rt", "test-util"] }
//! ```
//!
//! State machines without a runtime, oracles of one's own and the way back to a seed are in the [`guide`].
//!
//! # What is here
//!
//! - [`world`]: servers, network, faults and a runtime for a user's async code.
//! - [`run`]: whole runs of sans-IO clients drawn from a seed, watched by the [oracles](oracle) and written down in a
//!   [`trace`]. The program `rmq-sim` runs many seeds, or one of them readably.
//! - [`net`]: the network alone, a state machine between clients and the model.
//! - [`model`]: the servers without IO. Bytes in, bytes out, in the real wire format.
//! - [`checked`]: a client that is held to its contract while it runs. [`ops`]: programs of any calls for it, made of any
//!   bytes.
//! - [`memory`] and [`runtime`]: the model behind streams in memory, without faults of a network.
//! - [`loopback`]: the model behind real sockets on 127.0.0.1, in this process. The program `rmq-model-broker` is the
//!   same as a process of its own.
//!
//! # What the same seed promises, and what stays outside
//!
//! The same seed, the same code and the same release of these crates bring the same run: every byte on every connection, at
//! the same virtual time, on every platform. Hashes tell whether it was so. It covers what goes through the world: the
//! client, its servers, its connections, its timers and its tasks. It does not cover what a service does beside it:
//!
//! - **Other sockets, files, processes.** What is not the RocketMQ client talks to whatever it talked to before; a world
//!   has no database and no HTTP.
//! - **Threads.** What another thread does comes at a moment that its system chooses. A world's tasks share one thread, so
//!   data races and lock contention are not looked for either, and a call that blocks blocks the whole world.
//! - **Real clocks.** `std::time::Instant::now()` and `SystemTime::now()` go on as ever: ask the
//!   [runtime](world::Sim), or tokio's clock under tokio.
//! - **The order of a `HashMap`** differs from process to process: use a `BTreeMap` where order shows.
//! - **The service's own randomness**, UUIDs included: draw it from [`World::rng`].
//! - **Addresses of memory**, and whatever else differs between two runs of a program.
//!
//! Where a test does one of these, its seed may pass once and fail once: then compare hashes, and look for the first line
//! in which two traces differ.
//!
//! A run that passes says that these seeds passed. It proves nothing of other seeds, nor of what the model leaves out.
//!
//! # The model is not RocketMQ
//!
//! It knows routes, sends of messages and batches, messages given back, transactions, requests and replies, recalls, pulls, where
//! queues begin and end, topics that are created, heartbeats and unregistering; every other request is answered with code 3,
//! as servers answer codes they do not know. A pull has to bring its subscription, by tags, and is answered at once: nothing is
//! held until a message comes. It keeps messages in memory, and only the newest. Delay levels are there, with the lengths that
//! brokers have by default, and in 5.3 timers; a message whose time has come moves when the model is next told the time, by a
//! request or by [`model::Cluster::advance`]. A message that was dropped to keep the newest never comes. A batch is stored as its
//! messages; topics that keep a batch as one message do not exist. Groups of consumers have a name, a retry topic and a
//! limit, and no more: queue locks, which make an ordered group's retries dead letters, do not exist. Disks do not fill, nothing
//! is flushed or replicated, and nobody has to say who they are unless the configuration names users. Brokers ask clients how
//! transactions went and hand them replies, and ask for nothing else, not even to rebalance. Routes are standard JSON, whatever
//! version the client says it has.
//!
//! Nothing else happens by itself. Servers go down and come back, brokers register again and registrations expire when a test
//! says so ([`model::Cluster::stop`] and those beside it). A broker that went down has every message that it stored. What
//! name servers then know and forget follows no section of the specification, and was not compared with real ones.
//!
//! What keeps it honest:
//!
//! - Each rule has a section of the protocol's specification beside it, or says that it was seen on real servers of
//!   releases 4.9.7 and 5.3.3. Where those differ, [`model::Profile`] chooses.
//! - Its tests replay frames of the official Java client, captured in talk with a real cluster, and compare the answers
//!   field name by field name with the captured ones.
//! - The official Java client is run against `rmq-model-broker`.
//! - One script (rmq-tokio/tests/conformance) is run against the model and against real brokers of both releases, with the
//!   same expectations of what is stored and of what is answered, word for word.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod checked;
pub mod guide;
mod hash;
pub mod loopback;
pub mod memory;
pub mod model;
pub mod net;
pub mod ops;
pub mod oracle;
mod rng;
pub mod run;
pub mod runtime;
mod tap;
pub mod trace;
pub mod world;

pub use rng::Rng;
pub use world::World;
