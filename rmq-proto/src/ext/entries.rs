use alloc::collections::{BTreeMap, btree_map};
use alloc::string::String;

use crate::json::Reader;
use crate::json::text::RawText;

/// Goes through ext fields wherever they lie. Those of a frame were checked when it was decoded, so what would be an error
/// here cannot be; it would end the fields.
pub(crate) struct Entries<'a>(Source<'a>);

enum Source<'a> {
    Empty,
    Json(Reader<'a>),
    Binary(&'a [u8]),
    Owned(btree_map::Iter<'a, String, String>),
}

impl<'a> Entries<'a> {
    pub(super) fn empty() -> Self {
        Self(Source::Empty)
    }

    #[inline]
    pub(super) fn json(object: &'a [u8]) -> Self {
        let entered = Reader::new(object).and_then(|mut json| json.object().map(|_| json));
        Self(entered.map_or(Source::Empty, Source::Json))
    }

    pub(super) fn binary(entries: &'a [u8]) -> Self {
        Self(Source::Binary(entries))
    }

    pub(super) fn owned(fields: &'a BTreeMap<String, String>) -> Self {
        Self(Source::Owned(fields.iter()))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (RawText<'a>, RawText<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Empty => None,
            Source::Json(json) => next_member(json),
            Source::Binary(entries) => next_entry(entries),
            Source::Owned(fields) => {
                fields.next().map(|(name, value)| (RawText::plain(name), RawText::plain(value)))
            }
        }
    }
}

/// The next member that is not null.
#[inline]
fn next_member<'a>(json: &mut Reader<'a>) -> Option<(RawText<'a>, RawText<'a>)> {
    loop {
        if let (name, Some(value)) = json.raw_member().ok()?? {
            return Some((name, value));
        }
    }
}

#[inline]
fn next_entry<'a>(entries: &mut &'a [u8]) -> Option<(RawText<'a>, RawText<'a>)> {
    let (len, rest) = entries.split_first_chunk()?;
    let (name, rest) = split_text(rest, u16::from_be_bytes(*len).into())?;
    let (len, rest) = rest.split_first_chunk()?;
    let (value, rest) = split_text(rest, usize::try_from(u32::from_be_bytes(*len)).ok()?)?;
    *entries = rest;
    Some((name, value))
}

#[inline]
fn split_text(bytes: &[u8], len: usize) -> Option<(RawText<'_>, &[u8])> {
    let (text, rest) = bytes.split_at_checked(len)?;
    Some((RawText::plain(core::str::from_utf8(text).ok()?), rest))
}
