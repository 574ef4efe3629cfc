//! The JSON header (wire §2.1, §2.2).

use alloc::borrow::Cow;
use core::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};

use super::{CommandHead, DecodeError, Language, RemotingCommand, cut};
use crate::ext::{ExtFields, ExtSink, WriteExt};
use crate::json::{Kind, Reader, put_integer, put_text};

/// Reads a header in one pass. The ext fields are checked and left where they are.
pub(super) fn decode(header: Bytes, body: Bytes) -> Result<RemotingCommand, DecodeError> {
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

/// Writes a header as Java does, byte for byte: keys in alphabetical order, what is null left out (wire §2.1).
pub(super) fn encode<H: WriteExt + ?Sized>(out: &mut BytesMut, head: &CommandHead<'_>, ext: &H) {
    out.put_slice(b"{\"code\":");
    put_integer(out, head.code.into());
    if !ext.is_absent() {
        out.put_slice(b",\"extFields\":{");
        ext.write_ext(&mut JsonSink { out, comma: false });
        out.put_u8(b'}');
    }
    out.put_slice(b",\"flag\":");
    put_integer(out, head.flag.into());
    match head.language.name() {
        Some(name) => {
            out.put_slice(b",\"language\":\"");
            out.put_slice(name.as_bytes());
            out.put_u8(b'"');
        }
        // Left out, it would read as JAVA.
        None => out.put_slice(b",\"language\":null"),
    }
    out.put_slice(b",\"opaque\":");
    put_integer(out, head.opaque.into());
    if let Some(remark) = head.remark {
        out.put_slice(b",\"remark\":");
        put_text(out, remark);
    }
    out.put_slice(b",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":");
    put_integer(out, head.version.into());
    out.put_u8(b'}');
}

/// Writes ext fields as the members of a JSON object.
struct JsonSink<'a> {
    out: &'a mut BytesMut,
    comma: bool,
}

impl JsonSink<'_> {
    fn name(&mut self, name: &str) {
        if self.comma {
            self.out.put_u8(b',');
        }
        self.comma = true;
        put_text(self.out, name);
    }
}

impl ExtSink for JsonSink<'_> {
    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.out.put_u8(b':');
        put_text(self.out, value);
    }

    fn integer(&mut self, name: &str, value: i64) {
        self.name(name);
        self.out.put_slice(b":\"");
        put_integer(self.out, value);
        self.out.put_u8(b'"');
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.name(name);
        self.out.put_slice(if value { b":\"true\"" } else { b":\"false\"" });
    }
}
