//! Ext fields: the named texts of a command, its "custom header" (wire §2.3).
//!
//! Typed headers ([`crate::header`]) are read from them and written to them without a map in between.

mod entries;
mod error;
mod fields;
mod marks;
mod name;
mod raw;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use core::fmt;

use bytes::Bytes;

pub use error::HeaderError;
pub use fields::FieldKind;
pub(crate) use fields::{Field, refused};
pub(crate) use marks::Marks;
pub use name::FieldName;

use self::entries::Entries;
pub(crate) use self::entries::PlainBinary;
use crate::json::text::RawText;
use crate::sign;

/// Whether the value of an ext field has no place in a log: who signs a request and how (wire §8.1). In any case of letters,
/// as a slip in it makes a secret no less one.
pub fn is_secret(name: &str) -> bool {
    [sign::ACCESS_KEY, sign::SIGNATURE, sign::SECURITY_TOKEN]
        .iter()
        .any(|secret| secret.eq_ignore_ascii_case(name))
}

/// The ext fields of one command.
///
/// Those of a frame stay in the frame's bytes, as the [decoder](crate::command::RemotingCommand::decode) checked them, and
/// are read anew each time; nothing is parsed into a map. What is built by hand is owned.
///
/// - Names are unique but for odd frames; there, the last one counts.
/// - JSON values that are no text read as their JSON text; fields that are `null` are not there (wire §2.2).
/// - The binary format cannot tell an empty value from none. It reads as empty text; typed headers take that as absent in
///   fields that may be (wire §3.2).
/// - Absent fields and no fields are equal, as the binary format cannot tell them apart either.
#[derive(Clone, Default)]
pub struct ExtFields(Repr);

#[derive(Clone, Default)]
enum Repr {
    #[default]
    Absent,
    /// The text of a JSON object, checked.
    Json(Bytes),
    /// The same as peers write it: each member is `"name":"value"`, and nothing but a comma stands between two.
    MarkedJson(Bytes, Marks),
    /// Entries of a binary header, checked.
    Binary(Bytes),
    /// The same where they are ASCII text together with their lengths.
    PlainBinary(Bytes),
    Owned(BTreeMap<String, String>),
}

impl ExtFields {
    /// No ext fields at all: a JSON header has no member for them.
    pub const fn absent() -> Self {
        Self(Repr::Absent)
    }

    /// An empty map of ext fields: `{}` in a JSON header.
    pub const fn new() -> Self {
        Self(Repr::Owned(BTreeMap::new()))
    }

    pub(crate) const fn from_json(object: Bytes) -> Self {
        Self(Repr::Json(object))
    }

    pub(crate) const fn from_binary(entries: Bytes) -> Self {
        Self(Repr::Binary(entries))
    }

    /// Entries as [`PlainBinary::are_in`] finds them.
    pub(crate) const fn from_plain_binary(entries: Bytes) -> Self {
        Self(Repr::PlainBinary(entries))
    }

    /// Begins with the `{` of the object; more may follow after its `}`.
    pub(crate) const fn from_marked_json(object: Bytes, marks: Marks) -> Self {
        Self(Repr::MarkedJson(object, marks))
    }

    /// Whether there is not even an empty map.
    pub fn is_absent(&self) -> bool {
        matches!(self.0, Repr::Absent)
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.entries().next().is_none()
    }

    fn entries(&self) -> Entries<'_> {
        match &self.0 {
            Repr::Absent => Entries::Empty,
            Repr::Json(object) => Entries::Json(entries::Json::new(object)),
            Repr::MarkedJson(object, marks) => Entries::MarkedJson(marks::Marked::new(object, marks)),
            Repr::Binary(fields) => Entries::Binary(entries::Binary::new(fields)),
            Repr::PlainBinary(fields) => Entries::PlainBinary(PlainBinary::new(fields)),
            Repr::Owned(fields) => Entries::Owned(entries::Owned::new(fields)),
        }
    }

    /// Names and values, in the order of the frame; names that stand there twice come twice.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.entries().map(|(name, value)| (name.text(), value.text()))
    }

    /// The value of a field: the last one, should there be several. Goes through all fields; to read many, use a typed
    /// header.
    pub fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        let same = |(found, value): (RawText<'_>, _)| found.is(name).then_some(value);
        self.entries().filter_map(same).last().map(RawText::text)
    }

    /// Puts into `found` the values under each of `names`: the last one, should there be several. One pass; quick when the fields come in
    /// the order of `names`, as most peers write them.
    pub(crate) fn find<'a>(&'a self, names: &'static [FieldName], found: &mut [Option<RawText<'a>>]) {
        match &self.0 {
            Repr::MarkedJson(object, marks) => entries::find(marks::Marked::new(object, marks), names, found),
            Repr::PlainBinary(fields) => entries::find(PlainBinary::new(fields), names, found),
            _ => entries::find(self.entries(), names, found),
        }
    }

    /// Sets a field. Fields of a frame are copied out of it.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.edit(|fields| {
            fields.insert(name.into(), value.into());
        });
    }

    /// Removes a field, and says whether it was there. Fields of a frame are copied out of it.
    pub fn remove(&mut self, name: &str) -> bool {
        let is_there = self.value(name).is_some();
        if is_there {
            self.edit(|fields| {
                fields.remove(name);
            });
        }
        is_there
    }

    /// Sets all fields of a header. An absent one changes nothing; an empty one makes sure there is a map.
    pub(crate) fn extend_from(&mut self, header: &impl WriteExt) {
        if !header.is_absent() {
            self.edit(|fields| header.write_ext(fields));
        }
    }

    /// Makes the fields owned, if they are not, and changes them.
    fn edit(&mut self, change: impl FnOnce(&mut BTreeMap<String, String>)) {
        let mut fields = match core::mem::take(&mut self.0) {
            Repr::Owned(fields) => fields,
            repr => {
                let own =
                    |(name, value): (Cow<'_, str>, Cow<'_, str>)| (name.into_owned(), value.into_owned());
                Self(repr).iter().map(own).collect()
            }
        };
        change(&mut fields);
        self.0 = Repr::Owned(fields);
    }
}

