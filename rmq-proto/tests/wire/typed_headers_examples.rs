//! Each typed header once, with all its fields: which of them has which name on the wire (wire §5).

use rmq_proto::body::TopicFilterType;
use rmq_proto::command::RemotingCommand;
use rmq_proto::ext::{ExtFields, WriteExt};
use rmq_proto::header::*;

/// The header is written as these fields, given as `name=value | name=value`.
pub(crate) fn assert_written(header: &impl WriteExt, fields: &str) {
    let fields = fields.split(" | ").map(|field| field.split_once('=').expect("name=value"));
    assert_eq!(RemotingCommand::request(1).with_ext(header).ext, ExtFields::from_iter(fields));
}

#[test]
fn sends() {
    let header = SendMessageHeader {
        producer_group: "PG".into(),
        topic: "T".into(),
        default_topic: "TBW102".into(),
        default_topic_queue_nums: 4,
        queue_id: 1,
        sys_flag: 2,
        born_timestamp: 1_700_000_000_000,
        flag: 3,
        properties: Some("TAGS\u{1}TagA\u{2}".into()),
        reconsume_times: Some(5),
        unit_mode: Some(false),
        max_reconsume_times: Some(16),
        batch: Some(true),
        broker_name: Some("broker-a".into()),
    };
    assert_written(
        &header,
        "producerGroup=PG | topic=T | defaultTopic=TBW102 | defaultTopicQueueNums=4 | queueId=1 | sysFlag=2 | \
         bornTimestamp=1700000000000 | flag=3 | properties=TAGS\u{1}TagA\u{2} | reconsumeTimes=5 | unitMode=false | \
         maxReconsumeTimes=16 | batch=true | bname=broker-a",
    );
    let header = SendMessageV2Header {
        producer_group: header.producer_group,
        topic: header.topic,
        default_topic: header.default_topic,
        default_topic_queue_nums: header.default_topic_queue_nums,
        queue_id: header.queue_id,
        sys_flag: header.sys_flag,
        born_timestamp: header.born_timestamp,
        flag: header.flag,
        properties: header.properties,
        reconsume_times: header.reconsume_times,
        unit_mode: header.unit_mode,
        max_reconsume_times: header.max_reconsume_times,
        batch: header.batch,
        broker_name: header.broker_name,
    };
    assert_written(
        &header,
        "a=PG | b=T | c=TBW102 | d=4 | e=1 | f=2 | g=1700000000000 | h=3 | i=TAGS\u{1}TagA\u{2} | j=5 | k=false | l=16 | \
         m=true | n=broker-a",
    );
    let header = SendResponseHeader {
        message_id: "0A".into(),
        queue_id: 1,
        queue_offset: 7,
        transaction_id: Some("0B".into()),
        batch_unique_id: Some("0C".into()),
        recall_handle: Some("djEg".into()),
        region_id: Some("DefaultRegion".into()),
        trace_on: Some("true".into()),
    };
    assert_written(
        &header,
        "msgId=0A | queueId=1 | queueOffset=7 | transactionId=0B | batchUniqId=0C | recallHandle=djEg | \
         MSG_REGION=DefaultRegion | TRACE_ON=true",
    );
    let header = RecallMessageHeader {
        producer_group: Some("PG".into()),
        topic: "T".into(),
        recall_handle: "djEg".into(),
        broker_name: Some("broker-a".into()),
    };
    assert_written(&header, "topic=T | recallHandle=djEg | producerGroup=PG | bname=broker-a");
    assert_written(&RecallResponseHeader { message_id: "0A".into() }, "msgId=0A");
}

