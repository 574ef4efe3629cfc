//! A queue of a topic on a broker, as bodies name it (wire §5.9).

use alloc::format;
use alloc::string::String;

use super::value::{Key, Sink, Source, Value};

objects! {
    /// A queue of a topic on a broker.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct MessageQueue {
        /// The broker.
        broker_name: String = required "brokerName",
        /// The queue's number on the broker, from 0; −1 where it stands for all of them (wire §5.18).
        queue_id: i32 = required "queueId",
        /// The topic.
        topic: String = required "topic",
    }
}

/// In Java's order: by topic, broker and number.
impl Ord for MessageQueue {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (&self.topic, &self.broker_name, self.queue_id).cmp(&(
            &other.topic,
            &other.broker_name,
            other.queue_id,
        ))
    }
}

impl PartialOrd for MessageQueue {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The key is an object: `{{"brokerName":…}:…}`, or the same text in quotes (wire §2.4).
impl Key for MessageQueue {
    fn from_key(key: &str) -> Option<Self> {
        // References in a key lose their meaning on the way: Java writes the same one for all keys of a map.
        let mut source = Source::new(key.as_bytes()).ok()?;
        let queue = Self::read(&mut source).ok()?;
        source.json.finish().ok()?;
        Some(queue)
    }

    fn write_key(&self, sink: &mut Sink<'_>) {
        self.write(sink);
        sink.json.end_key();
    }
}

/// What Java's `toString` makes of a queue that is a key, which is how references spell it.
pub(super) fn key_name(key: &str) -> Option<String> {
    let MessageQueue { broker_name, queue_id, topic } = MessageQueue::from_key(key)?;
    Some(format!("MessageQueue [topic={topic}, brokerName={broker_name}, queueId={queue_id}]"))
}
