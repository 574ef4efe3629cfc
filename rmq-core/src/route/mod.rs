//! Where topics live: name servers, routes, brokers, and the choice of a queue.

mod brokers;
mod name_servers;
mod names;
mod publish;
mod query;
mod select;
mod shared;
mod table;

pub(crate) use brokers::{BrokerChange, Brokers};
pub(crate) use name_servers::NameServers;
pub(crate) use publish::PublishQueues;
pub(crate) use query::{Query, QueryOutcome};
pub(crate) use select::Choice;
pub(crate) use table::{RouteTable, TopicId};
