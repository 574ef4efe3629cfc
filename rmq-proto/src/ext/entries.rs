use alloc::collections::{BTreeMap, btree_map};
use alloc::string::String;

use super::FieldName;
use super::marks::Marked;
use crate::json::Reader;
use crate::json::text::{RawText, is_ascii};

/// A name and its value.
pub(super) type Entry<'a> = (RawText<'a>, RawText<'a>);

/// Ext fields wherever they lie, to be gone through. Those of a frame were checked when it was decoded, so what would be an
/// error here cannot be; it would end the fields.
pub(super) enum Entries<'a> {
    Empty,
    Json(Json<'a>),
    MarkedJson(Marked<'a>),
    Binary(Binary<'a>),
    PlainBinary(PlainBinary<'a>),
    Owned(Owned<'a>),
}

impl<'a> Entries<'a> {
    /// Puts the value of each of `names` where the name has its place in `found`: the last one, should there be several.
    /// Quick as far as they come in the order of `names`.
    pub(super) fn find(self, names: &[FieldName], found: &mut [Option<RawText<'a>>]) {
        match self {
            Self::Empty => {}
            Self::Json(entries) => find(entries, names, found),
            Self::MarkedJson(entries) => find(entries, names, found),
            Self::Binary(entries) => find(entries, names, found),
            Self::PlainBinary(entries) => find(entries, names, found),
            Self::Owned(entries) => find(entries, names, found),
        }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Empty => None,
            Self::Json(entries) => entries.next(),
            Self::MarkedJson(entries) => entries.next(),
            Self::Binary(entries) => entries.next(),
            Self::PlainBinary(entries) => entries.next(),
            Self::Owned(entries) => entries.next(),
        }
    }
}

/// Entries whose names come, most of the time, in the order that they are looked for.
pub(super) trait TakeKnown<'a>: Iterator<Item = Entry<'a>> {
    /// Takes the next entry if it has this name, and returns its value. `None` means nothing: it may have the name anyway.
    fn take_known(&mut self, _: &FieldName) -> Option<RawText<'a>> {
        None
    }
}

#[inline]
fn find<'a>(mut entries: impl TakeKnown<'a>, names: &[FieldName], found: &mut [Option<RawText<'a>>]) {
    for (name, found) in names.iter().zip(&mut *found) {
        *found = entries.take_known(name);
    }
    for (name, value) in entries {
        let mut places = names.iter().zip(&mut *found);
        if let Some((_, found)) = places.find(|(known, _)| name.is(known.as_str())) {
            *found = Some(value);
        }
    }
}

/// A JSON object of any form.
pub(super) struct Json<'a>(Option<Reader<'a>>);

impl<'a> Json<'a> {
    pub(super) fn new(object: &'a [u8]) -> Self {
        let entered = Reader::new(object).and_then(|mut json| json.object().map(|_| json));
        Self(entered.ok())
    }
}

impl<'a> TakeKnown<'a> for Json<'a> {}

impl<'a> Iterator for Json<'a> {
    type Item = Entry<'a>;

    /// The next member that is not null.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let (name, Some(value)) = self.0.as_mut()?.raw_member().ok()?? {
                return Some((name, value));
            }
        }
    }
}

/// The entries of a binary header.
pub(super) struct Binary<'a>(&'a [u8]);

impl<'a> Binary<'a> {
    pub(super) const fn new(entries: &'a [u8]) -> Self {
        Self(entries)
    }
}

impl<'a> TakeKnown<'a> for Binary<'a> {}

impl<'a> Iterator for Binary<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (name_end, end) = entry(self.0, 0)?;
        let (name, value) = (self.0.get(2..name_end)?, self.0.get(name_end + 4..end)?);
        self.0 = &self.0[end..];
        let text = |bytes| core::str::from_utf8(bytes).ok().map(RawText::plain);
        Some((text(name)?, text(value)?))
    }
}

/// The entries of a binary header that are ASCII text together with their lengths.
pub(crate) struct PlainBinary<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> PlainBinary<'a> {
    #[inline]
    pub(super) fn new(entries: &'a [u8]) -> Self {
        // Whether they are was checked when the header was.
        Self { text: core::str::from_utf8(entries).unwrap_or_default(), at: 0 }
    }

    /// Whether bytes are such entries from one end to the other.
    #[inline]
    pub(crate) fn are_in(entries: &[u8]) -> bool {
        let mut at = 0;
        while at < entries.len() {
            match entry(entries, at) {
                Some((_, end)) => at = end,
                None => return false,
            }
        }
        is_ascii(entries)
    }
}

/// Where the name ends of the entry that begins at `at`, and where the entry ends.
#[inline]
fn entry(entries: &[u8], at: usize) -> Option<(usize, usize)> {
    let name_len = u16::from_be_bytes(*entries.get(at..)?.first_chunk()?);
    let name_end = at + 2 + usize::from(name_len);
    let end = value_end(entries, name_end)?;
    (end <= entries.len()).then_some((name_end, end))
}

/// Where the value ends whose name ends at `name_end`, as its length says.
#[inline]
fn value_end(entries: &[u8], name_end: usize) -> Option<usize> {
    let len: usize = u32::from_be_bytes(*entries.get(name_end..)?.first_chunk()?).try_into().ok()?;
    len.checked_add(name_end + 4)
}

impl<'a> TakeKnown<'a> for PlainBinary<'a> {
    #[inline]
    fn take_known(&mut self, name: &FieldName) -> Option<RawText<'a>> {
        let bytes = self.text.as_bytes();
        let name_end = name.binary()?.end_in::<false>(bytes, self.at)?;
        let end = value_end(bytes, name_end)?;
        let value = self.text.get(name_end + 4..end)?;
        self.at = end;
        Some(RawText::plain(value))
    }
}

impl<'a> Iterator for PlainBinary<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name_end, end) = entry(self.text.as_bytes(), self.at)?;
        let (name, value) = (self.text.get(self.at + 2..name_end)?, self.text.get(name_end + 4..end)?);
        self.at = end;
        Some((RawText::plain(name), RawText::plain(value)))
    }
}

/// Fields that were set by hand.
pub(super) struct Owned<'a>(btree_map::Iter<'a, String, String>);

impl<'a> Owned<'a> {
    pub(super) fn new(fields: &'a BTreeMap<String, String>) -> Self {
        Self(fields.iter())
    }
}

impl<'a> TakeKnown<'a> for Owned<'a> {}

impl<'a> Iterator for Owned<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = |text: &'a String| RawText::plain(text);
        self.0.next().map(|(name, value)| (raw(name), raw(value)))
    }
}
