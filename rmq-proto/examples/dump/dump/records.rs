//! Bodies that are stored messages (wire §6.1).

use std::io::{self, Write};

use bytes::Bytes;
use rmq_proto::message::{Messages, Records, StoredMessage};

/// Whether a body begins with a stored message.
pub(super) fn are_in(body: &Bytes) -> bool {
    matches!(Records::new(body.clone()).next(), Some(Ok(_)))
}

/// Writes a line for each message, and for what is no message.
pub(super) fn write(body: &Bytes, out: &mut dyn Write) -> io::Result<()> {
    for message in Messages::new(body.clone()) {
        match message {
            Ok(message) => line(&message, out)?,
            Err(error) => writeln!(out, "            error: {error}")?,
        }
    }
    Ok(())
}

fn line(message: &StoredMessage, out: &mut dyn Write) -> io::Result<()> {
    let compressed = if message.sys_flag.is_compressed() { ", compressed" } else { "" };
    writeln!(
        out,
        "            {}/{}@{}: {} bytes{compressed}, id {}, properties {:?}",
        message.topic.escape_debug(),
        message.queue_id,
        message.queue_offset,
        message.body.len(),
        message.message_id().escape_debug(),
        message.properties,
    )
}
