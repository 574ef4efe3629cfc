//! Brokers by name, as the routes in use name them (producer §3.1, §3.8).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use rmq_proto::body::TopicRouteData;

use crate::address::Address;

const MASTER: i64 = 0;

#[derive(Clone, Debug)]
struct Broker {
    master: Option<Address>,
    /// How many routes name it; the last one to go takes it along.
    routes: usize,
}

/// What a change of routes means for links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BrokerChange {
    /// A master is at this address now.
    Came(Address),
    /// No master is at this address any more.
    Left(Address),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Brokers {
    by_name: BTreeMap<Arc<str>, Broker>,
}

impl Brokers {
    pub(crate) fn master(&self, name: &str) -> Option<&Address> {
        self.by_name.get(name)?.master.as_ref()
    }

    fn is_master(&self, address: &Address) -> bool {
        self.by_name.values().any(|broker| broker.master.as_ref() == Some(address))
    }

    /// Replaces one topic's old route by its new one. An address that cannot be read counts as none.
    pub(crate) fn replace(
        &mut self,
        old: Option<&TopicRouteData>,
        new: Option<&TopicRouteData>,
    ) -> Vec<BrokerChange> {
        let mut touched = Vec::new();
        for data in new.iter().flat_map(|route| &route.broker_datas) {
            let master = data.addresses.get(&MASTER).and_then(|text| text.parse::<Address>().ok());
            touched.extend(master.clone());
            let name = Arc::from(data.broker_name.as_str());
            let broker = self.by_name.entry(name).or_insert(Broker { master: None, routes: 0 });
            broker.routes += 1;
            touched.extend(core::mem::replace(&mut broker.master, master));
        }
        for data in old.iter().flat_map(|route| &route.broker_datas) {
            if let Some(broker) = self.by_name.get_mut(data.broker_name.as_str()) {
                broker.routes -= 1;
                if broker.routes == 0 {
                    touched.extend(broker.master.take());
                    self.by_name.remove(data.broker_name.as_str());
                }
            }
        }
        touched.sort();
        touched.dedup();
        let change = |address: Address| match self.is_master(&address) {
            true => BrokerChange::Came(address),
            false => BrokerChange::Left(address),
        };
        touched.into_iter().map(change).collect()
    }
}
