//! Who may ask for what, where a cluster has users (wire §8.4). Words and codes are those seen on both releases; 4.9.7 adds
//! to each remark where in its sources it was made, which the model leaves out.

use std::fmt;

use rmq_proto::body::HeartbeatData;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::names::RETRY_PREFIX;
use rmq_proto::sign::{ACCESS_KEY, Scope};

use super::{Broker, Turn};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::user::{Access, User};

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Topic,
    Group,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Topic => "Topic",
            Self::Group => "Group",
        })
    }
}

/// One thing that a user has to be allowed.
#[derive(Clone, Debug)]
struct Need {
    kind: Kind,
    name: String,
    /// None: only an administrator may.
    access: Option<Access>,
}

impl Need {
    fn topic(name: Option<String>, access: impl Into<Option<Access>>) -> Option<Self> {
        Some(Self { kind: Kind::Topic, name: name?, access: access.into() })
    }

    fn group(name: Option<String>) -> Option<Self> {
        Some(Self { kind: Kind::Group, name: name?, access: Some(Access::Subscribe) })
    }

    fn is_met_by(&self, user: &User) -> bool {
        let has = match self.kind {
            Kind::Topic => user.topic_access(&self.name),
            Kind::Group => user.group_access(&self.name),
        };
        has.zip(self.access).is_some_and(|(has, wanted)| has.covers(wanted))
    }
}

/// Why a request is not served.
enum Refusal {
    NoKey,
    UnknownUser(String),
    Signature(String),
    Denied { user: String, code: i32, need: Need },
}

impl Refusal {
    /// The words of 4.9.7.
    fn in_acl_1(&self) -> String {
        match self {
            Self::NoKey => "No accessKey is configured".into(),
            Self::UnknownUser(user) => format!("No acl config for {user}"),
            Self::Signature(user) => format!("Check signature failed for accessKey={user}"),
            Self::Denied { user, code, need: Need { access: None, .. } } => {
                format!("Need admin permission for request code={code}, but accessKey={user} is not")
            }
            Self::Denied { need: Need { kind, name, .. }, .. } => {
                format!("No default permission for {}:{name}", kind.to_string().to_lowercase())
            }
        }
    }

    /// The words of 5.3.3. `from` is the client's address without its port.
    fn in_acl_2(&self, from: &str) -> String {
        match self {
            Self::NoKey => "username cannot be null.".into(),
            Self::UnknownUser(user) => format!("User:{user} is not found."),
            Self::Signature(_) => "check signature failed.".into(),
            Self::Denied { user, need: Need { kind, name, .. }, .. } => {
                format!(
                    "User:{user} has no permission to access {kind}:{name} from {from}, the decision is deny."
                )
            }
        }
    }
}

impl Broker {
    /// The answer to a request that is not allowed.
    pub(super) fn denied(&self, turn: &Turn<'_>, request: &RemotingCommand) -> Option<Answer> {
        if self.users.is_empty() {
            return None;
        }
        let refusal = self.check_access(request).err()?;
        Some(if self.rules.acl_2 {
            let remark = refusal.in_acl_2(&turn.from.ip().to_string());
            Answer::error(ResponseCode::NO_PERMISSION, AnswerExt::Absent, remark)
        } else {
            let remark = refusal.in_acl_1();
            Answer::exception(format!("org.apache.rocketmq.acl.common.AclException: {remark}"))
        })
    }

    fn check_access(&self, request: &RemotingCommand) -> Result<(), Refusal> {
        let key = request.ext.value(ACCESS_KEY).filter(|key| !key.is_empty()).ok_or(Refusal::NoKey)?;
        let key = key.into_owned();
        let Some(user) = self.users.iter().find(|user| user.credentials().access_key() == key) else {
            return Err(Refusal::UnknownUser(key));
        };
        if user.credentials().verify(Scope::All, &request.ext, &request.body).is_err() {
            return Err(Refusal::Signature(key));
        }
        if user.is_admin() {
            return Ok(());
        }
        match self.needs(request).into_iter().find(|need| !need.is_met_by(user)) {
            Some(need) => Err(Refusal::Denied { user: key, code: request.code, need }),
            None => Ok(()),
        }
    }

    /// What has to be allowed for a request; nothing for those that are not here.
    fn needs(&self, request: &RemotingCommand) -> Vec<Need> {
        let field = |name: &str| request.ext.value(name).map(String::from);
        let send = |topic: &str, group: &str| match field(topic) {
            // Not the group whose retries these are is looked at, but that of their producer (case I6 of either release).
            Some(topic) if topic.starts_with(RETRY_PREFIX) => Need::group(field(group)),
            topic => Need::topic(topic, Access::Publish),
        };
        let needs = match RequestCode(request.code) {
            RequestCode::SEND_MESSAGE => [send("topic", "producerGroup"), None],
            RequestCode::SEND_MESSAGE_V2 | RequestCode::SEND_BATCH_MESSAGE => [send("b", "a"), None],
            RequestCode::CONSUMER_SEND_MSG_BACK => {
                let origin = field("originTopic").filter(|_| !self.rules.acl_2);
                [Need::group(field("group")), Need::topic(origin, Access::Publish)]
            }
            // Its topic is there for this.
            RequestCode::END_TRANSACTION if self.rules.acl_2 => {
                [Need::topic(field("topic"), Access::Publish), None]
            }
            RequestCode::UNREGISTER_CLIENT => [Need::group(field("consumerGroup")), None],
            RequestCode::UPDATE_AND_CREATE_TOPIC => [Need::topic(field("topic"), None), None],
            RequestCode::GET_MAX_OFFSET if self.rules.acl_2 => [Need::topic(field("topic"), None), None],
            RequestCode::HEART_BEAT => return needs_of_consumers(request),
            _ => [None, None],
        };
        needs.into_iter().flatten().collect()
    }
}

/// Producers may register whoever they are.
fn needs_of_consumers(request: &RemotingCommand) -> Vec<Need> {
    let Ok(heartbeat) = HeartbeatData::decode(&request.body) else { return Vec::new() };
    let needs = heartbeat.consumers.into_iter().flat_map(|consumer| {
        let topics = consumer.subscriptions.into_iter().map(|subscription| subscription.topic);
        let topics = topics.filter(|topic| !topic.starts_with(RETRY_PREFIX));
        let topics = topics.filter_map(|topic| Need::topic(Some(topic), Access::Subscribe));
        Need::group(Some(consumer.group_name)).into_iter().chain(topics)
    });
    needs.collect()
}
