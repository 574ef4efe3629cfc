//! The bodies of requests and answers that are JSON, as typed values.
//!
//! Read leniently: members in any order, the last one of a name, unknown ones passed over, lists that are absent or `null`
//! taken as empty, numbers in quotes, keys that are numbers or objects, and objects that are references to earlier ones
//! (wire §2.4). Written strictly, with the members that Java writes in the order it writes them (wire §2.5), and never
//! with references.

#[macro_use]
mod macros;

mod assignment;
mod batch_ack;
mod broker;
mod check_client;
mod cluster;
mod consume_directly;
mod error;
mod heartbeat;
mod lists;
mod lock;
mod offsets;
mod queue;
mod register_broker;
mod route;
mod running_info;
mod static_topic;
mod subscription;
mod value;

use bytes::Bytes;

pub use assignment::{
    MessageQueueAssignment, MessageRequestMode, QueryAssignmentRequest, QueryAssignmentResponse,
};
pub use batch_ack::{AckBits, AckOffsetError, BatchAck, BatchAckRequest, MAX_ACK_BITS};
pub use broker::{BrokerData, MASTER_ID};
pub use check_client::CheckClientConfig;
pub use cluster::ClusterInfo;
pub use consume_directly::{CmResult, ConsumeDirectlyResult};
pub use error::BodyError;
pub use heartbeat::{ConsumeFromWhere, ConsumeType, ConsumerData, HeartbeatData, MessageModel};
pub use lists::{ConsumerList, KvTable, TopicList};
pub use lock::{LockBatchRequest, LockBatchResponse};
pub use offsets::{ConsumerStatus, ResetOffset};
pub use queue::MessageQueue;
pub use register_broker::{DataVersion, RegisterBroker, TopicConfig, TopicConfigTable, TopicFilterType};
pub use route::{PERM_READ, PERM_WRITE, QueueData, TopicRouteData};
pub use running_info::{ConsumeStatus, ConsumerRunningInfo, PopProcessQueueInfo, ProcessQueueInfo};
pub use static_topic::{LogicQueueMappingItem, TopicQueueMappingDetail, TopicQueueMappingInfo};
pub use subscription::{EXPRESSION_SQL92, EXPRESSION_TAG, SubscriptionData};

bodies! {
    BatchAckRequest: Bare,
    CheckClientConfig: Bare,
    ClusterInfo: Bare,
    ConsumeDirectlyResult: Bare,
    ConsumerList: Bare,
    ConsumerRunningInfo: Bare,
    ConsumerStatus: Bare,
    HeartbeatData: Bare,
    KvTable: Bare,
    LockBatchRequest: Bare,
    LockBatchResponse: Bare,
    QueryAssignmentRequest: Bare,
    QueryAssignmentResponse: Bare,
    RegisterBroker: Bare,
    TopicList: Bare,
    TopicRouteData: Quoted,
}
