//! Objects that occur twice, which fastjson writes as references: wire §2.4, E17.

use rmq_proto::body::*;

use crate::support::{decode, queue};

/// Texts with references as the official encoder writes them, and the same without.
const SAME: &[(&str, &str)] = &[
    // A queue of a list, and a broker's addresses within another broker.
    (
        r#"{"brokerDatas":[{"brokerAddrs":{0:"h:1"},"brokerName":"a"},{"brokerAddrs":{"$ref":"$.brokerDatas[0].brokerAddrs"},"brokerName":"b"},{"$ref":"$.brokerDatas[0]"}],"queueDatas":[{"brokerName":"a","perm":6},{"$ref":"$.queueDatas[0]"}]}"#,
        r#"{"brokerDatas":[{"brokerAddrs":{0:"h:1"},"brokerName":"a"},{"brokerAddrs":{0:"h:1"},"brokerName":"b"},{"brokerAddrs":{0:"h:1"},"brokerName":"a"}],"queueDatas":[{"brokerName":"a","perm":6},{"brokerName":"a","perm":6}]}"#,
    ),
    // Not from the official encoder: into another list, through a map of numbers, and to a reference.
    (
        r#"{"other":{"x":[{"brokerName":"a","perm":6}]},"queueDatas":[{"$ref":"$.other.x[0]"},{"$ref":"$.queueDatas[0]"}]}"#,
        r#"{"queueDatas":[{"brokerName":"a","perm":6},{"brokerName":"a","perm":6}]}"#,
    ),
    (
        r#"{"other":{0:{"1":[[],[{"brokerName":"a"}]]}},"queueDatas":[{"$ref":"$.other[0][1][1][0]"},{"$ref":"$.other.0.1[1][0]"}]}"#,
        r#"{"queueDatas":[{"brokerName":"a"},{"brokerName":"a"}]}"#,
    ),
    // Back and forth within a list, and to one list after the other.
    (
        r#"{"x":[{"brokerName":"a"},{"brokerName":"b"},{"brokerName":"c"}],"y":[{"brokerName":"d"}],"queueDatas":[{"$ref":"$.x[1]"},{"$ref":"$.x[0]"},{"$ref":"$.x[2]"},{"$ref":"$.y[0]"},{"$ref":"$.x[1]"},{"$ref":"$.x[1]"}]}"#,
        r#"{"queueDatas":[{"brokerName":"b"},{"brokerName":"a"},{"brokerName":"c"},{"brokerName":"d"},{"brokerName":"b"},{"brokerName":"b"}]}"#,
    ),
    // The name in a reference has escapes of JSON and of paths.
    (
        r#"{"a.b":{"brokerName":"a"},"c[0]":{"brokerName":"b"},"d\\\"e":{"brokerName":"c"},"经":{"brokerName":"d"},"queueDatas":[{"$ref":"$.经"},{"$ref":"$.d\\\\\\\"e"},{"$ref":"$.c\\[0\\]"},{"$ref":"$.a\\.b"}]}"#,
        r#"{"queueDatas":[{"brokerName":"d"},{"brokerName":"c"},{"brokerName":"b"},{"brokerName":"a"}]}"#,
    ),
];

#[test]
fn references_of_routes() {
    for (with, without) in SAME {
        assert!(decode::<TopicRouteData>(without).is_ok());
        assert_eq!(decode::<TopicRouteData>(with), decode(without), "{with}");
    }
}

#[test]
fn references_within_other_bodies() {
    let text = r#"{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"h:1"},"brokerName":"broker-a"},"broker.b":{"$ref":"$.brokerAddrTable.broker\\-a"}},"clusterAddrTable":{}}"#;
    let cluster = decode::<ClusterInfo>(text).unwrap();
    assert_eq!(cluster.broker_addr_table["broker.b"], cluster.broker_addr_table["broker-a"]);

    let text = r#"{"acks":[{"b":"AQI=","c":"G","r":"0","t":"T"},{"b":"","c":"H","r":"1","t":"T"},{"$ref":"$.acks[0]"}],"brokerName":"b"}"#;
    let acks = decode::<BatchAckRequest>(text).unwrap().acks;
    assert_eq!((&acks[2], acks[1].consumer_group.as_str()), (&acks[0], "H"));

    let text = r#"{"messageQueueAssignments":[{"messageQueue":{"brokerName":"b","queueId":1,"topic":"T"},"mode":"POP"},{"messageQueue":{"$ref":"$.messageQueueAssignments[0].messageQueue"},"mode":"PULL"}]}"#;
    let assignments = decode::<QueryAssignmentResponse>(text).unwrap().assignments.unwrap();
    assert_eq!(assignments[1].message_queue, queue("T", "b", 1));

    let text = r#"{"consumerTable":{"c1":{{"brokerName":"b","queueId":1,"topic":"T"}:7},"c2":{"$ref":"$.consumerTable.c1"}}}"#;
    let status = decode::<ConsumerStatus>(text).unwrap();
    assert_eq!(status.consumer_table["c2"], [(queue("T", "b", 1), 7)].into());

    let text = r#"{"lockOKMQSet":[{"brokerName":"b","queueId":1,"topic":"T"},{"$ref":"$.lockOKMQSet[0]"}]}"#;
    assert_eq!(decode::<LockBatchResponse>(text).unwrap().locked, vec![queue("T", "b", 1); 2]);
}

