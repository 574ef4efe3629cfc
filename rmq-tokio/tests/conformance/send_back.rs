//! Messages that are given back (wire §5.5, producer §12).

use std::time::Duration;

use rmq_tokio::rmq_core::proto::names::{dead_letter_topic, retry_topic};
use rmq_tokio::rmq_core::proto::properties::{
    DELAY, MAX_RECONSUME_TIMES, ORIGIN_MESSAGE_ID, REAL_QID, REAL_TOPIC, RECONSUME_TIME, RETRY_TOPIC, WAIT,
};
use rmq_tokio::{Client, DelayLevel, Message, Producer, Redelivery, SendBack, SentBack, StoredMessage};

use crate::cluster::{UnderTest, new_name};
use crate::reading::{Read, only};

/// A message that a group has read, and may give back.
struct Case<'u> {
    under_test: &'u UnderTest,
    client: Client,
    producer: Producer,
    group: String,
    first: Read,
}

impl<'u> Case<'u> {
    async fn new(under_test: &'u UnderTest) -> Self {
        let (client, producer) = under_test.client();
        let topic = new_name("back");
        let message = Message::new(&*topic, "again").tag("TagA").key("k").property("a", "b");
        producer.send(message).await.unwrap();
        let first = only(&under_test.place, &topic).await;
        Self { under_test, client, producer, group: new_name("readers"), first }
    }

    fn back(&self, read: &Read) -> SendBack {
        SendBack::new(&*self.group, &read.message).unwrap().broker(&read.broker)
    }

    async fn give(&self, back: SendBack) -> SentBack {
        self.producer.send_back(back).await.unwrap()
    }

    /// The one message of the group's retries.
    async fn again(&self) -> Read {
        self.under_test.hurry();
        only(&self.under_test.place, &retry_topic(&self.group)).await
    }

    async fn dead(&self) -> Read {
        only(&self.under_test.place, &dead_letter_topic(&self.group)).await
    }

    /// What every copy has of the first one.
    fn check_copy(&self, copy: &StoredMessage, times: i32) {
        let first = &self.first.message;
        assert_eq!((&copy.body, copy.flag, copy.sys_flag), (&first.body, first.flag, first.sys_flag));
        assert_eq!((copy.unique_key(), copy.tags()), (first.unique_key(), Some("TagA")));
        assert_eq!((copy.property("a"), copy.reconsume_times), (Some("b"), times));
        assert_eq!(copy.property(RETRY_TOPIC), Some(&*first.topic));
        assert!(copy.crc_matches());
    }

    fn check(&self, copy: &StoredMessage, rows: &[(&str, Option<&str>)]) {
        for (name, value) in rows {
            assert_eq!(copy.property(name), *value, "{name}: {:?}", copy.properties);
        }
    }

    async fn end(self) {
        self.client.shutdown().await.unwrap();
    }
}

const LEVEL_1: Redelivery = Redelivery::After(DelayLevel::MIN);

fn waited(copy: &StoredMessage, since: i64) -> Duration {
    Duration::from_millis(u64::try_from(copy.store_timestamp - since).unwrap_or(0))
}

pub(crate) async fn a_message_comes_again_after_its_delay(under_test: &UnderTest) {
    let case = Case::new(under_test).await;
    assert_eq!(case.give(case.back(&case.first).redelivery(LEVEL_1)).await, SentBack::ByBroker);
    let again = case.again().await;
    assert_eq!((&*again.broker, again.message.queue_id), (&*case.first.broker, 0));
    case.check_copy(&again.message, 1);
    let first = &case.first.message;
    assert_eq!((again.message.born_timestamp, again.message.born_host), (first.born_timestamp, first.born_host));
    let least = under_test.delay(1);
    assert!(waited(&again.message, first.store_timestamp) >= least, "{:?}", again.message);
    let (origin, topic) = (first.offset_message_id().to_string(), retry_topic(&case.group));
    case.check(
        &again.message,
        &[
            (ORIGIN_MESSAGE_ID, Some(&origin)),
            (DELAY, Some("1")),
            (REAL_TOPIC, Some(&topic)),
            (REAL_QID, Some("0")),
            (WAIT, Some("false")),
        ],
    );
    case.end().await;
}

