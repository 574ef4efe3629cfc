headers! {
    /// The answer to HEART_BEAT (34), wire §5.6. Brokers before 5.1.3 send none of its fields.
    pub struct HeartbeatResponseHeader {
        /// Whether the broker understands heartbeats of the second kind (wire §9.5).
        supports_v2: Option<bool> = "IS_SUPPORT_HEART_BEAT_V2",
        /// Whether the heartbeat changed a subscription.
        subscription_changed: Option<bool> = "IS_SUB_CHANGE",
    }
}
