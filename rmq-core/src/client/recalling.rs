//! Recalls of timer messages: a send's course with one attempt, at the broker that the handle names (producer §10.3).

use alloc::string::ToString;
use alloc::sync::Arc;

use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::RecallResponseHeader;

use super::Client;
use crate::error::{Rejected, RequestError};
use crate::event::{Event, OpId, ProducerId};
use crate::producer::{NewSend, SendOp, Target};
use crate::recall::Recall;
use crate::route::Choice;
use crate::time::Instant;

/// What stands for the queue where there is none.
const NO_QUEUE: i32 = -1;

impl Client {
    /// Takes a timer message back before it is delivered. The operation ends in [`Event::Recalled`],
    /// [`Event::RecallFailed`] or [`Event::Cancelled`].
    ///
    /// The topic's route is looked for as for a send. The one attempt goes to the broker that the handle names; where no route
    /// names a master of it, to any other broker of the topic. It has the time of the producer's sends.
    ///
    /// # Errors
    ///
    /// Over a limit, with a producer of another client, with a topic that is too long for the client's namespace, or when shut
    /// down, the recall is handed back.
    pub fn recall(
        &mut self,
        now: Instant,
        producer: ProducerId,
        recall: Recall,
    ) -> Result<OpId, Rejected<Recall>> {
        self.advance(now);
        let admitted = self.admit_any(producer).and_then(|config| {
            self.admit_good_topic(recall.topic())?;
            self.admit_bytes(recall.bytes())?;
            Ok(config)
        });
        let (config, recall) = self.or_hand_back(admitted, recall)?;
        self.stats.recalls += 1;
        let (topic, message_id) = (recall.shared_topic(), recall.message_id().to_string());
        let new = NewSend::nothing(topic, Target::Recall(recall), message_id);
        let timeout = config.send_timeout;
        Ok(self.begin(SendOp::new(producer, config, new, (self.now, timeout), 0, false)))
    }

    /// The broker that a handle names, or another of the topic.
    pub(super) fn holder(&self, topic: &str, named: &Arc<str>) -> Choice {
        let has_master = |name: &str| self.brokers.master(name).is_some();
        let route = self.routes.find(topic).and_then(|id| self.routes.get(id)?.route.as_ref());
        let broker = match route {
            Some(route) if !has_master(named) => {
                let mut names = route.broker_datas.iter().map(|broker| broker.broker_name.as_str());
                names.find(|name| has_master(name)).map_or_else(|| named.clone(), Arc::from)
            }
            _ => named.clone(),
        };
        Choice { broker, queue_id: NO_QUEUE }
    }

    pub(super) fn recall_answered(&mut self, op: OpId, command: &RemotingCommand) {
        let header = command.header::<RecallResponseHeader<'_>>();
        let error = match (ResponseCode(command.code), header) {
            (ResponseCode::SUCCESS, Ok(header)) => {
                let message_id = header.message_id.to_string();
                return self.end(op, |_| Event::Recalled { op, message_id });
            }
            (ResponseCode::SUCCESS, Err(error)) => RequestError::BadHeader(error),
            (code, _) => RequestError::answered(code, command.remark.as_deref()),
        };
        self.attempt_failed(op, error);
    }
}
