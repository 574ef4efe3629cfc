use bytes::{BufMut, BytesMut};

/// Writes compact JSON, one value or key after the other, commas and colons included; the [module](super) shows how.
///
/// Text is escaped byte for byte as fastjson does it (wire §2.1). Calls must nest as JSON does; that is not checked.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut BytesMut,
    /// Whether a value was written in this object or array, so that a comma is due.
    comma: bool,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `out`.
    pub fn new(out: &'a mut BytesMut) -> Self {
        Self { out, comma: false }
    }

    /// Writes `{`.
    pub fn begin_object(&mut self) {
        self.begin(b'{');
    }

    /// Writes `}`.
    pub fn end_object(&mut self) {
        self.end(b'}');
    }

    /// Writes `[`.
    pub fn begin_array(&mut self) {
        self.begin(b'[');
    }

    /// Writes `]`.
    pub fn end_array(&mut self) {
        self.end(b']');
    }

    /// Writes a key; its value has to follow.
    pub fn key(&mut self, key: &str) {
        self.separate();
        put_text(self.out, key);
        self.end_key();
    }

    /// Ends a key that is no text: a number or object that was just written as if it were a value (wire §2.4). Its value
    /// has to follow.
    pub fn end_key(&mut self) {
        self.out.put_u8(b':');
        self.comma = false;
    }

    /// Writes text, in quotes.
    pub fn text(&mut self, text: &str) {
        self.separate();
        put_text(self.out, text);
    }

    /// Writes a number.
    pub fn integer(&mut self, number: i64) {
        self.separate();
        put_integer(self.out, number);
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.separate();
        self.out.put_slice(if value { b"true" } else { b"false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.separate();
        self.out.put_slice(b"null");
    }

    /// Writes a value that is JSON already.
    pub(super) fn raw(&mut self, json: &str) {
        self.separate();
        self.out.put_slice(json.as_bytes());
    }

    fn begin(&mut self, bracket: u8) {
        self.separate();
        self.out.put_u8(bracket);
        self.comma = false;
    }

    fn end(&mut self, bracket: u8) {
        self.out.put_u8(bracket);
        self.comma = true;
    }

    fn separate(&mut self) {
        if self.comma {
            self.out.put_u8(b',');
        }
        self.comma = true;
    }
}

/// Bytes that text cannot hold as they are. 0xE2 may begin U+2028 and U+2029, which JavaScript takes for line ends.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = true;
        byte += 1;
    }
    special[b'"' as usize] = true;
    special[b'\\' as usize] = true;
    special[0x7F] = true;
    special[0xE2] = true;
    special
};

/// Writes text with its quotes and escapes (wire §2.1).
pub(crate) fn put_text(out: &mut BytesMut, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.put_u8(b'"');
    let mut written = 0;
    let mut at = 0;
    while let Some(len) = bytes[at..].iter().position(|byte| SPECIAL[usize::from(*byte)]) {
        at += len;
        out.put_slice(&bytes[written..at]);
        let len = put_escape(out, &bytes[at..]);
        written = at + len;
        // The first byte of a character that needs no escape is left to the next slice.
        at += len.max(1);
    }
    out.put_slice(&bytes[written..]);
    out.put_u8(b'"');
}

/// Writes the escape of the character that `rest` begins with; returns its length, 0 if it needs none.
fn put_escape(out: &mut BytesMut, rest: &[u8]) -> usize {
    let short = match rest {
        [b'"', ..] => b'"',
        [b'\\', ..] => b'\\',
        [0x08, ..] => b'b',
        [0x0C, ..] => b'f',
        [b'\n', ..] => b'n',
        [b'\r', ..] => b'r',
        [b'\t', ..] => b't',
        [0xE2, 0x80, last @ (0xA8 | 0xA9), ..] => {
            put_unicode_escape(out, 0x2028 | u16::from(last & 1));
            return 3;
        }
        [0xE2, ..] | [] => return 0,
        [byte, ..] => {
            put_unicode_escape(out, u16::from(*byte));
            return 1;
        }
    };
    out.put_slice(&[b'\\', short]);
    1
}

fn put_unicode_escape(out: &mut BytesMut, unit: u16) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |shift: u16| HEX[usize::from(unit >> shift & 0xF)];
    out.put_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
}

/// Writes a number in decimal.
pub(crate) fn put_integer(out: &mut BytesMut, number: i64) {
    // The longest is i64::MIN with 20 characters.
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        start -= 1;
        digits[start] = b'-';
    }
    out.put_slice(&digits[start..]);
}
