//! From a frame to what is written for it.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::BytesMut;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::frame::Frame;
use rmq_proto::header::{EndTransactionHeader, TransactionState};
use rmq_proto::version::Version;

use super::{Cluster, Place};
use crate::model::answer::{Answer, AnswerExt};
use crate::model::broker::{SendSummary, Turn};
use crate::model::conn::PeerConn;
use crate::model::event::ModelEvent;
use crate::model::fault::{Treatment, is_stored};

/// What comes of one frame.
pub(super) enum Next {
    GoOn,
    Close(Option<String>),
}

/// A request and where it came from.
struct Arrival<'a> {
    unix_ms: u64,
    conn: PeerConn,
    from: SocketAddr,
    peer: usize,
    request: &'a RemotingCommand,
}

impl Cluster {
    pub(super) fn handle_frame(
        &mut self,
        unix_ms: u64,
        conn: PeerConn,
        frame: Frame,
        answers: &mut BytesMut,
    ) -> Next {
        let format = frame.format;
        let request = match RemotingCommand::decode(frame) {
            Ok(request) => request,
            Err(error) => return Next::Close(Some(error.to_string())),
        };
        let Some(link) = self.links.get(&conn) else {
            return Next::GoOn;
        };
        if request.is_response() {
            self.answered(conn, &request);
            return Next::GoOn;
        }
        let arrival = Arrival { unix_ms, conn, from: link.from, peer: link.peer, request: &request };
        let first_sequence = self.sequence;
        let treatment = self.peers[arrival.peer].faults.treat();
        let answer = match treatment.carries_out() {
            true if self.sends_away(&arrival) => Some(Answer::go_away()),
            true => self.answer(&arrival),
            false => None,
        };
        // A one-way request is never answered, not even with an error (wire §1.4).
        let answer = answer.filter(|_| treatment == Treatment::Serve && !request.is_oneway());
        let answer = match answer {
            Some(answer) if is_reply(&request) && is_stored(answer.code) => {
                self.hold(conn, request.opaque, format, answer)
            }
            answer => answer,
        };
        if self.watches_requests {
            self.tell(&arrival, answer.as_ref().map(|answer| answer.code), first_sequence);
        }
        match (treatment, answer) {
            (Treatment::Close { .. }, _) => Next::Close(None),
            (_, Some(answer)) => self.write(&answer, &request, format, answers),
            (_, None) => Next::GoOn,
        }
    }

    /// Whether a request is not carried out because its server shuts down (wire §1.6, §9.4).
    fn sends_away(&self, arrival: &Arrival<'_>) -> bool {
        let leaves = self.peers[arrival.peer].faults.go_away
            || self.links.get(&arrival.conn).is_some_and(|link| link.leaving);
        let version = Version(self.config.profile.rules().version);
        leaves && version.sends_away(Version(arrival.request.version))
    }

    fn answer(&mut self, arrival: &Arrival<'_>) -> Option<Answer> {
        let request = arrival.request;
        let broker = match self.place(arrival.peer) {
            Place::NameServer(index) => return self.name_servers[index].answer(request),
            Place::Broker(index) => &mut self.brokers[index],
        };
        let forced = if is_send(request) { self.peers[arrival.peer].faults.take_send() } else { None };
        if let Some(forced) = &forced
            && !is_stored(forced.code)
        {
            let remark = forced.remark.clone().map(Into::into);
            return Some(Answer { code: forced.code, remark, ..Answer::success(AnswerExt::Region) });
        }
        let mut turn = Turn {
            unix_ms: arrival.unix_ms,
            conn: arrival.conn,
            from: arrival.from,
            name_servers: &mut self.name_servers,
            events: &mut self.events,
            sequence: &mut self.sequence,
            pushes: &mut self.pushes,
            forced,
        };
        let answer = broker.answer(&mut turn, request);
        (!is_never_answered(request)).then_some(answer)
    }

    fn write(
        &self,
        answer: &Answer,
        request: &RemotingCommand,
        format: HeaderFormat,
        answers: &mut BytesMut,
    ) -> Next {
        match answer.encode(self.config.profile.rules(), request.opaque, format, answers) {
            Ok(()) => Next::GoOn,
            Err(error) => Next::Close(Some(error.to_string())),
        }
    }

    /// `first_sequence` is what the request's message got, if the request stored one.
    fn tell(&mut self, arrival: &Arrival<'_>, answered: Option<ResponseCode>, first_sequence: u64) {
        let Arrival { conn, peer, request, .. } = *arrival;
        let send = match self.place(peer) {
            Place::Broker(index) if is_send(request) => {
                let stored = (self.sequence > first_sequence).then_some(first_sequence);
                let message = stored.and_then(|sequence| self.brokers[index].store().by_sequence(sequence));
                SendSummary::read(request, stored, message.map(|message| &message.topic))
            }
            _ => None,
        };
        self.events.push(ModelEvent::Requested {
            conn,
            peer: Arc::clone(&self.peers[peer].name),
            code: RequestCode(request.code),
            opaque: request.opaque,
            oneway: request.is_oneway(),
            answered,
            send,
        });
    }
}

/// END_TRANSACTION that neither commits nor rolls back (wire §5.14).
fn is_never_answered(request: &RemotingCommand) -> bool {
    RequestCode(request.code) == RequestCode::END_TRANSACTION
        && request.header::<EndTransactionHeader<'_>>().is_ok_and(|end| {
            let state = TransactionState::from_i32(end.commit_or_rollback);
            matches!(state, None | Some(TransactionState::Unknown))
        })
}

fn is_reply(request: &RemotingCommand) -> bool {
    matches!(RequestCode(request.code), RequestCode::SEND_REPLY_MESSAGE | RequestCode::SEND_REPLY_MESSAGE_V2)
}

pub(crate) fn is_send(request: &RemotingCommand) -> bool {
    let code = RequestCode(request.code);
    matches!(code, RequestCode::SEND_MESSAGE | RequestCode::SEND_MESSAGE_V2 | RequestCode::SEND_BATCH_MESSAGE)
        || is_reply(request)
}
