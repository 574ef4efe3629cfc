//! Batches (wire §6.6).

use rmq_tokio::{Message, SendStatus};

use crate::cluster::{UnderTest, new_name};
use crate::reading::arrived;

pub(crate) async fn a_batch_is_stored_message_by_message(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = new_name("batch");
    let message = |number: i32| {
        let message = Message::new(&*topic, format!("body {number}")).key(format!("k{number}"));
        message.tag("TagA").flag(number).property("number", number.to_string())
    };
    let sent = producer.send_batch((0..3).map(message)).await.unwrap();
    assert_eq!((sent.status, sent.attempts), (SendStatus::SendOk, 1));
    let ids: Vec<_> = sent.message_ids().collect();
    let places: Vec<_> = sent.offset_message_ids().collect();
    assert_eq!((ids.len(), places.len()), (3, 3), "{sent:?}");
    for (number, read) in arrived(&under_test.place, &topic, 3).await.into_iter().enumerate() {
        let stored = &read.message;
        assert_eq!((&*read.broker, stored.queue_id), (&*sent.queue.broker, sent.queue.queue_id));
        assert_eq!(stored.queue_offset, sent.queue_offset + number as i64);
        assert_eq!((&*stored.body, stored.flag), (format!("body {number}").as_bytes(), number as i32));
        assert_eq!((stored.tags(), stored.sys_flag.0), (Some("TagA"), 0));
        assert_eq!(stored.property("number"), Some(&*number.to_string()));
        assert_eq!(stored.keys().collect::<Vec<_>>(), [format!("k{number}")]);
        assert_eq!(stored.own_unique_key(), Some(ids[number]));
        assert_eq!(stored.offset_message_id().to_string(), places[number]);
        assert!(stored.crc_matches());
    }
    client.shutdown().await.unwrap();
}
