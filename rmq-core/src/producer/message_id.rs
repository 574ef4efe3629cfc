//! Where a send has the id of its message.

use alloc::string::String;
use core::mem;

use super::SendOp;

/// A text up to this many bytes long is kept for the id in it.
const KEEP_UP_TO: usize = 128;

/// The id of a message, or the ids of a batch.
#[derive(Clone, Debug)]
pub(crate) enum MessageId {
    Own(String),
    /// The value, so many bytes long, of the last property: one text for both.
    LastProperty(usize),
}

impl SendOp {
    pub(crate) fn message_id(&self) -> &str {
        match &self.message_id {
            MessageId::Own(id) => id,
            MessageId::LastProperty(len) => {
                // A separator ends it.
                let end = self.properties.len().saturating_sub(1);
                self.properties.get(end.saturating_sub(*len)..end).unwrap_or_default()
            }
        }
    }

    /// Has this id from now on, which is none of its properties.
    pub(crate) fn name(&mut self, id: String) {
        self.message_id = MessageId::Own(id);
    }

    /// Of a send that is at its end: its properties go, too.
    pub(crate) fn take_message_id(&mut self) -> String {
        match &mut self.message_id {
            MessageId::Own(id) => mem::take(id),
            MessageId::LastProperty(len) if self.properties.capacity() <= KEEP_UP_TO => {
                let mut text = mem::take(&mut self.properties);
                text.pop();
                text.drain(..text.len().saturating_sub(*len));
                text
            }
            MessageId::LastProperty(_) => self.message_id().into(),
        }
    }
}
