//! Requests as commands.

use rmq_core::proto::message::PreparedRequest;
use rmq_core::{Instant, OpId, ProducerId, Rejected};

use super::call::Call;
use super::{CheckedClient, WITHIN_LIMITS};
use crate::oracle::Violation;

impl CheckedClient {
    /// See [`Client::send_request`](rmq_core::Client::send_request).
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn send_request(
        &mut self,
        now: Instant,
        producer: ProducerId,
        request: PreparedRequest,
    ) -> Result<OpId, Rejected<PreparedRequest>> {
        self.called(now);
        let call = Call::request(producer, &request);
        let before = request.clone();
        let result = self.client.send_request(now, producer, request);
        match &result {
            Ok(op) => self.model.accepted(*op, call),
            Err(Rejected { reason, given }) => {
                self.model.rejected(call, *reason);
                self.model.note(Violation::unless(*given == before, WITHIN_LIMITS, || {
                    format!("{reason:?} hands back another request: {given:?}")
                }));
            }
        }
        result
    }
}
