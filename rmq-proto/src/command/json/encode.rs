use bytes::BytesMut;

use crate::command::{CommandHead, Language};
use crate::ext::{ExtSink, FieldName, WriteExt};
use crate::json::put_escaped;
use crate::pen::Pen;

/// Writes a header as Java does, byte for byte: keys in alphabetical order, what is null left out (wire §2.1).
pub(in crate::command) fn encode<H: WriteExt + ?Sized>(out: &mut BytesMut, head: &CommandHead<'_>, ext: &H) {
    let mut sink = JsonSink { pen: Pen::new(out) };
    sink.pen.put(b"{\"code\":");
    sink.pen.put_integer(head.code.into());
    if !ext.is_absent() {
        sink.pen.put(b",\"extFields\":");
        let start = sink.pen.len();
        ext.write_ext(&mut sink);
        // Each field begins with a comma, so the first one gets the bracket.
        if sink.pen.len() == start {
            sink.pen.put(b"{");
        } else {
            sink.pen.overwrite(start, *b"{");
        }
        sink.pen.put(b"}");
    }
    let mut pen = sink.pen;
    pen.put(b",\"flag\":");
    pen.put_integer(head.flag.into());
    match (head.language, head.language.name()) {
        // What we say of ourselves, in one piece.
        (Language::RUST, _) => pen.put(b",\"language\":\"RUST\",\"opaque\":"),
        (_, Some(name)) => {
            pen.put(b",\"language\":\"");
            pen.put_slice(name.as_bytes());
            pen.put(b"\",\"opaque\":");
        }
        // Left out, it would read as JAVA.
        (_, None) => pen.put(b",\"language\":null,\"opaque\":"),
    }
    pen.put_integer(head.opaque.into());
    if let Some(remark) = head.remark {
        pen.put(b",\"remark\":\"");
        put_escaped(&mut pen, remark);
        pen.put(b"\"");
    }
    pen.put(b",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":");
    pen.put_integer(head.version.into());
    pen.put(b"}");
}

/// Writes ext fields as members of a JSON object, each with a comma before it.
struct JsonSink<'a> {
    pen: Pen<'a>,
}

impl JsonSink<'_> {
    /// Writes a name that may need escapes, and the quote that a value begins with.
    fn name(&mut self, name: &str) {
        self.pen.put(b",\"");
        put_escaped(&mut self.pen, name);
        self.pen.put(b"\":\"");
    }

    #[inline]
    fn known_name(&mut self, name: &FieldName) {
        match name.json() {
            Some(member) => self.pen.put_part(member.bytes(), member.len()),
            None => self.name(name.as_str()),
        }
    }

    fn value(&mut self, value: &str) {
        put_escaped(&mut self.pen, value);
        self.pen.put(b"\"");
    }

    #[inline]
    fn number(&mut self, value: i64) {
        self.pen.put_integer(value);
        self.pen.put(b"\"");
    }

    #[inline]
    fn truth(&mut self, value: bool) {
        if value { self.pen.put(b"true\"") } else { self.pen.put(b"false\"") }
    }
}

impl ExtSink for JsonSink<'_> {
    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.value(value);
    }

    fn integer(&mut self, name: &str, value: i64) {
        self.name(name);
        self.number(value);
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.name(name);
        self.truth(value);
    }

    fn known_text(&mut self, name: &FieldName, value: &str) {
        self.known_name(name);
        self.value(value);
    }

    fn known_integer(&mut self, name: &FieldName, value: i64) {
        match (name.json(), u8::try_from(value)) {
            (Some(form), Ok(digit @ 0..=9)) => {
                self.pen.put_part_and(form.bytes(), form.len(), &[b'0' + digit, b'"']);
            }
            _ => {
                self.known_name(name);
                self.number(value);
            }
        }
    }

    fn known_boolean(&mut self, name: &FieldName, value: bool) {
        match (name.json(), value) {
            (Some(form), true) => self.pen.put_part_and(form.bytes(), form.len(), b"true\""),
            (Some(form), false) => self.pen.put_part_and(form.bytes(), form.len(), b"false\""),
            (None, _) => self.boolean(name.as_str(), value),
        }
    }
}
