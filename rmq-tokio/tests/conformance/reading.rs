//! Reads messages back, and looks after topics.

use std::fmt;
use std::time::Duration;

use rmq_tokio::StoredMessage;
use rmq_tokio::rmq_core::proto::body::TopicRouteData;
use rmq_tokio::rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_tokio::rmq_core::proto::command::RemotingCommand;
use rmq_tokio::rmq_core::proto::header::{
    CreateTopicHeader, GetRouteHeader, PullMessageHeader, PullResponseHeader, PullSysFlag,
};
use rmq_tokio::rmq_core::proto::message::Messages;
use rmq_tokio::rmq_core::proto::names::DEFAULT_TOPIC;

use crate::wire::{Peer, Place};

/// Time for what was stored to be there for readers.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// A message, and the broker that it was read from.
#[derive(Clone)]
pub(crate) struct Read {
    pub(crate) broker: String,
    pub(crate) message: StoredMessage,
}

impl fmt::Debug for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StoredMessage { topic, queue_id, queue_offset, .. } = &self.message;
        let text = String::from_utf8_lossy(&self.message.body[..self.message.body.len().min(80)]);
        write!(f, "{}/{topic}/{queue_id}/{queue_offset} {text:?}", self.broker)
    }
}

/// What the name server knows of a topic, if anything.
pub(crate) async fn route(place: &Place, topic: &str) -> Option<TopicRouteData> {
    let header = GetRouteHeader { topic: topic.into(), accept_standard_json_only: None };
    let request = RemotingCommand::request(RequestCode::GET_ROUTEINFO_BY_TOPIC).with_ext(&header);
    let answer = Peer::connect(place, &place.name_server).await.ask(request).await;
    match ResponseCode(answer.code) {
        ResponseCode::SUCCESS => Some(TopicRouteData::decode(&answer.body).unwrap()),
        ResponseCode::TOPIC_NOT_EXIST => None,
        code => panic!("{topic}: {code} {:?}", answer.remark),
    }
}

/// Names and addresses of all masters, by name. A route has them in any order.
pub(crate) async fn brokers(place: &Place) -> Vec<(String, String)> {
    let mut brokers = addresses(&route(place, DEFAULT_TOPIC).await.unwrap());
    brokers.sort_unstable();
    brokers
}

fn addresses(route: &TopicRouteData) -> Vec<(String, String)> {
    let master = |broker: &rmq_tokio::rmq_core::proto::body::BrokerData| {
        (broker.broker_name.clone(), broker.addresses[&0].clone())
    };
    route.broker_datas.iter().map(master).collect()
}

/// A connection to the first master.
#[allow(dead_code, reason = "not every test that shares this file asks")]
pub(crate) async fn first_broker(place: &Place) -> Peer {
    Peer::connect(place, &brokers(place).await[0].1).await
}

pub(crate) fn create_request(topic: &str, queues: i32, perm: i32) -> RemotingCommand {
    let header = CreateTopicHeader {
        topic: topic.into(),
        default_topic: DEFAULT_TOPIC.into(),
        read_queue_nums: queues,
        write_queue_nums: queues,
        perm,
        filter_type: "SINGLE_TAG".into(),
        topic_sys_flag: Some(0),
        order: false,
        attributes: Some("".into()),
        force: Some(false),
    };
    RemotingCommand::request(RequestCode::UPDATE_AND_CREATE_TOPIC).with_ext(&header)
}

/// Creates a topic on all brokers, and waits until the name server knows.
pub(crate) async fn create_topic(place: &Place, topic: &str, queues: i32) {
    let brokers = brokers(place).await;
    for (_, address) in &brokers {
        let answer = Peer::connect(place, address).await.ask(create_request(topic, queues, 6)).await;
        assert_eq!(answer.code, 0, "{:?}", answer.remark);
    }
    let known = async || {
        let route = route(place, topic).await?;
        (route.queue_datas.len() == brokers.len()).then_some(())
    };
    until(&format!("{topic} is known"), known).await;
}

pub(crate) fn pull_request(topic: &str, queue_id: i32, queue_offset: i64) -> PullMessageHeader<'_> {
    PullMessageHeader {
        consumer_group: "conformance-reader".into(),
        topic: topic.into(),
        queue_id,
        queue_offset,
        max_messages: 32,
        sys_flag: PullSysFlag::SUBSCRIPTION.into(),
        commit_offset: 0,
        suspend_timeout: 0,
        subscription: Some("*".into()),
        subscription_version: 0,
        max_bytes: None,
        expression_type: None,
        request_source: None,
        proxied_client_id: None,
        broker_name: None,
    }
}

/// All messages of a topic that can be read now: of all brokers, queue after queue. What no route names has none.
pub(crate) async fn read(place: &Place, topic: &str) -> Vec<Read> {
    let Some(route) = route(place, topic).await else { return Vec::new() };
    let mut all = Vec::new();
    for (broker, address) in addresses(&route) {
        let queues = route.queue_datas.iter().find(|queues| queues.broker_name == broker);
        let mut peer = Peer::connect(place, &address).await;
        for queue_id in 0..queues.map_or(0, |queues| queues.read_queue_nums) {
            let messages = read_queue(&mut peer, topic, queue_id).await;
            all.extend(messages.into_iter().map(|message| Read { broker: broker.clone(), message }));
        }
    }
    all
}

async fn read_queue(peer: &mut Peer, topic: &str, queue_id: i32) -> Vec<StoredMessage> {
    let (mut offset, mut all) = (0, Vec::new());
    loop {
        let header = pull_request(topic, queue_id, offset);
        let request = RemotingCommand::request(RequestCode::PULL_MESSAGE).with_ext(&header);
        let answer = peer.ask(request).await;
        match ResponseCode(answer.code) {
            ResponseCode::SUCCESS => {}
            ResponseCode::PULL_NOT_FOUND => return all,
            code => panic!("{topic}/{queue_id} at {offset}: {code} {:?}", answer.remark),
        }
        all.extend(Messages::new(answer.body.clone()).map(Result::unwrap));
        offset = answer.header::<PullResponseHeader>().unwrap().next_begin_offset;
    }
}

/// Looks again and again until there is what is wanted.
pub(crate) async fn until<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let mut pauses = tokio::time::interval(PAUSE);
    let looking = async {
        loop {
            pauses.tick().await;
            if let Some(found) = look().await {
                return found;
            }
        }
    };
    match tokio::time::timeout(PATIENCE, looking).await {
        Ok(found) => found,
        Err(_) => panic!("not so after {PATIENCE:?}: {what}"),
    }
}

/// The messages of a topic once there are `count`. More must not be there.
#[allow(dead_code, reason = "not every test that shares this file waits so")]
pub(crate) async fn arrived(place: &Place, topic: &str, count: usize) -> Vec<Read> {
    let look = async || Some(read(place, topic).await).filter(|found| found.len() >= count);
    let found = until(&format!("{topic} has {count} messages"), look).await;
    assert_eq!(found.len(), count, "{found:?}");
    found
}

/// The one message of a topic.
#[allow(dead_code, reason = "not every test that shares this file waits so")]
pub(crate) async fn only(place: &Place, topic: &str) -> Read {
    arrived(place, topic, 1).await.remove(0)
}
