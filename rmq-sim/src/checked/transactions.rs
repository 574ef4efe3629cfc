//! The commands of transactions.

use rmq_core::proto::message::Prepared;
use rmq_core::{
    CheckToken, Instant, OpId, ProducerId, RejectReason, Rejected, Resolution, SendOptions, SendResult,
};

use super::call::{Call, Kind};
use super::{CheckedClient, WITHIN_LIMITS};
use crate::oracle::Violation;

impl CheckedClient {
    /// See [`Client::send_half`](rmq_core::Client::send_half).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn send_half(
        &mut self,
        now: Instant,
        producer: ProducerId,
        message: Prepared,
        options: SendOptions,
    ) -> Result<OpId, Rejected<Prepared>> {
        self.called(now);
        let call = Call { kind: Kind::Send, ..Call::new(Kind::Send, producer, &message, options) };
        let body = message.body().clone();
        let result = self.client.send_half(now, producer, message, options);
        self.judge(call, &body, &result);
        result
    }

    /// See [`Client::end_transaction`](rmq_core::Client::end_transaction).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn end_transaction(
        &mut self,
        now: Instant,
        producer: ProducerId,
        half: &SendResult,
        resolution: Resolution,
        remark: Option<&str>,
    ) -> Result<OpId, RejectReason> {
        self.called(now);
        let call = Call::end(producer, half, remark);
        let result = self.client.end_transaction(now, producer, half, resolution, remark);
        self.model.called(call, &result);
        result
    }

    /// See [`Client::answer_check`](rmq_core::Client::answer_check).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn answer_check(
        &mut self,
        now: Instant,
        token: CheckToken,
        resolution: Resolution,
        remark: Option<&str>,
    ) -> Result<OpId, RejectReason> {
        self.called(now);
        let open = self.client.is_check_open(token);
        let result = self.client.answer_check(now, token, resolution, remark);
        self.model.answered(remark, &result);
        let opened = self.client.is_check_open(token);
        let right = match &result {
            Ok(_) => open && !opened,
            Err(RejectReason::CheckOver) => !open,
            Err(_) => open && opened,
        };
        self.model.note(Violation::unless(right, WITHIN_LIMITS, || {
            format!("{token:?}, open: {open}, then {opened}, was answered: {result:?}")
        }));
        result
    }

    /// See [`Client::ignore_check`](rmq_core::Client::ignore_check).
    pub fn ignore_check(&mut self, now: Instant, token: CheckToken) {
        self.called(now);
        self.client.ignore_check(now, token);
        let open = self.client.is_check_open(token);
        self.model
            .note(Violation::unless(!open, WITHIN_LIMITS, || format!("{token:?} was let go and is open")));
    }

    /// See [`Client::is_check_open`](rmq_core::Client::is_check_open).
    pub fn is_check_open(&self, token: CheckToken) -> bool {
        self.client.is_check_open(token)
    }
}
