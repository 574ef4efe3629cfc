use alloc::borrow::Cow;

headers! {
    /// Takes one group of a client off a broker: UNREGISTER_CLIENT (35), wire §5.7. One of the groups, never both.
    pub struct UnregisterHeader<'a> {
        /// The client's id.
        client_id: Cow<'a, str> = "clientID",
        /// A group of producers.
        producer_group: Option<Cow<'a, str>> = "producerGroup",
        /// A group of consumers.
        consumer_group: Option<Cow<'a, str>> = "consumerGroup",
    }
}
