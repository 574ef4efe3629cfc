//! Commands seen in passing bytes.

use bytes::Bytes;
use rmq_proto::command::RemotingCommand;
use rmq_proto::frame::FrameDecoder;

/// Reads along one direction of one stream, at one of its ends. Bytes that are no commands end what it sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandTap {
    decoder: FrameDecoder,
}

impl CommandTap {
    /// The commands that `data` completes, each with the length of its frame.
    pub(crate) fn pass(&mut self, mut data: Bytes) -> impl Iterator<Item = (usize, RemotingCommand)> {
        std::iter::from_fn(move || {
            let frame = self.decoder.decode(&mut data).ok()??;
            let len = 8 + frame.header.len() + frame.body.len();
            Some((len, RemotingCommand::decode(frame).ok()?))
        })
    }
}
