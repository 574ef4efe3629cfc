//! Lines: what a subscriber gets of each.

use std::sync::Arc;
use std::time::Duration;

use rmq_core::{Address, CloseCause, RouteLoss, SendResult};
use tracing::{debug, info, trace, warn};

use super::cause::Cause;
use super::fold::{Key, Tally};

pub(super) const CLIENT: &str = "rmq::client";
pub(super) const CONNECTION: &str = "rmq::connection";
pub(super) const ROUTE: &str = "rmq::route";
pub(super) const BROKER: &str = "rmq::broker";
pub(super) const SEND: &str = "rmq::send";

/// Lines that are counted together.
#[derive(Clone, Copy, Debug)]
pub(super) enum Group {
    Connection,
    Route,
    Broker,
    Send,
}

impl Group {
    pub(super) const ALL: [Self; Self::COUNT] = [Self::Connection, Self::Route, Self::Broker, Self::Send];
    pub(super) const COUNT: usize = 4;
}

#[derive(Debug)]
pub(super) enum Line {
    /// Something fails, for the first time or still.
    Trouble {
        key: Key,
        cause: Cause,
        tally: Tally,
    },
    /// It does not any more.
    Well {
        key: Key,
        tally: Tally,
    },
    SendsAgain {
        topic: Arc<str>,
        tally: Tally,
    },
    Connected(Address),
    Closed(Address, CloseCause),
    GoingAway(Address),
    RouteLearned {
        topic: Arc<str>,
        brokers: usize,
        queues: usize,
        changed: bool,
    },
    RouteLost {
        topic: Arc<str>,
        cause: RouteLoss,
    },
    /// One operation.
    Failed {
        what: &'static str,
        topic: String,
        message_id: String,
        took: Duration,
        tried: String,
    },
    Stored(Box<SendResult>),
    LeftOut(Group, u64),
    ShutDown,
}

/// An operation that failed, as its error has it.
#[derive(Clone, Copy)]
pub(super) struct Failure<'a> {
    pub(super) what: &'static str,
    pub(super) topic: &'a str,
    message_id: &'a str,
    took: Duration,
}

impl<'a> Failure<'a> {
    pub(super) fn new(what: &'static str, topic: &'a str, message_id: &'a str, took: Duration) -> Self {
        Self { what, topic, message_id: first(message_id), took }
    }

    pub(super) fn line(self, tried: String) -> Line {
        let Self { what, topic, message_id, took } = self;
        Line::Failed { what, topic: topic.into(), message_id: message_id.into(), took, tried }
    }
}

/// Of the ids of a batch the first.
fn first(message_id: &str) -> &str {
    message_id.split(',').next().unwrap_or_default()
}

pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

impl Line {
    pub(super) const fn group(&self) -> Group {
        match self {
            Self::Trouble { key, .. } | Self::Well { key, .. } => match key {
                Key::Connection(_) => Group::Connection,
                Key::NameServers | Key::Switch | Key::Source => Group::Route,
                Key::Heartbeat(_) | Key::Broker(_) => Group::Broker,
                Key::Operation { .. } | Key::Checks | Key::Trace => Group::Send,
            },
            Self::Connected(_) | Self::Closed(..) | Self::GoingAway(_) | Self::ShutDown => Group::Connection,
            Self::RouteLearned { .. } | Self::RouteLost { .. } => Group::Route,
            Self::SendsAgain { .. } | Self::Failed { .. } | Self::Stored(_) => Group::Send,
            Self::LeftOut(group, _) => *group,
        }
    }

    pub(super) fn tell(&self, client_id: &str) {
        match self {
            Self::Trouble { key, cause, tally } => trouble(client_id, key, cause, *tally),
            Self::Well { key, tally } => well(client_id, key, *tally),
            Self::SendsAgain { topic, tally: Tally { failures, lasted } } => {
                let lasted_ms = millis(*lasted);
                info!(target: SEND, client_id, topic = &**topic, failures, lasted_ms, "sends succeed again");
            }
            Self::Connected(addr) => info!(target: CONNECTION, client_id, %addr, "connected"),
            Self::Closed(addr, cause) => {
                info!(target: CONNECTION, client_id, %addr, %cause, "connection closed");
            }
            Self::GoingAway(addr) => {
                info!(target: CONNECTION, client_id, %addr, "server goes away, another connection takes its place");
            }
            Self::RouteLearned { topic, brokers, queues, changed: false } => {
                info!(target: ROUTE, client_id, topic = &**topic, brokers, queues, "route learned");
            }
            Self::RouteLearned { topic, brokers, queues, changed: true } => {
                info!(target: ROUTE, client_id, topic = &**topic, brokers, queues, "route changed");
            }
            Self::RouteLost { topic, cause: cause @ RouteLoss::Denied } => {
                warn!(target: ROUTE, client_id, topic = &**topic, %cause, "route lost");
            }
            Self::RouteLost { topic, cause } => {
                info!(target: ROUTE, client_id, topic = &**topic, %cause, "route lost");
            }
            Self::Failed { what, topic, message_id, took, tried } => {
                let (operation, took_ms) = (*what, millis(*took));
                debug!(target: SEND, client_id, operation, topic, message_id, took_ms, tried, "operation ended in failure");
            }
            Self::Stored(result) => stored(client_id, result),
            Self::LeftOut(group, left_out) => too_many(client_id, *group, *left_out),
            Self::ShutDown => info!(target: CLIENT, client_id, "client shut down"),
        }
    }
}

