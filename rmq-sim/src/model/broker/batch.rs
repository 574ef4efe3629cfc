//! SEND_BATCH_MESSAGE (320): a batch becomes single messages (wire §6.6). Which it is says the header's `m`, not the code of the
//! request (wire §5.1, seen on both).

use bytes::{Buf, Bytes};
use rmq_proto::code::ResponseCode;
use rmq_proto::header::SendResponseHeader;
use rmq_proto::id::OffsetMessageId;
use rmq_proto::message::{SysFlag, TransactionType, join_ids};
use rmq_proto::names::RETRY_PREFIX;
use rmq_proto::properties::{self as wire_properties, PROPERTY_SEPARATOR, UNIQ_KEY};

use super::send::{MAX_BODY_LEN, SendRequest, TOO_LARGE, refused, stored_answer};
use super::{Broker, Turn, delay, properties};
use crate::model::answer::{Answer, REGION};
use crate::model::store::StoredMessage;

/// A message of a batch.
struct Element {
    flag: i32,
    body: Bytes,
    properties: String,
}

/// Reads the body of a batch as brokers do: by the lengths of bodies and properties alone, whatever the elements say of their
/// own (seen on both). The error is the exception that a real broker fails with.
fn read(body: &Bytes) -> Result<Vec<Element>, &'static str> {
    const UNDERFLOW: &str = "java.nio.BufferUnderflowException";
    const PAST_END: &str = "java.lang.ArrayIndexOutOfBoundsException";
    const PAST_LIMIT: &str = "java.lang.IllegalArgumentException: newPosition > limit";
    let mut rest = body.clone();
    let mut elements = Vec::new();
    while rest.has_remaining() {
        let _total = rest.try_get_i32().map_err(|_| UNDERFLOW)?;
        let _magic_and_crc = rest.try_get_i64().map_err(|_| UNDERFLOW)?;
        let flag = rest.try_get_i32().map_err(|_| UNDERFLOW)?;
        let len = rest.try_get_i32().map_err(|_| UNDERFLOW)?;
        let len = usize::try_from(len).ok().filter(|len| *len <= rest.len()).ok_or(PAST_END)?;
        let body = rest.split_to(len);
        let len = rest.try_get_i16().map_err(|_| UNDERFLOW)?;
        let len = usize::try_from(len).map_err(|_| UNDERFLOW)?;
        if len > rest.len() {
            return Err(PAST_LIMIT);
        }
        let properties = String::from_utf8_lossy(&rest.split_to(len)).into_owned();
        elements.push(Element { flag, body, properties });
    }
    Ok(elements)
}

/// The ids that a client gave to the messages of a batch, joined by `,`; `None` when it cannot be read.
pub(super) fn unique_keys(body: &Bytes) -> Option<String> {
    let elements = read(body).ok()?;
    Some(join_ids(
        elements.iter().filter_map(|element| wire_properties::value(&element.properties, UNIQ_KEY)),
    ))
}

impl Broker {
    /// The checks that a batch is under besides those of any send, and storing it: all of it or nothing.
    pub(super) fn answer_batch(
        &mut self,
        turn: &mut Turn<'_>,
        header: SendRequest<'_>,
        queue_id: i32,
        body: &Bytes,
    ) -> Answer {
        if self.rules.refuses_retry_batches && header.topic.starts_with(RETRY_PREFIX) {
            let remark = format!("batch request does not support retry group {}", header.topic);
            return *refused(ResponseCode::MESSAGE_ILLEGAL, remark);
        }
        let is_large = body.len() > MAX_BODY_LEN;
        if is_large && !self.rules.checks_batch_len {
            return Answer::exception("java.lang.RuntimeException: message body size exceeded");
        }
        let is_of_transaction = SysFlag(header.sys_flag).transaction() != TransactionType::None;
        if is_large || delay::level(&header.properties).is_some() || is_of_transaction {
            return *refused(ResponseCode::MESSAGE_ILLEGAL, TOO_LARGE);
        }
        match read(body) {
            Ok(elements) => self.store_batch(turn, header, queue_id, elements),
            Err(exception) => Answer::exception(exception),
        }
    }

    /// A message's own delay level stays among its properties and means nothing (seen on both).
    fn store_batch(
        &mut self,
        turn: &mut Turn<'_>,
        header: SendRequest<'_>,
        queue_id: i32,
        elements: Vec<Element>,
    ) -> Answer {
        let of_batch = properties::of_batch(self.rules, &header.properties);
        let transaction_id = wire_properties::value(&of_batch, UNIQ_KEY)
            .filter(|_| self.rules.transaction_id)
            .map(|key| key.to_owned().into());
        let queue_offset = self.store.end(&header.topic, queue_id);
        let common = self.common(turn, &header, queue_id);
        let mut ids = Vec::with_capacity(elements.len());
        for element in elements {
            let Element { flag, body, mut properties } = element;
            if !properties.is_empty() && !properties.ends_with(PROPERTY_SEPARATOR) {
                properties.push(PROPERTY_SEPARATOR);
            }
            properties.push_str(&of_batch);
            // A slice would keep the whole piece of input alive that it came in.
            let body = Bytes::copy_from_slice(&body);
            let message = StoredMessage { body, properties, flag, ..common.clone() };
            let (_, offset) = self.append(turn.sequence, message);
            ids.push(OffsetMessageId { host: self.address, offset }.to_string());
        }
        let sent = SendResponseHeader {
            message_id: join_ids(ids.iter().map(String::as_str)).into(),
            queue_id,
            queue_offset,
            transaction_id,
            batch_unique_id: None,
            recall_handle: None,
            region_id: Some(REGION.into()),
            trace_on: Some("true".into()),
        };
        stored_answer(turn, sent)
    }
}
