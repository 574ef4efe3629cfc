//! JSON values as a tree, to be compared.

use std::collections::BTreeMap;
use std::fmt;

use bytes::BytesMut;
use rmq_proto::json::{Kind, Reader, Writer};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// As it stands, so that nothing is rounded.
    Number(String),
    Text(String),
    Array(Vec<Self>),
    /// A key that is an object itself (wire §2.4) stands here as its JSON text.
    Object(BTreeMap<String, Self>),
}

impl Value {
    pub(crate) fn parse(text: &str) -> Self {
        let mut json = Reader::of(text);
        let value = Self::read(&mut json);
        json.finish().unwrap_or_else(|error| panic!("{error}: {text}"));
        value
    }

    fn read(json: &mut Reader<'_>) -> Self {
        let kind = json.peek().expect("a value");
        match kind {
            Kind::Null => {
                json.skip().unwrap();
                Self::Null
            }
            Kind::Boolean => Self::Boolean(json.boolean().unwrap().unwrap()),
            Kind::Number => Self::Number(json.text().unwrap().unwrap().into()),
            Kind::Text => Self::Text(json.text().unwrap().unwrap().into()),
            Kind::Array => {
                json.array().unwrap();
                let mut elements = Vec::new();
                while json.element().unwrap() {
                    elements.push(Self::read(json));
                }
                Self::Array(elements)
            }
            Kind::Object => {
                json.object().unwrap();
                let mut members = BTreeMap::new();
                while let Some(key) = json.key().unwrap() {
                    // The order of the members of a key means nothing.
                    let key = if key.starts_with('{') { Self::parse(&key).to_string() } else { key.into() };
                    let twice = members.insert(key, Self::read(json));
                    assert_eq!(twice, None, "a key stands there twice");
                }
                Self::Object(members)
            }
        }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn number(number: impl Into<i64>) -> Self {
        Self::Number(number.into().to_string())
    }

    pub(crate) fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(key),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn write(&self, json: &mut Writer<'_>) {
        match self {
            Self::Null => json.null(),
            Self::Boolean(value) => json.boolean(*value),
            Self::Number(number) => match number.parse() {
                Ok(integer) => json.integer(integer),
                Err(_) => json.text(number),
            },
            Self::Text(text) => json.text(text),
            Self::Array(elements) => {
                json.begin_array();
                elements.iter().for_each(|element| element.write(json));
                json.end_array();
            }
            Self::Object(members) => {
                json.begin_object();
                for (key, value) in members {
                    json.key(key);
                    value.write(json);
                }
                json.end_object();
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = BytesMut::new();
        self.write(&mut Writer::new(&mut out));
        f.write_str(std::str::from_utf8(&out).expect("UTF-8"))
    }
}
