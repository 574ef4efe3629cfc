//! Who is there: heartbeats and unregistering.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rmq_proto::body::HeartbeatData;
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::HeartbeatResponseHeader;
use rmq_proto::names;

use super::{Broker, Turn};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::conn::PeerConn;
use crate::model::event::{Events, ModelEvent};

/// What a group does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It sends.
    Producer,
    /// It consumes.
    Consumer,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Producer => "producer",
            Self::Consumer => "consumer",
        })
    }
}

/// One group of one client, as a broker knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration<'a> {
    /// The broker.
    pub broker: &'a str,
    /// The client.
    pub client_id: &'a str,
    /// Its group.
    pub group: &'a str,
    /// What the group does.
    pub role: Role,
    /// The connection that the heartbeat came on.
    pub conn: PeerConn,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Clients {
    /// Groups of a connection, each with the client's id.
    groups: BTreeMap<PeerConn, BTreeMap<(Role, String), String>>,
    /// Where replies to a client are pushed: the connection that named a group of producers for the first time last. It is
    /// lost with any connection of the client that ends, and with any group that is taken back (seen on both).
    channels: BTreeMap<String, PeerConn>,
}

impl Clients {
    pub(super) fn registrations<'a>(&'a self, broker: &'a str) -> impl Iterator<Item = Registration<'a>> {
        self.groups.iter().flat_map(move |(&conn, groups)| {
            groups.iter().map(move |((role, group), client_id)| Registration {
                broker,
                client_id,
                group,
                role: *role,
                conn,
            })
        })
    }

    fn register(
        &mut self,
        broker: &Arc<str>,
        conn: PeerConn,
        client_id: &str,
        events: &mut Events,
        key: (Role, String),
    ) {
        let groups = self.groups.entry(conn).or_default();
        if groups.get(&key).is_some_and(|known| known == client_id) {
            return;
        }
        let (role, group) = key.clone();
        groups.insert(key, client_id.to_owned());
        if role == Role::Producer {
            self.channels.insert(client_id.to_owned(), conn);
        }
        events.push(ModelEvent::Registered {
            broker: Arc::clone(broker),
            client_id: client_id.to_owned(),
            group,
            role,
        });
    }

    fn unregister(
        &mut self,
        broker: &Arc<str>,
        conn: PeerConn,
        events: &mut Events,
        role: Role,
        group: &str,
    ) {
        let key = (role, group.to_owned());
        if let Some(client_id) = self.groups.get_mut(&conn).and_then(|groups| groups.remove(&key)) {
            self.lose_channel(role, &client_id);
            let (role, group) = key;
            events.push(ModelEvent::Unregistered { broker: Arc::clone(broker), client_id, group, role });
        }
    }

    fn lose_channel(&mut self, role: Role, client_id: &str) {
        if role == Role::Producer {
            self.channels.remove(client_id);
        }
    }

    /// Where to push a reply.
    pub(super) fn channel(&self, client_id: &str) -> Option<PeerConn> {
        self.channels.get(client_id).copied()
    }

    pub(super) fn disconnect(&mut self, broker: &Arc<str>, conn: PeerConn, events: &mut Events) {
        for ((role, group), client_id) in self.groups.remove(&conn).unwrap_or_default() {
            self.lose_channel(role, &client_id);
            events.push(ModelEvent::Unregistered { broker: Arc::clone(broker), client_id, group, role });
        }
    }
}

impl Broker {
    /// HEART_BEAT (wire §5.6). A heartbeat adds groups and takes none away. A consumer group gets its retry topic, with
    /// one queue (wire §7.2, seen on both).
    pub(super) fn answer_heartbeat(&mut self, turn: &mut Turn<'_>, request: &RemotingCommand) -> Answer {
        let heartbeat = match HeartbeatData::decode(&request.body) {
            Ok(heartbeat) => heartbeat,
            Err(error) => return Answer::exception(format!("com.alibaba.fastjson.JSONException: {error}")),
        };
        let producers = heartbeat.producers.into_iter().map(|group| (Role::Producer, group));
        for key in producers {
            self.clients.register(&self.name, turn.conn, &heartbeat.client_id, turn.events, key);
        }
        for consumer in heartbeat.consumers {
            let retry_topic = names::retry_topic(&consumer.group_name);
            let queues = self.group(&consumer.group_name).map_or(1, |group| group.retry_queue_nums);
            self.make_topic(turn, &retry_topic, queues);
            let key = (Role::Consumer, consumer.group_name);
            self.clients.register(&self.name, turn.conn, &heartbeat.client_id, turn.events, key);
        }
        Answer::success(if self.rules.heartbeat_fields {
            let header =
                HeartbeatResponseHeader { supports_v2: Some(true), subscription_changed: Some(true) };
            AnswerExt::Heartbeat(header)
        } else {
            AnswerExt::Absent
        })
    }

    /// UNREGISTER_CLIENT (wire §5.7). What is not registered, or not named, is a success too (seen on both).
    pub(super) fn answer_unregister(&mut self, turn: &mut Turn<'_>, request: &RemotingCommand) -> Answer {
        for (role, field) in [(Role::Producer, "producerGroup"), (Role::Consumer, "consumerGroup")] {
            if let Some(group) = request.ext.value(field) {
                self.clients.unregister(&self.name, turn.conn, turn.events, role, &group);
            }
        }
        Answer::success(AnswerExt::Empty)
    }
}
