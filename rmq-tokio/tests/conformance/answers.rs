//! Answers to single requests, word for word as they were seen.

use rmq_tokio::Message;
use rmq_tokio::rmq_core::proto::code::RequestCode;
use rmq_tokio::rmq_core::proto::command::RemotingCommand;
use rmq_tokio::rmq_core::proto::header::{
    GetMaxOffsetHeader, GetMinOffsetHeader, PullMessageHeader, SendBackHeader,
};
use rmq_tokio::rmq_core::proto::message::Messages;

use crate::cluster::{UnderTest, new_name};
use crate::reading::{arrived, brokers, create_request, create_topic, first_broker, pull_request};
use crate::wire::Peer;

const QUEUES: i32 = 2;

/// Code, remark and fields of an answer, in one line.
fn told(answer: &RemotingCommand) -> String {
    let mut fields: Vec<_> = answer.ext.iter().map(|(name, value)| format!("{name}={value}")).collect();
    fields.sort_unstable();
    let fields = if answer.ext.is_absent() { "-".to_owned() } else { format!("{{{}}}", fields.join(", ")) };
    format!("{} {:?} {fields}", answer.code, answer.remark.as_deref().unwrap_or("-"))
}

fn faq(under_test: &UnderTest) -> &'static str {
    under_test.by_profile(
        "http://rocketmq.apache.org/docs/faq/",
        "https://rocketmq.apache.org/docs/bestPractice/06FAQ",
    )
}

/// A topic on all brokers, with three messages in queue 0 of the first, and that broker.
async fn three_messages(under_test: &UnderTest) -> (String, Peer) {
    let (client, producer) = under_test.client();
    let topic = new_name("answers");
    create_topic(&under_test.place, &topic, QUEUES).await;
    let first = brokers(&under_test.place).await.remove(0);
    for number in 0..3 {
        let message = Message::new(&*topic, format!("{number}")).tag("A");
        let selected = async || {
            let queues = producer.queues(&*topic).await.unwrap();
            queues.iter().find(|queue| *queue.broker == first.0 && queue.queue_id == 0).cloned().unwrap()
        };
        producer.send_to(selected().await, message).await.unwrap();
    }
    arrived(&under_test.place, &topic, 3).await;
    client.shutdown().await.unwrap();
    let peer = Peer::connect(&under_test.place, &first.1).await;
    (topic, peer)
}

async fn pull(peer: &mut Peer, header: &PullMessageHeader<'_>) -> RemotingCommand {
    peer.ask(RemotingCommand::request(RequestCode::PULL_MESSAGE).with_ext(header)).await
}

/// wire §5.3.
pub(crate) async fn pulls_are_answered_as_seen(under_test: &UnderTest) {
    let (topic, mut peer) = three_messages(under_test).await;
    let (faq, own) = (faq(under_test), peer.own_address());
    let status = |code: i32, status: &str, next: i64, end: i64| {
        let (group, topic) = under_test.by_profile(("", ""), ("groupSysFlag=0, ", ", topicSysFlag=0"));
        format!(
            "{code} {status:?} {{{group}maxOffset={end}, minOffset=0, nextBeginOffset={next}, \
             suggestWhichBrokerId=0{topic}}}"
        )
    };
    for (queue_id, offset, expected) in [
        (0, 0, status(0, "FOUND", 3, 3)),
        (0, 2, status(0, "FOUND", 3, 3)),
        (0, 3, status(19, "OFFSET_OVERFLOW_ONE", 3, 3)),
        (0, 4, status(21, "OFFSET_OVERFLOW_BADLY", 3, 3)),
        (0, -1, status(21, "OFFSET_TOO_SMALL", 0, 3)),
        (1, 0, status(19, "NO_MESSAGE_IN_QUEUE", 0, 0)),
        (1, 1, status(21, "NO_MESSAGE_IN_QUEUE", 0, 0)),
        (1, -1, status(21, "NO_MESSAGE_IN_QUEUE", 0, 0)),
    ] {
        let answer = pull(&mut peer, &pull_request(&topic, queue_id, offset)).await;
        assert_eq!(told(&answer), expected, "queue {queue_id} at {offset}");
        let count = Messages::new(answer.body.clone()).map(Result::unwrap).count();
        let there = if answer.code == 0 { 3 - offset } else { 0 };
        assert_eq!(count as i64, there, "queue {queue_id} at {offset}");
    }
    let usual = || pull_request(&topic, 0, 0);
    let unknown = format!("{topic}-unknown");
    let illegal = |queue_id: i32| {
        let remark = format!(
            "queueId[{queue_id}] is illegal, topic:[{topic}] topicConfig.readQueueNums:[{QUEUES}] consumer:[/{own}]"
        );
        format!("{} {remark:?} {{}}", under_test.by_profile(1, 29))
    };
    let no_topic = format!("topic[{unknown}] not exist, apply first please! \nSee {faq} for further details.");
    let no_topic = format!("17 {no_topic:?} {{}}");
    let no_group = format!("subscription group [a b] does not exist, \nSee {faq} for further details.");
    let no_group = format!("26 {no_group:?} {{}}");
    let no_consumer = format!("the consumer's group info not exist\nSee {faq} for further details.");
    for (what, header, expected) in [
        ("two wanted", PullMessageHeader { max_messages: 2, ..usual() }, status(0, "FOUND", 2, 3)),
        ("none wanted", PullMessageHeader { max_messages: 0, ..usual() }, status(0, "FOUND", 1, 3)),
        (
            "the right tag",
            PullMessageHeader { subscription: Some("B || A".into()), ..usual() },
            status(0, "FOUND", 3, 3),
        ),
        (
            "another tag",
            PullMessageHeader { subscription: Some("B".into()), ..usual() },
            status(20, "NO_MATCHED_MESSAGE", 3, 3),
        ),
        ("a queue too many", PullMessageHeader { queue_id: QUEUES, ..usual() }, illegal(QUEUES)),
        ("no queue", PullMessageHeader { queue_id: -1, ..usual() }, illegal(-1)),
        ("no topic", PullMessageHeader { topic: (&*unknown).into(), ..usual() }, no_topic.clone()),
        (
            "neither group nor topic",
            PullMessageHeader { consumer_group: "a b".into(), topic: (&*unknown).into(), ..usual() },
            under_test.by_profile(no_topic, no_group),
        ),
        (
            "no subscription",
            PullMessageHeader { sys_flag: 0, subscription: None, ..usual() },
            format!("24 {no_consumer:?} {{}}"),
        ),
    ] {
        assert_eq!(told(&pull(&mut peer, &header).await), expected, "{what}");
    }
    forbidden(under_test).await;
}

