//! Messages that are delivered later (wire §6.4, §13).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmq_tokio::rmq_core::proto::properties::{DELAY, REAL_QID, REAL_TOPIC};
use rmq_tokio::{DelayLevel, Error, Message, ResponseCode, SendStatus, StoredMessage};

use crate::cluster::{UnderTest, new_name};
use crate::reading::{arrived, only};

fn waited(stored: &StoredMessage) -> Duration {
    let waited = stored.store_timestamp - stored.born_timestamp;
    Duration::from_millis(u64::try_from(waited).unwrap_or(0))
}

pub(crate) async fn a_level_delays(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = new_name("level");
    let message = Message::new(&*topic, "later").tag("TagA").delay_level(DelayLevel::MIN);
    let sent = producer.send(message).await.unwrap();
    under_test.hurry();
    let read = only(&under_test.place, &topic).await;
    assert_eq!((&*read.broker, read.message.queue_id), (&*sent.queue.broker, sent.queue.queue_id));
    assert_eq!((&*read.message.body, read.message.tags()), (&b"later"[..], Some("TagA")));
    assert_eq!(read.message.unique_key(), Some(&*sent.message_id));
    let queue_id = sent.queue.queue_id.to_string();
    for (name, value) in [(DELAY, "1"), (REAL_TOPIC, &*topic), (REAL_QID, &*queue_id)] {
        assert_eq!(read.message.property(name), Some(value), "{name}");
    }
    assert!(waited(&read.message) >= under_test.delay(1), "{:?}", read.message);
    client.shutdown().await.unwrap();
}

/// 4.9 knows no timers, and delivers at once.
pub(crate) async fn a_timer_delays_since_version_5(under_test: &UnderTest) {
    const DELAY: Duration = Duration::from_secs(2);
    let (client, producer) = under_test.client();
    for is_given_time in [false, true] {
        let topic = new_name("timer");
        let message = Message::new(&*topic, "later");
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + DELAY;
        let message = if is_given_time {
            message.deliver_at(u64::try_from(at.as_millis()).unwrap())
        } else {
            message.deliver_after(DELAY)
        };
        let sent = producer.send(message).await.unwrap();
        under_test.hurry();
        let read = only(&under_test.place, &topic).await;
        assert_eq!((&*read.broker, read.message.queue_id), (&*sent.queue.broker, sent.queue.queue_id));
        assert_eq!(read.message.unique_key(), Some(&*sent.message_id));
        let stored_at = Duration::from_millis(u64::try_from(read.message.store_timestamp).unwrap());
        // Timers go by whole seconds.
        let is_late = stored_at >= at - Duration::from_secs(1);
        assert!(under_test.by_profile(true, is_late), "due at {at:?}: {:?}", read.message);
    }
    client.shutdown().await.unwrap();
}

/// producer §10.3.
pub(crate) async fn a_timer_message_is_recalled_since_version_5(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let topic = new_name("recalled");
    let timer = |body: &'static str| Message::new(&*topic, body).deliver_after(Duration::from_secs(3));
    let sent = producer.send(timer("recalled")).await.unwrap();
    let Some(handle) = sent.recall_handle else {
        assert!(under_test.by_profile(true, false), "{sent:?}");
        return client.shutdown().await.unwrap();
    };
    let queue = sent.queue.clone();
    for _ in 0..2 {
        assert_eq!(producer.recall(&*topic, &*handle).await.unwrap(), sent.message_id);
    }
    // Timers of one queue are in order, so what comes after it says that it never comes.
    producer.send_to(queue, timer("delivered")).await.unwrap();
    under_test.hurry();
    let read = arrived(&under_test.place, &topic, 1).await;
    assert_eq!(read[0].message.body, "delivered");
    client.shutdown().await.unwrap();
}

/// producer §10.2, §13.
pub(crate) async fn too_long_a_timer_is_refused_since_version_5(under_test: &UnderTest) {
    let (client, producer) = under_test.client();
    let message = Message::new(new_name("too-long"), "never").deliver_after(Duration::from_secs(300 * 86_400));
    let sent = producer.send(message).await;
    if under_test.by_profile(true, false) {
        assert_eq!(sent.unwrap().status, SendStatus::SendOk);
    } else {
        let Err(Error::Send(error)) = sent else { panic!("{sent:?}") };
        assert_eq!((error.code(), error.attempts().len()), (Some(ResponseCode::MESSAGE_ILLEGAL), 1), "{error}");
        let words = "timer message illegal, the delay time should not be bigger than the max delay 259200000ms; \
                     or if set del msg, the delay time should be bigger than the current time";
        assert!(error.to_string().contains(words), "{error}");
    }
    client.shutdown().await.unwrap();
}
