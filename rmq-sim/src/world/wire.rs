//! What clients were told, as it came over their connections.

use std::collections::BTreeMap;

use bytes::Bytes;
use rmq_proto::code::ResponseCode;

use crate::model::{SendSummary, is_send, is_stored};
use crate::tap::CommandTap;

/// Reads along at the client's end of one stream.
#[derive(Default)]
pub(super) struct Tap {
    written: CommandTap,
    read: CommandTap,
    /// Sends that are not answered, by their opaque.
    sends: BTreeMap<i32, SendSummary>,
}

impl Tap {
    /// The client wrote `data`.
    pub(super) fn wrote(&mut self, data: Bytes) {
        for (_, request) in self.written.pass(data) {
            let send = if is_send(&request) { SendSummary::read(&request, None, None) } else { None };
            if let Some(send) = send {
                self.sends.insert(request.opaque, send);
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
        let ids = acknowledged.map(|send| send.unique_keys().map(str::to_owned).collect::<Vec<_>>());
        ids.flatten().collect()
    }
}
