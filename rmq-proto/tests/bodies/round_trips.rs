//! What is written is read back, for any value of each body.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use rmq_proto::body::*;

use crate::support::Body;

fn text() -> BoxedStrategy<String> {
    prop_oneof!["\\PC{0,8}", "[a-z]{1,4}", any::<String>()].boxed()
}

/// A name: no map has the key that stands for references.
fn map<V: std::fmt::Debug + 'static>(
    value: impl Strategy<Value = V> + 'static,
) -> BoxedStrategy<BTreeMap<String, V>> {
    btree_map(text().prop_filter("stands for references", |key| key != "$ref"), value, 0..4).boxed()
}

fn number() -> BoxedStrategy<f64> {
    prop_oneof![
        any::<f64>(),
        any::<i32>().prop_map(f64::from),
        any::<i16>().prop_map(|part| f64::from(part) / 100.0)
    ]
    .prop_filter("no number", |number| number.is_finite())
    .boxed()
}

fn queue() -> BoxedStrategy<MessageQueue> {
    (text(), text(), any::<i32>())
        .prop_map(|(topic, broker_name, queue_id)| MessageQueue { broker_name, queue_id, topic })
        .boxed()
}

fn offsets() -> BoxedStrategy<BTreeMap<MessageQueue, i64>> {
    btree_map(queue(), any::<i64>(), 0..4).boxed()
}

fn subscription() -> BoxedStrategy<SubscriptionData> {
    (text(), text(), text(), vec(text(), 0..3), vec(any::<i32>(), 0..3), any::<i64>(), any::<bool>())
        .prop_map(
            |(topic, sub_string, expression_type, tags_set, code_set, sub_version, class_filter_mode)| {
                SubscriptionData {
                    class_filter_mode,
                    code_set,
                    expression_type,
                    sub_string,
                    sub_version,
                    tags_set,
                    topic,
                }
            },
        )
        .boxed()
}

fn broker() -> BoxedStrategy<BrokerData> {
    (btree_map(any::<i64>(), text(), 0..3), text(), text(), any::<Option<bool>>(), of(text()))
        .prop_map(|(addresses, broker_name, cluster, enable_acting_master, zone_name)| BrokerData {
            addresses,
            broker_name,
            cluster,
            enable_acting_master,
            zone_name,
        })
        .boxed()
}

fn mapping() -> BoxedStrategy<TopicQueueMappingInfo> {
    (
        text(),
        btree_map(any::<i32>(), any::<i32>(), 0..3),
        any::<bool>(),
        any::<i64>(),
        of(text()),
        of(text()),
        any::<i32>(),
    )
        .prop_map(|(broker_name, current_ids, dirty, epoch, scope, topic, total_queues)| {
            TopicQueueMappingInfo { broker_name, current_ids, dirty, epoch, scope, topic, total_queues }
        })
        .boxed()
}

fn detail() -> BoxedStrategy<TopicQueueMappingDetail> {
    let item = (text(), any::<[i64; 5]>(), any::<[i32; 2]>()).prop_map(|(broker_name, longs, ints)| {
        LogicQueueMappingItem {
            broker_name,
            end_offset: longs[0],
            generation: ints[0],
            logic_offset: longs[1],
            queue_id: ints[1],
            start_offset: longs[2],
            time_of_end: longs[3],
            time_of_start: longs[4],
        }
    });
    (mapping(), btree_map(any::<i32>(), vec(item, 0..3), 0..3))
        .prop_map(|(info, hosted_queues)| TopicQueueMappingDetail {
            broker_name: info.broker_name,
            current_ids: info.current_ids,
            dirty: info.dirty,
            epoch: info.epoch,
            hosted_queues,
            scope: info.scope,
            topic: info.topic,
            total_queues: info.total_queues,
        })
        .boxed()
}

fn route() -> BoxedStrategy<TopicRouteData> {
    let queues = (text(), any::<[i32; 4]>()).prop_map(|(broker_name, ints)| QueueData {
        broker_name,
        perm: ints[0],
        read_queue_nums: ints[1],
        topic_sys_flag: ints[2],
        write_queue_nums: ints[3],
    });
    (vec(broker(), 0..3), map(vec(text(), 0..3)), of(text()), vec(queues, 0..3), of(map(mapping())))
        .prop_map(
            |(broker_datas, filter_server_table, order_topic_conf, queue_datas, topic_queue_mapping)| {
                TopicRouteData {
                    broker_datas,
                    filter_server_table,
                    order_topic_conf,
                    queue_datas,
                    topic_queue_mapping,
                }
            },
        )
        .boxed()
}