#[test]
fn transactions() {
    let header = EndTransactionHeader {
        producer_group: "PG".into(),
        transaction_offset: 7,
        commit_log_offset: 1_024,
        commit_or_rollback: TransactionState::Rollback.to_i32(),
        from_check: Some(true),
        message_id: "0A".into(),
        transaction_id: Some("0B".into()),
        topic: Some("T".into()),
        broker_name: Some("broker-a".into()),
    };
    assert_written(
        &header,
        "topic=T | producerGroup=PG | tranStateTableOffset=7 | commitLogOffset=1024 | commitOrRollback=12 | \
         fromTransactionCheck=true | msgId=0A | transactionId=0B | bname=broker-a",
    );
    let header = CheckTransactionHeader {
        topic: Some("T".into()),
        transaction_offset: 7,
        commit_log_offset: 1_024,
        message_id: Some("0A".into()),
        transaction_id: Some("0B".into()),
        offset_message_id: Some("0C".into()),
        broker_name: Some("broker-a".into()),
    };
    assert_written(
        &header,
        "topic=T | tranStateTableOffset=7 | commitLogOffset=1024 | msgId=0A | transactionId=0B | offsetMsgId=0C | \
         bname=broker-a",
    );
}

#[test]
fn pulls() {
    let header = PullMessageHeader {
        consumer_group: "CG".into(),
        topic: "T".into(),
        queue_id: 1,
        queue_offset: 7,
        max_messages: 32,
        sys_flag: PullSysFlag::SUSPEND.into(),
        commit_offset: 6,
        suspend_timeout: 15_000,
        subscription: Some("*".into()),
        subscription_version: 1_700_000_000_000,
        max_bytes: Some(262_144),
        expression_type: Some("TAG".into()),
        request_source: Some(-1),
        proxied_client_id: Some("10.0.0.9@1".into()),
        broker_name: Some("broker-a".into()),
    };
    assert_written(
        &header,
        "consumerGroup=CG | topic=T | queueId=1 | queueOffset=7 | maxMsgNums=32 | sysFlag=2 | commitOffset=6 | \
         suspendTimeoutMillis=15000 | subscription=* | subVersion=1700000000000 | expressionType=TAG | \
         maxMsgBytes=262144 | requestSource=-1 | proxyFrowardClientId=10.0.0.9@1 | bname=broker-a",
    );
    let header = PullResponseHeader {
        suggested_broker_id: 1,
        next_begin_offset: 8,
        min_offset: 2,
        max_offset: 9,
        offset_delta: Some(3),
        topic_sys_flag: Some(4),
        group_sys_flag: Some(5),
        forbidden_type: Some(ForbiddenType::Topic.to_i32()),
    };
    assert_written(
        &header,
        "suggestWhichBrokerId=1 | nextBeginOffset=8 | minOffset=2 | maxOffset=9 | offsetDelta=3 | topicSysFlag=4 | \
         groupSysFlag=5 | forbiddenType=3",
    );
    let header = SendBackHeader {
        commit_log_offset: 1_024,
        group: "CG".into(),
        delay_level: 3,
        origin_message_id: Some("0A".into()),
        origin_topic: Some("T".into()),
        unit_mode: Some(false),
        max_reconsume_times: Some(16),
        broker_name: Some("broker-a".into()),
    };
    assert_written(
        &header,
        "offset=1024 | group=CG | delayLevel=3 | originMsgId=0A | originTopic=T | unitMode=false | \
         maxReconsumeTimes=16 | bname=broker-a",
    );
}

