//! The deliberate bugs that take more than a line.

use alloc::string::ToString;
use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::FrameDecoder;
use rmq_proto::header::SendResponseHeader;
use rmq_proto::id::UniqueKey;

use super::Client;
use crate::event::Event;
use crate::link::{LinkId, Owner, Up};
use crate::producer::SendOp;
use crate::time::Instant;

pub(super) fn whole_millis(at: Instant) -> Instant {
    Instant::from_millis(at.as_micros() / 1_000)
}

impl Client {
    /// Ends a two-way send with an answer that no broker gave; false for whatever else is written.
    pub(super) fn acknowledged_unasked(&mut self, owner: Owner) -> bool {
        let Owner::Send(op) = owner else { return false };
        let Some(send) = self.sends.get(op.0).filter(|send| !send.oneway) else { return false };
        let answer = RemotingCommand::request(ResponseCode::SUCCESS.0).with_ext(&SendResponseHeader {
            message_id: "".into(),
            queue_id: send.progress.as_ref().map_or(0, |progress| progress.choice.queue_id),
            queue_offset: 0,
            transaction_id: None,
            batch_unique_id: None,
            recall_handle: None,
            region_id: None,
            trace_on: None,
        });
        self.send_answered(op, &answer);
        true
    }

    /// Tells of a send that failed after several attempts, before it is told in order.
    pub(super) fn tell_failure_once_more(&mut self, event: &Event) {
        if matches!(event, Event::SendFailed { error, .. } if error.attempts().len() > 1) {
            self.outputs.push_terminal(event.clone(), 0);
        }
    }

    /// Puts the heartbeat off for ever if the connection before failed; else false.
    pub(super) fn forgone_beats(&mut self, id: LinkId) -> bool {
        let Some(link) = self.links.get_mut(id) else { return false };
        let failed_before = link.held_off_until().is_some();
        match link.heartbeat.as_mut().filter(|_| failed_before) {
            Some(heartbeat) => heartbeat.due = Instant::NEVER,
            None => return false,
        }
        true
    }
}

impl SendOp {
    pub(super) fn rename(&mut self, key: UniqueKey) {
        let id = key.to_string();
        self.properties = self.properties.replace(self.message_id(), &id);
        self.name(id);
    }
}

impl Up {
    pub(super) fn forget_partial_frame(&mut self, max_frame: usize) {
        if self.received % 4 == 3 {
            self.decoder = FrameDecoder::new(max_frame);
        }
    }
}
