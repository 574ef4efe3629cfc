//! Messages that a reply is waited for (producer §10.1).

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::time::Duration;

use super::prepare::Purpose;
use super::{ID_ROOM, Message, MessageError, MessageRules, Prepared};
use crate::id::{CORRELATION_ID_LEN, CorrelationId, UniqueKey};
use crate::properties::{self, CORRELATION_ID, REPLY_TO_CLIENT, TTL};

/// Bytes kept free in the properties of a request for what joins the reply to it: `CORRELATION_ID \x01 <36> \x02`.
pub const CORRELATION_ROOM: usize = CORRELATION_ID.len() + 1 + CORRELATION_ID_LEN + 1;

/// A message that obeys all rules and says which client waits for a reply, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedRequest(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    message: Prepared,
    client_id: String,
    timeout: Duration,
}

impl PreparedRequest {
    /// The message itself. Among its properties are `REPLY_TO_CLIENT` and `TTL`; `CORRELATION_ID` is not.
    pub fn message(&self) -> &Prepared {
        &self.0.message
    }

    /// The client that waits.
    pub fn client_id(&self) -> &str {
        &self.0.client_id
    }

    /// How long it waits.
    pub fn timeout(&self) -> Duration {
        self.0.timeout
    }

    /// The properties as they go to the broker: those of the message, and both ids after them.
    pub fn properties_with_ids(&self, id: &UniqueKey, correlation_id: CorrelationId) -> String {
        let properties = self.0.message.properties();
        let mut text = String::with_capacity(properties.len() + CORRELATION_ROOM + ID_ROOM);
        text.push_str(properties);
        properties::push_pair(CORRELATION_ID, &correlation_id.to_string(), &mut text);
        properties::push_pair(properties::UNIQ_KEY, id.as_str(), &mut text);
        text
    }
}

impl Message {
    /// Prepares a message that a reply is waited for, by the client of this id and for so long: as
    /// [`prepare`](Self::prepare), with the properties `REPLY_TO_CLIENT` and `TTL` (in whole milliseconds). What joins the
    /// reply to it is added by the sender, as the message id is.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](Self::prepare), and a client id that no property can carry.
    pub fn prepare_request(
        self,
        rules: &MessageRules,
        client_id: &str,
        timeout: Duration,
    ) -> Result<PreparedRequest, MessageError> {
        if properties::has_separator(client_id) {
            let name = REPLY_TO_CLIENT.to_string();
            return Err(MessageError::SeparatorInProperty { topic: self.topic, name });
        }
        let ttl = timeout.as_millis().to_string();
        let purpose =
            Purpose { properties: &[(REPLY_TO_CLIENT, client_id), (TTL, &ttl)], ..Purpose::ORDINARY };
        let message = self.prepare_for(rules, &purpose)?;
        let (len, max) = (message.properties().len() + CORRELATION_ROOM + ID_ROOM, properties::MAX_LEN);
        if len > max {
            let topic = message.topic().to_string();
            return Err(MessageError::PropertiesTooLong { topic, len, max });
        }
        let client_id = client_id.to_string();
        Ok(PreparedRequest(Box::new(Parts { message, client_id, timeout })))
    }
}
