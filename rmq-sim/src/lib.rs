//! Model RocketMQ name servers and brokers, for tests and examples.
//!
//! - [`model`]: the servers without IO. Bytes in, bytes out, in the real wire format.
//! - [`memory`]: the model behind streams in memory. No ports, no threads.
//! - [`loopback`]: the model behind real sockets on 127.0.0.1, in this process. The program `rmq-model-broker` is the
//!   same as a process of its own.
//! - [`checked`]: a client that is held to its contract while it runs.
//! - [`ops`]: programs of any calls for it, made of any bytes.
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
//! # The model is not RocketMQ
//!
//! It knows routes, sends of single messages, messages given back, heartbeats and unregistering; every other request is
//! answered with code 3,
//! as servers answer codes they do not know. It keeps messages in memory, and only the newest. Delay levels are there, with
//! the levels that brokers have by default; a message whose time has come moves when the model is next told the time, by a
//! request or by [`model::Cluster::advance`]. A message that was dropped to keep the newest never comes. Timers,
//! transactions and batches are not there: a timed or half message is stored like any other, a batch is refused. Groups of
//! consumers have a name, a retry topic and a limit, and no more: queue locks, which make an ordered group's retries dead
//! letters, do not exist. Disks
//! do not fill, nothing is flushed or replicated, nobody is authenticated, and brokers ask clients nothing, not even to
//! rebalance. Routes are standard JSON, whatever version the client says it has.
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
//! - The official Java client is run against `rmq-model-broker`, and the project's own tests against real brokers.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod checked;
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
pub mod trace;

pub use rng::Rng;
