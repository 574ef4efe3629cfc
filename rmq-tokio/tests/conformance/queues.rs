//! Sends to queues that the user chooses.

use std::collections::BTreeSet;

use rmq_tokio::{Error, Message, MessageQueue, ResponseCode};

use crate::cluster::{UnderTest, new_name};
use crate::reading::{arrived, create_topic, only};

const QUEUES: i32 = 3;

async fn topic(under_test: &UnderTest) -> String {
    let topic = new_name("queues");
    create_topic(&under_test.place, &topic, QUEUES).await;
    topic
}

pub(crate) async fn a_selector_chooses(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = topic(under_test).await;
    let last_of_b = |queues: &[MessageQueue]| {
        assert_eq!(queues.len(), 2 * QUEUES as usize);
        queues.iter().position(|queue| (&*queue.broker, queue.queue_id) == ("broker-b", QUEUES - 1))
    };
    let message = Message::new(&*topic, "chosen");
    let sent = producer.send_by(message, |queues, _| queues.get(last_of_b(queues)?)).await.unwrap();
    assert_eq!((&*sent.queue.broker, sent.queue.queue_id), ("broker-b", QUEUES - 1));
    let read = only(&under_test.place, &topic).await;
    assert_eq!((&*read.broker, read.message.queue_id), ("broker-b", QUEUES - 1));
    client.shutdown().await.unwrap();
}

pub(crate) async fn one_key_is_one_queue(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = topic(under_test).await;
    for number in 0..20 {
        for key in ["order-1", "order-2"] {
            let message = Message::new(&*topic, format!("{key} {number}"));
            producer.send_by_key(message, key).await.unwrap();
        }
    }
    let read = arrived(&under_test.place, &topic, 40).await;
    for key in ["order-1", "order-2"] {
        let of_key: Vec<_> = read.iter().filter(|read| read.message.body.starts_with(key.as_bytes())).collect();
        let queues: BTreeSet<_> = of_key.iter().map(|read| (&*read.broker, read.message.queue_id)).collect();
        assert_eq!(queues.len(), 1, "{of_key:?}");
        // The queue was read from its beginning to its end.
        let bodies: Vec<_> = of_key.iter().map(|read| read.message.body.clone()).collect();
        let sent: Vec<_> = (0..20).map(|number| format!("{key} {number}")).collect();
        assert_eq!(bodies, sent);
    }
    client.shutdown().await.unwrap();
}

pub(crate) async fn a_given_queue_is_the_one(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = topic(under_test).await;
    let queues = producer.queues(&*topic).await.unwrap();
    assert_eq!(queues.len(), 2 * QUEUES as usize);
    for queue in &*queues {
        let sent = producer.send_to(queue.clone(), Message::new(&*topic, queue.to_string())).await.unwrap();
        assert_eq!((&sent.queue, sent.queue_offset, sent.attempts), (queue, 0, 1));
    }
    for read in arrived(&under_test.place, &topic, queues.len()).await {
        let place = format!("{topic}/{}/{}", read.broker, read.message.queue_id);
        assert_eq!(read.message.body, place);
    }
    client.shutdown().await.unwrap();
}

/// wire §5.1, §10 row 16.
pub(crate) async fn a_queue_that_is_not_there_is_refused(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = topic(under_test).await;
    let known = producer.queues(&*topic).await.unwrap()[0].clone();
    let beyond = MessageQueue { queue_id: QUEUES, ..known };
    let error = producer.send_to(beyond, Message::new(&*topic, "lost")).await.unwrap_err();
    let Error::Send(error) = error else { panic!("{error:?}") };
    let code = under_test.by_profile(ResponseCode::SYSTEM_ERROR, ResponseCode::INVALID_PARAMETER);
    assert_eq!((error.code(), error.attempts().len()), (Some(code), 1), "{error}");
    let remark = format!(
        "request queueId[{QUEUES}] is illegal, TopicConfig [topicName={topic}, readQueueNums={QUEUES}, \
         writeQueueNums={QUEUES}, perm=RW-, topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false{}] \
         Producer: 127.0.0.1:",
        under_test.by_profile("", ", attributes={}"),
    );
    assert!(error.to_string().contains(&remark), "{error}");
    client.shutdown().await.unwrap();
}
