use alloc::borrow::Cow;

headers! {
    /// Asks a name server for one value: GET_KV_CONFIG (101), wire §5.20. The namespace `ORDER_TOPIC_CONFIG` holds the queues
    /// of ordered topics.
    pub struct GetKvHeader<'a> {
        /// The name server's own kind of namespace.
        namespace: Cow<'a, str> = "namespace",
        /// The key.
        key: Cow<'a, str> = "key",
    }

    /// The value: the answer to request 101 with code 0, wire §5.20. Without a value the code is 22.
    pub struct KvResponseHeader<'a> {
        /// The value.
        value: Cow<'a, str> = "value",
    }

    /// Asks a name server for all values of a namespace: GET_KVLIST_BY_NAMESPACE (219), wire §4.1. They come in the
    /// response's body.
    pub struct GetKvListHeader<'a> {
        /// The name server's own kind of namespace.
        namespace: Cow<'a, str> = "namespace",
    }
}
