mod tokens;

use alloc::borrow::Cow;

use super::text::{RawText, scan};
use super::{JsonError, MAX_DEPTH};

/// What kind of value comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// Text in double or single quotes.
    Text,
    /// `{`.
    Object,
    /// `[`.
    Array,
}

/// A name and its value; `None` for `null`.
pub(crate) type RawMember<'a> = (RawText<'a>, Option<RawText<'a>>);

/// Reads JSON of fastjson's dialect piece by piece; the [module](super) shows how.
///
/// Inside an object, call [`key`](Self::key) until it returns `None`, and read or [`skip`](Self::skip) one value after each
/// key; inside an array, the same with [`element`](Self::element). After an error, stop: what comes next is not defined.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Whether a bracket has just opened, so that no comma is due.
    opened: bool,
}

impl<'a> Reader<'a> {
    /// A reader of the whole of `text`, which must be UTF-8.
    pub fn new(text: &'a [u8]) -> Result<Self, JsonError> {
        match core::str::from_utf8(text) {
            Ok(text) => Ok(Self::of(text)),
            Err(error) => Err(JsonError::Utf8 { offset: error.valid_up_to() }),
        }
    }

    /// A reader of the whole of `text`.
    pub fn of(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at, depth: 0, opened: false }
    }

    /// How many bytes were read; after [`peek`](Self::peek), where the next value begins.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// What comes next; nothing is read but white space and comments.
    #[inline]
    pub fn peek(&mut self) -> Result<Kind, JsonError> {
        self.skip_space()?;
        match self.byte() {
            Some(b'"' | b'\'') => Ok(Kind::Text),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Boolean),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Enters an object. `false` if there is `null` instead, which is then read.
    pub fn object(&mut self) -> Result<bool, JsonError> {
        self.enter(Kind::Object, "an object")
    }

    /// Enters an array. `false` if there is `null` instead, which is then read.
    pub fn array(&mut self) -> Result<bool, JsonError> {
        self.enter(Kind::Array, "an array")
    }

    fn enter(&mut self, kind: Kind, expected: &'static str) -> Result<bool, JsonError> {
        match self.peek()? {
            found if found == kind => {}
            Kind::Null => return self.word().map(|_| false),
            _ => return Err(self.unexpected(expected)),
        }
        if self.depth == MAX_DEPTH {
            return Err(JsonError::Depth { offset: self.at });
        }
        self.depth += 1;
        self.at += 1;
        self.opened = true;
        Ok(true)
    }

    /// The next key of the object entered last, its colon read too; `None` when the object ends here.
    ///
    /// A key that is a number or an object (`{0:…}`, `{{"topic":"T"}:…}`) comes as its JSON text, which another reader can
    /// read; Java takes the same text in quotes for it, too (wire §2.4).
    #[inline]
    pub fn key(&mut self) -> Result<Option<Cow<'a, str>>, JsonError> {
        Ok(self.raw_key()?.map(RawText::text))
    }

    /// Like [`key`](Self::key), with the escapes not yet taken back.
    #[inline]
    pub(crate) fn raw_key(&mut self) -> Result<Option<RawText<'a>>, JsonError> {
        if let Some((key, colon)) = self.plain_key() {
            self.opened = false;
            self.at = colon + 1;
            return Ok(Some(key));
        }
        if !self.next_member(b'}', "`,` or `}`")? {
            return Ok(None);
        }
        let key = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote)?,
            Some(b'{') => RawText::plain(self.skip_raw()?),
            _ => RawText::plain(self.bare_key()?),
        };
        self.skip_space()?;
        if self.byte() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// The next member of the object entered last, its value read as [`raw_text`](Self::raw_text) does.
    #[inline]
    pub(crate) fn raw_member(&mut self) -> Result<Option<RawMember<'a>>, JsonError> {
        if let Some((name, value)) = self.plain_member() {
            return Ok(Some((name, Some(value))));
        }
        match self.raw_key()? {
            Some(name) => Ok(Some((name, self.raw_text()?))),
            None => Ok(None),
        }
    }

    /// The next member if it looks as all peers write it: name and value in double quotes, and no white space. Else reads
    /// nothing.
    #[inline]
    fn plain_member(&mut self) -> Option<(RawText<'a>, RawText<'a>)> {
        let (name, colon) = self.plain_key()?;
        if self.text.as_bytes().get(colon + 1) != Some(&b'"') {
            return None;
        }
        let (value, end) = scan(self.text, colon + 2, b'"')?;
        self.opened = false;
        self.at = end + 1;
        Some((name, value))
    }

    /// The next key, if it looks as all peers write it, and where its colon lies. Reads nothing yet.
    #[inline]
    fn plain_key(&self) -> Option<(RawText<'a>, usize)> {
        let bytes = self.text.as_bytes();
        let start = match bytes.get(self.at..)? {
            [b',', b'"', ..] if !self.opened => self.at + 2,
            [b'"', ..] if self.opened => self.at + 1,
            _ => return None,
        };
        let (name, end) = scan(self.text, start, b'"')?;
        (bytes.get(end + 1) == Some(&b':')).then_some((name, end + 1))
    }

    /// Whether the array entered last has another value; `false` when the array ends here.
    pub fn element(&mut self) -> Result<bool, JsonError> {
        self.next_member(b']', "`,` or `]`")
    }

    /// Reads the comma that is due. `false` if `end` closes the object or array, with or without a comma before it.
    #[inline]
    fn next_member(&mut self, end: u8, expected: &'static str) -> Result<bool, JsonError> {
        self.skip_space()?;
        if !self.opened && self.byte() == Some(b',') {
            self.at += 1;
            self.skip_space()?;
        } else if !self.opened && self.byte() != Some(end) {
            return Err(self.unexpected(expected));
        }
        self.opened = false;
        if self.byte() == Some(end) {
            self.at += 1;
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads a value of any kind and forgets it. An error if it is not JSON of this dialect.
    pub fn skip(&mut self) -> Result<(), JsonError> {
        match self.peek()? {
            Kind::Null | Kind::Boolean => self.word().map(drop),
            Kind::Number => self.number().map(drop),
            Kind::Text => self.quoted_text().map(drop),
            Kind::Object => {
                self.object()?;
                while self.raw_key()?.is_some() {
                    self.skip()?;
                }
                Ok(())
            }
            Kind::Array => {
                self.array()?;
                while self.element()? {
                    self.skip()?;
                }
                Ok(())
            }
        }
    }

    /// Reads a value of any kind; returns its JSON text as it stands.
    pub fn skip_raw(&mut self) -> Result<&'a str, JsonError> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }

    /// Reads a value as text; `None` for `null`. A number, boolean, object or array gives its JSON text (wire §2.2).
    ///
    /// An escaped half of a surrogate pair that stands alone reads as U+FFFD.
    #[inline]
    pub fn text(&mut self) -> Result<Option<Cow<'a, str>>, JsonError> {
        Ok(self.raw_text()?.map(RawText::text))
    }

    /// Like [`text`](Self::text), with the escapes not yet taken back.
    #[inline]
    pub(crate) fn raw_text(&mut self) -> Result<Option<RawText<'a>>, JsonError> {
        match self.peek()? {
            Kind::Text => self.quoted_text().map(Some),
            Kind::Null => self.word().map(|_| None),
            Kind::Number => self.number().map(|number| Some(RawText::plain(number))),
            Kind::Boolean | Kind::Object | Kind::Array => Ok(Some(RawText::plain(self.skip_raw()?))),
        }
    }

    /// Reads a whole number; `None` for `null` and for empty text.
    ///
    /// As Java's reader does, takes numbers in quotes, `true` as 1, and drops decimals (`34.0`). Exponents are an error.
    pub fn i64(&mut self) -> Result<Option<i64>, JsonError> {
        self.integer(64).map(|(number, _)| number)
    }

    /// Like [`i64`](Self::i64), for numbers of 32 bits; one that does not fit is an error.
    pub fn i32(&mut self) -> Result<Option<i32>, JsonError> {
        let (number, offset) = self.integer(32)?;
        let fit = number.map(i32::try_from).transpose();
        fit.map_err(|_| JsonError::Number { offset, bits: 32 })
    }

    /// A whole number, and where it began.
    fn integer(&mut self, bits: u32) -> Result<(Option<i64>, usize), JsonError> {
        let start = self.at;
        if let Some(number) = self.plain_integer() {
            return Ok((Some(number), start));
        }
        let kind = self.peek()?;
        let offset = self.at;
        let bad = JsonError::Number { offset, bits };
        let number = match kind {
            Kind::Null => self.word().map(|_| None)?,
            Kind::Boolean => Some((self.word()? == "true").into()),
            Kind::Number => Some(whole_number(self.number()?).ok_or(bad)?),
            Kind::Text => match &*self.quoted_text()?.text() {
                "" | "null" => None,
                text => Some(whole_number(text).ok_or(bad)?),
            },
            Kind::Object | Kind::Array => return Err(bad),
        };
        Ok((number, offset))
    }

    /// Reads a boolean; `None` for `null` and for empty text. Takes `"true"` and `"false"` in any case, and numbers: 1 is
    /// `true`, any other is `false`.
    pub fn boolean(&mut self) -> Result<Option<bool>, JsonError> {
        let kind = self.peek()?;
        let unexpected = self.unexpected("a boolean");
        match kind {
            Kind::Null => self.word().map(|_| None),
            Kind::Boolean => self.word().map(|word| Some(word == "true")),
            Kind::Number => Ok(Some(self.number()? == "1")),
            Kind::Text => match &*self.quoted_text()?.text() {
                "" | "null" => Ok(None),
                text if text.eq_ignore_ascii_case("true") || text == "1" => Ok(Some(true)),
                text if text.eq_ignore_ascii_case("false") || text == "0" => Ok(Some(false)),
                _ => Err(unexpected),
            },
            Kind::Object | Kind::Array => Err(unexpected),
        }
    }

    /// Checks that nothing follows but white space and comments.
    pub fn finish(&mut self) -> Result<(), JsonError> {
        self.skip_space()?;
        match self.byte() {
            None => Ok(()),
            Some(_) => Err(JsonError::Trailing { offset: self.at }),
        }
    }
}

/// A decimal number with its decimals dropped; `None` if it is none or does not fit.
fn whole_number(text: &str) -> Option<i64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_decimal = !decimals.is_empty() && decimals.bytes().all(|byte| byte.is_ascii_digit());
    whole.parse().ok().filter(|_| is_decimal)
}
