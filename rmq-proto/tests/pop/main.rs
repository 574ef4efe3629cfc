//! Pop consumption's strings, wire §11.1.

mod answers;
mod infos;
mod receipts;

use std::collections::BTreeMap;

use proptest::prelude::*;
use rmq_proto::names::RetryMark::{self, Normal, RetryV1, RetryV2};
use rmq_proto::pop::QueueKey;

pub(crate) fn queue(retry: RetryMark, queue_id: i32) -> QueueKey {
    QueueKey { retry, queue_id }
}

pub(crate) fn retry_mark() -> impl Strategy<Value = RetryMark> {
    prop_oneof![Just(Normal), Just(RetryV1), Just(RetryV2)]
}

pub(crate) fn queues<V: std::fmt::Debug>(
    values: impl Strategy<Value = V>,
) -> impl Strategy<Value = BTreeMap<QueueKey, V>> {
    let key = (retry_mark(), any::<i32>()).prop_map(|(retry, queue_id)| queue(retry, queue_id));
    proptest::collection::btree_map(key, values, 1..6)
}

pub(crate) fn joined<V>(queues: &BTreeMap<QueueKey, V>, value: impl Fn(&V) -> String) -> String {
    let item = |(queue, told): (&QueueKey, &V)| {
        format!("{} {} {}", queue.retry.as_str(), queue.queue_id, value(told))
    };
    queues.iter().map(item).collect::<Vec<_>>().join(";")
}

pub(crate) fn list(offsets: &[i64]) -> String {
    offsets.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}
