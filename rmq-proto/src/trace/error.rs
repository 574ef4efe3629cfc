use alloc::string::String;

/// A record that the text cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceEncodeError {
    /// A reader would see other fields than were meant.
    #[error("the {field} of a trace record has the character U+0001 or U+0002 in it: it cannot be written")]
    Separator {
        /// What the text is.
        field: &'static str,
    },
}

/// A piece of text that is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceDecodeError {
    /// A kind of record that nobody knows.
    #[error("no trace record begins with `{}`", .name.escape_debug())]
    Kind {
        /// The record's first field.
        name: String,
    },
    /// Too few fields.
    #[error("a {kind} record has at least {least} fields, this one has {found}")]
    Fields {
        /// The record's kind.
        kind: &'static str,
        /// The least that any version writes.
        least: usize,
        /// How many it has.
        found: usize,
    },
    /// A field that is not what it should be.
    #[error("the {field} of a trace record cannot be `{}`", .text.escape_debug())]
    Field {
        /// What the field is.
        field: &'static str,
        /// What is there.
        text: String,
    },
}