fn ack() -> BoxedStrategy<BatchAck> {
    (vec(0..MAX_ACK_BITS, 0..8), text(), text(), text(), any::<[i64; 2]>(), any::<[i32; 2]>(), any::<i32>())
        .prop_map(|(bits, consumer_group, retry, topic, longs, ints, start)| {
            let mut ack = BatchAck {
                bits: AckBits::default(),
                consumer_group,
                invisible_time: longs[0],
                pop_time: longs[1],
                queue_id: ints[0],
                retry,
                revive_queue_id: ints[1],
                start_offset: start.into(),
                topic,
            };
            for bit in bits {
                ack.insert(ack.start_offset + i64::from(bit)).expect("a bit");
            }
            ack
        })
        .boxed()
}

fn process_queue() -> BoxedStrategy<ProcessQueueInfo> {
    (any::<[i64; 9]>(), any::<[i32; 3]>(), any::<[bool; 2]>())
        .prop_map(|(longs, ints, bools)| ProcessQueueInfo {
            cached_msg_count: ints[0],
            cached_msg_max_offset: longs[0],
            cached_msg_min_offset: longs[1],
            cached_msg_size_in_mib: ints[1],
            commit_offset: longs[2],
            dropped: bools[0],
            last_consume_timestamp: longs[3],
            last_lock_timestamp: longs[4],
            last_pull_timestamp: longs[5],
            locked: bools[1],
            transaction_msg_count: ints[2],
            transaction_msg_max_offset: longs[6],
            transaction_msg_min_offset: longs[7],
            try_unlock_times: longs[8],
        })
        .boxed()
}

fn running_info() -> BoxedStrategy<ConsumerRunningInfo> {
    let pop = (any::<bool>(), any::<i64>(), any::<i32>()).prop_map(
        |(dropped, last_pop_timestamp, wait_ack_count)| PopProcessQueueInfo {
            dropped,
            last_pop_timestamp,
            wait_ack_count,
        },
    );
    let status =
        (any::<i64>(), [number(), number(), number(), number(), number()]).prop_map(|(failed, numbers)| {
            ConsumeStatus {
                consume_failed_msgs: failed,
                consume_failed_tps: numbers[0],
                consume_ok_tps: numbers[1],
                consume_rt: numbers[2],
                pull_rt: numbers[3],
                pull_tps: numbers[4],
            }
        });
    let queues = (btree_map(queue(), pop, 0..3), btree_map(queue(), process_queue(), 0..3));
    (of(text()), queues, map(text()), map(status), vec(subscription(), 0..3), map(text()))
        .prop_map(|(jstack, (pop_queues, queues), properties, statuses, subscriptions, user_info)| {
            ConsumerRunningInfo { jstack, pop_queues, queues, properties, statuses, subscriptions, user_info }
        })
        .boxed()
}

fn registration() -> BoxedStrategy<RegisterBroker> {
    let version = || {
        (any::<i64>(), any::<Option<i64>>(), any::<i64>())
            .prop_map(|(counter, state_version, timestamp)| DataVersion { counter, state_version, timestamp })
    };
    let topic = (of(map(text())), any::<[bool; 2]>(), any::<[i32; 4]>(), text()).prop_map(
        |(attributes, bools, ints, topic_name)| TopicConfig {
            attributes,
            order: bools[0],
            perm: ints[0],
            read_queue_nums: ints[1],
            topic_filter_type: if bools[1] { TopicFilterType::MultiTag } else { TopicFilterType::SingleTag },
            topic_name,
            topic_sys_flag: ints[2],
            write_queue_nums: ints[3],
        },
    );
    (vec(text(), 0..3), version(), of(version()), map(topic), of(map(detail())), of(map(mapping())))
        .prop_map(
            |(filter_servers, data_version, mapping_data_version, topics, mapping_details, mapping_infos)| {
                let topic_configs = TopicConfigTable {
                    data_version,
                    mapping_data_version,
                    topics,
                    mapping_details,
                    mapping_infos,
                };
                RegisterBroker { filter_servers, topic_configs }
            },
        )
        .boxed()
}

