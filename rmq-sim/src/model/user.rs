//! Users of a cluster, and what each may do.

use std::collections::BTreeMap;

use rmq_proto::sign::Credentials;

/// What a user may do with a topic or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Send: `PUB`.
    Publish,
    /// Consume: `SUB`.
    Subscribe,
    /// Either.
    Both,
}

impl Access {
    /// Whether who may do this may do `wanted`, too.
    pub(crate) fn covers(self, wanted: Self) -> bool {
        self == Self::Both || self == wanted
    }
}

/// Somebody whom brokers with access control know. What it is not told that it may do, it may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    credentials: Credentials,
    is_admin: bool,
    topics: BTreeMap<String, Access>,
    groups: BTreeMap<String, Access>,
}

impl User {
    /// A user who may connect, and no more.
    pub const fn new(credentials: Credentials) -> Self {
        Self { credentials, is_admin: false, topics: BTreeMap::new(), groups: BTreeMap::new() }
    }

    /// A user who may do everything.
    pub fn admin(credentials: Credentials) -> Self {
        Self { is_admin: true, ..Self::new(credentials) }
    }

    /// The same user with access to a topic, by its name on the wire.
    #[must_use]
    pub fn topic(mut self, name: impl Into<String>, access: Access) -> Self {
        self.topics.insert(name.into(), access);
        self
    }

    /// The same user with access to a group of consumers, by its name on the wire.
    #[must_use]
    pub fn group(mut self, name: impl Into<String>, access: Access) -> Self {
        self.groups.insert(name.into(), access);
        self
    }

    /// Its name and secret.
    pub const fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Whether it may do everything.
    pub const fn is_admin(&self) -> bool {
        self.is_admin
    }

    pub(crate) fn topic_access(&self, name: &str) -> Option<Access> {
        self.topics.get(name).copied()
    }

    pub(crate) fn group_access(&self, name: &str) -> Option<Access> {
        self.groups.get(name).copied()
    }
}
