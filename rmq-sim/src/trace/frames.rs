//! Frames seen in passing bytes.

use bytes::Bytes;
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::FrameDecoder;

use super::FrameInfo;

/// Reads along one direction of one stream, at one of its ends. Bytes that are no frames end what it sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameTap {
    decoder: FrameDecoder,
}

impl FrameTap {
    /// The frames that `data` completes.
    pub(crate) fn pass(&mut self, mut data: Bytes) -> Vec<FrameInfo> {
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = self.decoder.decode(&mut data) {
            let len = 8 + frame.header.len() + frame.body.len();
            let Ok(command) = RemotingCommand::decode(frame) else { break };
            let is_response = command.is_response();
            frames.push(FrameInfo { code: command.code, opaque: command.opaque, is_response, len });
        }
        frames
    }
}
