use alloc::borrow::Cow;

headers! {
    /// What any request may carry beside its own header (wire §5.0). Write and read it as the second half of a pair, like
    /// `(header, common)`.
    ///
    /// Open-source servers act on none of these fields, so by default none is there. What every request does want is the
    /// broker's name, `bname`; it stands in the headers of the requests that go through a proxy or to a static topic. The
    /// fields of a signature (wire §8) are no part of this: they are made from all others.
    #[derive(Default)]
    pub struct CommonHeader<'a> {
        /// The namespace, for servers of vendors (wire §7.4). Clients since 5.2 send it. Names are then not
        /// [wrapped](crate::names::namespace).
        namespace: Option<Cow<'a, str>> = "ns",
        /// Marks topic and groups as those of a namespace; Java sends `true` whenever it sends `ns`.
        namespaced: Option<bool> = "nsd",
        /// Internal to Java: that no answer is waited for. What counts is the command's own flag.
        oneway: Option<bool> = "oway",
        /// Internal to servers: whether the queue id is that of a static topic, not of the broker.
        logical_queue: Option<bool> = "lo",
        /// `0` on every request of a client whose request type is "stream", such as Java's lite pull consumer.
        request_type: Option<Cow<'a, str>> = "ReqT",
        /// The client's zone. Java adds it after signing, which makes signatures wrong: sign it, or leave it out (wire §8.1).
        zone_name: Option<Cow<'a, str>> = "__ZONE_NAME",
        /// Whether routes are to keep to the zone: `true` or not. As for signing, see `zone_name`.
        zone_mode: Option<Cow<'a, str>> = "__ZONE_MODE",
    }
}
