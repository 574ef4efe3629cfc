//! Which release the model behaves like.

use std::fmt;
use std::str::FromStr;

use rmq_proto::code::ResponseCode;

/// The release whose answers the model gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// Like servers of release 4.9.7.
    V4_9,
    /// Like servers of release 5.3.3.
    #[default]
    V5_3,
}

impl Profile {
    /// Both, the older one first: what a test goes through.
    pub const ALL: [Self; 2] = [Self::V4_9, Self::V5_3];

    pub(crate) const fn rules(self) -> &'static ProfileRules {
        match self {
            Self::V4_9 => &V4_9,
            Self::V5_3 => &V5_3,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4_9 => "4.9",
            Self::V5_3 => "5.3",
        })
    }
}

/// A text that names no [`Profile`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no profile: the model knows 4.9 and 5.3")]
pub struct ProfileError {
    /// What was given.
    pub text: String,
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.to_string() == text)
            .ok_or_else(|| ProfileError { text: text.to_owned() })
    }
}

/// What the releases do differently (wire §10). A row without a section was seen on the real servers, 4.9.7 and 5.3.3.
#[derive(Debug)]
pub(crate) struct ProfileRules {
    /// What the servers say about themselves (wire §1.6, §5.6).
    pub(crate) version: i32,
    /// Where the remark of "topic not found" sends the reader (wire §5.2).
    pub(crate) faq: &'static str,
    /// Code of an illegal topic name or queue (wire §10 row 16).
    pub(crate) invalid_parameter: ResponseCode,
    /// Whether topic configurations have attributes, as the remark of an illegal queue shows (wire §5.1).
    pub(crate) topic_attributes: bool,
    /// `enableActingMaster` of each broker in a route (wire §2.5).
    pub(crate) acting_master: Option<bool>,
    /// Whether the name server answers codes that it does not serve. Brokers of both do (wire §1.4).
    pub(crate) name_server_refuses_codes: bool,
    /// Whether an answer has the header format of its request, unless an exception made it (wire §3.3).
    pub(crate) mirrors_format: bool,
    /// Whether heartbeats are answered with the two fields of the second heartbeat (wire §10 row 18).
    pub(crate) heartbeat_fields: bool,
    /// Whether sends are answered with `transactionId` (wire §10 row 32), and half messages have it as a property (wire §6.4).
    pub(crate) transaction_id: bool,
    /// Whether a check names topic and broker (wire §5.15).
    pub(crate) names_in_checks: bool,
    /// Whether a message without body is refused (wire §5.1); 4.9.7 stores it.
    pub(crate) refuses_empty_body: bool,
    /// Whether a batch to a retry topic is refused; 4.9.7 stores it.
    pub(crate) refuses_retry_batches: bool,
    /// Whether a batch over the largest body is refused as an illegal message; 5.3.3 fails over it.
    pub(crate) checks_batch_len: bool,
    /// Whether records get `MSG_REGION` and `TRACE_ON` (wire §10 row 37) and, if it is missing, `UNIQ_KEY`, and lose
    /// `POP_CK` (wire §5.1).
    pub(crate) completes_properties: bool,
    /// Whether records keep `WAIT` (wire §5.1).
    pub(crate) stores_wait: bool,
    /// Whether access is controlled by ACL 2 and denied with code 16, or else by ACL 1 and with code 1 (wire §8.4).
    pub(crate) acl_2: bool,
    /// Whether messages can have timers, and be recalled.
    pub(crate) timers: bool,
    /// Whether the properties of a record end with the separator (wire §10 row 8).
    pub(crate) trailing_separator: bool,
    /// Whether answers to pulls have `topicSysFlag` and `groupSysFlag`, and refusals `forbiddenType` (wire §5.3).
    pub(crate) pull_flags: bool,
    /// Whether the answer with a queue's start has a remark, an empty one.
    pub(crate) min_offset_remark: bool,
    /// Whether a group with a name that breaks the rules never comes into being.
    pub(crate) checks_group_names: bool,
    /// The delay level of a send to a retry topic that becomes a dead letter; 4.9.7 leaves it the one that it has, and
    /// the dead letter waits for that first.
    pub(crate) dead_letter_level: Option<&'static str>,
}

const V4_9: ProfileRules = ProfileRules {
    version: 407,
    faq: "http://rocketmq.apache.org/docs/faq/",
    invalid_parameter: ResponseCode::SYSTEM_ERROR,
    topic_attributes: false,
    acting_master: None,
    name_server_refuses_codes: false,
    mirrors_format: true,
    heartbeat_fields: false,
    transaction_id: false,
    names_in_checks: false,
    refuses_empty_body: false,
    refuses_retry_batches: false,
    checks_batch_len: true,
    completes_properties: false,
    stores_wait: false,
    acl_2: false,
    timers: false,
    trailing_separator: false,
    pull_flags: false,
    min_offset_remark: false,
    checks_group_names: false,
    dead_letter_level: None,
};

const V5_3: ProfileRules = ProfileRules {
    version: 479,
    faq: "https://rocketmq.apache.org/docs/bestPractice/06FAQ",
    invalid_parameter: ResponseCode::INVALID_PARAMETER,
    topic_attributes: true,
    acting_master: Some(false),
    name_server_refuses_codes: true,
    mirrors_format: false,
    heartbeat_fields: true,
    transaction_id: true,
    names_in_checks: true,
    refuses_empty_body: true,
    refuses_retry_batches: true,
    checks_batch_len: false,
    completes_properties: true,
    stores_wait: true,
    acl_2: true,
    timers: true,
    trailing_separator: true,
    pull_flags: true,
    min_offset_remark: true,
    checks_group_names: true,
    dead_letter_level: Some("-1"),
};
