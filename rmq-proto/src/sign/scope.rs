use crate::version::{Feature, Version};

/// Which ext fields a signature is over; `Signature` is never among them (wire §8.1, §8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    /// All.
    #[default]
    All,
    /// All but `_UNIQUE_KEY_QUERY`. It makes a difference to QUERY_MESSAGE alone.
    WithoutUniqueKeyQuery,
}

impl Scope {
    /// What a broker checks of the requests of a client of version `client`.
    ///
    /// A broker that did not tell its version is taken for an old one. Should a broker refuse the signature of a query by
    /// key, the other scope is worth one more try.
    ///
    /// ```
    /// use rmq_proto::sign::Scope;
    /// use rmq_proto::version::Version;
    ///
    /// assert_eq!(Scope::of(Version(407), Version::CURRENT), Scope::WithoutUniqueKeyQuery);
    /// assert_eq!(Scope::of(Version(479), Version::CURRENT), Scope::All);
    /// ```
    pub fn of(broker: Version, client: Version) -> Self {
        let looks_at_client = broker >= Version::release(5, 1, 0);
        if broker.has(Feature::UnsignedUniqueKeyQuery)
            || looks_at_client && !client.has(Feature::SignsUniqueKeyQuery)
        {
            Self::WithoutUniqueKeyQuery
        } else {
            Self::All
        }
    }
}
