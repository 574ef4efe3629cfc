//! The route of a topic: which brokers have it, at which addresses, with how many queues (wire §2.5).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::broker::BrokerData;
use super::static_topic::TopicQueueMappingInfo;

/// Permission bit of a queue that may be written to (wire §2.5).
pub const PERM_WRITE: i32 = 2;

/// Permission bit of a queue that may be read from (wire §2.5).
pub const PERM_READ: i32 = 4;

objects! {
    /// What a name server answers to GET_ROUTEINFO_BY_TOPIC (wire §2.5). `{}` is a route without brokers.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TopicRouteData {
        /// The brokers.
        broker_datas: Vec<BrokerData> = "brokerDatas",
        /// Filter servers by broker address; of no use to clients, and empty on the wire.
        filter_server_table: BTreeMap<String, Vec<String>> = "filterServerTable",
        /// Queues in an order that is fixed: `broker-a:4;broker-b:2`. Absent for ordinary topics.
        order_topic_conf: Option<String> = "orderTopicConf",
        /// What each broker has of the topic.
        queue_datas: Vec<QueueData> = "queueDatas",
        /// Where the logical queues of a static topic lie, by broker. Absent for ordinary topics.
        topic_queue_mapping: Option<BTreeMap<String, TopicQueueMappingInfo>> = "topicQueueMappingByBroker",
    }

    /// How many queues of a topic one broker has.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct QueueData {
        /// The broker.
        broker_name: String = required "brokerName",
        /// Permission bits: [`PERM_READ`], [`PERM_WRITE`] and others.
        perm: i32 = "perm",
        /// Queues that can be read from; their ids count from 0. As the peer says it, which may be any number.
        read_queue_nums: i32 = "readQueueNums",
        /// Flags of the topic, of no use to clients. Name servers before 4.9 spell it `topicSynFlag`.
        topic_sys_flag: i32 = "topicSysFlag" | "topicSynFlag",
        /// Queues that can be written to; their ids count from 0. As the peer says it, which may be any number.
        write_queue_nums: i32 = "writeQueueNums",
    }
}

impl QueueData {
    /// Whether the queues may be written to.
    pub const fn is_writable(&self) -> bool {
        self.perm & PERM_WRITE != 0
    }

    /// Whether the queues may be read from.
    pub const fn is_readable(&self) -> bool {
        self.perm & PERM_READ != 0
    }
}

impl TopicRouteData {
    /// Whether a client need not act on `other` after `self`: the order of brokers does not count, nor do cluster, zone and
    /// acting master (producer §3.3 step 4). No mapping of queues is the same as an empty one.
    pub fn same_as(&self, other: &Self) -> bool {
        self.order_topic_conf == other.order_topic_conf
            && self.filter_server_table == other.filter_server_table
            && self.topic_queue_mapping.iter().flatten().eq(other.topic_queue_mapping.iter().flatten())
            && sorted(&self.queue_datas, |queues| &queues.broker_name)
                .eq(sorted(&other.queue_datas, |queues| &queues.broker_name))
            && sorted(&self.broker_datas, |broker| &broker.broker_name)
                .map(|broker| (&broker.broker_name, &broker.addresses))
                .eq(sorted(&other.broker_datas, |broker| &broker.broker_name)
                    .map(|broker| (&broker.broker_name, &broker.addresses)))
    }
}

fn sorted<T>(items: &[T], name: impl Fn(&T) -> &String) -> impl Iterator<Item = &T> {
    let mut items: Vec<_> = items.iter().collect();
    items.sort_by(|a, b| name(a).cmp(name(b)));
    items.into_iter()
}
