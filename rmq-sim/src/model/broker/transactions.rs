//! Transactions: half messages, their ends, and the questions about those that have none (wire §5.14, §5.15; the times and
//! their order are those of producer §9).

use std::collections::BTreeSet;

use bytes::BytesMut;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::RemotingCommand;
use rmq_proto::header::{CheckTransactionHeader, EndTransactionHeader, TransactionState};
use rmq_proto::message::{RecordVersion, StoredMessage as Record, SysFlag, TransactionType};
use rmq_proto::properties::{
    PGROUP, REAL_QID, REAL_TOPIC, TRAN_MSG, TRANSACTION_CHECK_TIMES, TRANSACTION_ID, WAIT,
};

use super::{Broker, Role, Turn, properties};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::config::ClusterConfig;
use crate::model::conn::PeerConn;
use crate::model::push::{Push, PushExt};
use crate::model::store::StoredMessage;

/// Where half messages are, in queue 0: no consumer reads it.
pub(crate) const HALF_TOPIC: &str = "RMQ_SYS_TRANS_HALF_TOPIC";

/// Where half messages go that were asked about too often.
const GIVEN_UP_TOPIC: &str = "TRANS_CHECK_MAX_TIME_TOPIC";

/// The half messages without an end.
#[derive(Clone, Debug)]
pub(super) struct Halves {
    timeout_ms: u64,
    interval_ms: u64,
    most_checks: u32,
    /// Their sequences: the order of the queue.
    open: BTreeSet<u64>,
    /// When producers are asked next, in milliseconds since the Unix epoch; set while there is a half message.
    next_round: Option<u64>,
}

impl Halves {
    pub(super) fn new(config: &ClusterConfig) -> Self {
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            timeout_ms: millis(config.transaction_timeout),
            interval_ms: millis(config.transaction_check_interval).max(1),
            most_checks: config.transaction_check_max,
            open: BTreeSet::new(),
            next_round: None,
        }
    }

    fn set_round(&mut self, unix_ms: u64) {
        if self.next_round.is_none() && !self.open.is_empty() {
            self.next_round =
                Some((unix_ms / self.interval_ms).saturating_add(1).saturating_mul(self.interval_ms));
        }
    }
}