pub(crate) async fn a_message_is_a_dead_letter_after_the_limit(under_test: &UnderTest) {
    let case = Case::new(under_test).await;
    case.give(case.back(&case.first).redelivery(LEVEL_1).max_reconsume_times(1)).await;
    let again = case.again().await;
    let back = case.back(&again).redelivery(LEVEL_1).max_reconsume_times(1);
    assert_eq!(case.give(back).await, SentBack::ByBroker);
    let dead = case.dead().await;
    assert_eq!(dead.message.queue_id, 0);
    case.check_copy(&dead.message, 2);
    let origin = case.first.message.offset_message_id().to_string();
    let kept = retry_topic(&case.group);
    case.check(
        &dead.message,
        &[
            (ORIGIN_MESSAGE_ID, Some(&origin)),
            (DELAY, Some("0")),
            (WAIT, Some("false")),
            (REAL_TOPIC, Some(&kept)),
        ],
    );
    only(&under_test.place, &kept).await;
    case.end().await;
}

pub(crate) async fn a_message_is_a_dead_letter_at_will(under_test: &UnderTest) {
    let case = Case::new(under_test).await;
    let back = case.back(&case.first).redelivery(Redelivery::DeadLetter);
    assert_eq!(case.give(back).await, SentBack::ByBroker);
    let dead = case.dead().await;
    case.check_copy(&dead.message, 1);
    case.check(&dead.message, &[(DELAY, Some("0")), (REAL_TOPIC, None)]);
    case.end().await;
}

/// producer §12.3: a broker that nobody knows is not asked, and a copy goes to the retry topic.
pub(crate) async fn an_unknown_broker_is_passed_by(under_test: &UnderTest) {
    let case = Case::new(under_test).await;
    let back = case.back(&case.first).broker("no-such-broker").redelivery(LEVEL_1);
    let how = case.give(back).await;
    let SentBack::RetryTopic(sent) = &how else { panic!("{how:?}") };
    assert_eq!((&*sent.queue.topic, sent.attempts), (&*retry_topic(&case.group), 1));
    let again = case.again().await;
    assert_eq!((&*again.broker, again.message.queue_id), (&*sent.queue.broker, sent.queue.queue_id));
    case.check_copy(&again.message, 1);
    assert!(waited(&again.message, case.first.message.store_timestamp) >= under_test.delay(3));
    let (origin, queue_id) = (case.first.message.message_id(), sent.queue.queue_id.to_string());
    case.check(
        &again.message,
        &[
            (ORIGIN_MESSAGE_ID, Some(&origin)),
            (DELAY, Some("3")),
            (REAL_QID, Some(&queue_id)),
            (RECONSUME_TIME, Some("1")),
            (MAX_RECONSUME_TIMES, Some("16")),
        ],
    );
    case.end().await;
}

/// producer §12.4: the broker of the retry topic counts as well. 4.9 lets the dead letter wait for its delay first.
pub(crate) async fn what_is_passed_by_obeys_the_limit(under_test: &UnderTest) {
    let case = Case::new(under_test).await;
    let back = case.back(&case.first).broker("no-such-broker").max_reconsume_times(0);
    let how = case.give(back).await;
    let SentBack::RetryTopic(sent) = &how else { panic!("{how:?}") };
    assert_eq!(&*sent.queue.topic, &*retry_topic(&case.group));
    under_test.hurry();
    let dead = case.dead().await;
    assert_eq!((&*dead.broker, dead.message.queue_id), (&*sent.queue.broker, 0));
    case.check_copy(&dead.message, 1);
    case.check(&dead.message, &[(DELAY, Some(under_test.by_profile("3", "-1")))]);
    case.end().await;
}
