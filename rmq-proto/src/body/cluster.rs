//! All brokers that a name server knows (wire §2.5).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::broker::BrokerData;

objects! {
    /// What a name server answers to GET_BROKER_CLUSTER_INFO (wire §2.5).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ClusterInfo {
        /// The brokers by name.
        broker_addr_table: BTreeMap<String, BrokerData> = "brokerAddrTable",
        /// The names of each cluster's brokers.
        cluster_addr_table: BTreeMap<String, Vec<String>> = "clusterAddrTable",
    }
}
