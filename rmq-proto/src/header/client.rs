use alloc::borrow::Cow;

headers! {
    /// Takes one group of a client off a broker: UNREGISTER_CLIENT (35), wire §5.7. One of the groups, never both. The
    /// response has no fields.
    pub struct UnregisterHeader<'a> {
        /// The client's id.
        client_id: Cow<'a, str> = "clientID",
        /// A group of producers.
        producer_group: Option<Cow<'a, str>> = "producerGroup",
        /// A group of consumers.
        consumer_group: Option<Cow<'a, str>> = "consumerGroup",
    }

    /// Asks a broker for the ids of a group's consumers: GET_CONSUMER_LIST_BY_GROUP (38), wire §5.8. The ids come in the
    /// response's body.
    pub struct GetConsumerListHeader<'a> {
        /// The consumers' group.
        consumer_group: Cow<'a, str> = "consumerGroup",
    }
}