impl fmt::Debug for ExtFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_absent() {
            return f.write_str("absent");
        }
        let mut map = f.debug_map();
        for (name, value) in self.iter() {
            map.entry(&name, if is_secret(&name) { &"<redacted>" } else { &value });
        }
        map.finish()
    }
}

impl PartialEq for ExtFields {
    fn eq(&self, other: &Self) -> bool {
        let map = |fields: &Self| -> BTreeMap<String, String> {
            fields.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
        };
        map(self) == map(other)
    }
}

impl Eq for ExtFields {}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for ExtFields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        Self(Repr::Owned(fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }
}

/// Takes ext fields one by one. Names must not repeat.
pub trait ExtSink {
    /// A field that is text.
    fn text(&mut self, name: &str, value: &str);
    /// A field that is a number; on the wire it is text, too.
    fn integer(&mut self, name: &str, value: i64);
    /// A field that is a boolean; on the wire it is the text `true` or `false`.
    fn boolean(&mut self, name: &str, value: bool);

    /// [`text`](Self::text) under a name of a typed header.
    fn known_text(&mut self, name: &FieldName, value: &str) {
        self.text(name.as_str(), value);
    }
    /// [`integer`](Self::integer) under a name of a typed header.
    fn known_integer(&mut self, name: &FieldName, value: i64) {
        self.integer(name.as_str(), value);
    }
    /// [`boolean`](Self::boolean) under a name of a typed header.
    fn known_boolean(&mut self, name: &FieldName, value: bool) {
        self.boolean(name.as_str(), value);
    }
}

impl ExtSink for BTreeMap<String, String> {
    fn text(&mut self, name: &str, value: &str) {
        self.insert(name.into(), value.into());
    }

    fn integer(&mut self, name: &str, value: i64) {
        self.insert(name.into(), value.to_string());
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.insert(name.into(), value.to_string());
    }
}

/// What can be written as ext fields.
pub trait WriteExt {
    /// Writes each field that is there, in an order that stays the same.
    fn write_ext<S: ExtSink>(&self, sink: &mut S);

    /// Whether a JSON header is to have no `extFields` at all, not even `{}`. Some brokers fail on requests without, so
    /// only few commands are written so (wire §2.3).
    fn is_absent(&self) -> bool {
        false
    }
}

/// What can be read from ext fields.
pub trait ReadExt<'a>: Sized {
    /// Reads the fields, borrowing text where it can. Fields that `Self` does not know mean nothing.
    ///
    /// # Errors
    ///
    /// A field that must be there is missing, or a field says what it cannot.
    fn read_ext(ext: &'a ExtFields) -> Result<Self, HeaderError>;
}

/// A header without fields: `{}`.
impl WriteExt for () {
    fn write_ext<S: ExtSink>(&self, _: &mut S) {}
}

/// Any ext fields will do.
impl ReadExt<'_> for () {
    fn read_ext(_: &ExtFields) -> Result<Self, HeaderError> {
        Ok(())
    }
}

/// No header: a JSON header then has no `extFields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NoExt;

impl WriteExt for NoExt {
    fn write_ext<S: ExtSink>(&self, _: &mut S) {}

    fn is_absent(&self) -> bool {
        true
    }
}

impl WriteExt for ExtFields {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        for (name, value) in self.iter() {
            sink.text(&name, &value);
        }
    }

    fn is_absent(&self) -> bool {
        self.is_absent()
    }
}

/// Both halves, one after the other. They must not have names in common.
impl<A: WriteExt, B: WriteExt> WriteExt for (A, B) {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        self.0.write_ext(sink);
        self.1.write_ext(sink);
    }

    fn is_absent(&self) -> bool {
        self.0.is_absent() && self.1.is_absent()
    }
}

/// Each half by itself; what one needs may be unknown to the other.
impl<'a, A: ReadExt<'a>, B: ReadExt<'a>> ReadExt<'a> for (A, B) {
    fn read_ext(ext: &'a ExtFields) -> Result<Self, HeaderError> {
        Ok((A::read_ext(ext)?, B::read_ext(ext)?))
    }
}
