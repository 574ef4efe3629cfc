//! The types that the fields of typed headers have (wire §2.3).

use alloc::borrow::Cow;

use super::{ExtSink, HeaderError};
use crate::json::text::RawText;

/// A field of a typed header.
pub(crate) trait Field<'a>: Sized {
    /// Reads the field from what was found under its name.
    fn read(name: &'static str, found: Option<RawText<'a>>) -> Result<Self, HeaderError>;

    /// Writes the field, if it is there.
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S);
}

/// A type that one text can mean.
pub(crate) trait Value<'a>: Sized {
    /// Whether empty text is a value of its own, not the lack of one.
    const TAKES_EMPTY: bool = false;

    fn parse(text: Cow<'a, str>) -> Result<Self, Cow<'a, str>>;

    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S);
}

impl<'a, V: Value<'a>> Field<'a> for V {
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
    #[inline]
    fn parse(text: Cow<'a, str>) -> Result<Self, Cow<'a, str>> {
        Ok(text.eq_ignore_ascii_case("true"))
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &'static str, sink: &mut S) {
        sink.boolean(name, *self);
    }
}
