//! What requests have besides their own header: a namespace, what hooks add, and a signature, in this order. A signature is
//! over all that stands before it (wire §8.1), so nothing may follow.

use alloc::borrow::Cow;
use alloc::sync::Arc;

use bytes::{Bytes, BytesMut};
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{CommandHead, EncodeError, FLAG_ONEWAY, RemotingCommand, encode_frame};
use rmq_proto::ext::{ExtSink, WriteExt};
use rmq_proto::header::CommonHeader;
use rmq_proto::sign::Credentials;

use super::Client;
use crate::error::RequestError;
use crate::event::OpId;
use crate::hook::{AddedFields, Forbidden, OutgoingRequest, ReceivedAnswer, RequestFields, SendAttempt};
use crate::link::LinkId;
use crate::time::Instant;

/// More bytes than a namespace takes besides its text.
const NAMESPACE_ROOM: usize = 64;

/// A header with what goes behind it.
struct Extended<'a, H> {
    own: &'a H,
    common: &'a CommonHeader<'a>,
    added: &'a AddedFields,
}

impl<H: WriteExt> WriteExt for Extended<'_, H> {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        self.own.write_ext(sink);
        self.common.write_ext(sink);
        self.added.write_ext(sink);
    }
}

impl Client {
    /// Signs requests with these credentials from now on, or none any more. What was handed out before stays as it is, and
    /// so do connections. A retry is signed anew.
    pub fn set_credentials(&mut self, now: Instant, credentials: Option<Credentials>) {
        self.advance(now);
        self.credentials = credentials.map(Arc::new);
    }

    /// Whether requests have their own header and no more.
    pub(super) fn is_plain(&self) -> bool {
        self.credentials.is_none() && self.config.hooks.is_empty() && self.config.namespace_v2.is_none()
    }

    /// The most bytes that a request can have besides its own header.
    pub(super) fn extras_room(&self) -> usize {
        let namespace = self.config.namespace_v2.as_ref().map_or(0, |name| NAMESPACE_ROOM + 6 * name.len());
        let added = if self.config.hooks.is_empty() { 0 } else { 6 * self.config.limits.hook_bytes };
        namespace + added + self.credentials.as_ref().map_or(0, |credentials| credentials.room())
    }

    /// Appends a request's frame, all but its body, with all that goes behind its header.
    pub(super) fn encode_extended<H: WriteExt>(
        &self,
        out: &mut BytesMut,
        link: LinkId,
        head: &CommandHead<'_>,
        own: &H,
        body: &Bytes,
    ) -> Result<(), EncodeError> {
        let namespace = self.config.namespace_v2.as_deref();
        let common = CommonHeader {
            namespace: namespace.map(Cow::Borrowed),
            namespaced: namespace.map(|_| true),
            ..CommonHeader::default()
        };
        let none = AddedFields::default();
        let added = self.ask_hooks(link, head, &Extended { own, common: &common, added: &none }, body);
        let header = Extended { own, common: &common, added: &added };
        let format = self.config.header_format;
        match &self.credentials {
            Some(credentials) => {
                encode_frame(out, format, head, &credentials.sign(&header, body), body.len())?;
            }
            None => {
                encode_frame(out, format, head, &header, body.len())?;
            }
        }
        Ok(())
    }

    fn ask_hooks(
        &self,
        link: LinkId,
        head: &CommandHead<'_>,
        header: &impl WriteExt,
        body: &Bytes,
    ) -> AddedFields {
        let Some(link) = self.links.get(link).filter(|_| !self.config.hooks.is_empty()) else {
            return AddedFields::default();
        };
        let (code, oneway) = (RequestCode(head.code), head.flag & FLAG_ONEWAY != 0);
        let request = OutgoingRequest { code, address: &link.address, oneway, body };
        let signed = self.credentials.is_some();
        let mut fields = RequestFields::new(header, self.config.limits.hook_bytes, signed);
        self.config.hooks.before_request(&request, &mut fields);
        fields.into_added()
    }

    pub(super) fn tell_hooks(&self, link: LinkId, request: RequestCode, answer: &RemotingCommand) {
        let Some(link) = self.links.get(link).filter(|_| !self.config.hooks.is_empty()) else { return };
        self.config.hooks.after_answer(&ReceivedAnswer {
            request,
            address: &link.address,
            code: ResponseCode(answer.code),
            remark: answer.remark.as_deref(),
            fields: &answer.ext,
        });
    }

    /// Whether the attempt under way may be made. Only messages are asked about.
    pub(super) fn allowed(&self, OpId(op): OpId) -> Result<(), RequestError> {
        let send = self.sends.get(op).filter(|send| send.recall().is_none());
        let Some(send) = send.filter(|_| !self.config.hooks.is_empty()) else { return Ok(()) };
        let Some((progress, address)) =
            send.progress.as_ref().and_then(|at| Some((at, at.address.as_ref()?)))
        else {
            return Ok(());
        };
        let attempt = SendAttempt {
            group: &send.config.group,
            topic: &send.topic,
            broker: &progress.choice.broker,
            address,
            queue_id: progress.choice.queue_id,
            attempt: send.ended + 1,
            properties: &send.properties,
            body: &send.body,
        };
        let allowed = self.config.hooks.before_attempt(&attempt);
        allowed.map_err(|Forbidden { reason }| RequestError::Forbidden { reason })
    }
}
