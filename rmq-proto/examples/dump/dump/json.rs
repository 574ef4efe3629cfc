//! A frame as one line of JSON.

use std::io::{self, Write};

use bytes::BytesMut;
use rmq_proto::command::{Language, RemotingCommand};
use rmq_proto::ext;
use rmq_proto::json::Writer;

use super::{hex, text};

pub(super) fn write(command: &RemotingCommand, out: &mut dyn Write) -> io::Result<()> {
    let mut line = BytesMut::new();
    let mut json = Writer::new(&mut line);
    json.begin_object();
    json.key("code");
    json.integer(command.code.into());
    json.key("code_name");
    text_or_null(&mut json, text::code_name(command));
    json.key("language");
    text_or_null(&mut json, command.language.and_then(Language::name));
    json.key("version");
    json.integer(command.version.into());
    json.key("opaque");
    json.integer(command.opaque.into());
    json.key("flag");
    json.integer(command.flag.into());
    json.key("remark");
    text_or_null(&mut json, command.remark.as_deref());
    json.key("ext");
    ext(&mut json, command);
    json.key("body");
    json.text(&hex::encode(&command.body));
    json.end_object();
    line.extend_from_slice(b"\n");
    out.write_all(&line)
}

fn text_or_null(json: &mut Writer<'_>, text: Option<&str>) {
    match text {
        Some(text) => json.text(text),
        None => json.null(),
    }
}

fn ext(json: &mut Writer<'_>, command: &RemotingCommand) {
    if command.ext.is_absent() {
        return json.null();
    }
    json.begin_object();
    for (name, value) in command.ext.iter() {
        json.key(&name);
        json.text(if ext::is_secret(&name) { text::REDACTED } else { &value });
    }
    json.end_object();
}