#[test]
fn references_to_entries_whose_keys_are_objects() {
    // Wire E17, with what it refers to before it.
    let text = r#"{"mqTable":{{"brokerName":"broker-a","queueId":1,"topic":"TopicTest"}:{"commitOffset":5},{"brokerName":"broker-a","queueId":2,"topic":"TopicTest"}:{"$ref":"$.mqTable.MessageQueue\\ \\[topic\\=TopicTest\\,\\ brokerName\\=broker\\-a\\,\\ queueId\\=1\\]"}}}"#;
    let info = decode::<ConsumerRunningInfo>(text).unwrap();
    assert_eq!(info.queues[&queue("TopicTest", "broker-a", 2)].commit_offset, 5);
    // The same with the key in quotes.
    let quoted = text.replacen(
        r#"{"brokerName":"broker-a","queueId":1,"topic":"TopicTest"}"#,
        r#""{\"brokerName\":\"broker-a\",\"queueId\":1,\"topic\":\"TopicTest\"}""#,
        1,
    );
    assert_ne!(quoted, text);
    assert_eq!(decode(&quoted), Ok(info));

    // As the official encoder writes it: odd characters in the topic, and another map after it.
    let text = r#"{"mqPopTable":{{"brokerName":"broker-a","queueId":2,"topic":"Topic \"x\\y\" 经"}:{"waitAckCount":2},{"brokerName":"broker-a","queueId":1,"topic":"TopicTest"}:{"$ref":"$.mqPopTable.MessageQueue\\ \\[topic\\=Topic\\ \\\"x\\\\y\\\"\\ 经\\,\\ brokerName\\=broker\\-a\\,\\ queueId\\=2\\]"}},"statusTable":{"%RETRY%g":{"pullRT":12.5},"TopicTest":{"$ref":"$.statusTable.\\%RETRY\\%g"}}}"#;
    let info = decode::<ConsumerRunningInfo>(text).unwrap();
    assert_eq!(info.pop_queues[&queue("TopicTest", "broker-a", 1)].wait_ack_count, 2);
    assert_eq!(info.statuses["TopicTest"].pull_rt, 12.5);
}

#[test]
fn keys_that_are_references_mean_nothing() {
    // Java writes this when one object is a key twice; the path does not say which key it was.
    let text = r#"{"consumerTable":{"c1":{{"brokerName":"b","queueId":1,"topic":"T"}:7}},"messageQueueTable":{{"$ref":"$.consumerTable.c1.null"}:100}}"#;
    assert_eq!(decode::<ConsumerStatus>(text), Err(BodyError::Key { offset: 127 }));
}

#[test]
fn references_that_cannot_be_followed() {
    let list = |path: &str| {
        format!(
            r#"{{"a":{{"b":[1,[],{{"brokerName":"x"}}]}},"queueDatas":[{{"$ref":"{path}"}}],"c":{{"brokerName":"y"}}}}"#
        )
    };
    assert!(decode::<TopicRouteData>(&list("$.a.b[2]")).is_ok());
    let paths = [
        // To what is around it, to itself, and forward.
        "$",
        "@",
        "..",
        "$.queueDatas",
        "$.queueDatas[0]",
        "$.queueDatas[1]",
        "$.c",
        "$..c",
        "$..",
        // To what is not there, and to what is no object.
        "",
        ".a",
        "a",
        "$a",
        "$.",
        "$.a.",
        "$.a.b[3]",
        "$.a.b[2].brokerName",
        "$.a.b[2].x",
        "$.a.b[0]",
        "$.a.b[1]",
        "$.a.b",
        "$.a.b[0].c",
        "$.a.b.0",
        "$.a[0]",
        "$.x",
        "$.A.b[2]",
        "$.queueDatas[0].x",
        // No paths.
        "$.a.b[",
        "$.a.b[]",
        "$.a.b[x]",
        "$.a.b[-1]",
        "$.a.b[2",
        "$.a.b[2]]",
        "$.a.b[2]x",
        "$.a.b[99999999999999999999]",
        "$.a.b[2]\\\\",
        "$[\\\"a\\\"].b[2]",
    ];
    for path in paths {
        let error = decode::<TopicRouteData>(&list(path)).unwrap_err();
        assert!(matches!(error, BodyError::Reference { .. }), "{path}: {error:?}");
    }
}

