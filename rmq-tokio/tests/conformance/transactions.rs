//! Transactions (wire §5.14, §5.15, producer §9).

use rmq_tokio::rmq_core::proto::message::TransactionType;
use rmq_tokio::rmq_core::proto::properties::{
    PGROUP, TRAN_MSG, TRANSACTION_CHECK_TIMES, TRANSACTION_ID, UNIQ_KEY,
};
use rmq_tokio::{Message, Producer, Resolution, SendResult, TransactionResult};

use crate::cluster::{UnderTest, new_name, producer};
use crate::reading::{arrived, only};

/// A topic that is there, so that nobody reads of a topic that was never made.
async fn topic(producer: &Producer) -> String {
    let topic = new_name("transaction");
    producer.send(Message::new(&*topic, "first")).await.unwrap();
    topic
}

async fn transact(producer: &Producer, topic: &str, resolution: Resolution) -> TransactionResult {
    let message = Message::new(topic, "half").tag("TagA").key("k");
    let result = producer.send_transaction(message, async |_: SendResult| resolution).await.unwrap();
    assert_eq!((result.resolution, &result.told, &result.failure), (resolution, &Ok(()), &None));
    result
}

/// Another message, to know that what was to come before it has come or never comes.
async fn send_last(producer: &Producer, topic: &str) {
    producer.send(Message::new(topic, "last")).await.unwrap();
}

pub(crate) async fn a_commit_is_delivered(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = new_name("transaction");
    let result = transact(&producer, &topic, Resolution::Commit).await;
    let read = only(&under_test.place, &topic).await;
    let stored = &read.message;
    assert_eq!((&*read.broker, &*stored.body), (&*result.sent.queue.broker, &b"half"[..]));
    assert_eq!((stored.tags(), stored.unique_key()), (Some("TagA"), Some(&*result.sent.message_id)));
    assert_eq!(stored.sys_flag.transaction(), TransactionType::Commit);
    assert!(stored.prepared_transaction_offset > 0 || stored.commit_log_offset > 0, "{stored:?}");
    let id = under_test.by_profile(None, Some(&*result.sent.message_id));
    for (name, value) in [
        (UNIQ_KEY, Some(&*result.sent.message_id)),
        (TRAN_MSG, Some("true")),
        (PGROUP, Some("conformance")),
        (TRANSACTION_ID, id),
        (TRANSACTION_CHECK_TIMES, None),
    ] {
        assert_eq!(stored.property(name), value, "{name}: {:?}", stored.properties);
    }
    client.shutdown().await.unwrap();
}

pub(crate) async fn a_rollback_is_never_delivered(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = topic(&producer).await;
    transact(&producer, &topic, Resolution::Rollback).await;
    send_last(&producer, &topic).await;
    let found = arrived(&under_test.place, &topic, 2).await;
    assert!(found.iter().all(|read| read.message.body != "half"), "{found:?}");
    client.shutdown().await.unwrap();
}

/// The broker asks, and is answered.
pub(crate) async fn what_is_unknown_is_asked_for(under_test: &UnderTest) {
    let (client, _) = under_test.client();
    let group = new_name("transacting");
    let producer = client.producer_with(producer(&group)).unwrap();
    let mut checks = producer.transaction_checks();
    let topic = new_name("transaction");
    let result = transact(&producer, &topic, Resolution::Unknown).await;
    let asked = async {
        let check = checks.next().await.unwrap();
        assert_eq!((check.message().topic.as_ref(), &*check.message().body), (&*topic, &b"half"[..]));
        assert_eq!(check.message_id(), result.sent.message_id);
        assert_eq!(check.message().property(TRANSACTION_CHECK_TIMES), Some("1"));
        check.answer(Resolution::Commit).await.unwrap();
    };
    tokio::join!(asked, async {
        // The model looks at its clock when it is asked something.
        let read = only(&under_test.place, &topic).await;
        assert_eq!(read.message.unique_key(), Some(&*result.sent.message_id));
        assert_eq!(read.message.property(TRANSACTION_CHECK_TIMES), Some("1"));
        assert_eq!(read.message.property(PGROUP), Some(&*group));
        assert_eq!(read.message.sys_flag.transaction(), TransactionType::Commit);
    });
    client.shutdown().await.unwrap();
}
