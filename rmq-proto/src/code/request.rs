codes! {
    /// What a request asks for (wire §4.1 to §4.3).
    ///
    /// ```
    /// use rmq_proto::code::RequestCode;
    ///
    /// assert_eq!(RequestCode::HEART_BEAT.to_string(), "HEART_BEAT (34)");
    /// assert_eq!(RequestCode(999).to_string(), "(999)");
    /// ```
    RequestCode {
        // From clients to brokers and name servers (wire §4.1).
        /// Sends a message, with long field names.
        SEND_MESSAGE = 10,
        /// Pulls messages from a queue.
        PULL_MESSAGE = 11,
        /// Finds messages by key.
        QUERY_MESSAGE = 12,
        /// Asks how far a group came in a queue.
        QUERY_CONSUMER_OFFSET = 14,
        /// Stores how far a group came in a queue.
        UPDATE_CONSUMER_OFFSET = 15,
        /// Creates or changes a topic.
        UPDATE_AND_CREATE_TOPIC = 17,
        /// Finds the queue offset at a time.
        SEARCH_OFFSET_BY_TIMESTAMP = 29,
        /// Asks for the end of a queue.
        GET_MAX_OFFSET = 30,
        /// Asks for the start of a queue.
        GET_MIN_OFFSET = 31,
        /// Asks when a queue's first message was stored.
        GET_EARLIEST_MSG_STORETIME = 32,
        /// Reads a message by its offset id.
        VIEW_MESSAGE_BY_ID = 33,
        /// Registers a client's groups and subscriptions.
        HEART_BEAT = 34,
        /// Takes a client's group off a broker.
        UNREGISTER_CLIENT = 35,
        /// Gives a message back, to be consumed later.
        CONSUMER_SEND_MSG_BACK = 36,
        /// Commits or rolls back a half message.
        END_TRANSACTION = 37,
        /// Asks for the client ids of a consumer group.
        GET_CONSUMER_LIST_BY_GROUP = 38,
        /// Locks queues for ordered consumption.
        LOCK_BATCH_MQ = 41,
        /// Unlocks queues.
        UNLOCK_BATCH_MQ = 42,
        /// Lets a broker check a subscription.
        CHECK_CLIENT_CONFIG = 46,
        /// Reads a key of a name server's configuration.
        GET_KV_CONFIG = 101,
        /// Asks a name server for the route of a topic.
        GET_ROUTEINFO_BY_TOPIC = 105,
        /// Asks a name server for all brokers.
        GET_BROKER_CLUSTER_INFO = 106,
        /// Asks a name server for all topics.
        GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206,
        /// Reads all keys of a name server's namespace.
        GET_KVLIST_BY_NAMESPACE = 219,
        /// Asks a name server for the topics of a cluster.
        GET_TOPICS_BY_CLUSTER = 224,
        /// Asks a name server for the system topics.
        GET_SYSTEM_TOPIC_LIST_FROM_NS = 304,
        /// Sends a message, with field names of one letter.
        SEND_MESSAGE_V2 = 310,
        /// Sends a batch of messages.
        SEND_BATCH_MESSAGE = 320,
        /// Sends a reply to a request message, with long field names.
        SEND_REPLY_MESSAGE = 324,
        /// Sends a reply to a request message.
        SEND_REPLY_MESSAGE_V2 = 325,
        /// Pulls messages, for the lite pull consumer.
        LITE_PULL_MESSAGE = 361,
        /// Takes back a timer message that is not yet due.
        RECALL_MESSAGE = 370,
        /// Asks which queues to pop from.
        QUERY_ASSIGNMENT = 400,
        /// Pops messages. Does not fit a binary header.
        POP_MESSAGE = 200050,
        /// Settles a popped message. Does not fit a binary header.
        ACK_MESSAGE = 200051,
        /// Looks at messages without popping them.
        PEEK_MESSAGE = 200052,
        /// Changes when a popped message comes back.
        CHANGE_MESSAGE_INVISIBLETIME = 200053,
        /// Waits for messages to pop.
        NOTIFICATION = 200054,
        /// Asks how many pops wait.
        POLLING_INFO = 200055,
        /// Settles many popped messages.
        BATCH_ACK_MESSAGE = 200151,
        // From brokers to clients (wire §4.2).
        /// Asks the producer how a transaction went. One-way.
        CHECK_TRANSACTION_STATE = 39,
        /// Tells that the consumers of a group changed. One-way.
        NOTIFY_CONSUMER_IDS_CHANGED = 40,
        /// Sets a consumer's offsets. One-way.
        RESET_CONSUMER_CLIENT_OFFSET = 220,
        /// Asks a consumer for its offsets.
        GET_CONSUMER_STATUS_FROM_CLIENT = 221,
        /// Asks a consumer how it is.
        GET_CONSUMER_RUNNING_INFO = 307,
        /// Has a consumer consume a message at once.
        CONSUME_MESSAGE_DIRECTLY = 309,
        /// Brings a reply to the client that asked.
        PUSH_REPLY_MESSAGE_TO_CLIENT = 326,
        // Others, to recognise (wire §4.3).
        QUERY_BROKER_OFFSET = 13,
        UPDATE_AND_CREATE_TOPIC_LIST = 18,
        GET_ALL_TOPIC_CONFIG = 21,
        GET_TOPIC_CONFIG_LIST = 22,
        GET_TOPIC_NAME_LIST = 23,
        UPDATE_BROKER_CONFIG = 25,
        GET_BROKER_CONFIG = 26,
        TRIGGER_DELETE_FILES = 27,
        GET_BROKER_RUNTIME_INFO = 28,
        GET_ALL_CONSUMER_OFFSET = 43,
        GET_ALL_DELAY_OFFSET = 45,
        GET_CLIENT_CONFIG = 47,
        UPDATE_AND_CREATE_ACL_CONFIG = 50,
        DELETE_ACL_CONFIG = 51,
        GET_BROKER_CLUSTER_ACL_INFO = 52,
        UPDATE_GLOBAL_WHITE_ADDRS_CONFIG = 53,
        GET_BROKER_CLUSTER_ACL_CONFIG = 54,
        GET_TIMER_CHECK_POINT = 60,
        GET_TIMER_METRICS = 61,
        PUT_KV_CONFIG = 100,
        DELETE_KV_CONFIG = 102,
        REGISTER_BROKER = 103,
        UNREGISTER_BROKER = 104,
        UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200,
        GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201,
        GET_TOPIC_STATS_INFO = 202,
        GET_CONSUMER_CONNECTION_LIST = 203,
        GET_PRODUCER_CONNECTION_LIST = 204,
        WIPE_WRITE_PERM_OF_BROKER = 205,
        DELETE_SUBSCRIPTIONGROUP = 207,
        GET_CONSUME_STATS = 208,
        SUSPEND_CONSUMER = 209,
        RESUME_CONSUMER = 210,
        RESET_CONSUMER_OFFSET_IN_CONSUMER = 211,
        RESET_CONSUMER_OFFSET_IN_BROKER = 212,
        ADJUST_CONSUMER_THREAD_POOL = 213,
        WHO_CONSUME_THE_MESSAGE = 214,
        DELETE_TOPIC_IN_BROKER = 215,
        DELETE_TOPIC_IN_NAMESRV = 216,
        REGISTER_TOPIC_IN_NAMESRV = 217,
        INVOKE_BROKER_TO_RESET_OFFSET = 222,
        INVOKE_BROKER_TO_GET_CONSUMER_STATUS = 223,
        UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST = 225,
        QUERY_TOPIC_CONSUME_BY_WHO = 300,
        REGISTER_FILTER_SERVER = 301,
        REGISTER_MESSAGE_FILTER_CLASS = 302,
        QUERY_CONSUME_TIME_SPAN = 303,
        GET_SYSTEM_TOPIC_LIST_FROM_BROKER = 305,
        CLEAN_EXPIRED_CONSUMEQUEUE = 306,
        QUERY_CORRECTION_OFFSET = 308,
        GET_UNIT_TOPIC_LIST = 311,
        GET_HAS_UNIT_SUB_TOPIC_LIST = 312,
        GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST = 313,
        CLONE_GROUP_OFFSET = 314,
        VIEW_BROKER_STATS_DATA = 315,
        CLEAN_UNUSED_TOPIC = 316,
        GET_BROKER_CONSUME_STATS = 317,
        UPDATE_NAMESRV_CONFIG = 318,
        GET_NAMESRV_CONFIG = 319,
        QUERY_CONSUME_QUEUE = 321,
        QUERY_DATA_VERSION = 322,
        RESUME_CHECK_HALF_MESSAGE = 323,
        ADD_WRITE_PERM_OF_BROKER = 327,
        GET_ALL_PRODUCER_INFO = 328,
        DELETE_EXPIRED_COMMITLOG = 329,
        QUERY_TOPICS_BY_CONSUMER = 343,
        QUERY_SUBSCRIPTION_BY_CONSUMER = 345,
        GET_TOPIC_CONFIG = 351,
        GET_SUBSCRIPTIONGROUP_CONFIG = 352,
        UPDATE_AND_GET_GROUP_FORBIDDEN = 353,
        CHECK_ROCKSDB_CQ_WRITE_PROGRESS = 354,
        EXPORT_ROCKSDB_CONFIG_TO_JSON = 355,
        SET_MESSAGE_REQUEST_MODE = 401,
        GET_ALL_MESSAGE_REQUEST_MODE = 402,
        UPDATE_AND_CREATE_STATIC_TOPIC = 513,
        GET_BROKER_MEMBER_GROUP = 901,
        ADD_BROKER = 902,
        REMOVE_BROKER = 903,
        BROKER_HEARTBEAT = 904,
        NOTIFY_MIN_BROKER_ID_CHANGE = 905,
        EXCHANGE_BROKER_HA_INFO = 906,
        GET_BROKER_HA_STATUS = 907,
        RESET_MASTER_FLUSH_OFFSET = 908,
        CONTROLLER_ALTER_SYNC_STATE_SET = 1001,
        CONTROLLER_ELECT_MASTER = 1002,
        CONTROLLER_REGISTER_BROKER = 1003,
        CONTROLLER_GET_REPLICA_INFO = 1004,
        CONTROLLER_GET_METADATA_INFO = 1005,
        CONTROLLER_GET_SYNC_STATE_DATA = 1006,
        GET_BROKER_EPOCH_CACHE = 1007,
        NOTIFY_BROKER_ROLE_CHANGED = 1008,
        UPDATE_CONTROLLER_CONFIG = 1009,
        GET_CONTROLLER_CONFIG = 1010,
        CLEAN_BROKER_DATA = 1011,
        CONTROLLER_GET_NEXT_BROKER_ID = 1012,
        CONTROLLER_APPLY_BROKER_ID = 1013,
        BROKER_CLOSE_CHANNEL_REQUEST = 1014,
        CHECK_NOT_ACTIVE_BROKER_REQUEST = 1015,
        GET_BROKER_LIVE_INFO_REQUEST = 1016,
        GET_SYNC_STATE_DATA_REQUEST = 1017,
        RAFT_BROKER_HEART_BEAT_EVENT_REQUEST = 1018,
        UPDATE_COLD_DATA_FLOW_CTR_CONFIG = 2001,
        REMOVE_COLD_DATA_FLOW_CTR_CONFIG = 2002,
        GET_COLD_DATA_FLOW_CTR_INFO = 2003,
        SET_COMMITLOG_READ_MODE = 2004,
        AUTH_CREATE_USER = 3001,
        AUTH_UPDATE_USER = 3002,
        AUTH_DELETE_USER = 3003,
        AUTH_GET_USER = 3004,
        AUTH_LIST_USER = 3005,
        AUTH_CREATE_ACL = 3006,
        AUTH_UPDATE_ACL = 3007,
        AUTH_DELETE_ACL = 3008,
        AUTH_GET_ACL = 3009,
        AUTH_LIST_ACL = 3010,
        POP_ROLLBACK = 200056,
    }
}
