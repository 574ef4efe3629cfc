//! Bodies and their values: wire §2.4, §2.5, §5, E17, and golden vectors.

use rmq_proto::body::*;
use rmq_proto::json::JsonError;

use crate::golden;
use crate::support::{assert_text, decode, owned, queue, table};

#[test]
fn locks() {
    let request = LockBatchRequest {
        client_id: "127.0.0.1@1".to_owned(),
        consumer_group: "cg".to_owned(),
        queues: vec![queue("TopicTest", "broker-a", 2)],
        only_this_broker: false,
    };
    assert_text(&request, &golden("lock-batch-body"));
    // Brokers and clients before 5.0 do not have the last member.
    let old = r#"{"clientId":"127.0.0.1@1","consumerGroup":"cg","mqSet":[{"brokerName":"broker-a","queueId":2,"topic":"TopicTest"}]}"#;
    assert_eq!(decode(old), Ok(request));
    assert_text(&LockBatchResponse::default(), r#"{"lockOKMQSet":[]}"#);
    let locked = vec![queue("T", "b", 1), queue("%RETRY%g", "b", 0)];
    assert_text(
        &LockBatchResponse { locked },
        r#"{"lockOKMQSet":[{"brokerName":"b","queueId":1,"topic":"T"},{"brokerName":"b","queueId":0,"topic":"%RETRY%g"}]}"#,
    );
}

#[test]
fn lists_and_tables() {
    assert_text(
        &TopicList { broker_addr: None, topics: owned(&["TBW102", "T"]) },
        r#"{"topicList":["TBW102","T"]}"#,
    );
    assert_text(
        &TopicList { broker_addr: Some("h:1".to_owned()), topics: vec![] },
        r#"{"brokerAddr":"h:1","topicList":[]}"#,
    );
    let texts =
        |texts: &[(&str, &str)]| table(texts).into_iter().map(|(key, text)| (key, text.to_owned())).collect();
    assert_text(&KvTable { table: texts(&[("k", "v")]) }, r#"{"table":{"k":"v"}}"#);
    assert_eq!(
        decode(r#"{"table":{"a":1,b:true,'c':'y',"c":null,4:'x'}}"#),
        Ok(KvTable { table: texts(&[("4", "x"), ("a", "1"), ("b", "true")]) })
    );
    assert_text(&ConsumerList { client_ids: owned(&["id1", "id2"]) }, r#"{"consumerIdList":["id1","id2"]}"#);
}

#[test]
fn lists_that_are_absent_or_null_are_empty() {
    for text in ["{}", r#"{"consumerIdList":null}"#, r#"{"consumerIdList":[]}"#] {
        assert_eq!(decode(text), Ok(ConsumerList::default()), "{text}");
    }
    for text in ["{}", r#"{"brokerAddrTable":null,"clusterAddrTable":null}"#] {
        assert_eq!(decode(text), Ok(ClusterInfo::default()), "{text}");
    }
    assert_eq!(decode(r#"{"topicList":null,"brokerAddr":null}"#), Ok(TopicList::default()));
    assert_eq!(decode(r#"{"table":null}"#), Ok(KvTable::default()));
    assert_eq!(decode(r#"{"lockOKMQSet":null}"#), Ok(LockBatchResponse::default()));
    let nulls = r#"{"jstack":null,"mqPopTable":null,"mqTable":null,"properties":null,"statusTable":null,"subscriptionSet":null,"userConsumerInfo":null}"#;
    assert_eq!(decode(nulls), Ok(ConsumerRunningInfo::default()));
}

#[test]
fn clusters() {
    let text = r#"{"brokerAddrTable":{"b":{"brokerAddrs":{0:"h:1",1:"h:2"},"brokerName":"b","cluster":"C"}},"clusterAddrTable":{"C":["b"]}}"#;
    let broker = BrokerData {
        addresses: [(0, "h:1".to_owned()), (1, "h:2".to_owned())].into(),
        broker_name: "b".to_owned(),
        cluster: "C".to_owned(),
        enable_acting_master: None,
        zone_name: None,
    };
    let cluster = ClusterInfo {
        broker_addr_table: table(&[("b", broker)]),
        cluster_addr_table: table(&[("C", owned(&["b"]))]),
    };
    assert_text(&cluster, text);
    let quoted = text.replace("{0:", "{\"0\":").replace(",1:", ",\"1\":");
    assert_eq!(decode(&quoted), Ok(cluster));
}

#[test]
fn static_topics_of_routes() {
    let mapping = TopicQueueMappingInfo {
        broker_name: "b".to_owned(),
        current_ids: [(0, 3), (1, 4)].into(),
        dirty: false,
        epoch: 1_700_000_000_000,
        scope: Some("__global__".to_owned()),
        topic: Some("T".to_owned()),
        total_queues: 8,
    };
    let route =
        TopicRouteData { topic_queue_mapping: Some(table(&[("b", mapping)])), ..TopicRouteData::default() };
    let text = r#"{"brokerDatas":[],"filterServerTable":{},"queueDatas":[],"topicQueueMappingByBroker":{"b":{"bname":"b","currIdMap":{"0":3,"1":4},"dirty":false,"epoch":1700000000000,"scope":"__global__","topic":"T","totalQueues":8}}}"#;
    assert_text(&route, text);
    let bare = text.replace("\"0\":", "0:").replace("\"1\":", "1:");
    assert_eq!(decode(&bare), Ok(route));
}

/// Wire E17.
const RESET: &str = r#"{"offsetTable":{{"brokerName":"broker-a","queueId":2,"topic":"TopicTest"}:200,{"brokerName":"broker-a","queueId":1,"topic":"TopicTest"}:100}}"#;

#[test]
fn resets_of_offsets() {
    let reset = ResetOffset {
        offset_table: [(queue("TopicTest", "broker-a", 1), 100), (queue("TopicTest", "broker-a", 2), 200)]
            .into(),
    };
    let rows = [
        RESET,
        // Keys in quotes, and the list for clients in C++.
        r#"{"offsetTable":{"{\"brokerName\":\"broker-a\",\"queueId\":2,\"topic\":\"TopicTest\"}":200,'{brokerName:"broker-a",queueId:"1",topic:"TopicTest"}':"100"}}"#,
        r#"{"offsetTable":[{"brokerName":"broker-a","offset":200,"queueId":2,"topic":"TopicTest"},{"topic":"TopicTest","brokerName":"broker-a","queueId":1,"offset":100}]}"#,
        // The last of equal keys counts, and a queue without an offset is passed over.
        r#"{"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"TopicTest"}:7,{"brokerName":"broker-a","queueId":2,"topic":"TopicTest"}:200,{"queueId":1,"topic":"TopicTest","brokerName":"broker-a"}:100,{"queueId":3,"topic":"TopicTest","brokerName":"broker-a"}:null}}"#,
    ];
    for text in rows {
        assert_eq!(decode(text), Ok(reset.clone()), "{text}");
    }
    assert_text(
        &reset,
        r#"{"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"TopicTest"}:100,{"brokerName":"broker-a","queueId":2,"topic":"TopicTest"}:200}}"#,
    );
    for text in
        ["", "null", "{}", r#"{"offsetTable":null}"#, r#"{"offsetTable":{}}"#, r#"{"offsetTable":[]}"#]
    {
        assert_eq!(decode(text), Ok(ResetOffset::default()), "{text}");
    }
}

#[test]
fn objects_as_keys_with_objects_as_values_are_refused() {
    // C2: the answer to another question.
    let text = r#"{"offsetTable":{{"brokerName":"a","queueId":2,"topic":"t"}:{"maxOffset":7}}}"#;
    assert_eq!(decode::<ResetOffset>(text), Err(JsonError::Number { offset: 59, bits: 64 }.into()));
}

#[test]
fn statuses_of_consumers() {
    assert_text(&ConsumerStatus::default(), r#"{"consumerTable":{},"messageQueueTable":{}}"#);
    let status = ConsumerStatus {
        offsets: [(queue("T", "b", 1), 100), (queue("T", "b", 2), -1)].into(),
        ..ConsumerStatus::default()
    };
    assert_text(
        &status,
        r#"{"consumerTable":{},"messageQueueTable":{{"brokerName":"b","queueId":1,"topic":"T"}:100,{"brokerName":"b","queueId":2,"topic":"T"}:-1}}"#,
    );
}

#[test]
fn constants_by_their_place() {
    let text = |model: &str| {
        format!(
            r#"{{"clientId":"c","consumerGroup":"g","messageModel":{model},"strategyName":"AVG","topic":"T"}}"#
        )
    };
    for (model, expected) in [
        ("0", MessageModel::Broadcasting),
        ("1", MessageModel::Clustering),
        ("'BROADCASTING'", MessageModel::Broadcasting),
    ] {
        assert_eq!(
            decode::<QueryAssignmentRequest>(&text(model)).unwrap().message_model,
            expected,
            "{model}"
        );
    }
    for model in ["2", "-1", "99999999999999999", "\"1\"", "true", "[]", "{}", "\"\""] {
        let error = decode::<QueryAssignmentRequest>(&text(model)).unwrap_err();
        assert!(
            matches!(error, BodyError::UnknownValue { member: "messageModel", .. }),
            "{model}: {error:?}"
        );
    }
    let error = decode::<QueryAssignmentRequest>(&text("null")).unwrap_err();
    assert_eq!(error, BodyError::Missing { member: "messageModel", offset: text("null").len() });

    // Java's order, deprecated ones included.
    let from = |place: i32| {
        let text = format!(
            r#"{{"clientID":"c","consumerDataSet":[{{"consumeFromWhere":{place},"consumeType":1,"groupName":"g","messageModel":1}}]}}"#
        );
        decode::<HeartbeatData>(&text).map(|heartbeat| heartbeat.consumers[0].consume_from_where)
    };
    assert_eq!(from(0), Ok(ConsumeFromWhere::LastOffset));
    assert_eq!(from(4), Ok(ConsumeFromWhere::FirstOffset));
    assert_eq!(from(5), Ok(ConsumeFromWhere::Timestamp));
    assert!(from(6).is_err());
}

#[test]
fn results_of_direct_consumption() {
    let result = |consume_result, remark: Option<&str>| ConsumeDirectlyResult {
        auto_commit: true,
        consume_result,
        order: false,
        remark: remark.map(ToOwned::to_owned),
        spent_time_millis: 5,
    };
    assert_text(
        &result(CmResult::Success, None),
        r#"{"autoCommit":true,"consumeResult":"CR_SUCCESS","order":false,"spentTimeMills":5}"#,
    );
    assert_text(
        &result(CmResult::ThrowException, Some("boom")),
        r#"{"autoCommit":true,"consumeResult":"CR_THROW_EXCEPTION","order":false,"remark":"boom","spentTimeMills":5}"#,
    );
    let rows = [
        (CmResult::Later, "CR_LATER"),
        (CmResult::Rollback, "CR_ROLLBACK"),
        (CmResult::Commit, "CR_COMMIT"),
        (CmResult::ReturnNull, "CR_RETURN_NULL"),
    ];
    for (outcome, name) in rows {
        let text =
            format!(r#"{{"autoCommit":true,"consumeResult":"{name}","order":false,"spentTimeMills":5}}"#);
        assert_text(&result(outcome, None), &text);
    }
}

#[test]
fn registrations_of_brokers() {
    // A19: the counter is no 32-bit number.
    let text = r#"{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":2147871249,"timestamp":1796014141556},"topicConfigTable":{"T":{"order":true,"perm":6,"readQueueNums":4,"topicFilterType":"MULTI_TAG","topicName":"T","topicSysFlag":0,"writeQueueNums":5}}}}"#;
    let topic = TopicConfig {
        attributes: None,
        order: true,
        perm: PERM_READ | PERM_WRITE,
        read_queue_nums: 4,
        topic_filter_type: TopicFilterType::MultiTag,
        topic_name: "T".to_owned(),
        topic_sys_flag: 0,
        write_queue_nums: 5,
    };
    let topic_configs = TopicConfigTable {
        data_version: DataVersion {
            counter: 2_147_871_249,
            state_version: None,
            timestamp: 1_796_014_141_556,
        },
        topics: table(&[("T", topic)]),
        ..TopicConfigTable::default()
    };
    assert_text(&RegisterBroker { filter_servers: vec![], topic_configs }, text);
}

#[test]
fn numbers_with_decimals() {
    // In the form of Java's encoder.
    let same = [
        ("0.0", 0.0),
        ("-0.0", -0.0),
        ("1.0", 1.0),
        ("100.0", 100.0),
        ("9999999.0", 9_999_999.0),
        ("1.0E7", 1e7),
        ("1.23456789E7", 12_345_678.9),
        ("0.001", 0.001),
        ("9.9E-4", 0.00099),
        ("0.3333333333333333", 1.0 / 3.0),
        ("1.0E22", 1e22),
        ("123456.789", 123_456.789),
        ("1.7976931348623157E308", f64::MAX),
        ("-1.234E-5", -1.234e-5),
    ];
    let text = |number: &str| {
        format!(
            r#"{{"mqPopTable":{{}},"mqTable":{{}},"properties":{{}},"statusTable":{{"T":{{"consumeFailedMsgs":0,"consumeFailedTPS":0.0,"consumeOKTPS":0.0,"consumeRT":0.0,"pullRT":{number},"pullTPS":0.0}}}},"subscriptionSet":[],"userConsumerInfo":{{}}}}"#
        )
    };
    let info = |pull_rt| ConsumerRunningInfo {
        statuses: table(&[("T", ConsumeStatus { pull_rt, ..ConsumeStatus::default() })]),
        ..ConsumerRunningInfo::default()
    };
    for (number, value) in same {
        assert_text(&info(value), &text(number));
    }
    for (number, value) in [
        ("1", 1.0),
        ("\"1.5\"", 1.5),
        ("1e3", 1000.0),
        ("'1E-3'", 0.001),
        ("1.5F", 1.5),
        ("2D", 2.0),
        ("\"\"", 0.0),
        ("null", 0.0),
        ("5E-324", f64::from_bits(1)),
    ] {
        assert_eq!(decode(&text(number)), Ok(info(value)), "{number}");
    }
    for number in
        ["1e999", "-1e999", "\"NaN\"", "\"inf\"", "\"Infinity\"", "true", "[]", "{}", "\"1,5\"", "\"x\""]
    {
        assert_eq!(
            decode::<ConsumerRunningInfo>(&text(number)),
            Err(JsonError::Number { offset: 155, bits: 64 }.into()),
            "{number}"
        );
    }
    // As with Java, what is no number is written as `null` and read as 0.
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(info(number).encode(), text("null").as_bytes());
    }
}
