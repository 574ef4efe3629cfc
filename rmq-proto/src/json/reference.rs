//! What fastjson's references lead to: `{"$ref":"$.queueDatas[0]"}` stands for an object that was written before
//! (wire §2.4).

use alloc::string::String;
use alloc::vec::Vec;

use super::{JsonError, Kind, MAX_DEPTH, Reader};

/// Finds what references lead to, in the text that they stand in.
///
/// A reference may only lead to an object that ends before it, so it cannot lead to itself in any way; those that would (`$`,
/// `@`, `..`) and those that lead forward are refused. The bytes walked to find objects and the bytes read again are
/// counted together, whether a reference stands in the body or in what another one led to. A lookup goes on from
/// where the last one ended, so that references in the order of what they lead to take one walk in all.
#[derive(Debug)]
pub(crate) struct References<'a> {
    root: Reader<'a>,
    key_name: KeyName,
    /// The way to what was found last, one step for each segment of its path.
    trail: Vec<Step<'a>>,
    /// How many bytes may still be walked or read again.
    left: usize,
    /// How many references are being followed, one within the other.
    following: usize,
}

/// The name that Java's paths have for a key that is an object, given as its JSON text.
pub(crate) type KeyName = fn(&str) -> Option<String>;

impl<'a> References<'a> {
    /// For the text of `len` bytes that `root` stands at the start of.
    pub(crate) fn new(root: Reader<'a>, len: usize, key_name: KeyName) -> Self {
        // Enough for real bodies, where few objects occur twice; each byte of a body that abuses them costs 8 more.
        let left = len.saturating_mul(8).saturating_add(64 * 1024);
        Self { root, key_name, trail: Vec::new(), left, following: 0 }
    }

    /// A reader that stands before the object that `path` leads to, which has to end before the byte `before`. Call
    /// [`leave`](Self::leave) when it is read.
    pub(crate) fn enter(&mut self, path: &str, before: usize) -> Option<Reader<'a>> {
        let target = self.find(path)?;
        let mut end = target.clone();
        if end.peek().ok()? != Kind::Object || self.following == MAX_DEPTH {
            return None;
        }
        let start = end.offset();
        end.skip().ok()?;
        // Once to find its end, once to read it. Twice a text in memory does not overflow.
        self.left = self.left.checked_sub(2 * (end.offset() - start))?;
        if end.offset() > before {
            return None;
        }
        self.following += 1;
        Some(target)
    }

    /// Says that the object entered last is read.
    pub(crate) fn leave(&mut self) {
        self.following -= 1;
    }

    fn find(&mut self, path: &str) -> Option<Reader<'a>> {
        let mut rest = path.strip_prefix('$')?;
        let mut value = self.root.clone();
        let mut level = 0;
        while !rest.is_empty() {
            let segment;
            (segment, rest) = Segment::split(rest)?;
            value = self.step(level, value, segment)?;
            level += 1;
        }
        Some(value)
    }

    /// The value that `segment` names in `container`, which lies `level` deep.
    fn step(&mut self, level: usize, container: Reader<'a>, segment: Segment) -> Option<Reader<'a>> {
        if let Some(step) = self.trail.get(level).filter(|step| step.segment == segment) {
            return Some(step.found.json.clone());
        }
        self.trail.truncate(level + 1);
        let known = if self.trail.len() > level { self.trail.pop() } else { None };
        let (first, behind) = match known {
            Some(Step { first, found, .. }) => (first, Some(found).filter(|found| !found.is_past(&segment))),
            None => (Cursor::enter(container).ok()??, None),
        };
        let mut seek = |from: Cursor<'a>| from.seek(&segment, self.key_name, &mut self.left);
        let found = behind.and_then(&mut seek).or_else(|| seek(first.clone()))?;
        let value = found.json.clone();
        self.trail.push(Step { segment, first, found });
        Some(value)
    }
}

/// An object or array on the way.
#[derive(Debug)]
struct Step<'a> {
    segment: Segment,
    first: Cursor<'a>,
    /// At the value that `segment` names.
    found: Cursor<'a>,
}

/// A place in an object or array.
#[derive(Clone, Debug)]
struct Cursor<'a> {
    /// Before the first member, or before the value of the member read last.
    json: Reader<'a>,
    /// How many members were read.
    read: usize,
    is_array: bool,
}

impl<'a> Cursor<'a> {
    /// Before the first member of what comes next; `None` if it has no members.
    fn enter(mut json: Reader<'a>) -> Result<Option<Self>, JsonError> {
        let is_array = match json.peek()? {
            Kind::Array => json.array()?,
            Kind::Object => !json.object()?,
            _ => return Ok(None),
        };
        Ok(Some(Self { json, read: 0, is_array }))
    }

    /// Whether the member cannot come any more.
    fn is_past(&self, segment: &Segment) -> bool {
        self.is_array && segment.index.is_some_and(|index| index < self.read)
    }

    /// Goes on to the value that `segment` names; what it walks over is taken from `left`.
    fn seek(mut self, segment: &Segment, key_name: KeyName, left: &mut usize) -> Option<Self> {
        loop {
            let start = self.json.offset();
            if self.read > 0 {
                self.json.skip().ok()?;
            }
            let found = if self.is_array {
                self.json.element().ok()?.then_some(segment.index == Some(self.read))?
            } else {
                segment.names(&self.json.key().ok()??, key_name)
            };
            self.read += 1;
            *left = left.checked_sub(self.json.offset() - start)?;
            if found {
                return Some(self);
            }
        }
    }
}

/// `.name` or `[3]`, a piece of a path.
#[derive(Debug, PartialEq, Eq)]
struct Segment {
    name: String,
    index: Option<usize>,
}

impl Segment {
    /// The segment that `path` begins with, and the rest.
    fn split(path: &str) -> Option<(Self, &str)> {
        if let Some(path) = path.strip_prefix('[') {
            let (digits, rest) = path.split_once(']')?;
            return Some((Self { name: digits.into(), index: Some(digits.parse().ok()?) }, rest));
        }
        let path = path.strip_prefix('.')?;
        let mut name = String::new();
        let mut chars = path.char_indices();
        let mut end = path.len();
        while let Some((at, char)) = chars.next() {
            match char {
                // What is neither letter nor digit has a backslash before it.
                '\\' => name.push(chars.next()?.1),
                '.' | '[' => {
                    end = at;
                    break;
                }
                _ => name.push(char),
            }
        }
        (!name.is_empty()).then_some((Self { name, index: None }, &path[end..]))
    }

    /// Whether this is the member with that key. A number in brackets is a key, too, in a map from numbers.
    fn names(&self, key: &str, key_name: KeyName) -> bool {
        key == self.name || (key.starts_with('{') && key_name(key).is_some_and(|name| name == self.name))
    }
}
