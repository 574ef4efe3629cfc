//! Half messages: the first step of a transaction (producer §9.1).

use super::prepare::Purpose;
use super::{Message, MessageError, MessageRules, Prepared, SysFlag, TransactionType};
use crate::code::RequestCode;
use crate::names;
use crate::properties::{PGROUP, TRAN_MSG};

impl Message {
    /// [`prepare`](Self::prepare)s it to be a half message of the producer group `group`: brokers hide it from consumers
    /// until a producer of that group commits it.
    ///
    /// ```
    /// use rmq_proto::message::{Message, MessageRules, SysFlag, TransactionType};
    ///
    /// # fn main() -> Result<(), rmq_proto::message::MessageError> {
    /// let half = Message::new("orders", "hello").prepare_half(&MessageRules::default(), "order-service")?;
    /// assert_eq!(SysFlag(half.sys_flag()).transaction(), TransactionType::Prepared);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of `prepare`, and a group name that breaks a rule.
    pub fn prepare_half(self, rules: &MessageRules, group: &str) -> Result<Prepared, MessageError> {
        if let Err(error) = names::validate_group(group) {
            return Err(MessageError::Group { topic: self.topic, group: group.into(), error });
        }
        let purpose = Purpose {
            code: RequestCode::SEND_MESSAGE_V2,
            sys_flag: SysFlag::default().with_transaction(TransactionType::Prepared).0,
            properties: &[(TRAN_MSG, "true"), (PGROUP, group)],
        };
        self.prepare_for(rules, &purpose)
    }
}
