//! Routes: wire §2.4, §2.5, E17.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rmq_proto::body::{BrokerData, PERM_READ, PERM_WRITE, QueueData, TopicQueueMappingInfo, TopicRouteData};

use crate::golden;

pub(crate) fn queues(broker: &str, nums: i32) -> QueueData {
    QueueData {
        broker_name: broker.to_owned(),
        read_queue_nums: nums,
        write_queue_nums: nums,
        perm: PERM_READ | PERM_WRITE,
        topic_sys_flag: 0,
    }
}

pub(crate) fn broker(name: &str, addresses: &[(i64, &str)]) -> BrokerData {
    BrokerData {
        cluster: "DefaultCluster".to_owned(),
        broker_name: name.to_owned(),
        addresses: addresses.iter().map(|&(id, address)| (id, address.to_owned())).collect(),
        enable_acting_master: Some(false),
        zone_name: None,
    }
}

pub(crate) fn route(queue_datas: Vec<QueueData>, broker_datas: Vec<BrokerData>) -> TopicRouteData {
    TopicRouteData { queue_datas, broker_datas, ..TopicRouteData::default() }
}

const OLD_ROUTE: &str = r#"{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false}],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}"#;

const REPEATED: &str = r#"{"brokerDatas":[],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4},{"$ref":"$.queueDatas[0]"}]}"#;

