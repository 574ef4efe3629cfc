/// The name of a field of a typed header, in the forms that it has on the wire.
#[derive(Clone, Copy, Debug)]
pub struct FieldName {
    name: &'static str,
    /// `,"name":"`
    json: Form,
    /// The name's length in two bytes, and the name.
    binary: Form,
}

impl FieldName {
    /// Makes the forms of a name, for a constant.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        if bytes.is_empty() || bytes.len() + 5 > Form::ROOM || !is_plain(bytes) {
            return Self { name, json: Form::NEVER, binary: Form::NEVER };
        }
        let json = Form::of([b',', b'"'], bytes, *b"\":\"", !0xFF);
        let binary = Form::of([0, bytes.len() as u8], bytes, [], !0);
        Self { name, json, binary }
    }

    /// The name itself.
    pub const fn as_str(&self) -> &'static str {
        self.name
    }

    /// A member of a JSON object up to its value. `None` for a long name, or one that has escapes.
    #[inline]
    pub(crate) const fn json(&self) -> Option<&Form> {
        if self.json.len > 0 { Some(&self.json) } else { None }
    }

    /// An entry of a binary header up to the length of its value. `None` as for JSON.
    #[inline]
    pub(crate) const fn binary(&self) -> Option<&Form> {
        if self.binary.len > 0 { Some(&self.binary) } else { None }
    }

    /// The same as [`json`](Self::json), with a form that no text begins with for `None`: one thing less to ask.
    #[inline]
    pub(super) const fn json_or_never(&self) -> &Form {
        &self.json
    }

    /// The same of [`binary`](Self::binary).
    #[inline]
    pub(super) const fn binary_or_never(&self) -> &Form {
        &self.binary
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
    /// The bits of the first word that count, and what they are.
    mask: u64,
    first: u64,
    /// The last word, if there are more than one.
    last: u64,
}

impl Form {
    pub(crate) const ROOM: usize = 32;

    /// What no text begins with.
    const NEVER: Self = Self { bytes: [0; Self::ROOM], len: 0, mask: 0, first: 1, last: 0 };

    /// Two bytes, a name, and what follows it. `counts` has the bits of the first word that have to be the same.
    const fn of<const N: usize>(lead: [u8; 2], name: &[u8], end: [u8; N], counts: u64) -> Self {
        let mut bytes = [0; Self::ROOM];
        [bytes[0], bytes[1]] = lead;
        let mut len = 2;
        let mut at = 0;
        while at < name.len() {
            bytes[len] = name[at];
            (at, len) = (at + 1, len + 1);
        }
        at = 0;
        while at < N {
            bytes[len] = end[at];
            (at, len) = (at + 1, len + 1);
        }
        let mask = if len < WORD { counts & !(u64::MAX << (8 * len)) } else { counts };
        let first = const_word(&bytes, 0) & mask;
        let last = const_word(&bytes, len.saturating_sub(WORD));
        Self { bytes, len, mask, first, last }
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

    /// Whether `text` begins with these bytes. The first one may be another if it stands for any.
    #[inline]
    pub(super) fn begins(&self, text: &[u8]) -> bool {
        match text.first_chunk() {
            Some(word) if u64::from_le_bytes(*word) & self.mask == self.first => {
                self.len <= WORD || self.goes_on(text)
            }
            _ => false,
        }
    }

    /// Whether the same bytes follow after the first word.
    #[inline]
    fn goes_on(&self, text: &[u8]) -> bool {
        let last_at = self.len - WORD;
        let is_end_same = word(text, last_at) == Some(self.last);
        let is_covered = last_at <= WORD;
        is_end_same && (is_covered || self.has_middle_of(text, last_at))
    }

    #[inline(never)]
    fn has_middle_of(&self, text: &[u8], last_at: usize) -> bool {
        (WORD..last_at).step_by(WORD).all(|at| word(text, at) == word(&self.bytes, at))
    }
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

const WORD: usize = size_of::<u64>();

const fn const_word(bytes: &[u8], at: usize) -> u64 {
    match bytes.split_at(at).1.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => 0,
    }
}
