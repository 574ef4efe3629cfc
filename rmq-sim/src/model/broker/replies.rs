//! SEND_REPLY_MESSAGE (324) and SEND_REPLY_MESSAGE_V2 (325): a reply is stored as other messages are, and pushed to the client
//! that asked (wire §5.17; seen on both).

use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::ext::HeaderError;
use rmq_proto::header::{PushReplyHeader, SendMessageHeader, SendMessageV2Header};
use rmq_proto::properties::{CLUSTER, PUSH_REPLY_TIME, REPLY_TO_CLIENT, value};

use super::{Broker, Turn, properties};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::conn::PeerConn;
use crate::model::fault::is_stored;
use crate::model::push::{Push, PushExt};

macro_rules! from_header {
    ($header:expr) => {{
        let header = $header;
        PushReplyHeader {
            producer_group: header.producer_group.into_owned().into(),
            topic: header.topic.into_owned().into(),
            default_topic: header.default_topic.into_owned().into(),
            default_topic_queue_nums: header.default_topic_queue_nums,
            queue_id: header.queue_id,
            sys_flag: header.sys_flag,
            born_timestamp: header.born_timestamp,
            flag: header.flag,
            properties: header.properties.map(|text| text.into_owned().into()),
            reconsume_times: header.reconsume_times,
            unit_mode: header.unit_mode,
            born_host: "".into(),
            store_host: "".into(),
            store_timestamp: 0,
        }
    }};
}

/// What is pushed for it, as far as the replier says.
fn read(request: &RemotingCommand) -> Result<PushReplyHeader<'static>, HeaderError> {
    Ok(if RequestCode(request.code) == RequestCode::SEND_REPLY_MESSAGE {
        from_header!(request.header::<SendMessageHeader<'_>>()?)
    } else {
        from_header!(request.header::<SendMessageV2Header<'_>>()?)
    })
}

impl Broker {
    /// It is stored whether it can be pushed or not. Where it is pushed, the answer given here is for when the client has it.
    pub(super) fn answer_reply(&mut self, turn: &mut Turn<'_>, request: &RemotingCommand) -> Answer {
        let mut header = match read(request) {
            Ok(header) => header,
            Err(error) => return Answer::bad_header(&error),
        };
        let mut answer = self.answer_send(turn, request);
        if !is_stored(answer.code) {
            return answer;
        }
        // wire §5.1: a reply's answer never has it.
        if let AnswerExt::Sent(sent) = &mut answer.ext {
            sent.transaction_id = None;
        }
        let text = header.properties.take().unwrap_or_default();
        let conn = match self.waiting_client(&text) {
            Ok(conn) => conn,
            // The answer says where it is all the same.
            Err(remark) => return Answer::error(ResponseCode::SYSTEM_ERROR, answer.ext, remark),
        };
        let now = turn.unix_ms.to_string();
        let stored = properties::stored(self.rules, &text, || "");
        let changes = [(CLUSTER, None), (PUSH_REPLY_TIME, Some(&*now))];
        header.properties = Some(properties::changed(self.rules, &stored, &changes).into());
        header.born_host = turn.from.to_string().into();
        header.store_host = self.address.to_string().into();
        header.store_timestamp = i64::try_from(turn.unix_ms).unwrap_or(i64::MAX);
        turn.pushes.push(Push {
            conn,
            code: RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT,
            oneway: false,
            ext: PushExt::Reply(header),
            body: request.body.clone(),
            held: None,
        });
        answer
    }

    /// The connection of the client that waits for a reply with these properties.
    fn waiting_client(&self, text: &str) -> Result<PeerConn, String> {
        let client = value(text, REPLY_TO_CLIENT)
            .ok_or_else(|| format!("reply message properties[{REPLY_TO_CLIENT}] is null"))?;
        let channel = self.clients.channel(client);
        channel.ok_or_else(|| format!("push reply message fail, channel of <{client}> not found."))
    }
}
