//! All bodies behind one trait, so that a test can be for any of them.

use std::fmt::Debug;

use bytes::Bytes;
use rmq_proto::body::*;

pub(crate) trait Body: Sized + Clone + Debug + PartialEq {
    fn decode(body: &[u8]) -> Result<Self, BodyError>;

    fn encode(&self) -> Bytes;
}

macro_rules! bodies {
    ($($body:ident)*) => {$(
        impl Body for $body {
            fn decode(body: &[u8]) -> Result<Self, BodyError> {
                Self::decode(body)
            }

            fn encode(&self) -> Bytes {
                Self::encode(self)
            }
        }
    )*};
}

bodies! {
    BatchAckRequest CheckClientConfig ClusterInfo ConsumeDirectlyResult ConsumerList ConsumerRunningInfo
    ConsumerStatus HeartbeatData KvTable LockBatchRequest LockBatchResponse QueryAssignmentRequest
    QueryAssignmentResponse RegisterBroker ResetOffset TopicList TopicRouteData
}

pub(crate) fn decode<B: Body>(text: &str) -> Result<B, BodyError> {
    B::decode(text.as_bytes())
}

/// The text is this value, and Java's text of it.
pub(crate) fn assert_text<B: Body>(body: &B, text: &str) {
    assert_eq!(decode::<B>(text).as_ref(), Ok(body), "{text}");
    assert_eq!(std::str::from_utf8(&body.encode()), Ok(text));
}

pub(crate) fn queue(topic: &str, broker: &str, queue_id: i32) -> MessageQueue {
    MessageQueue { topic: topic.to_owned(), broker_name: broker.to_owned(), queue_id }
}

pub(crate) fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub(crate) fn table<V: Clone>(rows: &[(&str, V)]) -> std::collections::BTreeMap<String, V> {
    rows.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}
