//! One text for each body as the official jars write it, and what holds for all of them: wire §2.4, §2.5, §5.

use rmq_proto::body::*;

use crate::support::{Body, decode};

/// Calls `$check` with the type and a text of each body. The official jars read each text and write the same bytes again, but for
/// the order of sets and maps, and for the keys that are numbers in a route, which only a name server puts in quotes.
macro_rules! for_each_body {
    ($check:ident) => {
        $check::<BatchAckRequest>(r#"{"acks":[{"b":"AQI=","c":"G","it":4,"pt":3,"q":1,"r":"0","rq":2,"so":5,"t":"T"}],"brokerName":"b"}"#);
        $check::<CheckClientConfig>(r#"{"clientId":"c@1","group":"g","namespace":"n","subscriptionData":{"classFilterMode":false,"codeSet":[],"expressionType":"SQL92","subString":"a > 1","subVersion":1796014145663,"tagsSet":[],"topic":"T"}}"#);
        $check::<ClusterInfo>(r#"{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"h:1",1:"[::1]:2"},"brokerName":"broker-a","cluster":"C","enableActingMaster":false,"zoneName":"z"}},"clusterAddrTable":{"C":["broker-a","b"]}}"#);
        $check::<ConsumeDirectlyResult>(r#"{"autoCommit":true,"consumeResult":"CR_THROW_EXCEPTION","order":false,"remark":"boom","spentTimeMills":5}"#);
        $check::<ConsumerList>(r#"{"consumerIdList":["192.0.2.2@19678#42","b"]}"#);
        $check::<ConsumerRunningInfo>(r#"{"jstack":"main\n\tat x","mqPopTable":{{"brokerName":"b","queueId":2,"topic":"T"}:{"droped":false,"lastPopTimestamp":7,"waitAckCount":2}},"mqTable":{{"brokerName":"b","queueId":1,"topic":"T"}:{"cachedMsgCount":1,"cachedMsgMaxOffset":2,"cachedMsgMinOffset":3,"cachedMsgSizeInMiB":4,"commitOffset":5,"droped":true,"lastConsumeTimestamp":6,"lastLockTimestamp":7,"lastPullTimestamp":8,"locked":true,"transactionMsgCount":9,"transactionMsgMaxOffset":10,"transactionMsgMinOffset":11,"tryUnlockTimes":12}},"properties":{"PROP_NAMESERVER_ADDR":"a;b;"},"statusTable":{"T":{"consumeFailedMsgs":5000000000,"consumeFailedTPS":1.23456789125E8,"consumeOKTPS":0.0,"consumeRT":1.0E-5,"pullRT":12.5,"pullTPS":1.0E10}},"subscriptionSet":[{"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA","subVersion":1700000000000,"tagsSet":["TagA"],"topic":"T"}],"userConsumerInfo":{"k":"v"}}"#);
        $check::<ConsumerStatus>(r#"{"consumerTable":{"c1":{{"brokerName":"b","queueId":1,"topic":"T"}:7}},"messageQueueTable":{{"brokerName":"b","queueId":2,"topic":"T"}:100}}"#);
        $check::<HeartbeatData>(r#"{"clientID":"c","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"CG","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA","subVersion":1700000000000,"tagsSet":["TagA"],"topic":"T"}],"unitMode":false}],"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"PG"}],"withoutSub":false}"#);
        $check::<KvTable>(r#"{"table":{"T":"broker-a:4;broker-b:2","U":"x"}}"#);
        $check::<LockBatchRequest>(r#"{"clientId":"c","consumerGroup":"g","mqSet":[{"brokerName":"b","queueId":2,"topic":"T"},{"brokerName":"b","queueId":0,"topic":"%RETRY%g"}],"onlyThisBroker":false}"#);
        $check::<LockBatchResponse>(r#"{"lockOKMQSet":[{"brokerName":"b","queueId":1,"topic":"T"},{"brokerName":"b","queueId":2,"topic":"Topic 经"}]}"#);
        $check::<QueryAssignmentRequest>(r#"{"clientId":"c","consumerGroup":"g","messageModel":"CLUSTERING","strategyName":"AVG","topic":"T"}"#);
        $check::<QueryAssignmentResponse>(r#"{"messageQueueAssignments":[{"attachments":{"k":"v"},"messageQueue":{"brokerName":"b","queueId":-1,"topic":"T"},"mode":"POP"},{"messageQueue":{"brokerName":"b","queueId":1,"topic":"T"},"mode":"PULL"}]}"#);
        $check::<RegisterBroker>(r#"{"filterServerList":["h:1"],"topicConfigSerializeWrapper":{"dataVersion":{"counter":2147871249,"stateVersion":0,"timestamp":1796032973107},"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":1796032973107},"topicConfigTable":{"T":{"attributes":{"message.type":"FIFO"},"order":false,"perm":6,"readQueueNums":16,"topicFilterType":"SINGLE_TAG","topicName":"T","topicSysFlag":0,"writeQueueNums":16}},"topicQueueMappingDetailMap":{"T":{"bname":"broker-a","currIdMap":{0:0},"dirty":false,"epoch":17,"hostedQueues":{0:[{"bname":"broker-a","endOffset":-1,"gen":0,"logicOffset":0,"queueId":0,"startOffset":0,"timeOfEnd":-1,"timeOfStart":-1}]},"scope":"__global__","topic":"T","totalQueues":8}},"topicQueueMappingInfoMap":{"T":{"bname":"broker-a","currIdMap":{0:3,1:4},"dirty":false,"epoch":1700000000000,"scope":"__global__","topic":"T","totalQueues":8}}}}"#);
        $check::<ResetOffset>(r#"{"offsetTable":{{"brokerName":"b","queueId":1,"topic":"T"}:100,{"brokerName":"b","queueId":2,"topic":"T"}:200}}"#);
        $check::<TopicList>(r#"{"brokerAddr":"h:1","topicList":["A","B"]}"#);
        $check::<TopicRouteData>(r#"{"brokerDatas":[{"brokerAddrs":{"0":"h:1"},"brokerName":"broker-a","cluster":"C","enableActingMaster":false,"zoneName":"z1"}],"filterServerTable":{"h:1":["x"]},"orderTopicConf":"broker-a:4","queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}],"topicQueueMappingByBroker":{"broker-a":{"bname":"broker-a","currIdMap":{"0":3,"1":4},"dirty":false,"epoch":1700000000000,"scope":"__global__","topic":"T","totalQueues":8}}}"#);
    };
}
pub(crate) use for_each_body;

#[test]
fn all_bodies_are_written_as_they_were_read() {
    fn check<B: Body>(text: &str) {
        let body = decode::<B>(text).unwrap();
        assert_eq!(std::str::from_utf8(&body.encode()), Ok(text));
    }
    for_each_body!(check);
}

#[test]
fn all_beginnings_of_bodies_are_errors() {
    fn check<B: Body>(text: &str) {
        // No body at all is one of ResetOffset's forms.
        for end in 1..text.len() {
            let cut = B::decode(&text.as_bytes()[..end]);
            assert!(cut.is_err(), "cut after {end} bytes: {text}");
        }
    }
    for_each_body!(check);
}

#[test]
fn bodies_with_something_behind_them_are_errors() {
    fn check<B: Body>(text: &str) {
        for rest in ["}", "{}", ",", "x", "\0"] {
            assert!(matches!(decode::<B>(&format!("{text}{rest}")), Err(BodyError::Json(_))), "{text}{rest}");
        }
    }
    for_each_body!(check);
}

#[test]
fn members_are_not_missed_by_any_body() {
    // Each member is another value when it is renamed, or the body is refused without it.
    fn check<B: Body>(text: &str) {
        let body = decode::<B>(text).unwrap();
        for (at, _) in text.match_indices("\":").filter(|(at, _)| is_telling(text, *at)) {
            let renamed = format!("{}_{}", &text[..at], &text[at..]);
            assert_ne!(decode::<B>(&renamed), Ok(body.clone()), "{renamed}");
        }
    }
    /// Whether the member whose name ends at `at` has another value than one that is absent.
    fn is_telling(text: &str, at: usize) -> bool {
        let value = &text[at + 2..];
        !["false", "0,", "0}", "0.0", "[]", "\"TAG\"", "\"PULL\"", "\"SINGLE_TAG\""]
            .iter()
            .any(|default| value.starts_with(default))
    }
    for_each_body!(check);
}