#[test]
fn offsets() {
    let header = QueryOffsetHeader {
        consumer_group: "CG".into(),
        topic: "T".into(),
        queue_id: 1,
        set_zero_if_not_found: Some(false),
        broker_name: Some("broker-a".into()),
    };
    assert_written(
        &header,
        "consumerGroup=CG | topic=T | queueId=1 | setZeroIfNotFound=false | bname=broker-a",
    );
    let header = UpdateOffsetHeader {
        consumer_group: "CG".into(),
        topic: "T".into(),
        queue_id: 1,
        commit_offset: 7,
        broker_name: Some("broker-a".into()),
    };
    assert_written(&header, "consumerGroup=CG | topic=T | queueId=1 | commitOffset=7 | bname=broker-a");
    let header = SearchOffsetHeader {
        topic: "T".into(),
        queue_id: 1,
        timestamp: 1_700_000_000_000,
        boundary_type: Some(BoundaryType::Upper.name().into()),
        broker_name: Some("broker-a".into()),
    };
    assert_written(
        &header,
        "topic=T | queueId=1 | timestamp=1700000000000 | boundaryType=UPPER | bname=broker-a",
    );
    let broker_name = Some("broker-a".into());
    let header = GetMaxOffsetHeader {
        topic: "T".into(),
        queue_id: 1,
        committed: Some(true),
        broker_name: broker_name.clone(),
    };
    assert_written(&header, "topic=T | queueId=1 | committed=true | bname=broker-a");
    let header = GetMinOffsetHeader { topic: "T".into(), queue_id: 1, broker_name: broker_name.clone() };
    assert_written(&header, "topic=T | queueId=1 | bname=broker-a");
    let header = GetEarliestStoreTimeHeader { topic: "T".into(), queue_id: 1, broker_name };
    assert_written(&header, "topic=T | queueId=1 | bname=broker-a");
    assert_written(&OffsetResponseHeader { offset: 7 }, "offset=7");
    assert_written(&EarliestStoreTimeResponseHeader { timestamp: -1 }, "timestamp=-1");
}

#[test]
fn clients_and_queries() {
    let header = UnregisterHeader {
        client_id: "C".into(),
        producer_group: Some("PG".into()),
        consumer_group: Some("CG".into()),
    };
    assert_written(&header, "clientID=C | producerGroup=PG | consumerGroup=CG");
    let header = HeartbeatResponseHeader { supports_v2: Some(true), subscription_changed: Some(false) };
    assert_written(&header, "IS_SUPPORT_HEART_BEAT_V2=true | IS_SUB_CHANGE=false");
    assert_written(&GetConsumerListHeader { consumer_group: "CG".into() }, "consumerGroup=CG");
    let header = GetRouteHeader { topic: "T".into(), accept_standard_json_only: Some(true) };
    assert_written(&header, "topic=T | acceptStandardJsonOnly=true");
    let header = QueryMessageHeader {
        topic: "T".into(),
        key: "k1".into(),
        max_messages: 5,
        begin_timestamp: 1,
        end_timestamp: 2,
        by_unique_key: Some(false),
    };
    assert_written(
        &header,
        "topic=T | key=k1 | maxNum=5 | beginTimestamp=1 | endTimestamp=2 | _UNIQUE_KEY_QUERY=false",
    );
    let header = QueryResponseHeader { last_update_timestamp: 1, last_update_commit_log_offset: 2 };
    assert_written(&header, "indexLastUpdateTimestamp=1 | indexLastUpdatePhyoffset=2");
    let header = ViewMessageHeader { commit_log_offset: 1_024, topic: Some("T".into()) };
    assert_written(&header, "offset=1024 | topic=T");
    let header = CommonHeader {
        namespace: Some("INST".into()),
        namespaced: Some(true),
        oneway: Some(false),
        logical_queue: Some(true),
        request_type: Some("0".into()),
        zone_name: Some("Z".into()),
        zone_mode: Some("true".into()),
    };
    assert_written(
        &header,
        "ns=INST | nsd=true | oway=false | lo=true | ReqT=0 | __ZONE_NAME=Z | __ZONE_MODE=true",
    );
}

