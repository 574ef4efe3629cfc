//! A frame for a person.

use std::fmt::{self, Display, Formatter, Write as _};
use std::io::{self, Write};

use bytes::Bytes;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::command::{FLAG_ONEWAY, FLAG_RESPONSE, HeaderFormat, RemotingCommand};
use rmq_proto::ext::is_secret;
use rmq_proto::json::{Kind, Reader};
use rmq_proto::version::Version;

use super::stream::Cut;
use super::{hex, records};

pub(super) const REDACTED: &str = "<redacted>";

/// Characters of a JSON body that are shown.
const SHOWN_TEXT: usize = 1_000;

/// Bytes of any other body that are shown.
const SHOWN_BYTES: usize = 64;

pub(super) fn code_name(command: &RemotingCommand) -> Option<&'static str> {
    if command.is_response() { ResponseCode(command.code).name() } else { RequestCode(command.code).name() }
}

/// All that a peer can choose is escaped: it must not write to the terminal what it likes.
pub(super) fn write(cut: &Cut, command: &RemotingCommand, out: &mut dyn Write) -> io::Result<()> {
    let format = match cut.frame.format {
        HeaderFormat::Json => "JSON",
        HeaderFormat::RocketMq => "ROCKETMQ",
    };
    let (len, header_len) = (cut.len(), cut.frame.header.len());
    writeln!(out, "frame at offset {}: {len} bytes, {format} header of {header_len} bytes", cut.offset)?;
    let kind = match (command.is_response(), command.is_oneway()) {
        (true, _) => "response",
        (_, true) => "one-way",
        _ => "request",
    };
    let code = code_name(command).unwrap_or("unknown");
    writeln!(out, "  {kind:9} {code} ({})", command.code)?;
    let language = command.language.and_then(|language| language.name());
    writeln!(out, "  language  {}", language.unwrap_or("unknown"))?;
    match Version(command.version).name() {
        Some(name) => writeln!(out, "  version   {} ({name})", command.version)?,
        None => writeln!(out, "  version   {}", command.version)?,
    }
    writeln!(out, "  opaque    {}", command.opaque)?;
    writeln!(out, "  flag      {}", Flag(command.flag))?;
    if let Some(remark) = &command.remark {
        writeln!(out, "  remark    {remark:?}")?;
    }
    ext(command, out)?;
    body(&command.body, out)
}

fn ext(command: &RemotingCommand, out: &mut dyn Write) -> io::Result<()> {
    if command.ext.is_absent() {
        return writeln!(out, "  ext       none");
    }
    if command.ext.is_empty() {
        return writeln!(out, "  ext       empty");
    }
    for (name, value) in command.ext.iter() {
        let name_shown = name.escape_debug();
        if is_secret(&name) {
            writeln!(out, "  ext       {name_shown} = {REDACTED}")?;
        } else {
            writeln!(out, "  ext       {name_shown} = {value:?}")?;
        }
    }
    Ok(())
}

fn body(body: &Bytes, out: &mut dyn Write) -> io::Result<()> {
    if body.is_empty() {
        return writeln!(out, "  body      none");
    }
    if records::are_in(body) {
        writeln!(out, "  body      {} bytes, messages", body.len())?;
        return records::write(body, out);
    }
    if let Some(text) = json_text(body) {
        writeln!(out, "  body      {} bytes, JSON", body.len())?;
        return writeln!(out, "            {}", Shortened(text));
    }
    let shown = hex::encode(&body[..body.len().min(SHOWN_BYTES)]);
    let dots = if body.len() > SHOWN_BYTES { "..." } else { "" };
    writeln!(out, "  body      {} bytes", body.len())?;
    writeln!(out, "            {shown}{dots}")
}

/// The text of an object or array in the dialect that peers speak (wire §2.4).
fn json_text(body: &[u8]) -> Option<&str> {
    let mut json = Reader::new(body).ok()?;
    let is_body = matches!(json.peek().ok()?, Kind::Object | Kind::Array);
    let is_whole = json.skip().and_then(|()| json.finish()).is_ok();
    str::from_utf8(body).ok().filter(|_| is_body && is_whole)
}

/// A flag word and the names of its bits (wire §1.4).
struct Flag(i32);

impl Display for Flag {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut names = Vec::new();
        for (bit, name) in [(FLAG_RESPONSE, "response"), (FLAG_ONEWAY, "one-way")] {
            names.extend((self.0 & bit != 0).then(|| name.to_owned()));
        }
        let others = self.0 & !(FLAG_RESPONSE | FLAG_ONEWAY);
        names.extend((others != 0).then(|| format!("unknown {others:#x}")));
        write!(f, "{:#x}", self.0)?;
        if names.is_empty() { Ok(()) } else { write!(f, " ({})", names.join(", ")) }
    }
}

/// JSON text on one line, its end left out if it is long. Its own escapes stay as they are.
struct Shortened<'a>(&'a str);

impl Display for Shortened<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let end = self.0.char_indices().nth(SHOWN_TEXT).map_or(self.0.len(), |(at, _)| at);
        for character in self.0[..end].chars() {
            if character.is_control() {
                character.escape_default().fmt(f)?;
            } else {
                f.write_char(character)?;
            }
        }
        if end < self.0.len() { f.write_str("...") } else { Ok(()) }
    }
}
