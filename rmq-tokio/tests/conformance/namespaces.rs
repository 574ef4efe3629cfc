//! Namespaces of version 1 (wire §7.3).

use rmq_tokio::rmq_core::proto::properties::INSTANCE_ID;
use rmq_tokio::{Client, Message, SendBack, SentBack};

use crate::cluster::{UnderTest, new_name};
use crate::reading::only;

pub(crate) async fn a_namespace_is_in_names_on_the_wire(under_test: &UnderTest) {
    let (client, producer) = under_test.client_of(Client::builder().namespace("shop"));
    let topic = new_name("orders");
    let sent = producer.send(Message::new(&*topic, "in a namespace")).await.unwrap();
    assert_eq!(&*sent.queue.topic, &*topic, "users see their own names");
    let wrapped = format!("shop%{topic}");
    let read = only(&under_test.place, &wrapped).await;
    assert_eq!((&*read.message.topic, &*read.message.body), (&*wrapped, &b"in a namespace"[..]));
    assert_eq!(read.message.property(INSTANCE_ID), Some("shop"));

    let group = new_name("readers");
    let back = SendBack::new(&*group, &read.message).unwrap().broker(&read.broker);
    let how = producer.send_back(back).await.unwrap();
    assert_eq!(how, SentBack::ByBroker);
    under_test.hurry();
    let again = only(&under_test.place, &format!("%RETRY%shop%{group}")).await;
    assert_eq!((&again.message.body, again.message.reconsume_times), (&read.message.body, 1));
    client.shutdown().await.unwrap();
}
