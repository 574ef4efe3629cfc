//! Plain lists and tables (wire §2.5, §5.8).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

objects! {
    /// Topics, as answered to GET_ALL_TOPIC_LIST_FROM_NAMESERVER and the like (wire §2.5).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TopicList {
        /// The address of a broker; in few answers.
        broker_addr: Option<String> = "brokerAddr",
        /// The topics.
        topics: Vec<String> = "topicList",
    }

    /// What a name server answers to GET_KVLIST_BY_NAMESPACE (wire §5.20).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct KvTable {
        /// Values by key.
        table: BTreeMap<String, String> = "table",
    }

    /// What a broker answers to GET_CONSUMER_LIST_BY_GROUP (wire §5.8).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ConsumerList {
        /// The ids of the clients that consume in the group.
        client_ids: Vec<String> = "consumerIdList",
    }
}
