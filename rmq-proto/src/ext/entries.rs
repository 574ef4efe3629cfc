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

impl<'a> TakeKnown<'a> for Entries<'a> {}

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
    /// Whether there are no more entries, as far as is known.
    fn is_at_end(&self) -> bool {
        false
    }

    /// Takes the next entry if it has this name, and returns its value. `None` means nothing: it may have the name anyway.
    fn take_known(&mut self, _: &FieldName) -> Option<RawText<'a>> {
        None
    }
}

/// Puts the value of each of `names` where the name has its place in `found`: the last one, should there be several.
/// Quick as far as they come in the order of `names`, with any of these left out.
#[inline]
pub(super) fn find<'a>(
    mut entries: impl TakeKnown<'a>,
    names: &[FieldName],
    found: &mut [Option<RawText<'a>>],
) {
    // Mostly there is nothing else.
    sweep(&mut entries, names, found);
    loop {
        while sweep(&mut entries, names, found) {}
        let Some((name, value)) = entries.next() else {
            return;
        };
        let mut places = names.iter().zip(&mut *found);
        if let Some((_, found)) = places.find(|(known, _)| name.is(known.as_str())) {
            *found = Some(value);
        }
    }
}

/// Takes entries as long as each comes after the one before it in `names`. True if it found any and more may follow.
#[inline(always)]
fn sweep<'a>(
    entries: &mut impl TakeKnown<'a>,
    names: &[FieldName],
    found: &mut [Option<RawText<'a>>],
) -> bool {
    let mut is_any_known = false;
    for (name, found) in names.iter().zip(found) {
        if entries.is_at_end() {
            return false;
        }
        if let Some(value) = entries.take_known(name) {
            *found = Some(value);
            is_any_known = true;
        }
    }
    is_any_known
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

impl<'a> Iterator for Binary<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (name_end, end) = entry(self.0)?;
        let (name, value) = (self.0.get(2..name_end)?, self.0.get(name_end + 4..end)?);
        self.0 = &self.0[end..];
        let text = |bytes| core::str::from_utf8(bytes).ok().map(RawText::plain);
        Some((text(name)?, text(value)?))
    }
}

/// The entries of a binary header that are ASCII text together with their lengths.
pub(crate) struct PlainBinary<'a>(&'a str);

impl<'a> PlainBinary<'a> {
    #[inline]
    pub(super) fn new(entries: &'a [u8]) -> Self {
        // Whether they are was checked when the header was.
        Self(core::str::from_utf8(entries).unwrap_or_default())
    }

    /// Whether bytes are such entries from one end to the other.
    #[inline]
    pub(crate) fn are_in(entries: &[u8]) -> bool {
        let mut rest = entries;
        while !rest.is_empty() {
            let next = after_short(rest).or_else(|| rest.get(entry(rest)?.1..));
            let Some(next) = next else {
                return false;
            };
            rest = next;
        }
        is_ascii(entries)
    }
}

/// What follows the first entry, if its name and its value are short. The low bytes of the lengths alone lead to the next
/// entry: that way is the shortest.
#[inline]
fn after_short(entries: &[u8]) -> Option<&[u8]> {
    let [0, name_len, ..] = *entries else {
        return None;
    };
    let [0, 0, 0, value_len, rest @ ..] = entries.get(2 + usize::from(name_len)..)? else {
        return None;
    };
    rest.get(usize::from(*value_len)..)
}

/// Where the name of the first entry ends, and where the entry ends.
#[inline]
fn entry(entries: &[u8]) -> Option<(usize, usize)> {
    let name_len = u16::from_be_bytes(*entries.first_chunk()?);
    let name_end = 2 + usize::from(name_len);
    let value_len: usize = u32::from_be_bytes(*entries.get(name_end..)?.first_chunk()?).try_into().ok()?;
    let end = value_len.checked_add(name_end + 4)?;
    (end <= entries.len()).then_some((name_end, end))
}

impl<'a> TakeKnown<'a> for PlainBinary<'a> {
    #[inline]
    fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn take_known(&mut self, name: &FieldName) -> Option<RawText<'a>> {
        let form = name.binary_or_never();
        let bytes = self.0.as_bytes();
        if !form.begins(bytes) {
            return None;
        }
        let value_len = u32::from_be_bytes(*bytes.get(form.len()..)?.first_chunk()?);
        let (start, value_len) = (form.len() + 4, usize::try_from(value_len).ok()?);
        let (taken, rest) = self.0.split_at_checked(start.checked_add(value_len)?)?;
        self.0 = rest;
        Some(RawText::plain(taken.get(start..)?))
    }
}

impl<'a> Iterator for PlainBinary<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name_end, end) = entry(self.0.as_bytes())?;
        let (name, value) = (self.0.get(2..name_end)?, self.0.get(name_end + 4..end)?);
        self.0 = self.0.get(end..)?;
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

impl<'a> Iterator for Owned<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = |text: &'a String| RawText::plain(text);
        self.0.next().map(|(name, value)| (raw(name), raw(value)))
    }
}
