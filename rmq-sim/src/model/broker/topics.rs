//! UPDATE_AND_CREATE_TOPIC (17): what an administrator asks (wire §5.12).

use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::CreateTopicHeader;
use rmq_proto::names;

use super::send::name_remark;
use super::{Broker, Turn};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::topic::TopicConfig;

impl Broker {
    /// The answers have no fields, and a success has a remark that says otherwise (wire §5.12, seen on both).
    pub(super) fn answer_create_topic(&mut self, turn: &mut Turn<'_>, request: &RemotingCommand) -> Answer {
        let header = match request.header::<CreateTopicHeader<'_>>() {
            Ok(header) => header,
            Err(error) => return Answer::bad_header(&error),
        };
        let refused = |remark: String| Answer::error(self.rules.invalid_parameter, AnswerExt::Absent, remark);
        let topic = &*header.topic;
        if let Err(error) = names::validate_topic(topic) {
            return refused(name_remark(&error).to_owned());
        }
        if names::is_system_topic(topic) {
            return refused(format!("The topic[{topic}] is conflict with system topic."));
        }
        let config = TopicConfig {
            name: topic.to_owned(),
            read_queue_nums: header.read_queue_nums,
            write_queue_nums: header.write_queue_nums,
            perm: header.perm,
        };
        self.put_topic(config, turn.name_servers, turn.events);
        Answer::error(ResponseCode::SUCCESS, AnswerExt::Absent, "not set any response code")
    }
}
