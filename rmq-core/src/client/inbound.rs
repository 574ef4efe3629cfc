//! Requests that brokers make (wire §4.2).

use alloc::format;

use bytes::Bytes;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;

use super::Client;
use crate::link::{Answer, LinkId};

/// A body that does not keep the read alive that it came in, if it has up to so many bytes.
pub(super) fn own_body(body: &Bytes, up_to: usize) -> Bytes {
    if body.len() <= up_to { Bytes::copy_from_slice(body) } else { body.clone() }
}

impl Client {
    pub(super) fn inbound(&mut self, id: LinkId, command: &RemotingCommand) {
        self.stats.inbound += 1;
        match RequestCode(command.code) {
            RequestCode::CHECK_TRANSACTION_STATE => self.check_arrived(id, command),
            RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT => self.reply_pushed(id, command),
            RequestCode(code) => {
                let remark = format!(" request type {code} not supported");
                self.answer(id, command, ResponseCode::REQUEST_CODE_NOT_SUPPORTED, Some(remark));
            }
        }
    }

    /// Answers a broker's request, unless it wants no answer or too many wait to be written.
    pub(super) fn answer(
        &mut self,
        id: LinkId,
        command: &RemotingCommand,
        code: ResponseCode,
        remark: Option<alloc::string::String>,
    ) {
        if command.is_oneway() {
            return;
        }
        let limit = self.config.limits.inbound;
        let Some(link) = self.links.get_mut(id) else { return };
        if link.queue.answers() >= limit {
            self.stats.inbound_dropped += 1;
            return;
        }
        link.queue.push_answer(Answer { code: code.0, opaque: command.opaque, remark });
        self.want_write(id);
    }
}
