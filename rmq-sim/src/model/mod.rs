//! Name servers and brokers, without any IO: bytes in, bytes out.
//!
//! [`Cluster`] is the whole of it. It has no clock (each call is given the time), no threads and no randomness: the same
//! calls give the same bytes.

mod answer;
mod broker;
mod cluster;
mod config;
mod conn;
mod event;
mod fault;
mod group;
mod name_server;
mod profile;
mod push;
mod store;
mod topic;
mod user;

pub use broker::{Broker, Registration, Role, SendSummary};
pub use cluster::Cluster;
pub(crate) use cluster::is_send;
pub use config::ClusterConfig;
pub use conn::{PeerConn, PeerOutput};
pub use event::ModelEvent;
pub use fault::Fault;
pub(crate) use fault::is_stored;
pub use group::GroupConfig;
pub use name_server::NameServer;
pub use profile::{Profile, ProfileError};
pub use store::{Store, StoredMessage};
pub use topic::TopicConfig;
pub use user::{Access, User};
