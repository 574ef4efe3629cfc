use alloc::string::String;
use core::fmt::{Display, Write};

use super::{
    Consumer, END_TRANSACTION, EndTransaction, FIELD_SEPARATOR, MessageKind, NULL, PUB, Pub, RECALL,
    RECORD_SEPARATOR, Recall, SUB_AFTER, SUB_BEFORE, SubAfter, SubBefore, TraceEncodeError, TraceRecord,
};

impl TraceRecord {
    /// Appends the record, its `\x02` included, to `out`.
    ///
    /// # Errors
    ///
    /// The first text that has `\x01` or `\x02` in it; then `out` is as it was.
    pub fn encode(&self, out: &mut String) -> Result<(), TraceEncodeError> {
        let before = out.len();
        let mut fields = Fields { out, error: None };
        match self {
            Self::Pub(record) => record.write(&mut fields),
            Self::SubBefore(record) => record.write(&mut fields),
            Self::SubAfter(record) => record.write(&mut fields),
            Self::EndTransaction(record) => record.write(&mut fields),
            Self::Recall(record) => record.write(&mut fields),
        }
        let error = fields.error;
        out.push(RECORD_SEPARATOR);
        error.map_or(Ok(()), |error| {
            out.truncate(before);
            Err(error)
        })
    }
}

/// Writes the fields of one record.
struct Fields<'a> {
    out: &'a mut String,
    error: Option<TraceEncodeError>,
}

impl Fields<'_> {
    /// A field whose text has no separator in it.
    fn plain(&mut self, value: impl Display) -> &mut Self {
        self.out.push(FIELD_SEPARATOR);
        let written = write!(self.out, "{value}");
        debug_assert!(written.is_ok(), "a String takes all");
        self
    }

    fn text(&mut self, field: &'static str, text: &str) -> &mut Self {
        if text.contains([FIELD_SEPARATOR, RECORD_SEPARATOR]) {
            self.error = self.error.take().or(Some(TraceEncodeError::Separator { field }));
        }
        self.plain(text)
    }

    fn optional(&mut self, field: &'static str, text: Option<&str>) -> &mut Self {
        self.text(field, text.unwrap_or(NULL))
    }
}

impl Pub {
    fn write(&self, fields: &mut Fields<'_>) {
        fields.out.push_str(PUB);
        fields
            .plain(self.time)
            .optional("region", self.region.as_deref())
            .text("group", &self.group)
            .text("topic", &self.topic)
            .text("message id", &self.message_id)
            .optional("tag", self.tags.as_deref())
            .optional("keys", self.keys.as_deref())
            .text("broker address", &self.broker)
            .plain(self.body_len)
            .plain(self.cost_ms)
            .plain(self.kind.number())
            .optional("offset id", self.offset_message_id.as_deref())
            .plain(self.success);
    }
}

impl SubBefore {
    fn write(&self, fields: &mut Fields<'_>) {
        fields.out.push_str(SUB_BEFORE);
        fields
            .plain(self.time)
            .optional("region", self.region.as_deref())
            .text("group", &self.group)
            .text("request id", &self.request_id)
            .text("message id", &self.message_id)
            .plain(self.retry_times)
            .optional("keys", self.keys.as_deref());
    }
}

impl SubAfter {
    /// A separator follows the context code, whether anything comes behind it or not.
    fn write(&self, fields: &mut Fields<'_>) {
        fields.out.push_str(SUB_AFTER);
        fields
            .text("request id", &self.request_id)
            .text("message id", &self.message_id)
            .plain(self.cost_ms)
            .plain(self.success)
            .optional("keys", self.keys.as_deref())
            .plain(self.context.0);
        match &self.consumer {
            Some(Consumer { time, group }) => fields.plain(time).text("group", group),
            None => fields.plain(""),
        };
    }
}

impl EndTransaction {
    fn write(&self, fields: &mut Fields<'_>) {
        fields.out.push_str(END_TRANSACTION);
        fields
            .plain(self.time)
            .optional("region", self.region.as_deref())
            .text("group", &self.group)
            .text("topic", &self.topic)
            .text("message id", &self.message_id)
            .optional("tag", self.tags.as_deref())
            .optional("keys", self.keys.as_deref())
            .text("broker address", &self.broker)
            .plain(MessageKind::TransactionCommit.number())
            .optional("transaction id", self.transaction_id.as_deref())
            .plain(self.state.name())
            .plain(self.from_check);
    }
}

impl Recall {
    fn write(&self, fields: &mut Fields<'_>) {
        fields.out.push_str(RECALL);
        fields
            .plain(self.time)
            .optional("region", self.region.as_deref())
            .text("group", &self.group)
            .text("topic", &self.topic)
            .text("message id", &self.message_id)
            .plain(self.success);
    }
}
