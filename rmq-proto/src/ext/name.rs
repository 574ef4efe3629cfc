/// The name of a field of a typed header, as each format has it: written with one store.
#[derive(Clone, Copy, Debug)]
pub struct FieldName {
    name: &'static str,
    /// `,"name":"`
    json: [u8; ROOM],
    /// What is used of `json`; 0 if the name does not fit or needs escapes.
    json_len: usize,
    /// The name's length in two bytes, and the name.
    binary: [u8; ROOM],
    /// What is used of `binary`; 0 if the name does not fit.
    binary_len: usize,
}

const ROOM: usize = 32;

impl FieldName {
    /// Makes the forms of a name, for a constant.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        let (mut json, mut binary) = ([0; ROOM], [0; ROOM]);
        let (mut json_len, mut binary_len) = (bytes.len() + 5, bytes.len() + 2);
        if json_len > ROOM {
            return Self { name, json, json_len: 0, binary, binary_len: 0 };
        }
        json[0] = b',';
        json[1] = b'"';
        binary[1] = bytes.len() as u8;
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if !byte.is_ascii() || byte.is_ascii_control() || byte == b'"' || byte == b'\\' {
                json_len = 0;
            }
            json[2 + at] = byte;
            binary[2 + at] = byte;
            at += 1;
        }
        json[2 + at] = b'"';
        json[3 + at] = b':';
        json[4 + at] = b'"';
        if bytes.is_empty() {
            binary_len = 0;
        }
        Self { name, json, json_len, binary, binary_len }
    }

    /// The name itself.
    pub const fn as_str(&self) -> &'static str {
        self.name
    }

    #[inline]
    pub(crate) fn json(&self) -> Option<(&[u8; ROOM], usize)> {
        (self.json_len > 0).then_some((&self.json, self.json_len))
    }

    #[inline]
    pub(crate) fn binary(&self) -> Option<(&[u8; ROOM], usize)> {
        (self.binary_len > 0).then_some((&self.binary, self.binary_len))
    }
}
