use alloc::borrow::Cow;

headers! {
    /// Pulls messages from a queue: PULL_MESSAGE (11) and LITE_PULL_MESSAGE (361, brokers since 5.0), wire §5.3.
    pub struct PullMessageHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// The queue.
        queue_id: i32 = "queueId",
        /// The queue offset to begin at.
        queue_offset: i64 = "queueOffset",
        /// Most messages wanted. The broker has its own cap.
        max_messages: i32 = "maxMsgNums",
        /// Bits of [`PullSysFlag`].
        sys_flag: i32 = "sysFlag",
        /// The queue offset to commit. Means nothing without [`PullSysFlag::COMMIT_OFFSET`]; Java then sends 0 or -1.
        commit_offset: i64 = "commitOffset",
        /// How long the broker may hold the request until a message comes, in milliseconds; with [`PullSysFlag::SUSPEND`].
        /// The answer may come some 5 seconds later still.
        suspend_timeout: i64 = "suspendTimeoutMillis",
        /// What to select; with [`PullSysFlag::SUBSCRIPTION`]. Without, the broker goes by the heartbeat's.
        subscription: Option<Cow<'a, str>> = "subscription",
        /// The subscription's version, as in the heartbeat; 0 will do when the subscription stands here.
        subscription_version: i64 = "subVersion",
        /// Most bytes of messages wanted. Brokers since 5.0.
        max_bytes: Option<i32> = "maxMsgBytes",
        /// What `subscription` is written in: `TAG` by default, or `SQL92`.
        expression_type: Option<Cow<'a, str>> = "expressionType",
        /// Who asks: -1, the default, is a client; 0 to 2 are of proxies.
        request_source: Option<i32> = "requestSource",
        /// The client that a proxy asks for. The wire name is misspelled so.
        proxied_client_id: Option<Cow<'a, str>> = "proxyFrowardClientId",
        /// The name of the broker that is meant; proxies need it (wire §5.0).
        broker_name: Option<Cow<'a, str>> = "bname",
    }

    /// How a pull went: the answer to requests 11 and 361 with code 0, 19, 20 or 21, wire §5.3.
    pub struct PullResponseHeader {
        /// The id of the broker, of those with the queue's name, to pull from next. 0 is the master.
        suggested_broker_id: i64 = "suggestWhichBrokerId",
        /// The queue offset to go on at.
        next_begin_offset: i64 = "nextBeginOffset",
        /// The queue's lowest offset.
        min_offset: i64 = "minOffset",
        /// The queue's end: the offset of the message to come.
        max_offset: i64 = "maxOffset",
        /// What to add to the queue offset of each message, for static topics. Brokers since 5.0.
        offset_delta: Option<i64> = "offsetDelta",
        /// Bits of the topic (wire §9.6). 4.9.7 never sends it, 5.3.3 always.
        topic_sys_flag: Option<i32> = "topicSysFlag",
        /// Bits of the group. 4.9.7 never sends it, 5.3.3 always.
        group_sys_flag: Option<i32> = "groupSysFlag",
        /// With code 16, what may not be read: see [`ForbiddenType`].
        forbidden_type: Option<i32> = "forbiddenType",
    }
}

/// The bits of a pull's `sysFlag` (wire §5.3).
///
/// ```
/// use rmq_proto::header::PullSysFlag;
///
/// let flag = PullSysFlag::SUSPEND.with(PullSysFlag::COMMIT_OFFSET);
/// assert_eq!(i32::from(flag), 3);
/// assert!(flag.has(PullSysFlag::SUSPEND) && !flag.has(PullSysFlag::SUBSCRIPTION));
/// // Slaves keep no offsets.
/// assert_eq!(flag.without(PullSysFlag::COMMIT_OFFSET), PullSysFlag::SUSPEND);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct PullSysFlag(pub i32);

impl PullSysFlag {
    /// Commits `commitOffset`. Must not go to a slave.
    pub const COMMIT_OFFSET: Self = Self(0x1);
    /// The broker may hold the request if there is no message (long polling).
    pub const SUSPEND: Self = Self(0x2);
    /// `subscription` stands in the request.
    pub const SUBSCRIPTION: Self = Self(0x4);
    /// A filter by class; obsolete.
    pub const CLASS_FILTER: Self = Self(0x8);
    /// A lite pull. The code must be 361.
    pub const LITE_PULL: Self = Self(0x10);

    /// These bits and those.
    #[must_use]
    pub const fn with(self, bits: Self) -> Self {
        Self(self.0 | bits.0)
    }

    /// These bits but not those.
    #[must_use]
    pub const fn without(self, bits: Self) -> Self {
        Self(self.0 & !bits.0)
    }

    /// Whether all those bits are among these.
    pub const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }
}

impl From<PullSysFlag> for i32 {
    fn from(flag: PullSysFlag) -> Self {
        flag.0
    }
}

impl From<i32> for PullSysFlag {
    fn from(flag: i32) -> Self {
        Self(flag)
    }
}

/// What a broker refuses to be read, in the `forbiddenType` of a pull that failed with code 16 (wire §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForbiddenType {
    /// The whole broker.
    Broker = 1,
    /// By this group.
    Group = 2,
    /// The topic.
    Topic = 3,
    /// By broadcasting.
    Broadcasting = 4,
    /// With this subscription.
    Subscription = 5,
}

impl ForbiddenType {
    /// What the number means, if anything.
    pub const fn from_i32(number: i32) -> Option<Self> {
        match number {
            1 => Some(Self::Broker),
            2 => Some(Self::Group),
            3 => Some(Self::Topic),
            4 => Some(Self::Broadcasting),
            5 => Some(Self::Subscription),
            _ => None,
        }
    }

    /// The number on the wire.
    pub const fn to_i32(self) -> i32 {
        self as i32
    }
}