/// The property alone decides (wire §5.1).
pub(super) fn is_transactional(message: &StoredMessage) -> bool {
    message.property(TRAN_MSG).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

fn with_transaction(message: &StoredMessage, transaction: TransactionType) -> i32 {
    SysFlag(message.sys_flag).with_transaction(transaction).0
}

impl Broker {
    /// Stores a half message, hidden from consumers; gives its offsets. Its system flag loses its prepared bit, as the
    /// checks show (wire §5.15).
    pub(super) fn put_half(
        &mut self,
        unix_ms: u64,
        sequence: &mut u64,
        message: StoredMessage,
    ) -> (i64, i64) {
        let queue = message.queue_id.to_string();
        let id = message.unique_key().filter(|_| self.rules.transaction_id).map(str::to_owned);
        let mut changes = vec![(REAL_TOPIC, Some(&*message.topic)), (REAL_QID, Some(&*queue))];
        if let Some(id) = &id {
            changes.push((TRANSACTION_ID, Some(id)));
        }
        let properties = properties::changed(self.rules, &message.properties, &changes);
        let sys_flag = with_transaction(&message, TransactionType::None);
        let half = StoredMessage { properties, sys_flag, topic: HALF_TOPIC.into(), queue_id: 0, ..message };
        let offsets = self.append_half(sequence, half);
        self.halves.set_round(unix_ms);
        offsets
    }

    fn append_half(&mut self, sequence: &mut u64, half: StoredMessage) -> (i64, i64) {
        self.halves.open.insert(*sequence);
        let offsets = self.append(sequence, half);
        if self.halves.open.len() > self.store.retain() {
            let store = &self.store;
            self.halves.open.retain(|&sequence| store.by_sequence(sequence).is_some());
        }
        offsets
    }

    /// END_TRANSACTION (wire §5.14). Whoever names a half message by offsets that were once its own ends it, again if need
    /// be: so does the real one, which looks at the commit log alone.
    pub(super) fn answer_end_transaction(
        &mut self,
        turn: &mut Turn<'_>,
        request: &RemotingCommand,
    ) -> Answer {
        let header = match request.header::<EndTransactionHeader<'_>>() {
            Ok(header) => header,
            Err(error) => return Answer::bad_header(&error),
        };
        let state = TransactionState::from_i32(header.commit_or_rollback);
        let Some(state @ (TransactionState::Commit | TransactionState::Rollback)) = state else {
            return Answer::success(AnswerExt::Absent);
        };
        let half = match self.half_of(&header) {
            Ok(half) => half.clone(),
            Err(remark) => return Answer::error(ResponseCode::SYSTEM_ERROR, AnswerExt::Absent, remark),
        };
        self.halves.open.remove(&half.sequence);
        if self.halves.open.is_empty() {
            self.halves.next_round = None;
        }
        if state == TransactionState::Commit
            && let Some(message) = self.committed(&half)
        {
            self.put(turn.unix_ms, turn.sequence, message);
        }
        Answer::success(AnswerExt::Absent)
    }

    /// The half message that is meant, or what is wrong with what was said of it.
    fn half_of(&self, header: &EndTransactionHeader<'_>) -> Result<&StoredMessage, &'static str> {
        let half = self.store.by_commit_log_offset(header.commit_log_offset).filter(|half| half.is_half());
        let half = half.ok_or("Find prepared transaction message failed")?;
        if half.property(PGROUP) != Some(&*header.producer_group) {
            return Err("The producer group wrong");
        }
        if half.queue_offset != header.transaction_offset {
            return Err("The transaction state table offset wrong");
        }
        Ok(half)
    }

    /// The message as consumers see it (wire §6.1).
    fn committed(&self, half: &StoredMessage) -> Option<StoredMessage> {
        let (topic, queue_id) = half.meant_for()?;
        Some(StoredMessage {
            topic,
            queue_id,
            properties: properties::changed(self.rules, &half.properties, &[(WAIT, Some("false"))]),
            sys_flag: with_transaction(half, TransactionType::Commit),
            prepared_transaction_offset: half.commit_log_offset,
            ..half.clone()
        })
    }

    /// When producers are asked next, in milliseconds since the Unix epoch.
    pub(crate) fn next_check(&self) -> Option<u64> {
        self.halves.next_round.filter(|_| self.up)
    }

    /// Asks about each half message that is old enough, if it is time for a round.
    pub(crate) fn check_transactions(&mut self, unix_ms: u64, sequence: &mut u64, pushes: &mut Vec<Push>) {
        if self.next_check().is_none_or(|at| at > unix_ms) {
            return;
        }
        self.halves.next_round = None;
        for open in self.halves.open.clone() {
            let Some(half) = self.store.by_sequence(open).cloned() else {
                self.halves.open.remove(&open);
                continue;
            };
            let age = unix_ms.saturating_sub(u64::try_from(half.born_timestamp).unwrap_or(0));
            if age > self.halves.timeout_ms {
                self.halves.open.remove(&open);
                pushes.extend(self.ask_about(unix_ms, sequence, half));
            }
        }
        self.halves.set_round(unix_ms);
    }

    /// A half message is appended anew before its producer is asked, whether there is one or not (wire §5.15); one that was
    /// asked about often enough is given up.
    fn ask_about(&mut self, unix_ms: u64, sequence: &mut u64, half: StoredMessage) -> Option<Push> {
        let asked =
            half.property(TRANSACTION_CHECK_TIMES).and_then(|times| times.parse().ok()).unwrap_or(0_u32);
        let store_timestamp = i64::try_from(unix_ms).unwrap_or(i64::MAX);
        if asked >= self.halves.most_checks {
            let given_up = StoredMessage { topic: GIVEN_UP_TOPIC.into(), store_timestamp, ..half };
            self.append(sequence, given_up);
            return None;
        }
        let times = asked.saturating_add(1).to_string();
        let changes = [(TRANSACTION_CHECK_TIMES, Some(&*times)), (WAIT, Some("false"))];
        let properties = properties::changed(self.rules, &half.properties, &changes);
        let (_, offset) = self.append_half(sequence, StoredMessage { properties, store_timestamp, ..half });
        let half = self.store.by_commit_log_offset(offset)?;
        let conn = self.producer_of(half.property(PGROUP)?, half.sequence)?;
        self.question(conn, half)
    }

    /// A connection of a producer of the group. The real one goes round, too.
    fn producer_of(&self, group: &str, turn: u64) -> Option<PeerConn> {
        let of_group = |known: &super::Registration<'_>| known.role == Role::Producer && known.group == group;
        let conns: Vec<_> = self.registrations().filter(of_group).map(|known| known.conn).collect();
        let index = turn.checked_rem(conns.len() as u64)?;
        conns.get(usize::try_from(index).ok()?).copied()
    }

    /// CHECK_TRANSACTION_STATE (wire §5.15, §6.2).
    fn question(&self, conn: PeerConn, half: &StoredMessage) -> Option<Push> {
        let (topic, queue_id) = half.meant_for()?;
        let record = Record { version: RecordVersion::V1, topic, queue_id, ..half.record() };
        let mut body = BytesMut::new();
        record.encode(&mut body).ok()?;
        let id = half.unique_key().map(|id| id.to_owned().into());
        let names = self.rules.names_in_checks;
        let header = CheckTransactionHeader {
            topic: names.then(|| HALF_TOPIC.into()),
            transaction_offset: half.queue_offset,
            commit_log_offset: half.commit_log_offset,
            message_id: id.clone(),
            transaction_id: id,
            offset_message_id: Some(half.offset_id().to_string().into()),
            broker_name: names.then(|| self.name.to_string().into()),
        };
        let ext = PushExt::Check(header);
        Some(Push {
            conn,
            code: RequestCode::CHECK_TRANSACTION_STATE,
            oneway: true,
            ext,
            body: body.freeze(),
            held: None,
        })
    }
}
