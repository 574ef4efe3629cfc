//! What clients were told, as it came over their connections.

use std::collections::BTreeMap;

use bytes::Bytes;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::FrameDecoder;

use crate::model::SendSummary;

/// Answers that a client takes for "the message is stored" (wire §4.4).
const STORED: [ResponseCode; 4] = [
    ResponseCode::SUCCESS,
    ResponseCode::FLUSH_DISK_TIMEOUT,
    ResponseCode::FLUSH_SLAVE_TIMEOUT,
    ResponseCode::SLAVE_NOT_AVAILABLE,
];

/// Reads along at the client's end of one stream. Bytes that are no frames end what it sees.
#[derive(Default)]
pub(super) struct Tap {
    written: FrameDecoder,
    read: FrameDecoder,
    /// Sends that are not answered: their opaque, and the message's id.
    sends: BTreeMap<i32, String>,
}

impl Tap {
    /// The client wrote `data`.
    pub(super) fn wrote(&mut self, mut data: Bytes) {
        while let Ok(Some(frame)) = self.written.decode(&mut data) {
            let Ok(request) = RemotingCommand::decode(frame) else { return };
            let is_send =
                matches!(RequestCode(request.code), RequestCode::SEND_MESSAGE | RequestCode::SEND_MESSAGE_V2);
            let key = if is_send { SendSummary::read(&request, None, None) } else { None };
            if let Some(key) = key.and_then(|send| send.unique_key) {
                self.sends.insert(request.opaque, key);
            }
        }
    }

    /// The client read `data`. The ids of messages whose success it has learned by it.
    pub(super) fn read(&mut self, mut data: Bytes) -> Vec<String> {
        let mut acknowledged = Vec::new();
        while let Ok(Some(frame)) = self.read.decode(&mut data) {
            let Ok(answer) = RemotingCommand::decode(frame) else { break };
            let send = if answer.is_response() { self.sends.remove(&answer.opaque) } else { None };
            acknowledged.extend(send.filter(|_| STORED.contains(&ResponseCode(answer.code))));
        }
        acknowledged
    }
}
