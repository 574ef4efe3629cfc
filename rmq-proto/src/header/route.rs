use alloc::borrow::Cow;

headers! {
    /// Asks a name server for the route of a topic: GET_ROUTEINFO_BY_TOPIC (105), wire §5.2.
    pub struct GetRouteHeader<'a> {
        /// The topic.
        topic: Cow<'a, str> = "topic",
        /// Asks for JSON with all keys in quotes. Name servers since 4.9.4 write that anyway for our version (wire §2.4).
        accept_standard_json_only: Option<bool> = "acceptStandardJsonOnly",
    }
}
