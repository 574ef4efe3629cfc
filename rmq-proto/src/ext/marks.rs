use super::FieldName;
use super::entries::TakeKnown;
use crate::json::text::RawText;

/// Where the ext fields of a JSON header end that is written as peers write it, so that its texts need not be looked
/// through again. For headers as nearly all are: few fields, of no great length.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// The end quotes of name and value, seen from the `{`.
    ends: [(u16, u16); Self::MAX_FIELDS],
    /// Bits of the fields whose value has escapes.
    escaped: u16,
    len: u8,
}

/// What stands between a name and its value, and between a value and the next name.
const BETWEEN: usize = "\":\"".len();

impl Marks {
    /// SEND_MESSAGE_V2 has 14 fields, and 16 with a signature.
    const MAX_FIELDS: usize = 16;

    pub(crate) const fn new() -> Self {
        Self { ends: [(0, 0); Self::MAX_FIELDS], escaped: 0, len: 0 }
    }

    /// Adds a field whose name has no escapes; `None` if it does not fit.
    #[inline]
    pub(crate) fn push(&mut self, name_end: usize, value_end: usize, escaped: bool) -> Option<()> {
        let ends = self.ends.get_mut(usize::from(self.len))?;
        *ends = (name_end.try_into().ok()?, value_end.try_into().ok()?);
        self.escaped |= u16::from(escaped) << self.len;
        self.len += 1;
        Some(())
    }
}

/// The fields of an object that has marks.
pub(super) struct Marked<'a> {
    object: &'a str,
    ends: core::slice::Iter<'a, (u16, u16)>,
    /// Where the next name is.
    name: usize,
    /// The lowest bit is that of the next field.
    escaped: u16,
}

impl<'a> Marked<'a> {
    pub(super) fn new(object: &'a [u8], marks: &'a Marks) -> Self {
        let ends = marks.ends.get(..usize::from(marks.len)).unwrap_or_default();
        // It was checked when the marks were made. The rest of the header behind it is of no use.
        let end = ends.last().map_or(0, |(_, value_end)| usize::from(*value_end) + "\"}".len());
        let object =
            object.get(..end).and_then(|object| core::str::from_utf8(object).ok()).unwrap_or_default();
        Self { object, ends: ends.iter(), name: "{\"".len(), escaped: marks.escaped }
    }

    /// The value from `start` on, with which the next field ends.
    #[inline]
    fn value(&mut self, start: usize) -> Option<RawText<'a>> {
        let value_end = usize::from(self.ends.next()?.1);
        let value = RawText { raw: self.object.get(start..value_end)?, escaped: self.escaped & 1 == 1 };
        self.name = value_end + BETWEEN;
        self.escaped >>= 1;
        Some(value)
    }
}

impl<'a> TakeKnown<'a> for Marked<'a> {
    #[inline]
    fn is_at_end(&self) -> bool {
        self.ends.as_slice().is_empty()
    }

    #[inline]
    fn take_known(&mut self, name: &FieldName) -> Option<RawText<'a>> {
        // The bracket of the object stands where other members have a comma.
        let rest = self.object.as_bytes().get(self.name - 2..)?;
        let form = name.json_or_never();
        if form.begins(rest) { self.value(self.name - 2 + form.len()) } else { None }
    }
}

impl<'a> Iterator for Marked<'a> {
    type Item = (RawText<'a>, RawText<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let name_end = usize::from(self.ends.as_slice().first()?.0);
        let name = RawText::plain(self.object.get(self.name..name_end)?);
        Some((name, self.value(name_end + BETWEEN)?))
    }
}