#[test]
fn routes() {
    let master_and_slave = broker("broker-a", &[(0, "10.0.0.1:10911"), (1, "10.0.0.2:10911")]);
    let ordered =
        TopicRouteData { order_topic_conf: Some("a:4;b:2".to_owned()), ..TopicRouteData::default() };
    let rows = [
        // Wire E17 and the golden vector: keys without quotes.
        (OLD_ROUTE.to_owned(), route(vec![queues("broker-a", 4)], vec![master_and_slave])),
        (
            golden("route-body-unquoted-keys"),
            route(
                vec![queues("broker-a", 4)],
                vec![broker("broker-a", &[(0, "127.0.0.1:10911"), (1, "[2001:db8::1]:10911")])],
            ),
        ),
        // Wire E17: the second object is a reference to the first.
        (REPEATED.to_owned(), route(vec![queues("broker-a", 4), queues("broker-a", 4)], vec![])),
        // C9: a route without brokers.
        ("{}".to_owned(), TopicRouteData::default()),
        (r#"{"brokerDatas":null}"#.to_owned(), TopicRouteData::default()),
        (r#"{"brokerDatas":[],"queueDatas":null,"orderTopicConf":null}"#.to_owned(), TopicRouteData::default()),
        (r#"{"orderTopicConf":"a:4;b:2"}"#.to_owned(), ordered),
        // Numbers that are absent or `null`, as Java's reader takes them.
        (
            r#"{"queueDatas":[{"brokerName":"b"},{"brokerName":"c","perm":null,"readQueueNums":"3"}]}"#.to_owned(),
            route(
                vec![
                    QueueData { broker_name: "b".to_owned(), ..QueueData::default() },
                    QueueData { broker_name: "c".to_owned(), read_queue_nums: 3, ..QueueData::default() },
                ],
                vec![],
            ),
        ),
        (
            r#"{"brokerDatas":[{"brokerName":"b","brokerAddrs":{"0":null,2:"h:1"}},{"brokerName":"c","brokerAddrs":null}]}"#
                .to_owned(),
            route(
                vec![],
                vec![
                    BrokerData {
                        broker_name: "b".to_owned(),
                        addresses: BTreeMap::from([(2, "h:1".to_owned())]),
                        ..BrokerData::default()
                    },
                    BrokerData { broker_name: "c".to_owned(), ..BrokerData::default() },
                ],
            ),
        ),
        // Escapes as a 5.3 name server writes them.
        (
            r#"{"queueDatas":[{"brokerName":"\u7ECF\/\uD83C\uDF89"}]}"#.to_owned(),
            route(vec![QueueData { broker_name: "经/🎉".to_owned(), ..QueueData::default() }], vec![]),
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(TopicRouteData::decode(text.as_bytes()), Ok(expected), "{text}");
    }
}

#[test]
fn brokers_may_be_referred_to() {
    let text = r#"{"brokerDatas":[{"brokerName":"b","brokerAddrs":{0:"h:1"}},{"$ref":"$.brokerDatas[0]"}]}"#;
    let route = TopicRouteData::decode(text.as_bytes()).unwrap();
    assert_eq!(route.broker_datas.len(), 2);
    assert_eq!(route.broker_datas[0], route.broker_datas[1]);
    assert_eq!(route.broker_datas[1].master_address(), Some("h:1"));
}

#[test]
fn a_written_route_is_what_a_name_server_writes() {
    // Taken off the wire from a 5.3.3 name server.
    let captured = r#"{"brokerDatas":[{"brokerAddrs":{"0":"127.0.0.1:32911"},"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false}],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":7,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}"#;
    let mut expected =
        route(vec![queues("broker-a", 8)], vec![broker("broker-a", &[(0, "127.0.0.1:32911")])]);
    expected.queue_datas[0].perm = 7;
    assert_eq!(TopicRouteData::decode(captured.as_bytes()), Ok(expected.clone()));
    assert_eq!(expected.encode(), captured.as_bytes());

    expected.order_topic_conf = Some("broker-a:8".to_owned());
    expected.broker_datas[0].enable_acting_master = None;
    assert_eq!(
        expected.encode(),
        r#"{"brokerDatas":[{"brokerAddrs":{"0":"127.0.0.1:32911"},"brokerName":"broker-a","cluster":"DefaultCluster"}],"filterServerTable":{},"orderTopicConf":"broker-a:8","queueDatas":[{"brokerName":"broker-a","perm":7,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}"#
            .as_bytes()
    );
    assert_eq!(
        TopicRouteData::default().encode(),
        br#"{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}"#.as_slice()
    );
}

#[test]
fn permissions_and_masters() {
    // perm, readable, writable
    let rows = [
        (0, false, false),
        (1, false, false),
        (2, false, true),
        (4, true, false),
        (6, true, true),
        (7, true, true),
    ];
    for (perm, readable, writable) in rows {
        let queues = QueueData { perm, ..QueueData::default() };
        assert_eq!((queues.is_readable(), queues.is_writable()), (readable, writable), "{perm}");
    }
    assert_eq!(broker("b", &[(0, "h:1"), (1, "h:2")]).master_address(), Some("h:1"));
    assert_eq!(broker("b", &[(1, "h:2")]).master_address(), None);
}

#[test]
fn same_route() {
    let a = || broker("a", &[(0, "h:1")]);
    let b = || broker("b", &[(0, "h:2"), (1, "h:3")]);
    let base = || route(vec![queues("a", 4), queues("b", 4)], vec![a(), b()]);
    let changed = |change: fn(&mut TopicRouteData)| {
        let mut route = base();
        change(&mut route);
        route
    };
    let mapping = |epoch| {
        Some([("a".to_owned(), TopicQueueMappingInfo { epoch, ..TopicQueueMappingInfo::default() })].into())
    };
    let mut mapped = base();
    mapped.topic_queue_mapping = mapping(1);
    let mut remapped = base();
    remapped.topic_queue_mapping = mapping(2);
    assert!(mapped.same_as(&mapped) && !mapped.same_as(&remapped), "queues of a static topic moved");
    let rows: [(&str, bool, TopicRouteData); 20] = [
        ("equal", true, base()),
        ("order of queues", true, changed(|r| r.queue_datas.reverse())),
        ("order of brokers", true, changed(|r| r.broker_datas.reverse())),
        ("cluster", true, changed(|r| r.broker_datas[0].cluster.clear())),
        ("acting master", true, changed(|r| r.broker_datas[0].enable_acting_master = None)),
        ("perm", false, changed(|r| r.queue_datas[0].perm = 4)),
        ("read queues", false, changed(|r| r.queue_datas[0].read_queue_nums = 5)),
        ("write queues", false, changed(|r| r.queue_datas[1].write_queue_nums = 5)),
        ("flags of the topic", false, changed(|r| r.queue_datas[1].topic_sys_flag = 1)),
        ("a queue less", false, changed(|r| drop(r.queue_datas.pop()))),
        ("a broker less", false, changed(|r| drop(r.broker_datas.pop()))),
        ("another name", false, changed(|r| r.broker_datas[1].broker_name.push('x'))),
        (
            "an address moved",
            false,
            changed(|r| drop(r.broker_datas[0].addresses.insert(0, "h:9".to_owned()))),
        ),
        ("a slave gone", false, changed(|r| drop(r.broker_datas[1].addresses.remove(&1)))),
        ("ordered", false, changed(|r| r.order_topic_conf = Some("a:4".to_owned()))),
        ("zone", true, changed(|r| r.broker_datas[0].zone_name = Some("z".to_owned()))),
        ("filter servers", false, changed(|r| drop(r.filter_server_table.insert("h:1".to_owned(), vec![])))),
        ("a static topic", false, mapped),
        ("an empty mapping", true, changed(|r| r.topic_queue_mapping = Some([].into()))),
        ("ordered, with nothing", false, changed(|r| r.order_topic_conf = Some(String::new()))),
    ];
    for (what, same, other) in rows {
        assert_eq!(base().same_as(&other), same, "{what}");
        assert_eq!(other.same_as(&base()), same, "{what}, the other way");
    }
}

fn some_route() -> impl Strategy<Value = TopicRouteData> {
    let queue = ("\\PC{0,8}", any::<[i32; 4]>()).prop_map(|(broker_name, [read, write, perm, flag])| {
        QueueData { broker_name, read_queue_nums: read, write_queue_nums: write, perm, topic_sys_flag: flag }
    });
    let addresses = proptest::collection::btree_map(any::<i64>(), "\\PC{0,8}", 0..3);
    let broker = ("\\PC{0,8}", any::<String>(), addresses, any::<Option<bool>>()).prop_map(
        |(cluster, broker_name, addresses, enable_acting_master)| BrokerData {
            cluster,
            broker_name,
            addresses,
            enable_acting_master,
            zone_name: None,
        },
    );
    let (queues, brokers) = (proptest::collection::vec(queue, 0..4), proptest::collection::vec(broker, 0..4));
    (proptest::option::of(any::<String>()), queues, brokers).prop_map(
        |(order_topic_conf, queue_datas, broker_datas)| TopicRouteData {
            order_topic_conf,
            queue_datas,
            broker_datas,
            ..TopicRouteData::default()
        },
    )
}

proptest! {
    #[test]
    fn a_written_route_is_read_back(route in some_route()) {
        prop_assert!(route.same_as(&route));
        prop_assert_eq!(TopicRouteData::decode(&route.encode()), Ok(route));
    }
}