fn heartbeat() -> BoxedStrategy<HeartbeatData> {
    let froms = vec![
        ConsumeFromWhere::LastOffset,
        ConsumeFromWhere::LastOffsetAndFromMinWhenBootFirst,
        ConsumeFromWhere::MinOffset,
        ConsumeFromWhere::MaxOffset,
        ConsumeFromWhere::FirstOffset,
        ConsumeFromWhere::Timestamp,
    ];
    let types = vec![ConsumeType::Actively, ConsumeType::Passively, ConsumeType::Pop];
    let constants = (prop::sample::select(froms), prop::sample::select(types), model());
    let consumer = (constants, text(), vec(subscription(), 0..3), any::<bool>()).prop_map(
        |((consume_from_where, consume_type, message_model), group_name, subscriptions, unit_mode)| {
            ConsumerData {
                consume_from_where,
                consume_type,
                group_name,
                message_model,
                subscriptions,
                unit_mode,
            }
        },
    );
    (text(), vec(text(), 0..3), vec(consumer, 0..3), any::<i32>(), any::<bool>())
        .prop_map(|(client_id, producers, consumers, fingerprint, without_sub)| HeartbeatData {
            client_id,
            producers,
            consumers,
            fingerprint,
            without_sub,
        })
        .boxed()
}

fn model() -> impl Strategy<Value = MessageModel> {
    prop::sample::select(vec![MessageModel::Broadcasting, MessageModel::Clustering])
}

fn assignment() -> BoxedStrategy<MessageQueueAssignment> {
    (of(map(text())), queue(), any::<bool>())
        .prop_map(|(attachments, message_queue, is_pop)| MessageQueueAssignment {
            attachments,
            message_queue,
            mode: if is_pop { MessageRequestMode::Pop } else { MessageRequestMode::Pull },
        })
        .boxed()
}

fn direct_result() -> BoxedStrategy<ConsumeDirectlyResult> {
    let results = vec![
        CmResult::Success,
        CmResult::Later,
        CmResult::Rollback,
        CmResult::Commit,
        CmResult::ThrowException,
        CmResult::ReturnNull,
    ];
    (any::<[bool; 2]>(), prop::sample::select(results), of(text()), any::<i64>())
        .prop_map(|(bools, consume_result, remark, spent_time_millis)| ConsumeDirectlyResult {
            auto_commit: bools[0],
            consume_result,
            order: bools[1],
            remark,
            spent_time_millis,
        })
        .boxed()
}

fn assert_read_back<B: Body>(body: B) {
    let written = body.encode();
    assert_eq!(B::decode(&written), Ok(body), "{}", String::from_utf8_lossy(&written));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn routes_and_clusters(
        route in route(),
        brokers in map(broker()),
        clusters in map(vec(text(), 0..3)),
        registration in registration(),
    ) {
        assert_read_back(route);
        assert_read_back(ClusterInfo { broker_addr_table: brokers, cluster_addr_table: clusters });
        assert_read_back(registration);
    }

    #[test]
    fn lists(address in of(text()), texts in vec(text(), 0..4), table in map(text())) {
        assert_read_back(TopicList { broker_addr: address, topics: texts.clone() });
        assert_read_back(ConsumerList { client_ids: texts });
        assert_read_back(KvTable { table });
    }

    #[test]
    fn what_clients_send(
        heartbeat in heartbeat(),
        subscription in subscription(),
        texts: [String; 4],
        namespace in of(text()),
        queues in vec(queue(), 0..4),
        only_this_broker: bool,
        message_model in model(),
    ) {
        assert_ne!(heartbeat.compute_fingerprint(), 0);
        assert_read_back(heartbeat);
        let [client_id, consumer_group, strategy_name, topic] = texts;
        let group = consumer_group.clone();
        assert_read_back(CheckClientConfig { client_id: client_id.clone(), group, namespace, subscription });
        assert_read_back(LockBatchResponse { locked: queues.clone() });
        assert_read_back(LockBatchRequest {
            client_id: client_id.clone(),
            consumer_group: consumer_group.clone(),
            queues,
            only_this_broker,
        });
        assert_read_back(QueryAssignmentRequest { client_id, consumer_group, message_model, strategy_name, topic });
    }

    #[test]
    fn pops(assignments in of(vec(assignment(), 0..4)), acks in vec(ack(), 0..4), broker_name in text()) {
        assert_read_back(QueryAssignmentResponse { assignments });
        assert_read_back(BatchAckRequest { acks, broker_name });
    }

    #[test]
    fn what_clients_are_asked(
        offset_table in offsets(),
        consumer_table in map(offsets()),
        info in running_info(),
        result in direct_result(),
    ) {
        assert_read_back(ResetOffset { offset_table: offset_table.clone() });
        assert_read_back(ConsumerStatus { consumer_table, offsets: offset_table });
        assert_read_back(info);
        assert_read_back(result);
    }
}
