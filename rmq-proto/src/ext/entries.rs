use alloc::collections::{BTreeMap, btree_map};
use alloc::string::String;

use super::FieldName;
use super::marks::Marked;
use super::raw::Raw;
use crate::json::Reader;
use crate::json::text::RawText;

/// A name and its value.
type Entry<'a> = (Raw<'a>, Raw<'a>);

/// Ext fields wherever they lie, to be gone through. Those of a frame were checked when it was decoded, so what would be an
/// error here cannot be; it would end the fields.
pub(super) enum Entries<'a> {
    Empty,
    Json(Json<'a>),
    MarkedJson(Marked<'a>),
    Binary(Binary<'a>),
    Owned(Owned<'a>),
}

impl<'a> Entries<'a> {
    /// Puts the value of each of `names` where the name has its place in `found`.
    pub(super) fn find(self, names: &[FieldName], found: &mut [Option<Raw<'a>>]) {
        match self {
            Self::Empty => {}
            Self::Json(entries) => find(entries, names, found),
            Self::MarkedJson(entries) => find(entries, names, found),
            Self::Binary(entries) => find(entries, names, found),
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
            Self::Owned(entries) => entries.next(),
        }
    }
}

/// Quick when the names come in the order of `names`, as most peers write them.
#[inline]
fn find<'a>(entries: impl Iterator<Item = Entry<'a>>, names: &[FieldName], found: &mut [Option<Raw<'a>>]) {
    let mut expected = 0;
    for (name, value) in entries {
        let place = match names.get(expected) {
            Some(known) if name.is(known.as_str()) => expected,
            _ => match place(name, names, expected) {
                Some(place) => place,
                None => continue,
            },
        };
        if let Some(found) = found.get_mut(place) {
            *found = Some(value);
        }
        expected = place + 1;
    }
}

/// Where the name stands among those known, looked for from `expected` on first.
#[inline(never)]
fn place(name: Raw<'_>, names: &[FieldName], expected: usize) -> Option<usize> {
    let is = |known: &FieldName| name.is(known.as_str());
    let (before, after) = names.split_at(expected.min(names.len()));
    let further = after.iter().position(is).map(|place| before.len() + place);
    further.or_else(|| before.iter().position(is))
}

/// A JSON object of any form.
pub(super) struct Json<'a>(Option<Reader<'a>>);

impl<'a> Json<'a> {
    pub(super) fn new(object: &'a [u8]) -> Self {
        let entered = Reader::new(object).and_then(|mut json| json.object().map(|_| json));
        Self(entered.ok())
    }
}

impl<'a> Iterator for Json<'a> {
    type Item = Entry<'a>;

    /// The next member that is not null.
    fn next(&mut self) -> Option<Self::Item> {
        let raw = |text: RawText<'a>| Raw::json(text.raw.as_bytes(), text.escaped);
        loop {
            if let (name, Some(value)) = self.0.as_mut()?.raw_member().ok()?? {
                return Some((raw(name), raw(value)));
            }
        }
    }
}

/// The entries of a binary header.
pub(crate) struct Binary<'a>(&'a [u8]);

impl<'a> Binary<'a> {
    #[inline]
    pub(crate) const fn new(entries: &'a [u8]) -> Self {
        Self(entries)
    }

    /// Whether bytes are entries from one end to the other, all of ASCII text.
    #[inline]
    pub(crate) fn is_plain(entries: &'a [u8]) -> bool {
        let mut left = Self(entries);
        entries.is_ascii() && left.by_ref().all(|_| true) && left.0.is_empty()
    }
}

impl<'a> Iterator for Binary<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (len, rest) = self.0.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(u16::from_be_bytes(*len).into())?;
        let (len, rest) = rest.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(u32::from_be_bytes(*len).try_into().ok()?)?;
        self.0 = rest;
        Some((Raw::plain(name), Raw::plain(value)))
    }
}

/// Fields that were set by hand.
pub(super) struct Owned<'a>(btree_map::Iter<'a, String, String>);

impl<'a> Owned<'a> {
    pub(super) fn new(fields: &'a BTreeMap<String, String>) -> Self {
        Self(fields.iter())
    }
}

impl<'a> Iterator for Owned<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = |text: &'a String| Raw::plain(text.as_bytes());
        self.0.next().map(|(name, value)| (raw(name), raw(value)))
    }
}