async fn forbidden(under_test: &UnderTest) {
    let topic = new_name("write-only");
    let mut peer = first_broker(&under_test.place).await;
    assert_eq!(peer.ask(create_request(&topic, QUEUES, 2)).await.code, 0);
    let remark = format!("the topic[{topic}] pulling message is forbidden");
    let fields = under_test.by_profile("{}", "{forbiddenType=3}");
    let answer = pull(&mut peer, &pull_request(&topic, 0, 0)).await;
    assert_eq!(told(&answer), format!("16 {remark:?} {fields}"));
}

/// wire §5.4.
pub(crate) async fn offsets_are_answered_as_seen(under_test: &UnderTest) {
    let (topic, mut peer) = three_messages(under_test).await;
    let unknown = format!("{topic}-unknown");
    let remark = under_test.by_profile("-", "");
    for (topic, queue_id, end) in [(&topic, 0, 3), (&topic, 1, 0), (&topic, 9, 0), (&unknown, 0, 0)] {
        let max = GetMaxOffsetHeader { topic: topic.into(), queue_id, committed: None, broker_name: None };
        let answer = peer.ask(RemotingCommand::request(RequestCode::GET_MAX_OFFSET).with_ext(&max)).await;
        assert_eq!(told(&answer), format!("0 \"-\" {{offset={end}}}"), "{topic}/{queue_id}");
        let min = GetMinOffsetHeader { topic: topic.into(), queue_id, broker_name: None };
        let answer = peer.ask(RemotingCommand::request(RequestCode::GET_MIN_OFFSET).with_ext(&min)).await;
        assert_eq!(told(&answer), format!("0 {remark:?} {{offset=0}}"), "{topic}/{queue_id}");
    }
}

/// wire §5.5.
pub(crate) async fn send_backs_are_answered_as_seen(under_test: &UnderTest) {
    let (topic, mut peer) = three_messages(under_test).await;
    let stored = arrived(&under_test.place, &topic, 3).await.remove(0).message;
    let group = new_name("readers");
    let usual = || SendBackHeader {
        commit_log_offset: stored.commit_log_offset,
        group: (&*group).into(),
        delay_level: 1,
        origin_message_id: Some(stored.message_id()),
        origin_topic: Some((&*topic).into()),
        unit_mode: Some(false),
        max_reconsume_times: Some(16),
        broker_name: None,
    };
    let no_group =
        format!("subscription group not exist, a b \nSee {} for further details.", faq(under_test));
    let success = r#"0 "-" -"#.to_owned();
    for (what, header, expected) in [
        ("a new group", usual(), success.clone()),
        ("a dead letter", SendBackHeader { delay_level: -1, ..usual() }, success.clone()),
        ("over the limit", SendBackHeader { max_reconsume_times: Some(0), ..usual() }, success.clone()),
        (
            "no message",
            SendBackHeader { commit_log_offset: 1 << 40, ..usual() },
            r#"1 "look message by offset failed, 1099511627776" -"#.to_owned(),
        ),
        (
            "a name that no group may have",
            SendBackHeader { group: "a b".into(), ..usual() },
            under_test.by_profile(success, format!("26 {no_group:?} -")),
        ),
    ] {
        let request = RemotingCommand::request(RequestCode::CONSUMER_SEND_MSG_BACK).with_ext(&header);
        assert_eq!(told(&peer.ask(request).await), expected, "{what}");
    }
}

/// wire §5.12.
pub(crate) async fn topics_are_created_as_seen(under_test: &UnderTest) {
    let mut peer = first_broker(&under_test.place).await;
    let refusal = under_test.by_profile(1, 29);
    let characters = "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$";
    for (topic, expected) in [
        (&*new_name("created"), r#"0 "not set any response code" -"#.to_owned()),
        ("a$b", format!("{refusal} {characters:?} -")),
        ("TBW102", format!("{refusal} \"The topic[TBW102] is conflict with system topic.\" -")),
    ] {
        assert_eq!(told(&peer.ask(create_request(topic, QUEUES, 6)).await), expected, "{topic}");
    }
}
