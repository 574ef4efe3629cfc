//! What versions of Java do not know. A row that is wrong fails: what stands here must not be read by an older version.

/// A release: 5.3.3 is `Version(5, 3, 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u32, u32, u32);

impl Version {
    pub(crate) fn of(text: &str) -> Self {
        let numbers: Vec<_> = text.split('.').map(|number| number.parse().expect("a number")).collect();
        let [major, minor, patch] = numbers[..] else { panic!("no version: {text}") };
        Self(major, minor, patch)
    }
}

/// No version has it.
const NEVER: Version = Version(u32::MAX, 0, 0);

/// Classes, and the first version that has them.
const CLASSES: &[(&str, Version)] = &[
    // Not read itself: records whose topic's length has two bytes came with it (wire §6.1).
    ("MessageVersion", Version(5, 0, 0)),
    ("AckMessageRequestHeader", Version(5, 0, 0)),
    ("BatchAckMessageRequestBody", Version(5, 0, 0)),
    ("ChangeInvisibleTimeRequestHeader", Version(5, 0, 0)),
    ("ChangeInvisibleTimeResponseHeader", Version(5, 0, 0)),
    ("ExtraInfoUtil", Version(5, 0, 0)),
    ("KeyBuilder", Version(5, 0, 0)),
    ("PopMessageRequestHeader", Version(5, 0, 0)),
    ("PopMessageResponseHeader", Version(5, 0, 0)),
    ("QueryAssignmentRequestBody", Version(5, 0, 0)),
    ("QueryAssignmentResponseBody", Version(5, 0, 0)),
    ("RecallMessageHandle", Version(5, 3, 2)),
    ("RecallMessageHandle$HandleV1", Version(5, 3, 2)),
    ("RecallMessageRequestHeader", Version(5, 3, 2)),
    ("RecallMessageResponseHeader", Version(5, 3, 2)),
];

/// Fields and members of classes, and the first version that has them: as the spec says it, or 5.0.0 for some 5.x.
const FIELDS: &[(&str, &str, Version)] = &[
    ("CheckClientRequestBody", "namespace", Version(5, 0, 0)),
    ("CheckTransactionStateRequestHeader", "topic", Version(5, 3, 0)),
    ("ClusterInfo", "enableActingMaster", Version(5, 0, 0)),
    ("ClusterInfo", "zoneName", Version(5, 0, 0)),
    ("ConsumeMessageDirectlyResultRequestHeader", "groupSysFlag", Version(5, 0, 0)),
    ("ConsumeMessageDirectlyResultRequestHeader", "topic", Version(5, 0, 0)),
    ("ConsumeMessageDirectlyResultRequestHeader", "topicSysFlag", Version(5, 0, 0)),
    ("ConsumerRunningInfo", "mqPopTable", Version(5, 0, 0)),
    ("ConsumerRunningInfo", "userConsumerInfo", Version(5, 0, 0)),
    ("CreateTopicRequestHeader", "attributes", Version(5, 0, 0)),
    ("CreateTopicRequestHeader", "force", Version(5, 0, 0)),
    ("EndTransactionRequestHeader", "topic", Version(5, 3, 0)),
    ("GetMaxOffsetRequestHeader", "committed", Version(5, 0, 0)),
    ("HeartbeatData", "heartbeatFingerprint", Version(5, 1, 3)),
    ("HeartbeatData", "withoutSub", Version(5, 1, 3)),
    ("LockBatchRequestBody", "onlyThisBroker", Version(5, 0, 0)),
    ("PullMessageRequestHeader", "maxMsgBytes", Version(5, 0, 0)),
    ("PullMessageRequestHeader", "proxyFrowardClientId", Version(5, 0, 0)),
    ("PullMessageRequestHeader", "requestSource", Version(5, 0, 0)),
    ("PullMessageResponseHeader", "forbiddenType", Version(5, 0, 0)),
    ("PullMessageResponseHeader", "groupSysFlag", Version(5, 0, 0)),
    ("PullMessageResponseHeader", "offsetDelta", Version(5, 0, 0)),
    ("PullMessageResponseHeader", "topicSysFlag", Version(5, 0, 0)),
    ("QueryConsumerOffsetRequestHeader", "lo", Version(5, 0, 0)),
    ("QueryConsumerOffsetRequestHeader", "ns", Version(5, 0, 0)),
    ("QueryConsumerOffsetRequestHeader", "nsd", Version(5, 0, 0)),
    ("QueryConsumerOffsetRequestHeader", "oway", Version(5, 0, 0)),
    ("QueryConsumerOffsetRequestHeader", "setZeroIfNotFound", Version(5, 0, 0)),
    ("RegisterBrokerBody", "attributes", Version(5, 0, 0)),
    ("RegisterBrokerBody", "mappingDataVersion", Version(5, 0, 0)),
    ("RegisterBrokerBody", "stateVersion", Version(5, 0, 0)),
    ("RegisterBrokerBody", "topicQueueMappingDetailMap", Version(5, 0, 0)),
    ("RegisterBrokerBody", "topicQueueMappingInfoMap", Version(5, 0, 0)),
    ("RegisterBrokerRequestHeader", "enableActingMaster", Version(5, 0, 0)),
    ("ResetOffsetRequestHeader", "offset", Version(5, 0, 0)),
    ("ResetOffsetRequestHeader", "queueId", Version(5, 0, 0)),
    ("SearchOffsetRequestHeader", "boundaryType", Version(5, 2, 0)),
    ("SendMessageResponseHeader", "batchUniqId", Version(5, 0, 0)),
    ("SendMessageResponseHeader", "recallHandle", Version(5, 3, 2)),
    ("TopicRouteData", "enableActingMaster", Version(5, 0, 0)),
    ("TopicRouteData", "topicQueueMappingByBroker", Version(5, 0, 0)),
    ("UnlockBatchRequestBody", "onlyThisBroker", Version(5, 0, 0)),
    ("ViewMessageRequestHeader", "topic", Version(5, 3, 0)),
    // Ext fields beside the header (wire §5.0, §5.1, §5.10).
    ("QueryConsumerOffsetRequestHeader", "ReqT", NEVER),
    ("QueryConsumerOffsetRequestHeader", "__ZONE_MODE", NEVER),
    ("QueryConsumerOffsetRequestHeader", "__ZONE_NAME", NEVER),
    ("QueryMessageRequestHeader", "_UNIQUE_KEY_QUERY", NEVER),
    ("SendMessageResponseHeader", "MSG_REGION", NEVER),
    ("SendMessageResponseHeader", "TRACE_ON", NEVER),
];

/// Constants of a field or member, and the first version that has them; older ones read none.
const CONSTANTS: &[(&str, &str, Version)] =
    &[("consumeType", "CONSUME_POP", Version(5, 0, 0)), ("language", "NODE_JS", Version(5, 3, 2))];

/// Whether the version has no such class.
///
/// `class` may be `Class.method`; a row can name either.
pub(crate) fn class(version: Version, class: &str) -> bool {
    let of_method = class.split('.').next().unwrap_or_default();
    CLASSES.iter().any(|&(name, since)| (name == class || name == of_method) && version < since)
}

/// Whether the version's class has no such field.
pub(crate) fn field(version: Version, class: &str, field: &str) -> bool {
    FIELDS.iter().any(|&(of, name, since)| of == class && name == field && version < since)
}

/// Whether the version does not know the constant that the field has as its value.
pub(crate) fn constant(version: Version, field: &str, constant: &str) -> bool {
    CONSTANTS.iter().any(|&(of, name, since)| of == field && name == constant && version < since)
}
