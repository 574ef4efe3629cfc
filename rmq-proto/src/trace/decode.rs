use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use super::{
    Consumer, ContextCode, END_TRANSACTION, EndTransaction, FIELD_SEPARATOR, MessageKind, NULL, PUB, Pub,
    RECALL, RECORD_SEPARATOR, Recall, SUB_AFTER, SUB_BEFORE, SubAfter, SubBefore, TraceDecodeError,
    TraceRecord, TransactionState,
};

/// The records in the text of a trace message, in its order. One that cannot be read does not cost the others. The last `\x02`
/// may be missing; fields behind those that are known mean nothing.
pub fn records(text: &str) -> impl Iterator<Item = Result<TraceRecord, TraceDecodeError>> + Clone + '_ {
    text.split(RECORD_SEPARATOR).filter(|piece| !piece.is_empty()).map(record)
}

fn record(piece: &str) -> Result<TraceRecord, TraceDecodeError> {
    let fields: Vec<&str> = piece.split(FIELD_SEPARATOR).collect();
    let fields = Fields(&fields);
    match fields.0[0] {
        PUB => fields.at_least(PUB, 13)?.published().map(TraceRecord::Pub),
        SUB_BEFORE => fields.at_least(SUB_BEFORE, 8)?.sub_before().map(TraceRecord::SubBefore),
        SUB_AFTER => fields.at_least(SUB_AFTER, 6)?.sub_after().map(TraceRecord::SubAfter),
        END_TRANSACTION => {
            fields.at_least(END_TRANSACTION, 13)?.end_transaction().map(TraceRecord::EndTransaction)
        }
        RECALL => fields.at_least(RECALL, 7)?.recall().map(TraceRecord::Recall),
        name => Err(TraceDecodeError::Kind { name: name.to_string() }),
    }
}

/// The fields of one record; the first is its kind.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [&'a str]);

impl Fields<'_> {
    fn at_least(self, kind: &'static str, least: usize) -> Result<Self, TraceDecodeError> {
        let found = self.0.len();
        if found < least { Err(TraceDecodeError::Fields { kind, least, found }) } else { Ok(self) }
    }

    fn text(self, place: usize) -> String {
        self.0[place].to_string()
    }

    fn optional(self, place: usize) -> Option<String> {
        self.0.get(place).filter(|text| **text != NULL).map(ToString::to_string)
    }

    fn one_of<T>(
        self,
        field: &'static str,
        place: usize,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, TraceDecodeError> {
        let text = self.0[place];
        read(text).ok_or_else(|| TraceDecodeError::Field { field, text: text.to_string() })
    }

    fn number<T: FromStr>(self, field: &'static str, place: usize) -> Result<T, TraceDecodeError> {
        self.one_of(field, place, |text| text.parse().ok())
    }

    fn flag(self, field: &'static str, place: usize) -> Result<bool, TraceDecodeError> {
        self.number(field, place)
    }

    /// 13 fields have no offset id; the fifteenth is the host.
    fn published(self) -> Result<Pub, TraceDecodeError> {
        let has_offset_id = self.0.len() >= 14;
        Ok(Pub {
            time: self.number("time", 1)?,
            region: self.optional(2),
            group: self.text(3),
            topic: self.text(4),
            message_id: self.text(5),
            tags: self.optional(6),
            keys: self.optional(7),
            broker: self.text(8),
            body_len: self.number("body length", 9)?,
            cost_ms: self.number("cost", 10)?,
            kind: self.one_of("message type", 11, |text| text.parse().ok().and_then(MessageKind::of))?,
            offset_message_id: if has_offset_id { self.optional(12) } else { None },
            success: self.flag("success", if has_offset_id { 13 } else { 12 })?,
            client_host: self.optional(14),
        })
    }

    fn sub_before(self) -> Result<SubBefore, TraceDecodeError> {
        Ok(SubBefore {
            time: self.number("time", 1)?,
            region: self.optional(2),
            group: self.text(3),
            request_id: self.text(4),
            message_id: self.text(5),
            retry_times: self.number("number of retries", 6)?,
            keys: self.optional(7),
        })
    }

    /// The context code came later than the rest, and time and group later than that.
    fn sub_after(self) -> Result<SubAfter, TraceDecodeError> {
        let found = self.0.len();
        Ok(SubAfter {
            request_id: self.text(1),
            message_id: self.text(2),
            cost_ms: self.number("cost", 3)?,
            success: self.flag("success", 4)?,
            keys: self.optional(5),
            context: if found >= 7 {
                ContextCode(self.number("context code", 6)?)
            } else {
                ContextCode::SUCCESS
            },
            consumer: if found >= 9 {
                Some(Consumer { time: self.number("time", 7)?, group: self.text(8) })
            } else {
                None
            },
        })
    }

    /// Its message type is always the same.
    fn end_transaction(self) -> Result<EndTransaction, TraceDecodeError> {
        Ok(EndTransaction {
            time: self.number("time", 1)?,
            region: self.optional(2),
            group: self.text(3),
            topic: self.text(4),
            message_id: self.text(5),
            tags: self.optional(6),
            keys: self.optional(7),
            broker: self.text(8),
            transaction_id: self.optional(10),
            state: self.one_of("state", 11, TransactionState::of)?,
            from_check: self.flag("origin", 12)?,
        })
    }

    fn recall(self) -> Result<Recall, TraceDecodeError> {
        Ok(Recall {
            time: self.number("time", 1)?,
            region: self.optional(2),
            group: self.text(3),
            topic: self.text(4),
            message_id: self.text(5),
            success: self.flag("success", 6)?,
        })
    }
}
