//! How to do what the [quick start](crate#quick-start) does not show.
//!
//! # A client without a runtime
//!
//! [`Network`](crate::net::Network) is the other side of any sans-IO client: it takes writes and gives reads, at the times
//! that it is told. [`Process`](crate::run::Process) is the loop around the client of [`rmq_core`]; a state machine of
//! yours takes its place by doing the same.
//!
//! ```
//! use std::time::Duration;
//!
//! use rmq_core::proto::message::Message;
//! use rmq_core::{ClientConfig, Event, Identity, Instant, ProducerConfig, SendOptions, Start};
//! use rmq_sim::net::{Fault, Network, NetworkConfig};
//! use rmq_sim::run::Process;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let seed = 7;
//! let mut network = Network::new(NetworkConfig::default(), seed);
//! let broker = network.cluster().broker_address(0).to_owned();
//! let second = Instant::ZERO + Duration::from_secs(1);
//! assert!(network.plan(&broker, Fault::Stall, Instant::ZERO..second));
//!
//! let mut now = network.now();
//! let config = ClientConfig::builder().name_server(network.cluster().name_server()).build()?;
//! let identity = Identity { ip: [10, 0, 0, 1].into(), pid: 1 };
//! let start = Start { now, unix_ms: network.unix_ms(), seed, identity };
//! let mut process = Process::new(0, config, start, 4_096);
//! let producer = process.client().add_producer(now, ProducerConfig::new("group"))?;
//! let message = Message::new("orders", "hello").prepare(process.client().message_rules())?;
//! process.client().send(now, producer, message, SendOptions::default())?;
//!
//! let result = 'sent: loop {
//!     network.handle_timeout(now);
//!     while let Some((_client, stream)) = network.poll_news() {
//!         process.wake(stream);
//!     }
//!     process.turn(&mut network, now);
//!     while let Some(event) = process.poll_event() {
//!         match event {
//!             Event::Sent { result, .. } => break 'sent result,
//!             Event::SendFailed { error, .. } => return Err(error.into()),
//!             _ => {}
//!         }
//!     }
//!     let next = network.poll_timeout().map_or(process.poll_timeout(), |at| at.min(process.poll_timeout()));
//!     now = now.max(next);
//! };
//! assert_eq!((&*result.queue.broker, now > second), ("broker-a", true));
//! assert_eq!(process.take_violation(), None);
//! # Ok(())
//! # }
//! ```
//!
//! # An oracle of one's own
//!
//! [`Run`](crate::run::Run) draws clients, work and faults from a seed. What must hold of every run is an
//! [`Oracle`](crate::oracle::Oracle): it is shown what happens when it happens, and says in words what is wrong.
//!
//! ```
//! use rmq_core::Instant;
//! use rmq_sim::net::Network;
//! use rmq_sim::oracle::{Oracle, Seen};
//! use rmq_sim::run::{FaultKind, Run, RunOptions};
//!
//! /// Nobody waits longer for the end of a send than the send was given.
//! #[derive(Debug)]
//! struct Punctual;
//!
//! impl Oracle for Punctual {
//!     fn name(&self) -> &'static str {
//!         "punctual"
//!     }
//!
//!     fn see(&mut self, at: Instant, seen: Seen<'_>, _: &Network) -> Result<(), String> {
//!         let Seen::Ended { operation, .. } = seen else { return Ok(()) };
//!         let took = at.saturating_since(operation.accepted);
//!         if took <= operation.timeout { Ok(()) } else { Err(format!("{operation:?} took {took:?}")) }
//!     }
//! }
//!
//! for seed in 0..3 {
//!     let mut options = RunOptions::draw(seed);
//!     // A client that stands still cannot be punctual.
//!     options.faults.retain(|rate| rate.kind != FaultKind::Suspend);
//!     let mut run = Run::new(options);
//!     run.watch(Punctual);
//!     assert_eq!(run.finish().violation, None, "seed {seed}");
//! }
//! ```
//!
//! In a [`World`](crate::World) the test itself is the oracle: it looks at the [`Outcome`](crate::world::Outcome), at what
//! is stored and at what was acknowledged.
//!
//! # Servers on a port
//!
//! For clients that need real sockets, those of other languages among them. Nothing of it is in virtual time.
//!
//! ```
//! use rmq_sim::loopback::{Server, ServerConfig};
//!
//! # fn main() -> std::io::Result<()> {
//! let server = Server::start(ServerConfig::default())?;
//! println!("point clients at {}", server.name_server());
//! // ... let them send, then see what arrived:
//! let stored = server.cluster(|cluster| cluster.stored().count());
//! assert_eq!(stored, 0);
//! # Ok(())
//! # }
//! ```
//!
//! # Back to a seed
//!
//! Every run is named by its seed. [`World::each_seed`](crate::World::each_seed) says which one failed; with
//! `RMQ_SIM_SEED=17 cargo test NAME_OF_THE_TEST` that one runs alone and records its trace. The hash says whether it was
//! the same run, and the trace, whose [legend](crate::trace::LEGEND) is here too, what happened in it:
//!
//! ```
//! use rmq_driver::Message;
//! use rmq_sim::World;
//! use rmq_sim::world::{Outcome, WorldBuilder};
//!
//! fn test(world: WorldBuilder) -> Outcome<bool> {
//!     world.build().run(async |client| {
//!         let producer = client.producer("group").unwrap();
//!         producer.send(Message::new("orders", "hello")).await.is_ok()
//!     })
//! }
//!
//! let outcome = test(World::builder(17));
//! let again = test(World::builder(17).record());
//! assert_eq!(outcome.hash, again.hash);
//! let lines: Vec<_> = again.trace().entries().map(|line| line.to_string()).collect();
//! assert!(lines[0].ends_with("c0 starts"));
//! ```
//!
//! A seed is the same run only for the same code: after a change, what a seed did before may be gone. Keep what it showed
//! as a test with [planned faults](crate::world::ServerFaults), which says what happens and when.
