//! Requests and replies (wire §5.17, producer §10.1).

use std::time::Duration;

use rmq_tokio::Message;
use rmq_tokio::rmq_core::proto::names::reply_topic;
use rmq_tokio::rmq_core::proto::properties::{CLUSTER, CORRELATION_ID, MSG_TYPE, REPLY_TO_CLIENT};

use crate::cluster::{UnderTest, new_name};
use crate::reading::only;

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn a_request_is_replied_to(under_test: &UnderTest) {
    let (asking, asker) = under_test.client();
    let (replying, replier) = under_test.client();
    let topic = new_name("request");
    let request = asker.request_within(Message::new(&*topic, "ping").key("k"), PATIENCE);
    let reply = async {
        let read = only(&under_test.place, &topic).await;
        assert_eq!((&*read.message.body, read.message.property(CLUSTER)), (&b"ping"[..], Some("DefaultCluster")));
        let sent = replier.reply(&read.message, "pong").await.unwrap();
        assert_eq!(&*sent.queue.topic, &*reply_topic("DefaultCluster"));
        read.message
    };
    let (reply, request) = tokio::join!(request, reply);
    let reply = reply.unwrap();
    assert_eq!((&*reply.body, reply.property(MSG_TYPE)), (&b"pong"[..], Some("reply")));
    for name in [CORRELATION_ID, REPLY_TO_CLIENT] {
        assert!(request.property(name).is_some(), "{name}: {request:?}");
        assert_eq!(reply.property(name), request.property(name), "{name}");
    }
    asking.shutdown().await.unwrap();
    replying.shutdown().await.unwrap();
}
