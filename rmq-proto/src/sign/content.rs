use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt::Write;

use super::{SIGNATURE, Scope, UNIQUE_KEY_QUERY};
use crate::ext::ExtSink;

/// Room for the fields of most requests, so that collecting them is one allocation.
const USUAL_LEN: usize = 512;
const USUAL_FIELDS: usize = 24;

/// Collects what is signed of ext fields: names and values one behind the other in one text, and where each lies.
pub(super) struct Content {
    scope: Scope,
    text: String,
    fields: Vec<Field>,
}

/// A name at `start`, right behind it its value, up to `end`.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    value: usize,
    end: usize,
}

impl Content {
    pub(super) fn of(scope: Scope) -> Self {
        let (text, fields) = (String::with_capacity(USUAL_LEN), Vec::with_capacity(USUAL_FIELDS));
        Self { scope, text, fields }
    }

    /// Goes through the values in the order of their names. Of fields with the same name the last counts, as it does for
    /// who reads them.
    pub(super) fn values(mut self, mut take: impl FnMut(&str)) {
        let name = |field: &Field| &self.text[field.start..field.value];
        self.fields.sort_unstable_by(|a, b| java_order(name(a), name(b)).then(a.start.cmp(&b.start)));
        let mut fields = self.fields.iter().peekable();
        while let Some(field) = fields.next() {
            if fields.peek().is_none_or(|next| name(next) != name(field)) {
                take(&self.text[field.value..field.end]);
            }
        }
    }

    fn add(&mut self, name: &str, write_value: impl FnOnce(&mut String)) {
        let is_left_out = match self.scope {
            Scope::All => false,
            Scope::WithoutUniqueKeyQuery => name == UNIQUE_KEY_QUERY,
        };
        if is_left_out || name == SIGNATURE {
            return;
        }
        let start = self.text.len();
        self.text.push_str(name);
        let value = self.text.len();
        write_value(&mut self.text);
        self.fields.push(Field { start, value, end: self.text.len() });
    }
}

/// Takes values as the text that they are on the wire.
impl ExtSink for Content {
    fn text(&mut self, name: &str, value: &str) {
        self.add(name, |text| text.push_str(value));
    }

    fn integer(&mut self, name: &str, value: i64) {
        self.add(name, |text| {
            // Writing to a `String` cannot fail.
            let _written = write!(text, "{value}");
        });
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.add(name, |text| text.push_str(if value { "true" } else { "false" }));
    }
}

/// The order of Java's texts: by UTF-16 units. It differs from that of bytes for characters past U+FFFF.
fn java_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}
