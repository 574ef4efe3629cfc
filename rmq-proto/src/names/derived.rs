use alloc::string::String;

use super::{DEAD_LETTER_PREFIX, LIGHT_QUEUE_PREFIX, RETRY_PREFIX};

const REPLY_SUFFIX: &str = "_REPLY_TOPIC";

/// The topic that brings messages back to a consumer group: `%RETRY%` and its name (wire §7.2).
pub fn retry_topic(group: &str) -> String {
    [RETRY_PREFIX, group].concat()
}

/// The topic of what a consumer group gave up on: `%DLQ%` and its name (wire §7.2).
pub fn dead_letter_topic(group: &str) -> String {
    [DEAD_LETTER_PREFIX, group].concat()
}

/// The topic that carries replies to requests within a cluster (wire §7.2).
pub fn reply_topic(cluster: &str) -> String {
    [cluster, REPLY_SUFFIX].concat()
}

/// The topic of a light queue: `%LMQ%` and its name (wire §7.2). It has one queue, 0.
pub fn light_queue_topic(name: &str) -> String {
    [LIGHT_QUEUE_PREFIX, name].concat()
}

/// Whether the topic is a [light queue](light_queue_topic).
pub fn is_light_queue(topic: &str) -> bool {
    topic.starts_with(LIGHT_QUEUE_PREFIX)
}
