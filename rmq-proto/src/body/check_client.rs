//! The question whether a broker accepts a subscription (wire §5.13).

use alloc::string::String;

use super::subscription::SubscriptionData;

objects! {
    /// The body of CHECK_CLIENT_CONFIG, asked before a subscription by a condition (wire §5.13).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CheckClientConfig {
        /// The client.
        client_id: String = required "clientId",
        /// Its group of consumers.
        group: String = required "group",
        /// The namespace, if there is one.
        namespace: Option<String> = "namespace",
        /// What is to be checked.
        subscription: SubscriptionData = required "subscriptionData",
    }
}
