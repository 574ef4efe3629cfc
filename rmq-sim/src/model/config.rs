//! What a cluster is made of.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::profile::Profile;
use super::user::User;

/// What a [`Cluster`](super::Cluster) is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterConfig {
    /// The release that all servers are of. Default: [`Profile::V5_3`].
    pub profile: Profile,
    /// How many name servers; 0 counts as 1. Default: 1.
    pub name_servers: usize,
    /// How many brokers. Default: 1.
    pub brokers: usize,
    /// Whether sending to a topic creates it, as real brokers do unless told otherwise (wire §5.1). Default: true.
    pub auto_create: bool,
    /// Whether groups of consumers come into being when they are first named, as at real brokers unless told otherwise; else
    /// those that are not [created](super::Cluster::create_group) are unknown (producer §12.4). Default: true.
    pub auto_create_groups: bool,
    /// Who may ask brokers for something (wire §8.4); with nobody here, everybody may ask for everything. Name servers ask
    /// nobody who they are. Default: empty.
    pub users: Vec<User>,
    /// How many messages a broker keeps; the oldest go first. Default: 10,000.
    pub retain: usize,
    /// How many bytes of records a broker keeps; the oldest go first. Default: 256 MiB.
    pub retain_bytes: usize,
    /// How old a half message is before its producer is asked about it: `transactionTimeOut` (producer §9). Default: 6 s.
    pub transaction_timeout: Duration,
    /// Time between two rounds of such questions: `transactionCheckInterval`. They are at whole multiples of it since the
    /// Unix epoch; real brokers count from their start. Default: 30 s.
    pub transaction_check_interval: Duration,
    /// How often a producer is asked about one half message before it is given up: `transactionCheckMax`. Default: 15.
    pub transaction_check_max: u32,
    /// The address of all servers. Default: 127.0.0.1.
    pub host: IpAddr,
    /// The first name server's port. The others listen on the next ones, and broker number i (from 0) on this + the
    /// number of name servers + i. Default: 9876.
    pub port: u16,
    /// Ports of the name servers after the first where they are others than that; name servers beyond its end keep to
    /// the rule. Default: empty.
    pub more_name_server_ports: Vec<u16>,
    /// Ports of the brokers where they are others than that; brokers beyond its end keep to the rule. Default: empty.
    pub broker_ports: Vec<u16>,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            name_servers: 1,
            brokers: 1,
            auto_create: true,
            auto_create_groups: true,
            users: Vec::new(),
            retain: 10_000,
            retain_bytes: 256 * 1024 * 1024,
            transaction_timeout: Duration::from_secs(6),
            transaction_check_interval: Duration::from_secs(30),
            transaction_check_max: 15,
            host: Ipv4Addr::LOCALHOST.into(),
            port: 9876,
            more_name_server_ports: Vec::new(),
            broker_ports: Vec::new(),
        }
    }
}

impl ClusterConfig {
    /// Where the first name server listens.
    pub const fn name_server_address(&self) -> SocketAddr {
        SocketAddr::new(self.host, self.port)
    }

    /// Where name server number `index` listens, from 0. Ports beyond 65,535 begin anew at 0.
    pub fn name_server_address_at(&self, index: usize) -> SocketAddr {
        let more = index.checked_sub(1).and_then(|index| self.more_name_server_ports.get(index));
        SocketAddr::new(self.host, more.copied().unwrap_or_else(|| self.port_at(index)))
    }

    /// Where broker number `index` listens, from 0. Ports beyond 65,535 begin anew at 0.
    pub fn broker_address(&self, index: usize) -> SocketAddr {
        let by_rule = || self.port_at(self.name_server_count().wrapping_add(index));
        SocketAddr::new(self.host, self.broker_ports.get(index).copied().unwrap_or_else(by_rule))
    }

    pub(crate) fn name_server_count(&self) -> usize {
        self.name_servers.max(1)
    }

    const fn port_at(&self, place: usize) -> u16 {
        self.port.wrapping_add(place as u16)
    }
}
