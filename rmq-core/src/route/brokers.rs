//! Brokers by name, as the routes in use name them (producer §3.1, §3.8).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use rmq_proto::body::TopicRouteData;

use super::TopicId;
use crate::address::Address;

/// One broker. Routes may disagree for a while: the newest one that names a master is believed, and when it goes, the
/// newest of the others.
#[derive(Clone, Debug, Default)]
struct Broker {
    /// The topics whose routes name it, each with the age of its route.
    claims: BTreeMap<TopicId, u64>,
    /// Its master as those routes have it that name one, the newest last.
    masters: BTreeMap<u64, Address>,
    master: Option<Address>,
}

impl Broker {
    fn claim(&mut self, topic: TopicId, age: u64, master: Option<Address>) {
        self.unclaim(topic);
        self.claims.insert(topic, age);
        if let Some(master) = master {
            // Routes mostly agree: one text will do for all of them.
            let known = self.master.clone().filter(|known| *known == master);
            self.masters.insert(age, known.unwrap_or(master));
        }
    }

    /// False if the topic's route does not name it.
    fn unclaim(&mut self, topic: TopicId) -> bool {
        let age = self.claims.remove(&topic);
        if let Some(age) = age {
            self.masters.remove(&age);
        }
        age.is_some()
    }

    /// Looks for the master anew; returns the one before.
    fn settle(&mut self) -> Option<Address> {
        let master = self.masters.last_key_value().map(|(_, master)| master.clone());
        core::mem::replace(&mut self.master, master)
    }
}

/// What a change of routes means for links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BrokerChange {
    /// A master is at this address now.
    Came(Address),
    /// No route names a master at this address any more.
    Left(Address),
    /// The master that was at this address is at another one now.
    Moved(Address),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Brokers {
    by_name: BTreeMap<Arc<str>, Broker>,
    age: u64,
}

impl Brokers {
    pub(crate) fn master(&self, name: &str) -> Option<&Address> {
        self.by_name.get(name)?.master.as_ref()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether some route names it.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The broker whose master is there.
    pub(crate) fn name_of(&self, address: &Address) -> Option<&Arc<str>> {
        self.by_name.iter().find(|(_, broker)| broker.master.as_ref() == Some(address)).map(|(name, _)| name)
    }

    pub(crate) fn is_master(&self, address: &Address) -> bool {
        self.by_name.values().any(|broker| broker.master.as_ref() == Some(address))
    }

    /// Takes a topic's new route in place of its old one. An address that cannot be read counts as none.
    pub(crate) fn replace(&mut self, topic: TopicId, route: Option<&TopicRouteData>) -> Vec<BrokerChange> {
        self.age += 1;
        let mut changed: Vec<Arc<str>> = Vec::new();
        for (name, broker) in &mut self.by_name {
            if broker.unclaim(topic) {
                changed.push(name.clone());
            }
        }
        for data in route.iter().flat_map(|route| &route.broker_datas) {
            let master = data.master_address().and_then(|text| text.parse().ok());
            let name: Arc<str> = data.broker_name.as_str().into();
            self.by_name.entry(name.clone()).or_default().claim(topic, self.age, master);
            changed.push(name);
        }
        changed.sort();
        changed.dedup();
        let befores: Vec<_> = changed.iter().map(|name| (name, self.settle(name))).collect();
        befores.into_iter().flat_map(|(name, before)| self.changes(name, before)).collect()
    }

    fn settle(&mut self, name: &str) -> Option<Address> {
        let broker = self.by_name.get_mut(name)?;
        let before = broker.settle();
        if broker.claims.is_empty() {
            self.by_name.remove(name);
        }
        before
    }

    fn changes(&self, name: &str, before: Option<Address>) -> impl Iterator<Item = BrokerChange> {
        let after = self.master(name);
        let same = after == before.as_ref();
        let came = after.filter(|_| !same).cloned().map(BrokerChange::Came);
        let gone = before.filter(|before| !same && !self.is_master(before));
        let gone = gone.map(|before| match after {
            Some(_) => BrokerChange::Moved(before),
            None => BrokerChange::Left(before),
        });
        came.into_iter().chain(gone)
    }
}
