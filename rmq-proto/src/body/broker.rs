//! A broker, as routes and the cluster name it (wire §2.5).

use alloc::collections::BTreeMap;
use alloc::string::String;

/// The broker id of a master; slaves have others (wire §2.5).
pub const MASTER_ID: i64 = 0;

objects! {
    /// A broker: one master and its slaves.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct BrokerData {
        /// Addresses `host:port` by broker id; [`MASTER_ID`] is the master's.
        addresses: BTreeMap<i64, String> = "brokerAddrs",
        /// Its name.
        broker_name: String = required "brokerName",
        /// Its cluster; empty when the peer names none.
        cluster: String = "cluster",
        /// Whether a slave stands in for a lost master. Absent from name servers before 5.0.
        enable_acting_master: Option<bool> = "enableActingMaster",
        /// The zone that it lies in, of 5.x brokers that are told one.
        zone_name: Option<String> = "zoneName",
    }
}

impl BrokerData {
    /// The address of its master, if it has one.
    pub fn master_address(&self) -> Option<&str> {
        self.addresses.get(&MASTER_ID).map(String::as_str)
    }
}
