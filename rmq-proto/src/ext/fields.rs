//! The types that the fields of typed headers have (wire §2.3).

use alloc::borrow::Cow;

use super::{ExtSink, HeaderError};
use crate::json::text::RawText;

/// What the text of a field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Itself.
    Text,
    /// A decimal number of 32 bits.
    I32,
    /// A decimal number of 64 bits.
    I64,
    /// `true`, or anything else for false.
    Boolean,
}

/// A field of a typed header.
pub(crate) trait Field<'a>: Sized {
    const KIND: FieldKind;

    /// Whether a header without the field cannot be read.
    const REQUIRED: bool;

    /// Reads the field from what was found under its name.
    fn read(name: &'static str, found: Option<RawText<'a>>) -> Result<Self, HeaderError>;

    /// Writes the field, if it is there.
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S);
}

/// A type that one text can mean.
pub(crate) trait Value<'a>: Sized {
    /// Whether empty text is a value of its own, not the lack of one.
    const TAKES_EMPTY: bool = false;

    const KIND: FieldKind;

    fn parse(text: Cow<'a, str>) -> Result<Self, Cow<'a, str>>;

    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S);
}

impl<'a, V: Value<'a>> Field<'a> for V {
    const KIND: FieldKind = V::KIND;
    const REQUIRED: bool = true;

    #[inline]
    fn read(name: &'static str, found: Option<RawText<'a>>) -> Result<Self, HeaderError> {
        match found {
            Some(found) if V::TAKES_EMPTY || !found.raw.is_empty() => {
                V::parse(found.text()).map_err(|text| HeaderError::invalid(name, &text))
            }
            _ => Err(HeaderError::Missing { field: name }),
        }
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S) {
        Value::write(self, name, sink);
    }
}

/// Empty text means that there is no value, as the binary format cannot tell the two apart (wire §3.2).
impl<'a, V: Value<'a>> Field<'a> for Option<V> {
    const KIND: FieldKind = V::KIND;
    const REQUIRED: bool = false;

    #[inline]
    fn read(name: &'static str, found: Option<RawText<'a>>) -> Result<Self, HeaderError> {
        match found {
            Some(found) if !found.raw.is_empty() => <V as Field<'a>>::read(name, Some(found)).map(Some),
            _ => Ok(None),
        }
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S) {
        if let Some(value) = self {
            Value::write(value, name, sink);
        }
    }
}

impl<'a> Value<'a> for Cow<'a, str> {
    const TAKES_EMPTY: bool = true;
    const KIND: FieldKind = FieldKind::Text;

    #[inline]
    fn parse(text: Self) -> Result<Self, Self> {
        Ok(text)
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S) {
        sink.text(name, self);
    }
}

impl<'a> Value<'a> for i32 {
    const KIND: FieldKind = FieldKind::I32;

    #[inline]
    fn parse(text: Cow<'a, str>) -> Result<Self, Cow<'a, str>> {
        text.parse().map_err(|_| text)
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S) {
        sink.integer(name, (*self).into());
    }
}

impl<'a> Value<'a> for i64 {
    const KIND: FieldKind = FieldKind::I64;

    #[inline]
    fn parse(text: Cow<'a, str>) -> Result<Self, Cow<'a, str>> {
        text.parse().map_err(|_| text)
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S) {
        sink.integer(name, *self);
    }
}

/// Only `true`, in any case, is true (wire §2.3).
impl<'a> Value<'a> for bool {
    const KIND: FieldKind = FieldKind::Boolean;

    #[inline]
    fn parse(text: Cow<'a, str>) -> Result<Self, Cow<'a, str>> {
        Ok(text.eq_ignore_ascii_case("true"))
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S) {
        sink.boolean(name, *self);
    }
}
