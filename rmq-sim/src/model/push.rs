//! Requests that brokers make of clients (wire §4.2), and how they become frames.

use bytes::{Bytes, BytesMut};
use rmq_proto::code::RequestCode;
use rmq_proto::command::{CommandHead, EncodeError, FLAG_ONEWAY, HeaderFormat, Language, encode_frame};
use rmq_proto::header::{CheckTransactionHeader, PushReplyHeader};

use super::answer::Answer;
use super::conn::PeerConn;
use super::profile::ProfileRules;

/// A request for the client at the other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Push {
    pub(crate) conn: PeerConn,
    pub(crate) code: RequestCode,
    pub(crate) oneway: bool,
    pub(crate) ext: PushExt,
    pub(crate) body: Bytes,
    /// The answer to the request that brought it about, which waits for the client's.
    pub(crate) held: Option<Held>,
}

/// An answer that waits until a client has answered a broker.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) conn: PeerConn,
    pub(crate) opaque: i32,
    pub(crate) format: HeaderFormat,
    /// What is answered if the client says yes.
    pub(crate) answer: Answer,
    /// What is said otherwise.
    pub(crate) remark: String,
}

/// The ext fields of a request.
#[derive(Clone, Debug)]
pub(crate) enum PushExt {
    /// How did a transaction go?
    Check(CheckTransactionHeader<'static>),
    /// Here is the reply to a request.
    Reply(PushReplyHeader<'static>),
}

impl Push {
    /// Appends the whole frame to `out`. Its header is JSON, the servers' own format (wire §3.3).
    pub(crate) fn encode(
        &self,
        rules: &ProfileRules,
        opaque: i32,
        out: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        let head = CommandHead {
            code: self.code.0,
            language: Language::JAVA,
            version: rules.version,
            opaque,
            flag: if self.oneway { FLAG_ONEWAY } else { 0 },
            remark: None,
        };
        match &self.ext {
            PushExt::Check(header) => {
                encode_frame(out, HeaderFormat::Json, &head, header, self.body.len())?;
            }
            PushExt::Reply(header) => {
                encode_frame(out, HeaderFormat::Json, &head, header, self.body.len())?;
            }
        }
        out.extend_from_slice(&self.body);
        Ok(())
    }
}
