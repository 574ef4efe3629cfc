//! Answers, and how they become frames.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use rmq_proto::code::ResponseCode;
use rmq_proto::command::{CommandHead, EncodeError, FLAG_RESPONSE, HeaderFormat, Language, encode_frame};
use rmq_proto::ext::{ExtSink, HeaderError, NoExt, WriteExt};
use rmq_proto::header::{
    ForbiddenType, HeartbeatResponseHeader, OffsetResponseHeader, PullResponseHeader, RecallResponseHeader,
    SendResponseHeader,
};

use super::profile::ProfileRules;

/// Region of brokers whose configuration names none (wire §5.1).
pub(crate) const REGION: &str = "DefaultRegion";

/// What the model answers to one request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) code: ResponseCode,
    pub(crate) remark: Option<Cow<'static, str>>,
    pub(crate) ext: AnswerExt,
    pub(crate) body: Bytes,
    /// Made by an exception, not by the code that serves the request: then the header format is the server's own
    /// (wire §3.3).
    pub(crate) by_exception: bool,
}

/// The ext fields of an answer: which answers have which (wire §2.1, §5.1).
#[derive(Clone, Debug)]
pub(crate) enum AnswerExt {
    /// No member at all.
    Absent,
    /// `{}`.
    Empty,
    /// `MSG_REGION` and `TRACE_ON`, as each refused send has.
    Region,
    /// A send that was stored.
    Sent(SendResponseHeader<'static>),
    /// A queue offset.
    Offset(OffsetResponseHeader),
    /// A message that was recalled.
    Recalled(RecallResponseHeader<'static>),
    /// A heartbeat.
    Heartbeat(HeartbeatResponseHeader),
    /// How a pull went.
    Pull(PullResponseHeader),
    /// What a refused pull may not read (wire §5.3).
    Forbidden(ForbiddenType),
}

impl Answer {
    pub(crate) const fn success(ext: AnswerExt) -> Self {
        Self { code: ResponseCode::SUCCESS, remark: None, ext, body: Bytes::new(), by_exception: false }
    }

    pub(crate) fn error(code: ResponseCode, ext: AnswerExt, remark: impl Into<Cow<'static, str>>) -> Self {
        Self { code, remark: Some(remark.into()), ..Self::success(ext) }
    }

    /// A request that a real server would fail over: SYSTEM_ERROR with an exception's name in the remark (wire §2.3),
    /// and no ext fields (seen on both).
    pub(crate) fn exception(remark: impl Into<Cow<'static, str>>) -> Self {
        Self { by_exception: true, ..Self::error(ResponseCode::SYSTEM_ERROR, AnswerExt::Absent, remark) }
    }

    /// A header that lacks what the server needs, or has what it cannot read (wire §2.3).
    pub(crate) fn bad_header(error: &HeaderError) -> Self {
        Self::exception(format!("java.lang.NullPointerException: {error}"))
    }

    /// A code that the server does not know (wire §1.4).
    pub(crate) fn not_supported(code: i32) -> Self {
        let remark = format!(" request type {code} not supported");
        Self::error(ResponseCode::REQUEST_CODE_NOT_SUPPORTED, AnswerExt::Absent, remark)
    }

    /// What a server that shuts down says to every request (wire §9.4).
    pub(crate) fn go_away() -> Self {
        Self { code: ResponseCode::GO_AWAY, ..Self::success(AnswerExt::Absent) }
    }

    /// Appends the whole frame to `out`.
    pub(crate) fn encode(
        &self,
        rules: &ProfileRules,
        opaque: i32,
        request_format: HeaderFormat,
        out: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        let mirrors = rules.mirrors_format && !self.by_exception;
        let format = if mirrors { request_format } else { HeaderFormat::Json };
        let head = CommandHead {
            code: self.code.0,
            language: Language::JAVA,
            version: rules.version,
            opaque,
            flag: FLAG_RESPONSE,
            remark: self.remark.as_deref(),
        };
        let body_len = self.body.len();
        match &self.ext {
            AnswerExt::Absent => encode_frame(out, format, &head, &NoExt, body_len),
            AnswerExt::Empty => encode_frame(out, format, &head, &(), body_len),
            AnswerExt::Region => encode_frame(out, format, &head, &RegionHeader, body_len),
            AnswerExt::Sent(header) => encode_frame(out, format, &head, header, body_len),
            AnswerExt::Offset(header) => encode_frame(out, format, &head, header, body_len),
            AnswerExt::Recalled(header) => encode_frame(out, format, &head, header, body_len),
            AnswerExt::Heartbeat(header) => encode_frame(out, format, &head, header, body_len),
            AnswerExt::Pull(header) => encode_frame(out, format, &head, header, body_len),
            AnswerExt::Forbidden(what) => encode_frame(out, format, &head, &ForbiddenHeader(*what), body_len),
        }?;
        out.extend_from_slice(&self.body);
        Ok(())
    }
}

struct RegionHeader;

impl WriteExt for RegionHeader {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        sink.text("MSG_REGION", REGION);
        sink.text("TRACE_ON", "true");
    }
}

struct ForbiddenHeader(ForbiddenType);

impl WriteExt for ForbiddenHeader {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        sink.text("forbiddenType", &self.0.to_i32().to_string());
    }
}
