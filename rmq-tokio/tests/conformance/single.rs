//! Sends of single messages.

use rmq_tokio::rmq_core::proto::properties::{CLUSTER, MSG_REGION, TRACE_ON, WAIT};
use rmq_tokio::{Client, Message, SendStatus};

use crate::cluster::{UnderTest, new_name};
use crate::reading::only;

/// wire §5.1, §6.1, §6.4, §6.5.
pub(crate) async fn a_message_is_stored_as_it_was_sent(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = new_name("single");
    let message = Message::new(&*topic, "你好 😀").tag("TagA").key("k1").key("k2").flag(7);
    let sent = producer.send(message.property("größe", "5 m")).await.unwrap();
    assert_eq!((sent.status, sent.attempts), (SendStatus::SendOk, 1));
    assert_eq!((&*sent.region_id, sent.trace_on), ("DefaultRegion", true));

    let read = only(&under_test.place, &topic).await;
    let stored = &read.message;
    assert_eq!((&*read.broker, stored.queue_id), (&*sent.queue.broker, sent.queue.queue_id));
    assert_eq!((&*stored.topic, stored.queue_offset), (&*topic, sent.queue_offset));
    assert_eq!(stored.offset_message_id().to_string(), sent.offset_message_id);
    assert_eq!(stored.unique_key(), Some(&*sent.message_id));
    assert_eq!((&*stored.body, stored.flag, stored.sys_flag.0), ("你好 😀".as_bytes(), 7, 0));
    assert!(stored.crc_matches());
    assert_eq!((stored.reconsume_times, stored.prepared_transaction_offset), (0, 0));
    assert!(stored.born_timestamp > 0 && stored.store_timestamp >= stored.born_timestamp, "{stored:?}");
    assert_eq!((stored.tags(), stored.keys().collect::<Vec<_>>()), (Some("TagA"), vec!["k1", "k2"]));
    for (name, value) in [
        ("größe", Some("5 m")),
        (CLUSTER, Some("DefaultCluster")),
        (MSG_REGION, under_test.by_profile(None, Some("DefaultRegion"))),
        (TRACE_ON, under_test.by_profile(None, Some("true"))),
        (WAIT, under_test.by_profile(None, Some("true"))),
    ] {
        assert_eq!(stored.property(name), value, "{name}");
    }
    client.shutdown().await.unwrap();
}

pub(crate) async fn a_one_way_message_arrives(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = new_name("one-way");
    producer.send_oneway(Message::new(&*topic, "on its way").key("k")).await.unwrap();
    let read = only(&under_test.place, &topic).await;
    assert_eq!((&*read.message.body, read.message.sys_flag.0), (&b"on its way"[..], 0));
    client.shutdown().await.unwrap();
}

/// wire §1.2.
pub(crate) async fn the_largest_message_is_stored(under_test: &UnderTest) {
    let (client, producer) = under_test.client_of(Client::builder().compression(None));
    let topic = new_name("largest");
    let body: Vec<u8> = (0..4_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let sent = producer.send(Message::new(&*topic, body.clone())).await.unwrap();
    let stored = only(&under_test.place, &topic).await.message;
    assert_eq!(stored.unique_key(), Some(&*sent.message_id));
    assert!(stored.body == body && stored.crc_matches(), "the body is another");
    client.shutdown().await.unwrap();
}
