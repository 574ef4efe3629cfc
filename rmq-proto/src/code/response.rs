codes! {
    /// How a request went (wire §4.4).
    ///
    /// ```
    /// use rmq_proto::code::ResponseCode;
    ///
    /// assert_eq!(ResponseCode::SYSTEM_BUSY.to_string(), "SYSTEM_BUSY (2)");
    /// assert_eq!(ResponseCode(999).to_string(), "(999)");
    /// ```
    ResponseCode {
        /// It went well.
        SUCCESS = 0,
        /// A failure without a code of its own; the remark says which.
        SYSTEM_ERROR = 1,
        /// Flow control: the server has too much to do. Another broker may do it.
        SYSTEM_BUSY = 2,
        /// An old server, a proxy or the wrong port: the request is unknown there.
        REQUEST_CODE_NOT_SUPPORTED = 3,
        /// Not used today.
        TRANSACTION_FAILED = 4,
        /// Send: stored, but not known to be on disk.
        FLUSH_DISK_TIMEOUT = 10,
        /// Send: stored, but there is no slave. Else: the request went to a slave.
        SLAVE_NOT_AVAILABLE = 11,
        /// Send: stored, but not known to be on a slave.
        FLUSH_SLAVE_TIMEOUT = 12,
        /// The message breaks a rule: too large, a bad timer, a batch to a retry topic.
        MESSAGE_ILLEGAL = 13,
        /// The disk is full, or the broker is a slave or shuts down.
        SERVICE_NOT_AVAILABLE = 14,
        /// A proxy misses the broker's name.
        VERSION_NOT_SUPPORTED = 15,
        /// The topic, broker or group may not be used so, or by these credentials.
        NO_PERMISSION = 16,
        /// Name server: no route. Broker: no topic, and it creates none by itself.
        TOPIC_NOT_EXIST = 17,
        /// The topic is there already.
        TOPIC_EXIST_ALREADY = 18,
        /// Pull: no new message.
        PULL_NOT_FOUND = 19,
        /// Pull: no message passed the filter; pull on.
        PULL_RETRY_IMMEDIATELY = 20,
        /// Pull: the offset is out of range; the response says where to go on.
        PULL_OFFSET_MOVED = 21,
        /// No offset of this group, or no message of this key.
        QUERY_NOT_FOUND = 22,
        /// The filter expression is wrong.
        SUBSCRIPTION_PARSE_FAILED = 23,
        /// The broker knows no such subscription: it misses a heartbeat.
        SUBSCRIPTION_NOT_EXIST = 24,
        /// The broker's subscription is older than ours: it misses a heartbeat.
        SUBSCRIPTION_NOT_LATEST = 25,
        /// No such group, and the broker creates none by itself.
        SUBSCRIPTION_GROUP_NOT_EXIST = 26,
        /// The SQL filter is not compiled yet.
        FILTER_DATA_NOT_EXIST = 27,
        /// The SQL filter is older than ours.
        FILTER_DATA_NOT_LATEST = 28,
        /// A bad queue id or topic name. Brokers before 5.3.2 say SYSTEM_ERROR.
        INVALID_PARAMETER = 29,
        /// Legacy.
        TRANSACTION_SHOULD_COMMIT = 200,
        /// Legacy.
        TRANSACTION_SHOULD_ROLLBACK = 201,
        /// Legacy. The name is spelled so.
        TRANSACTION_STATE_UNKNOW = 202,
        /// Legacy.
        TRANSACTION_STATE_GROUP_WRONG = 203,
        /// Legacy.
        NO_BUYER_ID = 204,
        /// The message belongs to another unit.
        NOT_IN_CURRENT_UNIT = 205,
        /// The consumer is not connected.
        CONSUMER_NOT_ONLINE = 206,
        /// A consumer took too long to answer what an admin asked.
        CONSUME_MSG_TIMEOUT = 207,
        /// Ack: the offset lies outside the queue.
        NO_MESSAGE = 208,
        /// Pop: too many wait already.
        POLLING_FULL = 209,
        /// Pop: nothing came in time.
        POLLING_TIMEOUT = 210,
        /// No such broker.
        BROKER_NOT_EXIST = 211,
        /// The broker is still indexing its messages.
        BROKER_DISPATCH_NOT_COMPLETE = 212,
        /// The group consumes by broadcast and has no offsets on brokers.
        BROADCAST_CONSUMPTION = 213,
        /// A broker's plug-in holds sends back.
        FLOW_CONTROL = 215,
        /// The queue is led by another broker now: ask for the route.
        NOT_LEADER_FOR_QUEUE = 501,
        /// The recall or the end of the transaction is refused.
        ILLEGAL_OPERATION = 604,
        /// The server is shutting down: go to another (wire §9.4).
        GO_AWAY = 1500,
        // Of calls between brokers; may leak through.
        RPC_UNKNOWN = -1000,
        RPC_ADDR_IS_NULL = -1002,
        RPC_SEND_TO_CHANNEL_FAILED = -1004,
        RPC_TIME_OUT = -1006,
        // Of the controller, which clients do not talk to.
        CONTROLLER_FENCED_MASTER_EPOCH = 2000,
        CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH = 2001,
        CONTROLLER_INVALID_MASTER = 2002,
        CONTROLLER_INVALID_REPLICAS = 2003,
        CONTROLLER_MASTER_NOT_AVAILABLE = 2004,
        CONTROLLER_INVALID_REQUEST = 2005,
        CONTROLLER_BROKER_NOT_ALIVE = 2006,
        CONTROLLER_NOT_LEADER = 2007,
        CONTROLLER_BROKER_METADATA_NOT_EXIST = 2008,
        CONTROLLER_INVALID_CLEAN_BROKER_METADATA = 2009,
        CONTROLLER_BROKER_NEED_TO_BE_REGISTERED = 2010,
        CONTROLLER_MASTER_STILL_EXIST = 2011,
        CONTROLLER_ELECT_MASTER_FAILED = 2012,
        CONTROLLER_ALTER_SYNC_STATE_SET_FAILED = 2013,
        CONTROLLER_BROKER_ID_INVALID = 2014,
        CONTROLLER_JRAFT_INTERNAL_ERROR = 2015,
        CONTROLLER_BROKER_LIVE_INFO_NOT_EXISTS = 2016,
        // Of the administration of users.
        /// No such user.
        USER_NOT_EXIST = 3001,
        /// No such policy.
        POLICY_NOT_EXIST = 3002,
    }
}
