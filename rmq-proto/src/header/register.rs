use alloc::borrow::Cow;

headers! {
    /// Registers a broker and its topics at a name server: REGISTER_BROKER (103), wire §5.25. No business of clients; for
    /// servers in tests.
    pub struct RegisterBrokerHeader<'a> {
        /// The broker's name.
        broker_name: Cow<'a, str> = "brokerName",
        /// Its address, `ip:port`.
        broker_address: Cow<'a, str> = "brokerAddr",
        /// Its cluster.
        cluster: Cow<'a, str> = "clusterName",
        /// Its id among the brokers of its name; 0 is the master.
        broker_id: i64 = "brokerId",
        /// The address that its slaves connect to, `ip:port`.
        ha_address: Option<Cow<'a, str>> = "haServerAddr",
        /// Whether the body is compressed; false by default. Old brokers do not send it.
        compressed: Option<bool> = "compressed",
        /// CRC-32 of the body without its top bit. Old brokers do not send it.
        body_crc32: Option<i32> = "bodyCrc32",
        /// Whether a slave may act for a lost master. Brokers since 5.0.
        enable_acting_master: Option<bool> = "enableActingMaster",
    }
}
