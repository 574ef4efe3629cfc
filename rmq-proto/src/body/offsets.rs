//! Offsets of consumers: set from outside (wire §5.21), and told (wire §5.24).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

use super::BodyError;
use super::queue::MessageQueue;
use super::value::{self, Keys, Sink, Source, Value};
use crate::json::Kind;

/// The body of RESET_CONSUMER_CLIENT_OFFSET (wire §5.21).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResetOffset {
    /// From which offset each queue is to be consumed.
    pub offset_table: BTreeMap<MessageQueue, i64>,
}

objects! {
    /// The answer to GET_CONSUMER_STATUS_FROM_CLIENT (wire §5.24).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ConsumerStatus {
        /// Offsets of other clients; empty in a client's answer.
        consumer_table: BTreeMap<String, BTreeMap<MessageQueue, i64>> = "consumerTable",
        /// The next offset that the client consumes, by queue.
        offsets: BTreeMap<MessageQueue, i64> = "messageQueueTable",
    }

    /// One queue in the form of the list.
    struct ListedOffset {
        broker_name: String = required "brokerName",
        offset: i64 = required "offset",
        queue_id: i32 = required "queueId",
        topic: String = required "topic",
    }
}

impl ResetOffset {
    /// Reads the body: a map with objects as keys, bare or in quotes, or the list that clients in C++ get. No body, or
    /// `null`, is an empty table.
    ///
    /// # Errors
    ///
    /// A text that is cut or is no JSON, a key that is no message queue, an offset that is no number, and references that
    /// cannot be followed (wire §2.4).
    pub fn decode(body: &[u8]) -> Result<Self, BodyError> {
        match value::decode(body) {
            Err(BodyError::Empty | BodyError::Null) => Ok(Self::default()),
            read => read,
        }
    }

    /// The body as Java writes it for clients in other languages than C++, but for the order of the queues.
    pub fn encode(&self) -> Bytes {
        value::encode(self, Keys::Bare)
    }
}

impl Value for ResetOffset {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        let mut offset_table = BTreeMap::new();
        source.members(&mut |source, member| {
            if member != "offsetTable" {
                return Ok(source.json.skip()?);
            }
            offset_table = match source.json.peek()? {
                Kind::Array => {
                    Vec::<ListedOffset>::read(source)?.into_iter().map(ListedOffset::entry).collect()
                }
                _ => Value::read(source)?,
            };
            Ok(())
        })?;
        Ok(Self { offset_table })
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.begin_object();
        sink.json.key("offsetTable");
        self.offset_table.write(sink);
        sink.json.end_object();
    }
}

impl ListedOffset {
    fn entry(self) -> (MessageQueue, i64) {
        let Self { broker_name, offset, queue_id, topic } = self;
        (MessageQueue { broker_name, queue_id, topic }, offset)
    }
}
