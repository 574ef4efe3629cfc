//! JSON bodies. A row has the body that we wrote and, by hand, what Java should write when it has read it: the same
//! members with the same values, and nothing more.

use std::collections::BTreeMap;

use bytes::Bytes;
use rmq_proto::body::{
    self, BrokerData, ConsumeFromWhere, ConsumeType, ConsumerData, EXPRESSION_SQL92, EXPRESSION_TAG,
    HeartbeatData, MessageModel, QueueData, SubscriptionData, TopicRouteData,
};

use crate::case::{Case, Kind};
use crate::headers::ODD_TEXT;
use crate::value::Value;

pub(crate) fn cases() -> Vec<Case> {
    [routes(), heartbeats(), constants(), texts()].concat()
}

/// Bodies that were read from what Java writes, and written again: each member has a value of its own.
macro_rules! texts {
    ($($class:literal: $body:ident = $text:literal,)*) => {
        [$(($class, $text, body::$body::decode($text.as_bytes()).expect($text).encode()),)*]
    };
}

#[rustfmt::skip]
fn texts() -> Vec<Case> {
    let rows = texts! {
        "LockBatchRequestBody": LockBatchRequest = r#"{"clientId":"c","consumerGroup":"CG","mqSet":[{"brokerName":"a","queueId":2147483647,"topic":"T"},{"brokerName":"b","queueId":-1,"topic":"%RETRY%CG"}],"onlyThisBroker":true}"#,
        "LockBatchRequestBody": LockBatchRequest = r#"{"clientId":"c","consumerGroup":"CG","mqSet":[],"onlyThisBroker":false}"#,
        "UnlockBatchRequestBody": LockBatchRequest = r#"{"clientId":"c","consumerGroup":"CG","mqSet":[{"brokerName":"a","queueId":1,"topic":"T"}],"onlyThisBroker":true}"#,
        "LockBatchResponseBody": LockBatchResponse = r#"{"lockOKMQSet":[{"brokerName":"a","queueId":1,"topic":"T"},{"brokerName":"b","queueId":2,"topic":"标签"}]}"#,
        "LockBatchResponseBody": LockBatchResponse = r#"{"lockOKMQSet":[]}"#,
        "CheckClientRequestBody": CheckClientConfig = r#"{"clientId":"c","group":"g","namespace":"n","subscriptionData":{"classFilterMode":false,"codeSet":[],"expressionType":"SQL92","subString":"a > 'x' AND b <> \"y\"","subVersion":-1,"tagsSet":[],"topic":"T"}}"#,
        "CheckClientRequestBody": CheckClientConfig = r#"{"clientId":"c","group":"g","subscriptionData":{"classFilterMode":true,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA","subVersion":9223372036854775807,"tagsSet":["TagA"],"topic":"T"}}"#,
        "GetConsumerListByGroupResponseBody": ConsumerList = r#"{"consumerIdList":["10.0.0.9@1#2","10.0.0.9@3#4","10.0.0.9@1#2"]}"#,
        "GetConsumerListByGroupResponseBody": ConsumerList = r#"{"consumerIdList":[]}"#,
        "TopicList": TopicList = r#"{"brokerAddr":"10.0.0.1:10911","topicList":["T","%RETRY%CG","标签"]}"#,
        "TopicList": TopicList = r#"{"topicList":[]}"#,
        "KVTable": KvTable = r#"{"table":{"k":"v","\u0001 \"{":"标签","":""}}"#,
        "ClusterInfo": ClusterInfo = r#"{"brokerAddrTable":{"a":{"brokerAddrs":{"0":"10.0.0.1:10911","1":"10.0.0.2:10911"},"brokerName":"a","cluster":"c1","enableActingMaster":true,"zoneName":"z"},"b":{"brokerAddrs":{},"brokerName":"b","cluster":"c2","enableActingMaster":false}},"clusterAddrTable":{"c1":["a"],"c2":["b"]}}"#,
        "QueryAssignmentRequestBody": QueryAssignmentRequest = r#"{"clientId":"c","consumerGroup":"CG","messageModel":"BROADCASTING","strategyName":"AVG","topic":"T"}"#,
        "QueryAssignmentResponseBody": QueryAssignmentResponse = r#"{"messageQueueAssignments":[{"attachments":{"k":"v"},"messageQueue":{"brokerName":"a","queueId":-1,"topic":"T"},"mode":"POP"},{"messageQueue":{"brokerName":"b","queueId":2,"topic":"T"},"mode":"PULL"}]}"#,
        "BatchAckMessageRequestBody": BatchAckRequest = r#"{"acks":[{"b":"AQI=","c":"CG","it":60000,"pt":1700000000100,"q":1,"r":"2","rq":3,"so":9223372036854775807,"t":"T"},{"b":"","c":"CG2","it":4,"pt":5,"q":6,"r":"0","rq":7,"so":8,"t":"T2"}],"brokerName":"a"}"#,
        "ResetOffsetBody": ResetOffset = r#"{"offsetTable":{{"brokerName":"a","queueId":2,"topic":"T"}:200,{"brokerName":"b","queueId":1,"topic":"T"}:-1}}"#,
        "GetConsumerStatusBody": ConsumerStatus = r#"{"consumerTable":{"c":{{"brokerName":"b","queueId":1,"topic":"T"}:7}},"messageQueueTable":{{"brokerName":"a","queueId":2,"topic":"T"}:9223372036854775807}}"#,
        "GetConsumerStatusBody": ConsumerStatus = r#"{"consumerTable":{},"messageQueueTable":{}}"#,
        "ConsumeMessageDirectlyResult": ConsumeDirectlyResult = r#"{"autoCommit":true,"consumeResult":"CR_THROW_EXCEPTION","order":false,"remark":"why\nso","spentTimeMills":7}"#,
        "ConsumeMessageDirectlyResult": ConsumeDirectlyResult = r#"{"autoCommit":false,"consumeResult":"CR_SUCCESS","order":true,"spentTimeMills":-1}"#,
        "ConsumeMessageDirectlyResult": ConsumeDirectlyResult = r#"{"autoCommit":true,"consumeResult":"CR_LATER","order":true,"spentTimeMills":0}"#,
        "ConsumeMessageDirectlyResult": ConsumeDirectlyResult = r#"{"autoCommit":true,"consumeResult":"CR_ROLLBACK","order":true,"spentTimeMills":0}"#,
        "ConsumeMessageDirectlyResult": ConsumeDirectlyResult = r#"{"autoCommit":true,"consumeResult":"CR_COMMIT","order":true,"spentTimeMills":0}"#,
        "ConsumeMessageDirectlyResult": ConsumeDirectlyResult = r#"{"autoCommit":true,"consumeResult":"CR_RETURN_NULL","order":true,"spentTimeMills":0}"#,
        "ConsumerRunningInfo": ConsumerRunningInfo = r#"{"jstack":"main\n\tat x","mqPopTable":{{"brokerName":"a","queueId":5,"topic":"T"}:{"droped":true,"lastPopTimestamp":1700000000001,"waitAckCount":8}},"mqTable":{{"brokerName":"a","queueId":1,"topic":"T"}:{"cachedMsgCount":1,"cachedMsgMaxOffset":2,"cachedMsgMinOffset":3,"cachedMsgSizeInMiB":4,"commitOffset":5,"droped":true,"lastConsumeTimestamp":6,"lastLockTimestamp":7,"lastPullTimestamp":8,"locked":false,"transactionMsgCount":9,"transactionMsgMaxOffset":10,"transactionMsgMinOffset":11,"tryUnlockTimes":12},{"brokerName":"b","queueId":1,"topic":"T"}:{"cachedMsgCount":0,"cachedMsgMaxOffset":0,"cachedMsgMinOffset":0,"cachedMsgSizeInMiB":0,"commitOffset":-1,"droped":false,"lastConsumeTimestamp":0,"lastLockTimestamp":0,"lastPullTimestamp":0,"locked":true,"transactionMsgCount":0,"transactionMsgMaxOffset":0,"transactionMsgMinOffset":0,"tryUnlockTimes":0}},"properties":{"PROP_CLIENT_VERSION":"V5_3_3"},"statusTable":{"T":{"consumeFailedMsgs":1,"consumeFailedTPS":2.5,"consumeOKTPS":3.25,"consumeRT":4.0,"pullRT":5.125,"pullTPS":1.0E10}},"subscriptionSet":[{"classFilterMode":false,"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":1,"tagsSet":[],"topic":"T"}],"userConsumerInfo":{"k":"v"}}"#,
        "ConsumerRunningInfo": ConsumerRunningInfo = r#"{"mqPopTable":{},"mqTable":{},"properties":{},"statusTable":{},"subscriptionSet":[],"userConsumerInfo":{}}"#,
        "RegisterBrokerBody": RegisterBroker = r#"{"filterServerList":["10.0.0.1:1"],"topicConfigSerializeWrapper":{"dataVersion":{"counter":3,"stateVersion":4,"timestamp":1700000000000},"mappingDataVersion":{"counter":5,"stateVersion":6,"timestamp":7},"topicConfigTable":{"T":{"attributes":{"k":"v"},"order":true,"perm":6,"readQueueNums":8,"topicFilterType":"MULTI_TAG","topicName":"T","topicSysFlag":1,"writeQueueNums":4},"U":{"attributes":{},"order":false,"perm":2,"readQueueNums":1,"topicFilterType":"SINGLE_TAG","topicName":"U","topicSysFlag":0,"writeQueueNums":2}},"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{"T":{"bname":"a","currIdMap":{0:3},"dirty":true,"epoch":9,"scope":"__global__","topic":"T","totalQueues":10}}}}"#,
        "TopicRouteData": TopicRouteData = r#"{"brokerDatas":[],"filterServerTable":{"10.0.0.1:10911":["10.0.0.1:1","10.0.0.1:2"]},"queueDatas":[],"topicQueueMappingByBroker":{"a":{"bname":"a","currIdMap":{0:3,1:4},"dirty":true,"epoch":-9,"scope":"__global__","topic":"T","totalQueues":10}}}"#,
    };
    let case = |(index, (class, text, bytes)): (usize, (&'static str, &str, Bytes))| {
        body(&format!("text{index}"), class, bytes, text)
    };
    rows.into_iter().enumerate().map(case).collect()
}

/// `expected` is JSON text.
fn body(id: &str, class: &'static str, bytes: Bytes, expected: &str) -> Case {
    Case::new(format!("{class}/{id}"), Kind::Body, bytes, Value::parse(expected)).class(class)
}

fn routes() -> Vec<Case> {
    let queues = |broker_name: &str, read: i32, write: i32, perm: i32, flag: i32| QueueData {
        broker_name: broker_name.to_owned(),
        read_queue_nums: read,
        write_queue_nums: write,
        perm,
        topic_sys_flag: flag,
    };
    let broker = |name: &str, addresses: &[(i64, &str)], acting: Option<bool>| BrokerData {
        cluster: format!("cluster of {name}"),
        broker_name: name.to_owned(),
        addresses: addresses.iter().map(|&(id, address)| (id, address.to_owned())).collect(),
        enable_acting_master: acting,
        ..BrokerData::default()
    };
    let full = TopicRouteData {
        order_topic_conf: Some("broker-a:4;broker-b:2".to_owned()),
        queue_datas: vec![queues("broker-a", 8, 4, 6, 1), queues("broker-b", i32::MAX, i32::MIN, -1, 0)],
        broker_datas: vec![
            broker("broker-a", &[(0, "10.0.0.1:10911"), (i64::MAX, "[2001:db8::1]:10911")], Some(true)),
            broker("broker-b", &[], Some(false)),
        ],
        ..TopicRouteData::default()
    };
    vec![
        body(
            "full",
            "TopicRouteData",
            full.encode(),
            r#"{"brokerDatas":[{"brokerAddrs":{"0":"10.0.0.1:10911","9223372036854775807":"[2001:db8::1]:10911"},"brokerName":"broker-a","cluster":"cluster of broker-a","enableActingMaster":true},{"brokerAddrs":{},"brokerName":"broker-b","cluster":"cluster of broker-b","enableActingMaster":false}],"filterServerTable":{},"orderTopicConf":"broker-a:4;broker-b:2","queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":8,"topicSysFlag":1,"writeQueueNums":4},{"brokerName":"broker-b","perm":-1,"readQueueNums":2147483647,"topicSysFlag":0,"writeQueueNums":-2147483648}]}"#,
        ),
        body(
            "empty",
            "TopicRouteData",
            TopicRouteData::default().encode(),
            r#"{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}"#,
        ),
    ]
}

fn subscription(
    topic: &str,
    expression_type: &str,
    sub_string: &str,
    tags: &[(&str, i32)],
) -> SubscriptionData {
    SubscriptionData {
        topic: topic.to_owned(),
        sub_string: sub_string.to_owned(),
        expression_type: expression_type.to_owned(),
        tags_set: tags.iter().map(|&(tag, _)| tag.to_owned()).collect(),
        code_set: tags.iter().map(|&(_, code)| code).collect(),
        sub_version: 1_700_000_000_000,
        class_filter_mode: false,
    }
}

fn consumer() -> ConsumerData {
    ConsumerData {
        group_name: "CG".to_owned(),
        consume_type: ConsumeType::Passively,
        message_model: MessageModel::Clustering,
        consume_from_where: ConsumeFromWhere::LastOffset,
        subscriptions: Vec::new(),
        unit_mode: false,
    }
}

fn heartbeats() -> Vec<Case> {
    let full = HeartbeatData {
        client_id: "10.0.0.9@1234#5678".to_owned(),
        producers: vec!["PG".to_owned(), "CLIENT_INNER_PRODUCER".to_owned()],
        consumers: vec![
            ConsumerData {
                subscriptions: vec![
                    subscription(
                        "A",
                        EXPRESSION_TAG,
                        "TagA || 标签",
                        &[("TagA", 2_598_919), ("标签", 857_175)],
                    ),
                    subscription("%RETRY%CG", EXPRESSION_TAG, "*", &[]),
                ],
                unit_mode: true,
                ..consumer()
            },
            ConsumerData {
                group_name: "CG2".to_owned(),
                subscriptions: vec![SubscriptionData {
                    sub_version: i64::MIN,
                    class_filter_mode: true,
                    ..subscription("B", EXPRESSION_SQL92, "a > 'x' AND b IS NOT NULL", &[])
                }],
                ..consumer()
            },
        ],
        fingerprint: -7,
        without_sub: true,
    };
    let odd = HeartbeatData { client_id: ODD_TEXT.to_owned(), ..HeartbeatData::default() };
    let odd_expected = Value::object([
        ("clientID", Value::text(ODD_TEXT)),
        ("consumerDataSet", Value::Array(Vec::new())),
        ("heartbeatFingerprint", Value::number(0)),
        ("producerDataSet", Value::Array(Vec::new())),
        ("withoutSub", Value::Boolean(false)),
    ]);
    vec![
        body(
            "full",
            "HeartbeatData",
            full.encode(),
            r#"{"clientID":"10.0.0.9@1234#5678","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"CG","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919,857175],"expressionType":"TAG","subString":"TagA || 标签","subVersion":1700000000000,"tagsSet":["TagA","标签"],"topic":"A"},{"classFilterMode":false,"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":1700000000000,"tagsSet":[],"topic":"%RETRY%CG"}],"unitMode":true},{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"CG2","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":true,"codeSet":[],"expressionType":"SQL92","subString":"a > 'x' AND b IS NOT NULL","subVersion":-9223372036854775808,"tagsSet":[],"topic":"B"}],"unitMode":false}],"heartbeatFingerprint":-7,"producerDataSet":[{"groupName":"PG"},{"groupName":"CLIENT_INNER_PRODUCER"}],"withoutSub":true}"#,
        ),
        body("odd", "HeartbeatData", odd.encode(), &odd_expected.to_string()),
    ]
}

/// Each constant of a consumer, by its Java name.
fn constants() -> Vec<Case> {
    use ConsumeFromWhere as From;
    let plain = consumer();
    let rows: BTreeMap<_, _> = [
        (
            "CONSUME_FROM_FIRST_OFFSET",
            ConsumerData { consume_from_where: From::FirstOffset, ..plain.clone() },
        ),
        ("CONSUME_FROM_TIMESTAMP", ConsumerData { consume_from_where: From::Timestamp, ..plain.clone() }),
        ("CONSUME_FROM_MIN_OFFSET", ConsumerData { consume_from_where: From::MinOffset, ..plain.clone() }),
        ("CONSUME_FROM_MAX_OFFSET", ConsumerData { consume_from_where: From::MaxOffset, ..plain.clone() }),
        (
            "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
            ConsumerData { consume_from_where: From::LastOffsetAndFromMinWhenBootFirst, ..plain.clone() },
        ),
        ("CONSUME_ACTIVELY", ConsumerData { consume_type: ConsumeType::Actively, ..plain.clone() }),
        ("CONSUME_POP", ConsumerData { consume_type: ConsumeType::Pop, ..plain.clone() }),
        ("BROADCASTING", ConsumerData { message_model: MessageModel::Broadcasting, ..plain.clone() }),
        ("CLUSTERING", plain),
    ]
    .into();
    rows.into_iter()
        .map(|(name, consumer)| {
            let heartbeat = HeartbeatData { consumers: vec![consumer], ..HeartbeatData::default() };
            let is = |kind: &str, other: &'static str| if name.starts_with(kind) { name } else { other };
            let expected = format!(
                r#"{{"clientID":"","consumerDataSet":[{{"consumeFromWhere":"{}","consumeType":"{}","groupName":"CG","messageModel":"{}","subscriptionDataSet":[],"unitMode":false}}],"heartbeatFingerprint":0,"producerDataSet":[],"withoutSub":false}}"#,
                is("CONSUME_FROM", "CONSUME_FROM_LAST_OFFSET"),
                if name.starts_with("CONSUME_FROM") { "CONSUME_PASSIVELY" } else { is("CONSUME_", "CONSUME_PASSIVELY") },
                is("BROADCASTING", "CLUSTERING"),
            );
            body(name, "HeartbeatData", heartbeat.encode(), &expected)
        })
        .collect()
}
