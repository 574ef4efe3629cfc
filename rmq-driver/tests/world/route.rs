//! The route that scripted peers tell.

use std::collections::BTreeMap;

use rmq_driver::rmq_core::proto::body::{BrokerData, PERM_READ, PERM_WRITE, QueueData, TopicRouteData};

/// One broker with one queue.
pub(crate) fn route(address: &str) -> TopicRouteData {
    let queue = QueueData {
        broker_name: "broker".into(),
        read_queue_nums: 1,
        write_queue_nums: 1,
        perm: PERM_READ | PERM_WRITE,
        topic_sys_flag: 0,
    };
    let broker = BrokerData {
        cluster: "cluster".into(),
        broker_name: "broker".into(),
        addresses: BTreeMap::from([(0, address.into())]),
        ..BrokerData::default()
    };
    TopicRouteData { queue_datas: vec![queue], broker_datas: vec![broker], ..TopicRouteData::default() }
}