fn stored(client_id: &str, result: &SendResult) {
    let SendResult { queue_offset, attempts, .. } = result;
    let (topic, broker, queue_id) = (&*result.queue.topic, &*result.queue.broker, result.queue.queue_id);
    let message_id = first(&result.message_id);
    if *attempts > 1 {
        debug!(target: SEND, client_id, topic, broker, queue_id, queue_offset, message_id, attempts, "stored after retries");
    } else {
        trace!(target: SEND, client_id, topic, broker, queue_id, queue_offset, message_id, attempts, "stored");
    }
}

fn too_many(client_id: &str, group: Group, left_out: u64) {
    match group {
        Group::Connection => warn!(target: CONNECTION, client_id, left_out, "lines left out"),
        Group::Route => warn!(target: ROUTE, client_id, left_out, "lines left out"),
        Group::Broker => warn!(target: BROKER, client_id, left_out, "lines left out"),
        Group::Send => warn!(target: SEND, client_id, left_out, "lines left out"),
    }
}

fn trouble(client_id: &str, key: &Key, cause: &Cause, Tally { failures, lasted }: Tally) {
    let lasted_ms = millis(lasted);
    match (key, cause) {
        (Key::Connection(addr), Cause::Closed(cause, true)) => {
            warn!(target: CONNECTION, client_id, %addr, %cause, failures, lasted_ms, "connection lost");
        }
        (Key::Connection(addr), cause) => {
            warn!(target: CONNECTION, client_id, %addr, %cause, failures, lasted_ms, "cannot connect");
        }
        (Key::Heartbeat(addr), cause) => {
            warn!(target: BROKER, client_id, %addr, %cause, failures, lasted_ms, "heartbeat refused");
        }
        (Key::Broker(broker), Cause::Isolated(span_ms)) => {
            warn!(target: BROKER, client_id, broker = &**broker, span_ms, failures, lasted_ms, "broker left alone");
        }
        (Key::Broker(_), _) => {}
        (Key::NameServers, list) => {
            warn!(target: ROUTE, client_id, name_servers = %list, failures, lasted_ms, "no name server answers");
        }
        (Key::Switch, addr) => {
            info!(target: ROUTE, client_id, %addr, failures, "another name server is asked first");
        }
        (Key::Source, cause) => {
            warn!(target: CLIENT, client_id, %cause, failures, lasted_ms, "no list of name servers");
        }
        (Key::Trace, cause) => {
            warn!(target: SEND, client_id, %cause, failures, lasted_ms, "trace records lost");
        }
        (Key::Checks, _) => {
            warn!(
                target: SEND, client_id, failures, lasted_ms,
                "nobody answers checks of transactions: see Producer::transaction_checks"
            );
        }
        (Key::Operation { what, topic, kind }, cause) => {
            let (broker, addr, attempts) = match cause {
                Cause::Attempt { broker, address, attempts, .. } => {
                    (broker.as_deref(), address.as_ref().map(tracing::field::display), *attempts)
                }
                _ => (None, None, 0),
            };
            warn!(
                target: SEND, client_id, operation = what, topic = &**topic, kind = kind.name, %cause, broker, addr,
                attempts, failures, lasted_ms, "operation failed"
            );
        }
    }
}

fn well(client_id: &str, key: &Key, Tally { failures, lasted }: Tally) {
    let lasted_ms = millis(lasted);
    match key {
        Key::Connection(addr) => {
            info!(target: CONNECTION, client_id, %addr, failures, lasted_ms, "connected again");
        }
        Key::Heartbeat(addr) => {
            info!(target: BROKER, client_id, %addr, failures, lasted_ms, "heartbeat accepted again");
        }
        Key::Broker(broker) => {
            info!(target: BROKER, client_id, broker = &**broker, failures, lasted_ms, "broker recovered");
        }
        Key::NameServers => {
            info!(target: ROUTE, client_id, failures, lasted_ms, "name servers answer again");
        }
        Key::Source => {
            info!(target: CLIENT, client_id, failures, lasted_ms, "a list of name servers again");
        }
        // They have no other end than that nothing is heard of them.
        Key::Switch | Key::Checks | Key::Trace | Key::Operation { .. } => {}
    }
}