#[test]
fn servers() {
    let header = CreateTopicHeader {
        topic: "T".into(),
        default_topic: "TBW102".into(),
        read_queue_nums: 8,
        write_queue_nums: 4,
        perm: 6,
        filter_type: TopicFilterType::SingleTag.name().into(),
        topic_sys_flag: Some(0),
        order: false,
        attributes: Some("+message.type=FIFO".into()),
        force: Some(true),
    };
    assert_written(
        &header,
        "topic=T | defaultTopic=TBW102 | readQueueNums=8 | writeQueueNums=4 | perm=6 | topicFilterType=SINGLE_TAG | \
         topicSysFlag=0 | order=false | attributes=+message.type=FIFO | force=true",
    );
    assert_written(&GetClusterTopicsHeader { cluster: "C".into() }, "cluster=C");
    let header = GetKvHeader { namespace: "ORDER_TOPIC_CONFIG".into(), key: "T".into() };
    assert_written(&header, "namespace=ORDER_TOPIC_CONFIG | key=T");
    assert_written(&KvResponseHeader { value: "broker-a:4".into() }, "value=broker-a:4");
    assert_written(&GetKvListHeader { namespace: "N".into() }, "namespace=N");
    let header = RegisterBrokerHeader {
        broker_name: "broker-a".into(),
        broker_address: "10.0.0.1:10911".into(),
        cluster: "C".into(),
        broker_id: 1,
        ha_address: Some("10.0.0.1:10912".into()),
        compressed: Some(false),
        body_crc32: Some(7),
        enable_acting_master: Some(true),
    };
    assert_written(
        &header,
        "brokerName=broker-a | brokerAddr=10.0.0.1:10911 | clusterName=C | brokerId=1 | haServerAddr=10.0.0.1:10912 | \
         compressed=false | bodyCrc32=7 | enableActingMaster=true",
    );
}

#[test]
fn brokers_to_clients() {
    assert_written(&ConsumersChangedHeader { consumer_group: "CG".into() }, "consumerGroup=CG");
    let header = ResetOffsetHeader {
        group: "CG".into(),
        topic: "T".into(),
        timestamp: 1_700_000_000_000,
        queue_id: Some(-1),
        is_force: true,
        offset: Some(7),
    };
    assert_written(
        &header,
        "group=CG | topic=T | timestamp=1700000000000 | queueId=-1 | isForce=true | offset=7",
    );
    let header = GetConsumerStatusHeader {
        topic: "T".into(),
        group: "CG".into(),
        client_address: Some("10.0.0.9:5".into()),
    };
    assert_written(&header, "topic=T | group=CG | clientAddr=10.0.0.9:5");
    let header =
        GetRunningInfoHeader { consumer_group: "CG".into(), client_id: "C".into(), with_stacks: Some(true) };
    assert_written(&header, "consumerGroup=CG | clientId=C | jstackEnable=true");
    let header = ConsumeDirectlyHeader {
        consumer_group: "CG".into(),
        client_id: Some("C".into()),
        message_id: Some("0A".into()),
        broker_name: Some("broker-a".into()),
        topic: Some("T".into()),
        topic_sys_flag: Some(1),
        group_sys_flag: Some(2),
    };
    assert_written(
        &header,
        "consumerGroup=CG | clientId=C | msgId=0A | brokerName=broker-a | topic=T | topicSysFlag=1 | groupSysFlag=2",
    );
    let header = PushReplyHeader {
        producer_group: "PG".into(),
        topic: "C_REPLY_TOPIC".into(),
        default_topic: "TBW102".into(),
        default_topic_queue_nums: 4,
        queue_id: 1,
        sys_flag: 2,
        born_timestamp: 1_700_000_000_000,
        flag: 3,
        properties: Some("CORRELATION_ID\u{1}x\u{2}".into()),
        reconsume_times: Some(0),
        unit_mode: Some(false),
        born_host: "10.0.0.9:5".into(),
        store_host: "10.0.0.1:10911".into(),
        store_timestamp: 1_700_000_000_005,
    };
    assert_written(
        &header,
        "producerGroup=PG | topic=C_REPLY_TOPIC | defaultTopic=TBW102 | defaultTopicQueueNums=4 | queueId=1 | \
         sysFlag=2 | bornTimestamp=1700000000000 | flag=3 | properties=CORRELATION_ID\u{1}x\u{2} | reconsumeTimes=0 | \
         unitMode=false | bornHost=10.0.0.9:5 | storeHost=10.0.0.1:10911 | storeTimestamp=1700000000005",
    );
}
