//! What a watcher of the model may want to see.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use rmq_proto::code::{RequestCode, ResponseCode};

use super::broker::{Role, SendSummary};
use super::conn::PeerConn;

/// Events that wait to be polled; of more, the oldest are lost.
const KEPT: usize = 1_024;

/// Something that happened in a [`Cluster`](super::Cluster). Its `Display` is one line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// A client connected.
    Connected {
        /// The connection.
        conn: PeerConn,
        /// The name server's or broker's name.
        peer: Arc<str>,
        /// Where the client is.
        from: SocketAddr,
    },
    /// A connection ended.
    Disconnected {
        /// The connection.
        conn: PeerConn,
        /// The name server's or broker's name.
        peer: Arc<str>,
        /// What the client did wrong, when that ended it.
        fault: Option<String>,
    },
    /// A heartbeat named a group that its connection had not named before.
    Registered {
        /// The broker.
        broker: Arc<str>,
        /// The client.
        client_id: String,
        /// Its group.
        group: String,
        /// What the group does.
        role: Role,
    },
    /// A client took a group back, or its connection ended.
    Unregistered {
        /// The broker.
        broker: Arc<str>,
        /// The client.
        client_id: String,
        /// Its group.
        group: String,
        /// What the group does.
        role: Role,
    },
    /// A broker has a new topic.
    TopicCreated {
        /// The broker.
        broker: Arc<str>,
        /// The topic.
        topic: String,
        /// Queues to write to.
        write_queue_nums: i32,
    },
    /// A request was read. Only told when [`Cluster::watch_requests`](super::Cluster::watch_requests) asks for it.
    ///
    /// It comes after what the request brought about (a topic, a group), and before the end of a connection that is
    /// closed in place of an answer.
    Requested {
        /// The connection.
        conn: PeerConn,
        /// The name server's or broker's name.
        peer: Arc<str>,
        /// The request's code.
        code: RequestCode,
        /// The request's number on its connection.
        opaque: i32,
        /// Whether it was one-way.
        oneway: bool,
        /// The answer's code; `None` when there was no answer.
        answered: Option<ResponseCode>,
        /// What a send asked for, if its header could be read; `None` for every other request.
        send: Option<SendSummary>,
    },
    /// A broker asks a client. Only told when [`Cluster::watch_requests`](super::Cluster::watch_requests) asks for it.
    Pushed {
        /// The connection.
        conn: PeerConn,
        /// The broker's name.
        peer: Arc<str>,
        /// The request's code.
        code: RequestCode,
        /// The request's number.
        opaque: i32,
        /// Whether it is one-way.
        oneway: bool,
    },
}

impl fmt::Display for ModelEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected { conn, peer, from } => write!(f, "{peer}: {conn} opened from {from}"),
            Self::Disconnected { conn, peer, fault: None } => write!(f, "{peer}: {conn} ended"),
            Self::Disconnected { conn, peer, fault: Some(fault) } => {
                write!(f, "{peer}: {conn} closed, as the client broke the protocol: {fault}")
            }
            Self::Registered { broker, client_id, group, role } => {
                write!(f, "{broker}: {role} group {group} of client {client_id} registered")
            }
            Self::Unregistered { broker, client_id, group, role } => {
                write!(f, "{broker}: {role} group {group} of client {client_id} gone")
            }
            Self::TopicCreated { broker, topic, write_queue_nums } => {
                write!(f, "{broker}: topic {topic} created with {write_queue_nums} queues")
            }
            Self::Pushed { conn, peer, code, opaque, oneway } => {
                let how = if *oneway { "; one-way" } else { "" };
                write!(f, "{peer}: asks {conn} {code}, opaque {opaque}{how}")
            }
            Self::Requested { conn, peer, code, opaque, oneway, answered, send } => {
                write!(f, "{peer}: {conn} asked {code}, opaque {opaque}")?;
                if let Some(send) = send {
                    write!(f, ", {send}")?;
                }
                match answered {
                    Some(code) => write!(f, "; answered {code}"),
                    None if *oneway => f.write_str("; one-way"),
                    None => f.write_str("; not answered"),
                }
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    waiting: VecDeque<ModelEvent>,
    lost: u64,
}

impl Events {
    pub(crate) fn push(&mut self, event: ModelEvent) {
        if self.waiting.len() == KEPT {
            self.waiting.pop_front();
            self.lost += 1;
        }
        self.waiting.push_back(event);
    }

    pub(crate) fn pop(&mut self) -> Option<ModelEvent> {
        self.waiting.pop_front()
    }

    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }
}
