//! What the tests share.

use std::collections::BTreeMap;
use std::io::{self, Read};

use rmq_proto::json::{JsonError, Reader};

use crate::dump::{self, FINE};

/// Hex of the least JSON frame of wire E18.
pub(crate) const LEAST: &str = "0000000e0000000a7b22636f6465223a317d";

/// Exit status, output and errors.
pub(crate) type Printed = (u8, String, String);

pub(crate) fn run(arguments: &[&str], mut stdin: impl Read) -> Printed {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let arguments = arguments.iter().map(Into::into);
    let status = dump::run(arguments, &mut stdin, &mut out, &mut errors).expect("memory takes all");
    let utf8 = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status, utf8(out), utf8(errors))
}

/// What these arguments give, which are fine.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let (status, out, errors) = run(arguments, io::empty());
    assert_eq!((status, errors.as_str()), (FINE, ""), "{arguments:?}");
    out
}

/// Hex of a frame with this JSON header and body.
pub(crate) fn json_frame(header: &str, body: &[u8]) -> String {
    let mut hex = format!("{:08x}{:08x}", 4 + header.len() + body.len(), header.len());
    for byte in header.bytes().chain(body.iter().copied()) {
        hex += &format!("{byte:02x}");
    }
    hex
}

/// The members of an object, each as JSON text. `null` has none.
pub(crate) fn members(object: &str) -> Result<BTreeMap<String, String>, JsonError> {
    let mut members = BTreeMap::new();
    let mut json = Reader::of(object);
    let is_object = json.object()?;
    while is_object && let Some(name) = json.key()? {
        members.insert(name.into_owned(), json.skip_raw()?.to_owned());
    }
    json.finish()?;
    Ok(members)
}

/// The members of an object of texts.
pub(crate) fn texts(object: &str) -> Result<BTreeMap<String, Option<String>>, JsonError> {
    let members = members(object)?.into_iter();
    members.map(|(name, value)| Ok((name, text(&value)?))).collect()
}

pub(crate) fn text(value: &str) -> Result<Option<String>, JsonError> {
    Ok(Reader::of(value).text()?.map(Into::into))
}

/// A text that comes in the smallest pieces.
pub(crate) struct OneByOne<'a>(pub(crate) &'a [u8]);

impl Read for OneByOne<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.0.len().min(1);
        self.0.read(&mut buf[..len])
    }
}
