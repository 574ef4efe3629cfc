//! One thing that is written and read.

use crate::value::Value;

/// How Java is to read the bytes; `JavaRead.java` has a branch for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole frame. The class, if any, is that of its header. Read: what the command says, and the header's fields.
    Frame,
    /// Records of a store, one after the other. Read: a list of messages, each as it is `stored` and its body `inflated`.
    Record,
    /// The body of a batch. Read: a list of messages.
    Batch,
    /// A JSON body of the class. Read: the JSON text that Java would write again.
    Body,
    /// A compressed body; the argument names the method. Read: what comes out, in hexadecimal digits.
    Compressed,
    /// A signed frame; the argument is the secret. Read: the signature in it, and the one that a broker computes.
    Signed,
    /// A message's properties. Read: a map.
    Properties,
    /// An offset id. Read: its parts, and the id that Java makes of them.
    OffsetId,
    /// A unique key. Read: its parts.
    UniqueKey,
    /// Text. Read: its hash.
    Hash,
    /// A call of the static method `Class.method` with the arguments. Read: what it returns.
    Call,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Record => "record",
            Self::Batch => "batch",
            Self::Body => "body",
            Self::Compressed => "compressed",
            Self::Signed => "signed",
            Self::Properties => "properties",
            Self::OffsetId => "offset-id",
            Self::UniqueKey => "unique-key",
            Self::Hash => "hash",
            Self::Call => "call",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    /// The Java class without its package, or none.
    pub(crate) class: &'static str,
    pub(crate) arguments: Vec<String>,
    pub(crate) bytes: Vec<u8>,
    /// What Java should read; `compare` says how the two are compared.
    pub(crate) expected: Value,
}

impl Case {
    pub(crate) fn new(id: impl Into<String>, kind: Kind, bytes: impl Into<Vec<u8>>, expected: Value) -> Self {
        let id = format!("{}/{}", kind.name(), id.into());
        Self { id, kind, class: "", arguments: Vec::new(), bytes: bytes.into(), expected }
    }

    pub(crate) fn class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }

    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        self
    }

    /// The line that the Java program gets.
    pub(crate) fn line(&self) -> String {
        let line = Value::object([
            ("id", Value::text(&self.id)),
            ("kind", Value::text(self.kind.name())),
            ("class", Value::text(self.class)),
            ("arguments", Value::Array(self.arguments.iter().map(Value::text).collect())),
            ("hex", Value::text(hex(&self.bytes))),
        ]);
        format!("{line}\n")
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
