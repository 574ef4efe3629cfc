//! The JSON header in the one form that all peers write (wire §2.1): members in alphabetical order, no white space, text in
//! double quotes. What is in another form is left to the reader of any form; of this one both make the same.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::command::Language;
use crate::ext::Marks;
use crate::json::text::{RawText, end_of_text, is_ascii};

/// What a header says; `None` if it is not in this form, whether it is good or bad. Lists the ext fields in `marks`.
pub(super) fn read(header: &[u8], marks: &mut Marks) -> Option<Head> {
    let is_text = is_ascii(header) || core::str::from_utf8(header).is_ok();
    if is_text { Head::read(header, marks) } else { None }
}

/// The members of a header besides those that tell nothing.
pub(super) struct Head {
    pub(super) code: i32,
    pub(super) language: Language,
    pub(super) flag: i32,
    /// Where the ext fields begin, if there are any.
    pub(super) ext: Option<usize>,
    pub(super) opaque: i32,
    pub(super) remark: Option<String>,
    pub(super) version: i32,
}

impl Head {
    #[inline]
    fn read(header: &[u8], marks: &mut Marks) -> Option<Self> {
        let mut cursor = Cursor { text: header, at: 0 };
        cursor.expect(b"{\"code\":")?;
        let code = cursor.integer()?;
        let ext = match cursor.expect(b",\"extFields\":") {
            Some(()) => Some(cursor.ext_fields(marks)?),
            None => None,
        };
        cursor.expect(b",\"flag\":")?;
        let flag = cursor.integer()?;
        cursor.expect(b",\"language\":\"")?;
        let language = cursor.language()?;
        cursor.expect(b",\"opaque\":")?;
        let opaque = cursor.integer()?;
        let remark = match cursor.expect(b",\"remark\":\"") {
            Some(()) => Some(cursor.text()?.into_owned()),
            None => None,
        };
        cursor.expect(b",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":")?;
        let version = cursor.integer()?;
        cursor.expect(b"}")?;
        let is_whole = cursor.at == header.len();
        is_whole.then_some(Self { code, ext, flag, language, opaque, remark, version })
    }
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Reads exactly this; nothing else.
    #[inline]
    fn expect<const N: usize>(&mut self, piece: &[u8; N]) -> Option<()> {
        if self.text.get(self.at..)?.first_chunk() != Some(piece) {
            return None;
        }
        self.at += N;
        Some(())
    }

    #[inline]
    fn integer(&mut self) -> Option<i32> {
        match self.text.get(self.at..)? {
            [digit @ b'0'..=b'9', next, ..] if !next.is_ascii_digit() => {
                self.at += 1;
                Some(i32::from(digit - b'0'))
            }
            _ => self.long_integer(),
        }
    }

    fn long_integer(&mut self) -> Option<i32> {
        let negative = self.expect(b"-").is_some();
        let start = self.at;
        let mut number = 0_i64;
        while let Some(digit @ b'0'..=b'9') = self.byte()
            && self.at - start < 10
        {
            number = number * 10 + i64::from(digit - b'0');
            self.at += 1;
        }
        if self.at == start {
            return None;
        }
        i32::try_from(if negative { -number } else { number }).ok()
    }

    /// Reads text after its first quote, and its last.
    #[inline]
    fn text(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        let (end, escaped) = self.pass_text()?;
        let raw = core::str::from_utf8(&self.text[start..end]).ok()?;
        Some(RawText { raw, escaped }.text())
    }

    /// Passes over text after its first quote, and its last. Returns where the last is, and whether there are escapes.
    #[inline]
    fn pass_text(&mut self) -> Option<(usize, bool)> {
        let (end, escaped) = end_of_text(self.text, self.at, b'"')?;
        self.at = end + 1;
        Some((end, escaped))
    }

    #[inline]
    fn language(&mut self) -> Option<Language> {
        if self.expect(b"JAVA\"").is_some() {
            return Some(Language::JAVA);
        }
        if self.expect(b"RUST\"").is_some() {
            return Some(Language::RUST);
        }
        Language::from_name(&self.text()?)
    }

    /// Reads an object of texts, and lists its members in `marks`. Returns where it begins.
    #[inline]
    fn ext_fields(&mut self, marks: &mut Marks) -> Option<usize> {
        let (text, start) = (self.text, self.at);
        self.expect(b"{")?;
        if self.expect(b"}").is_some() {
            return Some(start);
        }
        self.expect(b"\"")?;
        let mut at = self.at;
        loop {
            let (name_end, name_escaped) = end_of_short(text, at)?;
            let [b'"', b':', b'"', ..] = *text.get(name_end..)? else {
                return None;
            };
            let (value_end, value_escaped) = end_of_short(text, name_end + 3)?;
            if name_escaped {
                return None;
            }
            marks.push(name_end - start, value_end - start, value_escaped)?;
            match text.get(value_end + 1..)? {
                [b',', b'"', ..] => at = value_end + 3,
                [b'}', ..] => break self.at = value_end + 2,
                _ => return None,
            }
        }
        Some(start)
    }
}

/// Where the end quote of a text lies that begins at `at`, and whether the text has escapes. One letter, as many names and
/// numbers have, is passed over without a search: what comes next then need not wait for where the search ends.
#[inline(always)]
fn end_of_short(text: &[u8], at: usize) -> Option<(usize, bool)> {
    match text.get(at..)? {
        [letter, b'"', ..] if !matches!(letter, b'"' | b'\\') => Some((at + 1, false)),
        _ => end_of_text(text, at, b'"'),
    }
}
