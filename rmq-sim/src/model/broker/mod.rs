//! A broker: topics, messages, and who is there.

mod acl;
mod batch;
mod clients;
pub(crate) mod delay;
mod properties;
mod replies;
mod send;
mod send_back;
pub(crate) mod timer;
pub(crate) mod transactions;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use rmq_proto::code::RequestCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::{GetMaxOffsetHeader, OffsetResponseHeader};
use rmq_proto::id::UniqueKeyGenerator;
use rmq_proto::names;

pub use self::clients::{Registration, Role};
pub use self::send::SendSummary;

use self::clients::Clients;
use self::transactions::Halves;
use super::answer::{Answer, AnswerExt};
use super::config::ClusterConfig;
use super::conn::PeerConn;
use super::event::{Events, ModelEvent};
use super::fault::ForcedCode;
use super::group::GroupConfig;
use super::name_server::NameServer;
use super::profile::ProfileRules;
use super::push::Push;
use super::store::Store;
use super::topic::{PERM_INHERIT, TopicConfig};
use super::user::User;

/// The cluster that every broker of the model belongs to.
pub(crate) const CLUSTER_NAME: &str = "DefaultCluster";

/// Queues of the topic that others inherit from (wire §2.5).
const DEFAULT_TOPIC_QUEUES: i32 = 8;

/// One master broker.
#[derive(Clone, Debug)]
pub struct Broker {
    name: Arc<str>,
    address: SocketAddr,
    up: bool,
    rules: &'static ProfileRules,
    topics: BTreeMap<String, TopicConfig>,
    groups: BTreeMap<String, GroupConfig>,
    auto_create_groups: bool,
    users: Arc<[User]>,
    store: Store,
    /// When delayed messages are due, in milliseconds since the Unix epoch, with their sequences.
    delayed: BTreeSet<(u64, u64)>,
    halves: Halves,
    clients: Clients,
    unique_keys: UniqueKeyGenerator,
}

/// What a broker is given for one request, besides the request.
pub(crate) struct Turn<'t> {
    pub(crate) unix_ms: u64,
    pub(crate) conn: PeerConn,
    pub(crate) from: SocketAddr,
    pub(crate) name_servers: &'t mut [NameServer],
    pub(crate) events: &'t mut Events,
    pub(crate) sequence: &'t mut u64,
    /// What is to be asked of clients.
    pub(crate) pushes: &'t mut Vec<Push>,
    /// The code that a stored message is answered with in place of 0.
    pub(crate) forced: Option<ForcedCode>,
}

impl Broker {
    /// The broker number `index` (broker-a, broker-b, ...). Each has its cluster's topic of replies (wire §7.2), and one that
    /// creates topics `TBW102` (wire §2.5).
    pub(crate) fn new(config: &ClusterConfig, index: usize, address: SocketAddr) -> Self {
        let name = match u8::try_from(index) {
            Ok(index @ 0..26) => format!("broker-{}", char::from(b'a' + index)),
            _ => format!("broker-{index}"),
        };
        let mut topics = BTreeMap::new();
        if config.auto_create {
            let mut topic = TopicConfig::new(names::DEFAULT_TOPIC, DEFAULT_TOPIC_QUEUES);
            topic.perm |= PERM_INHERIT;
            topics.insert(topic.name.clone(), topic);
        }
        let replies = TopicConfig::new(names::reply_topic(CLUSTER_NAME), 1);
        topics.insert(replies.name.clone(), replies);
        let salt = u32::try_from(index).unwrap_or(u32::MAX).to_be_bytes();
        Self {
            name: name.into(),
            address,
            up: true,
            rules: config.profile.rules(),
            topics,
            groups: BTreeMap::new(),
            auto_create_groups: config.auto_create_groups,
            users: config.users.as_slice().into(),
            delayed: BTreeSet::new(),
            halves: Halves::new(config),
            store: Store::new(config.retain, config.retain_bytes),
            clients: Clients::default(),
            unique_keys: UniqueKeyGenerator::new(address.ip(), address.port(), salt),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its messages.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// One of its topics.
    pub fn topic(&self, name: &str) -> Option<&TopicConfig> {
        self.topics.get(name)
    }

    /// Its topics, by name.
    pub fn topics(&self) -> impl Iterator<Item = &TopicConfig> {
        self.topics.values()
    }

    /// The groups that clients have registered by heartbeats (wire §5.6), and not taken back.
    pub fn registrations(&self) -> impl Iterator<Item = Registration<'_>> {
        self.clients.registrations(&self.name)
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    pub(crate) const fn is_up(&self) -> bool {
        self.up
    }

    pub(crate) const fn set_up(&mut self, up: bool) {
        self.up = up;
    }

    /// Registers itself and all its topics, if it is up.
    pub(crate) fn register(&self, name_servers: &mut [NameServer]) {
        if !self.up {
            return;
        }
        for name_server in name_servers {
            name_server.register_broker(CLUSTER_NAME, &self.name, &self.address.to_string());
            for topic in self.topics.values() {
                name_server.register_topic(&self.name, topic);
            }
        }
    }

    /// Takes a topic on, or its new settings, and registers, if it is up.
    pub(crate) fn put_topic(
        &mut self,
        topic: TopicConfig,
        name_servers: &mut [NameServer],
        events: &mut Events,
    ) {
        events.push(ModelEvent::TopicCreated {
            broker: self.shared_name(),
            topic: topic.name.clone(),
            write_queue_nums: topic.write_queue_nums,
        });
        if self.up {
            for name_server in name_servers {
                name_server.register_broker(CLUSTER_NAME, &self.name, &self.address.to_string());
                name_server.register_topic(&self.name, &topic);
            }
        }
        self.topics.insert(topic.name.clone(), topic);
    }

    pub(crate) fn answer(&mut self, turn: &mut Turn<'_>, request: &RemotingCommand) -> Answer {
        if let Some(answer) = self.denied(turn, request) {
            return answer;
        }
        match RequestCode(request.code) {
            RequestCode::SEND_MESSAGE | RequestCode::SEND_MESSAGE_V2 | RequestCode::SEND_BATCH_MESSAGE => {
                self.answer_send(turn, request)
            }
            RequestCode::CONSUMER_SEND_MSG_BACK => self.answer_send_back(turn, request),
            RequestCode::SEND_REPLY_MESSAGE | RequestCode::SEND_REPLY_MESSAGE_V2 => {
                self.answer_reply(turn, request)
            }
            RequestCode::END_TRANSACTION => self.answer_end_transaction(turn, request),
            RequestCode::GET_MAX_OFFSET => self.answer_max_offset(request),
            RequestCode::HEART_BEAT => self.answer_heartbeat(turn, request),
            RequestCode::UNREGISTER_CLIENT => self.answer_unregister(turn, request),
            RequestCode::RECALL_MESSAGE if self.rules.timers => self.answer_recall(turn.unix_ms, request),
            RequestCode(code) => Answer::not_supported(code),
        }
    }

    /// The offset of the message to come; 0 in a queue that has none, known or not (wire §5.4).
    fn answer_max_offset(&self, request: &RemotingCommand) -> Answer {
        match request.header::<GetMaxOffsetHeader<'_>>() {
            Ok(header) => {
                let offset = self.store.end(&header.topic, header.queue_id);
                Answer::success(AnswerExt::Offset(OffsetResponseHeader { offset }))
            }
            Err(error) => Answer::exception(format!("java.lang.NullPointerException: {error}")),
        }
    }

    pub(crate) fn disconnect(&mut self, conn: PeerConn, events: &mut Events) {
        self.clients.disconnect(&self.name, conn, events);
    }
}
