use core::ops::RangeInclusive;

use super::Version;

/// The end of what no release took back.
const LATEST: Version = Version(i32::MAX);

/// Each row is a feature and the versions that have it.
macro_rules! features {
    ($( $(#[$doc:meta])* $name:ident = [$($range:expr),+], )*) => {
        /// What depends on a peer's version: on a server's, what it can do or does its own way; on a client's, what servers
        /// take it to do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Feature {
            $( $(#[$doc])* $name, )*
        }

        impl Feature {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The versions that have the feature, in order.
            pub(super) const fn ranges(self) -> &'static [RangeInclusive<Version>] {
                match self {
                    $( Self::$name => {
                        const RANGES: &[RangeInclusive<Version>] = &[$($range),+];
                        RANGES
                    } )*
                }
            }
        }
    };
}

features! {
    // Of name servers.
    /// Name server: can write routes as standard JSON. Client: is taken to read them. Both are needed, or the client's
    /// `acceptStandardJsonOnly` (wire §1.6, §10 row 1).
    StandardRouteJson = [Version::release(4, 9, 4)..=LATEST],
    /// Its routes call the topic's flags `topicSysFlag`; before, `topicSynFlag` (wire §10 row 17).
    TopicSysFlagInRoutes = [Version::release(4, 9, 0)..=LATEST],

    // Of brokers: requests and fields.
    /// Can select messages by SQL92, if its configuration lets it (wire §1.6, §10 row 24).
    Sql92 = [Version(232)..=LATEST],
    /// Carries replies to requests: codes 324 and 325 (wire §4.1).
    Replies = [Version::release(4, 6, 0)..=LATEST],
    /// Stores hosts with IPv6 addresses (wire §10 row 10).
    Ipv6Hosts = [Version::release(4, 6, 0)..=LATEST],
    /// Knows how a body is compressed, so that it need not be zlib (wire §6.3, §10 row 11).
    CompressionTypes = [Version::release(4, 9, 4)..=LATEST],
    /// Reads the broker's name from sends; 5.0 does not (wire §5.1, §10 row 12).
    BrokerNameInSends = [
        Version::release(4, 9, 5)..=Version::release(4, 9, 9),
        Version::release(5, 1, 0)..=LATEST
    ],
    /// Pulls for lite consumers: code 361 (wire §10 row 19).
    LitePull = [Version::release(5, 0, 0)..=LATEST],
    /// Pops, acknowledges and assigns queues: codes 400, 200050, 200051 and 200053 (wire §5.18).
    Pop = [Version::release(5, 0, 0)..=LATEST],
    /// Takes many acknowledgements at once: code 200151 (wire §5.18).
    BatchAck = [Version::release(5, 1, 3)..=LATEST],
    /// Takes a timer message back: code 370 (wire §5.19).
    RecallMessage = [Version::release(5, 3, 2)..=LATEST],
    /// Delivers messages at a time, not only after a level's delay (wire §6.4).
    TimerMessages = [Version::release(5, 0, 0)..=LATEST],
    /// Can be told not to answer 0 for a group that has no offset: `setZeroIfNotFound` (wire §5.4, §10 row 22).
    SetZeroIfNotFound = [Version::release(5, 0, 0)..=LATEST],
    /// Finds the upper boundary of an offset by time: `boundaryType` (wire §5.4, §10 row 21).
    BoundaryType = [Version::release(5, 2, 0)..=LATEST],
    /// Answers heartbeats of version 2 (wire §9.5, §10 row 18).
    HeartbeatV2 = [Version::release(5, 1, 3)..=LATEST],
    /// Gives topics attributes (wire §5.12).
    TopicAttributes = [Version::release(5, 0, 0)..=LATEST],
    /// Answers a batch that it stored as one record with the batch's own id (wire §5.1, §10 row 23).
    BatchUniqueId = [Version::release(5, 0, 0)..=LATEST],

    // Of brokers: bytes.
    /// Writes records with topics of more than 127 bytes (wire §6.1, §10 row 9).
    V2Records = [Version::release(5, 0, 0)..=LATEST],
    /// Leaves the last separator of stored properties out (wire §6.4, §10 row 8).
    NoLastPropertySeparator = [Version::release(4, 9, 1)..=Version::release(5, 1, 4)],
    /// Answers in the format of the request; others may not (wire §10 row 4).
    AnswersInFormatOfRequest = [Version::release(4, 9, 4)..=Version::release(4, 9, 8)],
    /// Takes an empty value in a binary header for none (wire §10 row 6).
    EmptyValueIsNone = [Version::release(4, 9, 4)..=LATEST],
    /// Knows the language `RUST`; others read it as none (wire §1.5, §10 row 7).
    LanguageRust = [Version::release(4, 9, 4)..=LATEST],

    // Of brokers: codes and signatures.
    /// May send clients away while it shuts down, with code 1500. Not all of them: see
    /// [`Version::sends_away`] (wire §9.4, §10 row 28).
    GoAway = [Version::release(5, 2, 0)..=LATEST],
    /// Answers a bad topic or queue with code 29; before, with 1 (wire §10 row 16).
    InvalidParameter = [Version::release(5, 3, 2)..=LATEST],
    /// Can have ACL of version 1, which refuses with code 1 (wire §8.4, §10 row 15).
    AclV1 = [Version::release(4, 4, 0)..=Version::release(5, 3, 2)],
    /// Can have ACL of version 2, which refuses with code 16 (wire §8.4, §10 row 15).
    AclV2 = [Version::release(5, 3, 0)..=LATEST],
    /// Has `_UNIQUE_KEY_QUERY` outside of the signature, whoever asks (wire §8.2).
    UnsignedUniqueKeyQuery = [Version::release(4, 7, 0)..=Version(432)],

    // Of clients, as servers see them.
    /// Client: has `_UNIQUE_KEY_QUERY` in the signature. Brokers look at it since 5.1.0 (wire §1.6, §8.2).
    SignsUniqueKeyQuery = [Version(400)..=LATEST],
    /// Client: says itself how often a message may be consumed (wire §1.6).
    MaxReconsumeTimes = [Version(121)..=LATEST],
    /// Client: can be told to reset its offsets (wire §1.6).
    ResetOffset = [Version(28)..=LATEST],
    /// Client: can be asked how it runs, and to consume a message directly (wire §1.6).
    RunningInfo = [Version(62)..=LATEST],
}
