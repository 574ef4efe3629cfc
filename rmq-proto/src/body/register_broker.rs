//! What brokers tell name servers of their topics (wire §5.25).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::static_topic::{TopicQueueMappingDetail, TopicQueueMappingInfo};

constants! {
    /// How many tags the messages of a topic may have. Nothing depends on it any more.
    #[derive(Default)]
    pub enum TopicFilterType in "topicFilterType" {
        /// One.
        #[default]
        SingleTag = "SINGLE_TAG",
        /// Several.
        MultiTag = "MULTI_TAG",
    }
}

objects! {
    /// The body of REGISTER_BROKER, not compressed (wire §5.25).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct RegisterBroker {
        /// Addresses of filter servers; empty.
        filter_servers: Vec<String> = "filterServerList",
        /// The topics.
        topic_configs: TopicConfigTable = "topicConfigSerializeWrapper",
    }

    /// The topics of a broker: all of them, or one that has changed.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TopicConfigTable {
        /// The version of the topics.
        data_version: DataVersion = "dataVersion",
        /// The version of the static topics. From 5.0 on, like the two tables of them.
        mapping_data_version: Option<DataVersion> = "mappingDataVersion",
        /// The topics by name.
        topics: BTreeMap<String, TopicConfig> = "topicConfigTable",
        /// Static topics in full, by name.
        mapping_details: Option<BTreeMap<String, TopicQueueMappingDetail>> = "topicQueueMappingDetailMap",
        /// Static topics in short, by name.
        mapping_infos: Option<BTreeMap<String, TopicQueueMappingInfo>> = "topicQueueMappingInfoMap",
    }

    /// Which state a table is in.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct DataVersion {
        /// Counts the changes.
        counter: i64 = "counter",
        /// Counts the elections of a master. From 5.0 on.
        state_version: Option<i64> = "stateVersion",
        /// When the last change was made, in milliseconds since the Unix epoch.
        timestamp: i64 = "timestamp",
    }

    /// A topic on one broker.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TopicConfig {
        /// Attributes, `message.type` for one. From 5.0 on.
        attributes: Option<BTreeMap<String, String>> = "attributes",
        /// Whether its messages are ordered over all queues.
        order: bool = "order",
        /// Permission bits: [`PERM_READ`](super::PERM_READ), [`PERM_WRITE`](super::PERM_WRITE) and others.
        perm: i32 = "perm",
        /// Queues that can be read from.
        read_queue_nums: i32 = "readQueueNums",
        /// How many tags its messages may have.
        topic_filter_type: TopicFilterType = "topicFilterType",
        /// Its name.
        topic_name: String = required "topicName",
        /// Flags (wire §9.6).
        topic_sys_flag: i32 = "topicSysFlag",
        /// Queues that can be written to.
        write_queue_nums: i32 = "writeQueueNums",
    }
}
