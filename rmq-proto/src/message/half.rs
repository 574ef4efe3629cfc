//! Half messages: the first step of a transaction (producer §9.1).

use super::prepare::Purpose;
use super::{Message, MessageError, MessageRules, Prepared, SysFlag, TransactionType};
use crate::code::RequestCode;
use crate::names;
use crate::properties::{PGROUP, TRAN_MSG};

impl Message {
    /// [`prepare`](Self::prepare)s it to be a half message of the producer group `group`: brokers hide it from consumers
    /// until a producer of that group commits it. With a [namespace](MessageRules::namespace) the group is put there, too.
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
    /// Those of `prepare`, a group name that breaks a rule, and a delay: brokers would lose the message between the two. Java
    /// drops a delay level, and leaves a timer.
    pub fn prepare_half(self, rules: &MessageRules, group: &str) -> Result<Prepared, MessageError> {
        let wrapped = names::namespace::wrap(rules.namespace.as_deref().unwrap_or_default(), group);
        if let Err(error) = names::validate_group(&wrapped) {
            return Err(MessageError::Group { topic: self.topic, group: group.into(), error });
        }
        if self.is_delayed() {
            return Err(MessageError::DelayedHalf { topic: self.topic });
        }
        let purpose = Purpose {
            code: RequestCode::SEND_MESSAGE_V2,
            sys_flag: SysFlag::default().with_transaction(TransactionType::Prepared).0,
            properties: &[(TRAN_MSG, "true"), (PGROUP, &wrapped)],
        };
        self.prepare_for(rules, &purpose)
    }
}
