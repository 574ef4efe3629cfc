//! The types that the fields of typed headers have (wire §2.3).

use alloc::borrow::Cow;

use super::{ExtSink, FieldName, HeaderError};
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

    /// What was found under the field's name means; `None` if it means nothing.
    fn read(found: Option<RawText<'a>>) -> Option<Self>;

    /// Writes the field, if it is there.
    fn write<S: ExtSink>(&self, name: &FieldName, sink: &mut S);
}

/// A type that one text can mean.
pub(crate) trait Value<'a>: Sized {
    /// Whether empty text is a value of its own, not the lack of one.
    const TAKES_EMPTY: bool = false;

    const KIND: FieldKind;

    fn parse(raw: RawText<'a>) -> Option<Self>;

    fn write<S: ExtSink>(&self, name: &FieldName, sink: &mut S);
}

impl<'a, V: Value<'a>> Field<'a> for V {
    const KIND: FieldKind = V::KIND;
    const REQUIRED: bool = true;

    #[inline]
    fn read(found: Option<RawText<'a>>) -> Option<Self> {
        found.filter(|found| V::TAKES_EMPTY || !found.raw.is_empty()).and_then(V::parse)
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &FieldName, sink: &mut S) {
        Value::write(self, name, sink);
    }
}

/// Empty text means that there is no value, as the binary format cannot tell the two apart (wire §3.2).
impl<'a, V: Value<'a>> Field<'a> for Option<V> {
    const KIND: FieldKind = V::KIND;
    const REQUIRED: bool = false;

    #[inline]
    fn read(found: Option<RawText<'a>>) -> Option<Self> {
        match found {
            Some(found) if !found.raw.is_empty() => V::parse(found).map(Some),
            _ => Some(None),
        }
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &FieldName, sink: &mut S) {
        if let Some(value) = self {
            Value::write(value, name, sink);
        }
    }
}

/// Why a field cannot be read from what was found under its name.
#[cold]
pub(crate) fn refused(header: &'static str, field: &'static str, found: Option<RawText<'_>>) -> HeaderError {
    match found {
        Some(found) if !found.raw.is_empty() => HeaderError::invalid(header, field, &found.text()),
        _ => HeaderError::Missing { header, field },
    }
}

impl<'a> Value<'a> for Cow<'a, str> {
    const TAKES_EMPTY: bool = true;
    const KIND: FieldKind = FieldKind::Text;

    #[inline]
    fn parse(raw: RawText<'a>) -> Option<Self> {
        Some(raw.text())
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &FieldName, sink: &mut S) {
        sink.known_text(name, self);
    }
}

impl<'a> Value<'a> for i32 {
    const KIND: FieldKind = FieldKind::I32;

    #[inline]
    fn parse(raw: RawText<'a>) -> Option<Self> {
        raw.integer()?.try_into().ok()
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &FieldName, sink: &mut S) {
        sink.known_integer(name, (*self).into());
    }
}

impl<'a> Value<'a> for i64 {
    const KIND: FieldKind = FieldKind::I64;

    #[inline]
    fn parse(raw: RawText<'a>) -> Option<Self> {
        raw.integer()
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &FieldName, sink: &mut S) {
        sink.known_integer(name, *self);
    }
}

/// Only `true`, in any case, is true (wire §2.3).
impl<'a> Value<'a> for bool {
    const KIND: FieldKind = FieldKind::Boolean;

    #[inline]
    fn parse(raw: RawText<'a>) -> Option<Self> {
        Some(raw.is_true())
    }

    #[inline]
    fn write<S: ExtSink>(&self, name: &FieldName, sink: &mut S) {
        sink.known_boolean(name, *self);
    }
}