#[test]
fn what_a_reference_leads_to_is_read_as_what_it_should_be() {
    let text = r#"{"brokerDatas":[{"brokerName":"a"}],"queueDatas":[{"$ref":"$.brokerDatas[0]"}]}"#;
    let route = decode::<TopicRouteData>(text).unwrap();
    assert_eq!(route.queue_datas, [QueueData { broker_name: "a".to_owned(), ..QueueData::default() }]);
    let text = r#"{"filterServerTable":{"a":[]},"queueDatas":[{"$ref":"$.filterServerTable"}]}"#;
    let error = decode::<TopicRouteData>(text).unwrap_err();
    assert_eq!(error, BodyError::Missing { member: "brokerName", offset: 74 });
}

#[test]
fn many_references_of_a_large_body_are_followed() {
    // As many brokers with addresses of their own, each of which refers to the one before it, in both lists.
    let broker =
        |index: usize| format!(r#"{{"brokerAddrs":{{0:"h:{index}"}},"brokerName":"broker-{index}"}}"#);
    let other = |index: usize| {
        format!(
            r#"{{"brokerAddrs":{{"$ref":"$.brokerDatas[{index}].brokerAddrs"}},"brokerName":"other-{index}"}}"#
        )
    };
    let brokers: Vec<_> = (0..5_000).map(broker).chain((0..5_000).map(other)).collect();
    let text = format!(r#"{{"brokerDatas":[{}]}}"#, brokers.join(","));
    let route = decode::<TopicRouteData>(&text).unwrap();
    for (index, broker) in route.broker_datas[5_000..].iter().enumerate() {
        assert_eq!(broker.master_address(), Some(format!("h:{index}").as_str()));
    }
}

#[test]
fn walks_are_bounded() {
    // Each reference goes back to the beginning, and from there to the end.
    let objects = vec![r#"{"brokerName":"b"}"#; 10_000].join(",");
    let references = vec![r#"{"$ref":"$.x[0]"},{"$ref":"$.x[9999]"}"#; 10_000].join(",");
    let text = format!(r#"{{"x":[{objects}],"queueDatas":[{references}]}}"#);
    assert!(matches!(decode::<TopicRouteData>(&text), Err(BodyError::Reference { .. })));
}

#[test]
fn repeated_maps_are_bounded() {
    let entries: Vec<_> =
        (0..1_000).map(|id| format!(r#"{{"brokerName":"b","queueId":{id},"topic":"T"}}:1"#)).collect();
    let references: Vec<_> =
        (0..10_000).map(|id| format!(r#""c{id}":{{"$ref":"$.consumerTable.c"}}"#)).collect();
    let text = format!(r#"{{"consumerTable":{{"c":{{{}}},{}}}}}"#, entries.join(","), references.join(","));
    assert!(matches!(decode::<ConsumerStatus>(&text), Err(BodyError::Reference { .. })));
}

#[test]
fn chains_of_references_are_bounded() {
    let chain = |len: usize| {
        let links: Vec<_> = (1..len).map(|link| format!(r#"{{"$ref":"$.x[{}]"}}"#, link - 1)).collect();
        let links = links.join(",");
        format!(r#"{{"x":[{{"brokerName":"a"}},{links}],"queueDatas":[{{"$ref":"$.x[{}]"}}]}}"#, len - 1)
    };
    assert_eq!(decode::<TopicRouteData>(&chain(32)).unwrap().queue_datas[0].broker_name, "a");
    assert!(matches!(decode::<TopicRouteData>(&chain(33)), Err(BodyError::Reference { .. })));
    assert!(matches!(decode::<TopicRouteData>(&chain(20_000)), Err(BodyError::Reference { .. })));
}

#[test]
fn what_references_repeat_is_bounded() {
    for (name, references) in [(10, 20_000), (100, 20_000), (200_000, 20)] {
        let name = "b".repeat(name);
        let references = vec![r#"{"$ref":"$.queueDatas[0]"}"#; references].join(",");
        let text = format!(r#"{{"queueDatas":[{{"brokerName":"{name}"}},{references}]}}"#);
        let peak = allocation_counter::measure(|| drop(decode::<TopicRouteData>(&text))).bytes_max;
        assert!(peak < 20 * text.len() as u64, "{peak} for {}", text.len());
    }
}
