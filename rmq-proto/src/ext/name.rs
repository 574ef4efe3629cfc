/// The name of a field of a typed header, in the forms that it has on the wire.
#[derive(Clone, Copy, Debug)]
pub struct FieldName {
    name: &'static str,
    /// `,"name":"`
    json: Option<Form>,
    /// The name's length in two bytes, and the name.
    binary: Option<Form>,
}

impl FieldName {
    /// Makes the forms of a name, for a constant.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        if bytes.is_empty() || bytes.len() + 5 > Form::ROOM || !is_plain(bytes) {
            return Self { name, json: None, binary: None };
        }
        let (json, binary) = (Form::of([b',', b'"'], bytes), Form::of([0, bytes.len() as u8], bytes));
        Self { name, json: Some(json.ended(*b"\":\"")), binary: Some(binary) }
    }

    /// The name itself.
    pub const fn as_str(&self) -> &'static str {
        self.name
    }

    /// A member of a JSON object up to its value. `None` for a long name, or one that has escapes.
    #[inline]
    pub(crate) const fn json(&self) -> Option<&Form> {
        self.json.as_ref()
    }

    /// An entry of a binary header up to the length of its value. `None` as for JSON.
    #[inline]
    pub(crate) const fn binary(&self) -> Option<&Form> {
        self.binary.as_ref()
    }
}

/// Whether a name stands for itself in JSON.
const fn is_plain(name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        let byte = name[at];
        if !byte.is_ascii() || byte.is_ascii_control() || byte == b'"' || byte == b'\\' {
            return false;
        }
        at += 1;
    }
    true
}

/// Bytes that are written with one store, and compared a word at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    bytes: [u8; Self::ROOM],
    len: usize,
}

impl Form {
    pub(crate) const ROOM: usize = 32;

    /// Two bytes and a name that fits behind them.
    const fn of(lead: [u8; 2], name: &[u8]) -> Self {
        let mut bytes = [0; Self::ROOM];
        [bytes[0], bytes[1]] = lead;
        let mut at = 0;
        while at < name.len() {
            bytes[2 + at] = name[at];
            at += 1;
        }
        Self { bytes, len: 2 + name.len() }
    }

    /// The same with three bytes more.
    const fn ended(mut self, end: [u8; 3]) -> Self {
        [self.bytes[self.len], self.bytes[self.len + 1], self.bytes[self.len + 2]] = end;
        self.len += end.len();
        self
    }

    /// The bytes, and others behind them.
    #[inline]
    pub(crate) const fn bytes(&self) -> &[u8; Self::ROOM] {
        &self.bytes
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Where these bytes end that should begin at `at`; `None` if they do not. With `ANY_FIRST` the first byte may be another.
    #[inline]
    pub(super) fn end_in<const ANY_FIRST: bool>(&self, text: &[u8], at: usize) -> Option<usize> {
        const WORD: usize = size_of::<u64>();
        let word = |bytes: &[u8; WORD]| u64::from_le_bytes(*bytes);
        let found = word(text.get(at..)?.first_chunk()?);
        let mut differs = found ^ word(self.bytes.first_chunk()?);
        if ANY_FIRST {
            differs &= !0xFF;
        }
        if self.len <= WORD {
            // All bits above are of no interest.
            differs <<= (8 * (WORD - self.len)) & 63;
            return (differs == 0).then_some(at + self.len);
        }
        // The last word overlaps the one before when there is less than a word left. It never reaches back to the first byte.
        let mut start = WORD;
        while differs == 0 && start < self.len {
            let from = start.min(self.len - WORD);
            let found = word(text.get(at + from..)?.first_chunk()?);
            let known = word(self.bytes.get(from..)?.first_chunk()?);
            differs = found ^ known;
            start += WORD;
        }
        (differs == 0).then_some(at + self.len)
    }
}
