use super::raw::Raw;

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
    object: &'a [u8],
    ends: core::slice::Iter<'a, (u16, u16)>,
    /// Where the next name is.
    name: usize,
    /// The lowest bit is that of the next field.
    escaped: u16,
}

impl<'a> Marked<'a> {
    pub(super) fn new(object: &'a [u8], marks: &'a Marks) -> Self {
        let ends = marks.ends.get(..usize::from(marks.len)).unwrap_or_default().iter();
        Self { object, ends, name: "{\"".len(), escaped: marks.escaped }
    }
}

impl<'a> Iterator for Marked<'a> {
    type Item = (Raw<'a>, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name_end, value_end) = self.ends.next()?;
        let (name_end, value_end) = (usize::from(*name_end), usize::from(*value_end));
        let name = Raw::plain(self.object.get(self.name..name_end)?);
        let value = Raw::json(self.object.get(name_end + BETWEEN..value_end)?, self.escaped & 1 == 1);
        self.name = value_end + BETWEEN;
        self.escaped >>= 1;
        Some((name, value))
    }
}
