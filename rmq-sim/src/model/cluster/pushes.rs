//! What brokers ask of clients, how it gets there, and what comes of their answers.

use std::sync::Arc;

use bytes::BytesMut;
use rmq_proto::code::ResponseCode;
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::properties::{REPLY_TO_CLIENT, value};

use super::Cluster;
use crate::model::answer::Answer;
use crate::model::conn::{PeerConn, PeerOutput};
use crate::model::event::ModelEvent;
use crate::model::push::{Held, Push, PushExt};

/// How long a broker waits for a client's answer (wire §4.2), in milliseconds; though its connection has ended, too (seen on
/// both).
const PATIENCE_MS: u64 = 10_000;

/// A request of a broker whose answer another client waits for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    held: Held,
    /// In milliseconds since the Unix epoch.
    until: u64,
}

impl Cluster {
    /// Writes what brokers want to ask, each request on its connection. One that is gone, or whose server
    /// [hangs](crate::model::Fault::Hang), gets nothing.
    pub(super) fn write_pushes(&mut self, unix_ms: u64) {
        for push in std::mem::take(&mut self.pushes) {
            let opaque = self.write_push(&push);
            match (opaque, push.held) {
                (Some(opaque), Some(held)) => {
                    let asked = Asked { held, until: unix_ms.saturating_add(PATIENCE_MS) };
                    self.asked.insert((push.conn, opaque), asked);
                }
                (None, Some(held)) => self.release(held, false),
                (_, None) => {}
            }
        }
    }

    /// Its opaque, if it was written.
    fn write_push(&mut self, push: &Push) -> Option<i32> {
        let peer = self.links.get(&push.conn).filter(|link| !link.dead).map(|link| link.peer)?;
        let (opaque, mut data) = (self.next_push, BytesMut::new());
        if self.peers[peer].faults.hangs()
            || push.encode(self.config.profile.rules(), opaque, &mut data).is_err()
        {
            return None;
        }
        self.next_push = opaque.wrapping_add(1);
        self.outputs.push_back(PeerOutput::Write { conn: push.conn, data: data.freeze() });
        if self.watches_requests {
            self.events.push(ModelEvent::Pushed {
                conn: push.conn,
                peer: Arc::clone(&self.peers[peer].name),
                code: push.code,
                opaque,
                oneway: push.oneway,
            });
        }
        Some(opaque)
    }

    /// Keeps the answer to a reply until the client that it was pushed to has answered (wire §5.17, seen on both).
    pub(super) fn hold(
        &mut self,
        conn: PeerConn,
        opaque: i32,
        format: HeaderFormat,
        answer: Answer,
    ) -> Option<Answer> {
        let Some((push, client)) = self.pushes.last_mut().and_then(|push| match &push.ext {
            PushExt::Reply(header) if push.held.is_none() => {
                let client = value(header.properties.as_deref()?, REPLY_TO_CLIENT)?.to_owned();
                Some((push, client))
            }
            _ => None,
        }) else {
            return Some(answer);
        };
        let remark = format!("push reply message to {client}fail.");
        push.held = Some(Held { conn, opaque, format, answer, remark });
        None
    }

    /// A client answered a broker. What nobody asked is dropped (wire §1.4), and so is all that comes to a server that hangs.
    pub(super) fn answered(&mut self, conn: PeerConn, answer: &RemotingCommand) {
        let hangs = self.links.get(&conn).is_some_and(|link| self.peers[link.peer].faults.hangs());
        if !hangs && let Some(asked) = self.asked.remove(&(conn, answer.opaque)) {
            self.release(asked.held, ResponseCode(answer.code) == ResponseCode::SUCCESS);
        }
    }

    /// Clients that have not answered in time will not.
    pub(super) fn give_up_pushes(&mut self, unix_ms: u64) {
        let late = self.asked.iter().filter(|(_, asked)| asked.until <= unix_ms);
        let late: Vec<_> = late.map(|(key, _)| *key).collect();
        for key in late {
            if let Some(asked) = self.asked.remove(&key) {
                self.release(asked.held, false);
            }
        }
    }

    /// When the next client has had its time.
    pub(super) fn next_given_up(&self) -> Option<u64> {
        self.asked.values().map(|asked| asked.until).min()
    }

    /// Answers the replier, if it is there still.
    fn release(&mut self, held: Held, is_pushed: bool) {
        let Held { conn, opaque, format, mut answer, remark } = held;
        let alive = self.links.get(&conn).filter(|link| !link.dead);
        if alive.is_none_or(|link| self.peers[link.peer].faults.hangs()) {
            return;
        }
        if !is_pushed {
            (answer.code, answer.remark) = (ResponseCode::SYSTEM_ERROR, Some(remark.into()));
        }
        let mut data = BytesMut::new();
        let rules = self.config.profile.rules();
        if answer.encode(rules, opaque, format, &mut data).is_ok() {
            self.outputs.push_back(PeerOutput::Write { conn, data: data.freeze() });
        }
    }
}
