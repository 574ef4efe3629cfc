//! Message trace (producer §10.4).

use rmq_tokio::rmq_core::proto::trace::{TRACE_TOPIC, TraceRecord, records};
use rmq_tokio::{Message, Trace};

use crate::cluster::{UnderTest, new_name, producer};
use crate::reading::{Read, read, until};

pub(crate) async fn a_trace_tells_of_a_send(under_test: &UnderTest) {
    let (client, _) = under_test.client();
    let group = new_name("traced");
    let producer = client.producer_with(producer(&group).trace(Trace::new())).unwrap();
    let topic = new_name("traced");
    let sent = producer.send(Message::new(&*topic, "traced").tag("TagA").key("k")).await.unwrap();
    client.shutdown().await.unwrap();

    let told = async || {
        let messages = read(&under_test.place, TRACE_TOPIC).await;
        let tells = |read: &Read| {
            let mut message = read.message.clone();
            message.inflate(1 << 20).unwrap();
            let text = std::str::from_utf8(&message.body).unwrap();
            records(text).map(Result::unwrap).find(|record| record.message_id() == sent.message_id)
        };
        messages.iter().find_map(tells)
    };
    let record = until("the trace topic tells of the send", told).await;
    let TraceRecord::Pub(published) = record else { panic!("{record:?}") };
    assert_eq!((&*published.group, &*published.topic), (&*group, &*topic));
    assert_eq!((published.tags.as_deref(), published.keys.as_deref()), (Some("TagA"), Some("k")));
    assert_eq!((published.body_len, published.success), (6, true));
    assert_eq!(published.offset_message_id, Some(sent.offset_message_id));
}
