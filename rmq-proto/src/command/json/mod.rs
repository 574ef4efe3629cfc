//! The JSON header (wire §2.1, §2.2).

mod canonical;
mod encode;

use alloc::borrow::Cow;
use core::ops::Range;

use bytes::{Buf, Bytes};

pub(super) use encode::encode;

use super::{DecodeError, Language, RemotingCommand, cut};
use crate::ext::{ExtFields, Marks};
use crate::json::{Kind, Reader};

/// Reads a header. The ext fields are checked and left where they are.
#[inline(always)]
#[expect(
    clippy::needless_question_mark,
    reason = "returned as it came, the command would be moved once more"
)]
pub(super) fn decode(mut header: Bytes, body: Bytes) -> Result<RemotingCommand, DecodeError> {
    let mut marks = Marks::new();
    let Some(head) = canonical::read(&header, &mut marks) else {
        return Ok(decode_any(header, body)?);
    };
    let ext = match head.ext {
        None => ExtFields::absent(),
        Some(start) => {
            header.advance(start);
            ExtFields::from_marked_json(header, marks)
        }
    };
    Ok(RemotingCommand {
        code: head.code,
        language: Some(head.language),
        version: head.version,
        opaque: head.opaque,
        flag: head.flag,
        remark: head.remark,
        ext,
        body,
    })
}

/// Reads a header in any form that Java takes.
#[cold]
#[inline(never)]
fn decode_any(header: Bytes, body: Bytes) -> Result<RemotingCommand, DecodeError> {
    let mut json = Reader::new(&header)?;
    if json.peek()? != Kind::Object {
        return Err(DecodeError::NotAnObject);
    }
    let mut command = RemotingCommand {
        code: 0,
        language: Some(Language::JAVA),
        version: 0,
        opaque: 0,
        flag: 0,
        remark: None,
        ext: ExtFields::absent(),
        body,
    };
    let mut ext = None;
    json.object()?;
    while let Some(key) = json.key()? {
        match field(&key) {
            Some(Field::Code) => command.code = json.i32()?.unwrap_or(0),
            Some(Field::ExtFields) => ext = ext_fields(&mut json)?,
            Some(Field::Flag) => command.flag = json.i32()?.unwrap_or(0),
            Some(Field::Language) => command.language = language(&mut json)?,
            Some(Field::Opaque) => command.opaque = json.i32()?.unwrap_or(0),
            Some(Field::Remark) => command.remark = json.text()?.map(Cow::into_owned),
            Some(Field::Version) => command.version = json.i32()?.unwrap_or(0),
            None => json.skip()?,
        }
    }
    json.finish()?;
    if let Some(ext) = ext {
        command.ext = ExtFields::from_json(cut(header, ext));
    }
    Ok(command)
}

#[derive(Clone, Copy)]
enum Field {
    Code,
    ExtFields,
    Flag,
    Language,
    Opaque,
    Remark,
    Version,
}

const FIELDS: [(&str, Field); 7] = [
    ("code", Field::Code),
    ("extFields", Field::ExtFields),
    ("flag", Field::Flag),
    ("language", Field::Language),
    ("opaque", Field::Opaque),
    ("remark", Field::Remark),
    ("version", Field::Version),
];

/// The field that a key names; Java takes any case (wire §2.2).
fn field(key: &str) -> Option<Field> {
    FIELDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, field)| *field)
}

/// Names stand for themselves, unknown ones for none; numbers must be those of a language (wire §2.2).
fn language(json: &mut Reader<'_>) -> Result<Option<Language>, DecodeError> {
    if json.peek()? != Kind::Number {
        return Ok(json.text()?.and_then(|name| Language::from_name(&name)));
    }
    let number = json.i64()?.unwrap_or(-1);
    let known = u8::try_from(number).ok().and_then(Language::known);
    known.map(Some).ok_or(DecodeError::Language(number))
}

/// Checks the ext fields and returns where they lie; `None` if there are none.
fn ext_fields(json: &mut Reader<'_>) -> Result<Option<Range<usize>>, DecodeError> {
    let kind = json.peek()?;
    let start = json.offset();
    if !matches!(kind, Kind::Object | Kind::Null) {
        return Err(DecodeError::ExtNotAnObject { offset: start });
    }
    if !json.object()? {
        return Ok(None);
    }
    while json.raw_member()?.is_some() {}
    Ok(Some(start..json.offset()))
}
