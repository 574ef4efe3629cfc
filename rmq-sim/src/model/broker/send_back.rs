//! CONSUMER_SEND_MSG_BACK (36): a message is to be consumed again, or never (producer §12.4).

use rmq_proto::body::PERM_WRITE;
use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::SendBackHeader;
use rmq_proto::names;
use rmq_proto::properties::{DELAY, ORIGIN_MESSAGE_ID, RETRY_TOPIC, WAIT};
use rmq_proto::version::{Feature, Version};

use super::{Broker, Turn, delay, properties};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::group::GroupConfig;
use crate::model::store::StoredMessage;
use crate::model::topic::TopicConfig;

/// Queues of a topic of dead letters (wire §7.2).
const DEAD_LETTER_QUEUES: i32 = 1;

/// How often a message may be consumed again: what the client says, if it is one that can, or the group's number.
pub(super) fn max_reconsume_times(request: &RemotingCommand, told: Option<i32>, group: &GroupConfig) -> i32 {
    told.filter(|_| Version(request.version).has(Feature::MaxReconsumeTimes)).unwrap_or(group.retry_max_times)
}

/// Names that mean "no group given" are none to brokers.
fn breaks_the_rules(group: &str) -> bool {
    let checked = names::validate_group_up_to(group, names::MAX_GROUP_LEN_V4);
    checked.is_err_and(|error| error != names::NameError::Placeholder)
}

impl Broker {
    /// The group of that name, which comes into being if the broker creates groups by itself (seen on both).
    pub(super) fn group(&mut self, name: &str) -> Option<GroupConfig> {
        let is_bad = self.rules.checks_group_names && breaks_the_rules(name);
        if !self.groups.contains_key(name) && self.auto_create_groups && !is_bad {
            self.put_group(GroupConfig::new(name));
        }
        self.groups.get(name).cloned()
    }

    pub(crate) fn put_group(&mut self, group: GroupConfig) {
        self.groups.insert(group.name.clone(), group);
    }

    pub(super) fn unknown_group(&self, group: &str, ext: AnswerExt) -> Answer {
        let remark =
            format!("subscription group not exist, {group} \nSee {} for further details.", self.rules.faq);
        Answer::error(ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST, ext, remark)
    }

    /// Creates a topic of retries or dead letters, unless it is there.
    pub(super) fn make_topic(&mut self, turn: &mut Turn<'_>, name: &str, queues: i32) {
        if !self.topics.contains_key(name) {
            self.put_topic(TopicConfig::new(name, queues), turn.name_servers, turn.events);
        }
    }

    /// The topic of a group's dead letters, made if need be.
    pub(super) fn dead_letters(&mut self, turn: &mut Turn<'_>, group: &str) -> String {
        let topic = names::dead_letter_topic(group);
        self.make_topic(turn, &topic, DEAD_LETTER_QUEUES);
        topic
    }

    /// The answer has neither fields nor a body, whatever it says (wire §5.5, seen on both).
    pub(super) fn answer_send_back(&mut self, turn: &mut Turn<'_>, request: &RemotingCommand) -> Answer {
        let header = match request.header::<SendBackHeader<'_>>() {
            Ok(header) => header,
            Err(error) => return Answer::bad_header(&error),
        };
        let Some(group) = self.group(&header.group) else {
            return self.unknown_group(&header.group, AnswerExt::Absent);
        };
        if group.retry_queue_nums <= 0 {
            return Answer::success(AnswerExt::Absent);
        }
        let retry_topic = names::retry_topic(&group.name);
        self.make_topic(turn, &retry_topic, group.retry_queue_nums);
        if self.topics.get(&retry_topic).is_some_and(|topic| topic.perm & PERM_WRITE == 0) {
            let remark = format!("the topic[{retry_topic}] sending message is forbidden");
            return Answer::error(ResponseCode::NO_PERMISSION, AnswerExt::Absent, remark);
        }
        let Some(message) = self.store.by_commit_log_offset(header.commit_log_offset).cloned() else {
            let remark = format!("look message by offset failed, {}", header.commit_log_offset);
            return Answer::error(ResponseCode::SYSTEM_ERROR, AnswerExt::Absent, remark);
        };
        let most = max_reconsume_times(request, header.max_reconsume_times, &group);
        let level = match header.delay_level {
            level if level < 0 || message.reconsume_times >= most => None,
            0 => Some(message.reconsume_times.saturating_add(delay::FIRST_RETRY)),
            level => Some(level),
        };
        let topic = match level {
            Some(_) => retry_topic,
            None => self.dead_letters(turn, &group.name),
        };
        self.put_back(turn, message, topic, level);
        Answer::success(AnswerExt::Absent)
    }

    /// Queue 0 is the only one, as a rule; the real broker draws one of several. A dead letter has level 0 (seen on both).
    fn put_back(&mut self, turn: &mut Turn<'_>, message: StoredMessage, topic: String, level: Option<i32>) {
        #[cfg(rmq_mutate)]
        if turn.sequence.is_multiple_of(2)
            && rmq_core::mutate::is(rmq_core::mutate::Mutation::ModelForgetsBacks)
        {
            return;
        }
        let level = level.unwrap_or(0).to_string();
        let origin = message.offset_id().to_string();
        let is_known = |name| message.property(name).is_some_and(|value| !value.trim().is_empty());
        let mut changes = vec![(WAIT, Some("false")), (DELAY, Some(&*level))];
        if !is_known(RETRY_TOPIC) {
            changes.push((RETRY_TOPIC, Some(&message.topic)));
        }
        if !is_known(ORIGIN_MESSAGE_ID) {
            changes.push((ORIGIN_MESSAGE_ID, Some(&origin)));
        }
        let properties = properties::changed(self.rules, &message.properties, &changes);
        let again = StoredMessage {
            properties,
            queue_id: 0,
            topic: topic.into(),
            store_timestamp: i64::try_from(turn.unix_ms).unwrap_or(i64::MAX),
            store_host: self.address,
            reconsume_times: message.reconsume_times.saturating_add(1),
            ..message
        };
        self.put(turn.unix_ms, turn.sequence, again);
    }
}
