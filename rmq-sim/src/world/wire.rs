//! What clients were told, as it came over their connections.

use std::collections::BTreeMap;

use bytes::Bytes;
use rmq_proto::code::{RequestCode, ResponseCode};

use crate::model::{SendSummary, is_stored};
use crate::tap::CommandTap;

/// Reads along at the client's end of one stream.
#[derive(Default)]
pub(super) struct Tap {
    written: CommandTap,
    read: CommandTap,
    /// Sends that are not answered: their opaque, and the message's id.
    sends: BTreeMap<i32, String>,
}

impl Tap {
    /// The client wrote `data`.
    pub(super) fn wrote(&mut self, data: Bytes) {
        for (_, request) in self.written.pass(data) {
            let is_send =
                matches!(RequestCode(request.code), RequestCode::SEND_MESSAGE | RequestCode::SEND_MESSAGE_V2);
            let key = if is_send { SendSummary::read(&request, None, None) } else { None };
            if let Some(key) = key.and_then(|send| send.unique_key) {
                self.sends.insert(request.opaque, key);
            }
        }
    }

    /// The client read `data`. The ids of messages whose success it has learned by it.
    pub(super) fn read(&mut self, data: Bytes) -> Vec<String> {
        let Self { read, sends, .. } = self;
        let acknowledged = read.pass(data).filter_map(|(_, answer)| {
            let send = if answer.is_response() { sends.remove(&answer.opaque) } else { None };
            send.filter(|_| is_stored(ResponseCode(answer.code)))
        });
        acknowledged.collect()
    }
}
