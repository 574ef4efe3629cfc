//! A name server.

use std::collections::BTreeMap;

use rmq_proto::body::{BrokerData, QueueData, TopicRouteData};
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;

use super::answer::{Answer, AnswerExt};
use super::profile::{Profile, ProfileRules};
use super::topic::TopicConfig;

/// Which topics are on which brokers, and where the brokers are.
#[derive(Clone, Debug)]
pub struct NameServer {
    rules: &'static ProfileRules,
    up: bool,
    brokers: BTreeMap<String, BrokerData>,
    /// Queues by topic, then by broker name.
    topics: BTreeMap<String, BTreeMap<String, QueueData>>,
}

impl NameServer {
    pub(crate) const fn new(profile: Profile) -> Self {
        Self { rules: profile.rules(), up: true, brokers: BTreeMap::new(), topics: BTreeMap::new() }
    }

    pub(crate) const fn is_up(&self) -> bool {
        self.up
    }

    /// Going down, it loses its tables.
    pub(crate) fn set_up(&mut self, up: bool) {
        self.up = up;
        if !up {
            self.brokers.clear();
            self.topics.clear();
        }
    }

    /// While it is down it hears nothing.
    pub(crate) fn register_broker(&mut self, cluster: &str, name: &str, address: &str) {
        if !self.up {
            return;
        }
        let broker = BrokerData {
            cluster: cluster.to_owned(),
            broker_name: name.to_owned(),
            addresses: BTreeMap::from([(0, address.to_owned())]),
            enable_acting_master: self.rules.acting_master,
            ..BrokerData::default()
        };
        self.brokers.insert(name.to_owned(), broker);
    }

    /// A broker's data and queues go, and a topic with its last queues.
    pub(crate) fn unregister_broker(&mut self, name: &str) {
        self.brokers.remove(name);
        self.topics.retain(|_, queues| {
            queues.remove(name);
            !queues.is_empty()
        });
    }

    /// While it is down it hears nothing.
    pub(crate) fn register_topic(&mut self, broker: &str, topic: &TopicConfig) {
        if !self.up {
            return;
        }
        let queues = QueueData {
            broker_name: broker.to_owned(),
            read_queue_nums: topic.read_queue_nums,
            write_queue_nums: topic.write_queue_nums,
            perm: topic.perm,
            topic_sys_flag: 0,
        };
        self.topics.entry(topic.name.clone()).or_default().insert(broker.to_owned(), queues);
    }

    /// The route of a topic, queues and brokers in the order of broker names; `None` for a topic that no broker has.
    pub fn route(&self, topic: &str) -> Option<TopicRouteData> {
        let queues = self.topics.get(topic)?;
        Some(TopicRouteData {
            queue_datas: queues.values().cloned().collect(),
            broker_datas: queues.keys().filter_map(|name| self.brokers.get(name)).cloned().collect(),
            ..TopicRouteData::default()
        })
    }

    /// The answer to one request; `None` where the real one stays silent.
    pub(crate) fn answer(&self, request: &RemotingCommand) -> Option<Answer> {
        match RequestCode(request.code) {
            RequestCode::GET_ROUTEINFO_BY_TOPIC => Some(self.answer_route(request)),
            RequestCode(code) => self.rules.name_server_refuses_codes.then(|| Answer::not_supported(code)),
        }
    }

    /// GET_ROUTEINFO_BY_TOPIC (wire §5.2). The body is standard JSON, as clients of version 401 and later get it
    /// (wire §2.4), whatever version the request says. A request without topic asks for `null` (seen on both).
    fn answer_route(&self, request: &RemotingCommand) -> Answer {
        let topic = request.ext.value("topic");
        match topic.as_deref().and_then(|topic| self.route(topic)) {
            Some(route) => Answer { body: route.encode(), ..Answer::success(AnswerExt::Absent) },
            None => {
                let remark = format!(
                    "No topic route info in name server for the topic: {}\nSee {} for further details.",
                    topic.as_deref().unwrap_or("null"),
                    self.rules.faq,
                );
                Answer::error(ResponseCode::TOPIC_NOT_EXIST, AnswerExt::Absent, remark)
            }
        }
    }
}
