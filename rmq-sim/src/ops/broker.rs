//! What brokers ask of a program's client: how transactions went, and to take replies.

use bytes::{Bytes, BytesMut};
use rmq_core::proto::code::RequestCode;
use rmq_core::proto::command::{FLAG_ONEWAY, RemotingCommand};
use rmq_core::proto::header::{CheckTransactionHeader, PushReplyHeader, SendMessageV2Header};
use rmq_core::proto::message::StoredMessage;
use rmq_core::proto::names::namespace;
use rmq_core::proto::properties::{CORRELATION_ID, value};

use super::peer::frame;
use super::world::World;

/// What a reply to this request has to name, if it wants one.
pub(super) fn correlation_id(request: &RemotingCommand) -> Option<String> {
    if RequestCode(request.code) != RequestCode::SEND_MESSAGE_V2 {
        return None;
    }
    let header: SendMessageV2Header<'_> = request.header().ok()?;
    value(&header.properties?, CORRELATION_ID).map(str::to_owned)
}

impl World {
    fn wire_name(&self, name: &str) -> String {
        let rules = self.client.message_rules();
        namespace::wrap(rules.namespace.as_deref().unwrap_or_default(), name).into_owned()
    }

    /// Of a half message of a group, once or several times; its header and its body may be damaged.
    pub(super) fn check(&mut self, at: usize, group: u8, choice: u8) {
        let times = if group < 0x80 { 1 } else { 3 };
        let group = if group % 4 < 2 { "PG".to_owned() } else { format!("PG{}", group / 4 % 8) };
        let group = self.wire_name(&group);
        let half = StoredMessage {
            topic: self.wire_name("T0").into(),
            body: Bytes::from(vec![b'x'; if choice < 0xc0 { 10 } else { 3_000 }]),
            properties: if choice % 8 == 7 {
                String::new()
            } else {
                format!("UNIQ_KEY\u{1}AC0A\u{2}PGROUP\u{1}{group}\u{2}TRAN_MSG\u{1}true\u{2}")
            },
            ..StoredMessage::default()
        };
        let mut body = BytesMut::new();
        // Nothing in it is too long.
        let _ = half.encode(&mut body);
        if choice % 8 == 6 {
            body.truncate(body.len() / 2);
        }
        let broker = [None, Some("a"), Some("b"), Some("gone")][usize::from(choice >> 3) % 4];
        let mut request =
            RemotingCommand::request(RequestCode::CHECK_TRANSACTION_STATE).with_body(body.freeze());
        request.opaque = self.outputs as i32;
        request.flag |= FLAG_ONEWAY;
        if choice % 8 != 5 {
            request = request.with_ext(&CheckTransactionHeader {
                topic: broker.map(|_| "RMQ_SYS_TRANS_HALF_TOPIC".into()),
                transaction_offset: 7,
                commit_log_offset: 700,
                message_id: Some("AC0A".into()),
                transaction_id: broker.map(|_| "AC0A".into()),
                offset_message_id: None,
                broker_name: broker.map(Into::into),
            });
        }
        self.received(at, &frame(&request, self.format).repeat(times));
    }

    /// Of a request that was written, of none, or of nobody knows which.
    pub(super) fn push(&mut self, at: usize, number: u8, choice: u8) {
        let id = match choice % 8 {
            0..=4 => self.requests.get(number).cloned(),
            5 => Some("0123456789abcdef0123456789abcdef".to_owned()),
            6 => Some("none of this client".to_owned()),
            _ => None,
        };
        let properties =
            id.map_or_else(|| "TAGS\u{1}a\u{2}".to_owned(), |id| format!("{CORRELATION_ID}\u{1}{id}\u{2}"));
        let body = Bytes::from(vec![b'r'; if choice & 0x40 == 0 { 10 } else { 5_000 }]);
        let mut request = RemotingCommand::request(RequestCode::PUSH_REPLY_MESSAGE_TO_CLIENT).with_body(body);
        request.opaque = self.outputs as i32;
        if choice & 0x38 != 0x38 {
            request = request.with_ext(&PushReplyHeader {
                producer_group: "g".into(),
                topic: "c_REPLY_TOPIC".into(),
                default_topic: "TBW102".into(),
                default_topic_queue_nums: 4,
                queue_id: 0,
                sys_flag: i32::from(choice >> 7),
                born_timestamp: 1_700_000_000_000,
                flag: 0,
                properties: Some(properties.into()),
                reconsume_times: None,
                unit_mode: None,
                born_host: "10.0.0.1:1".into(),
                store_host: "10.0.0.1:2".into(),
                store_timestamp: 1_700_000_000_001,
            });
        }
        self.received(at, &frame(&request, self.format));
    }
}
