//! How the types that bodies are made of are read and written.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::{Bytes, BytesMut};

use super::BodyError;
use super::queue::key_name;
use crate::json::{Kind, Reader, References, Writer};

/// Something that a body holds.
pub(super) trait Value: Sized {
    /// Reads what comes next. `null` is read like a value without content; an error if there is no such value.
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError>;

    fn write(&self, sink: &mut Sink<'_>);

    /// Whether its member is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// The key of a map.
pub(super) trait Key: Ord + Sized {
    fn from_key(key: &str) -> Option<Self>;

    fn write_key(&self, sink: &mut Sink<'_>);

    /// The error for a key that ends at `offset` and is none.
    fn error(offset: usize) -> BodyError {
        BodyError::Key { offset }
    }
}

/// A body that is being read.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) json: Reader<'a>,
    references: References<'a>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a [u8]) -> Result<Self, BodyError> {
        let json = Reader::new(text)?;
        let references = References::new(json.clone(), text.len(), key_name);
        Ok(Self { json, references })
    }

    /// Calls `read` for each member of the object that comes next, or of the one that it refers to; `read` has to read the
    /// value. `false` if there is `null` instead.
    pub(super) fn members<F>(&mut self, read: &mut F) -> Result<bool, BodyError>
    where
        F: FnMut(&mut Self, &str) -> Result<(), BodyError>,
    {
        self.json.peek()?;
        let start = self.json.offset();
        if !self.json.object()? {
            return Ok(false);
        }
        let mut reference = None;
        while let Some(member) = self.json.key()? {
            match &*member {
                "$ref" => reference = self.json.text()?,
                member => read(self, member)?,
            }
        }
        if let Some(path) = reference {
            let unresolved = BodyError::Reference { offset: self.json.offset() };
            let target = self.references.enter(&path, start).ok_or(unresolved)?;
            let back = core::mem::replace(&mut self.json, target);
            self.members(read)?;
            self.json = back;
            self.references.leave();
        }
        Ok(true)
    }
}

/// A body that is being written.
#[derive(Debug)]
pub(super) struct Sink<'a> {
    pub(super) json: Writer<'a>,
    keys: Keys,
}

/// How keys that are numbers are written (wire §2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// As fastjson does by itself: `{0:…}`.
    Bare,
    /// As a name server does for routes: `{"0":…}`.
    Quoted,
}

pub(super) fn decode<T: Value>(body: &[u8]) -> Result<T, BodyError> {
    if body.is_empty() {
        return Err(BodyError::Empty);
    }
    let mut source = Source::new(body)?;
    if source.json.peek()? == Kind::Null {
        source.json.skip()?;
        source.json.finish()?;
        return Err(BodyError::Null);
    }
    let value = T::read(&mut source)?;
    source.json.finish()?;
    Ok(value)
}

pub(super) fn encode<T: Value>(value: &T, keys: Keys) -> Bytes {
    let mut out = BytesMut::new();
    value.write(&mut Sink { json: Writer::new(&mut out), keys });
    out.freeze()
}

impl Value for i32 {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        Ok(source.json.i32()?.unwrap_or_default())
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.integer((*self).into());
    }
}

impl Value for i64 {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        Ok(source.json.i64()?.unwrap_or_default())
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.integer(*self);
    }
}

impl Value for f64 {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        Ok(source.json.f64()?.unwrap_or_default())
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.double(*self);
    }
}

impl Value for bool {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        Ok(source.json.boolean()?.unwrap_or_default())
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.boolean(*self);
    }
}

impl Value for String {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        Ok(source.json.text()?.unwrap_or_default().into_owned())
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.text(self);
    }
}

impl<T: Value> Value for Option<T> {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        if source.json.peek()? == Kind::Null {
            source.json.skip()?;
            return Ok(None);
        }
        T::read(source).map(Some)
    }

    fn write(&self, sink: &mut Sink<'_>) {
        match self {
            Some(value) => value.write(sink),
            None => sink.json.null(),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        let mut elements = Self::new();
        if source.json.array()? {
            while source.json.element()? {
                elements.push(T::read(source)?);
            }
        }
        Ok(elements)
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.begin_array();
        self.iter().for_each(|element| element.write(sink));
        sink.json.end_array();
    }
}

/// A key whose value is `null` is as good as not there, also when it had another value before.
impl<K: Key, V: Value> Value for BTreeMap<K, V> {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        let mut map = Self::new();
        source.members(&mut |source, key| {
            let key = K::from_key(key).ok_or_else(|| K::error(source.json.offset()))?;
            match Option::read(source)? {
                Some(value) => map.insert(key, value),
                None => map.remove(&key),
            };
            Ok(())
        })?;
        Ok(map)
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.begin_object();
        for (key, value) in self {
            key.write_key(sink);
            value.write(sink);
        }
        sink.json.end_object();
    }
}

impl Key for String {
    fn from_key(key: &str) -> Option<Self> {
        Some(key.into())
    }

    fn write_key(&self, sink: &mut Sink<'_>) {
        sink.json.key(self);
    }
}

/// The number of a queue.
impl Key for i32 {
    fn from_key(key: &str) -> Option<Self> {
        key.parse().ok()
    }

    fn write_key(&self, sink: &mut Sink<'_>) {
        i64::from(*self).write_key(sink);
    }
}

/// The id of a broker.
impl Key for i64 {
    fn from_key(key: &str) -> Option<Self> {
        key.parse().ok()
    }

    fn write_key(&self, sink: &mut Sink<'_>) {
        match sink.keys {
            Keys::Bare => {
                sink.json.integer(*self);
                sink.json.end_key();
            }
            Keys::Quoted => sink.json.key(&alloc::format!("{self}")),
        }
    }

    fn error(offset: usize) -> BodyError {
        BodyError::BrokerId { offset }
    }
}
