//! What brokers ask of clients, and how it gets there.

use std::sync::Arc;

use bytes::BytesMut;

use super::Cluster;
use crate::model::conn::PeerOutput;
use crate::model::event::ModelEvent;
use crate::model::push::Push;

impl Cluster {
    /// Writes what brokers want to ask, each request on its connection. One that is gone, or whose server
    /// [hangs](crate::model::Fault::Hang), gets nothing.
    pub(super) fn write_pushes(&mut self) {
        for push in std::mem::take(&mut self.pushes) {
            self.write_push(&push);
        }
    }

    fn write_push(&mut self, push: &Push) {
        let Some(peer) = self.links.get(&push.conn).filter(|link| !link.dead).map(|link| link.peer) else {
            return;
        };
        let (opaque, mut data) = (self.next_push, BytesMut::new());
        if self.peers[peer].faults.hangs()
            || push.encode(self.config.profile.rules(), opaque, &mut data).is_err()
        {
            return;
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
    }
}
