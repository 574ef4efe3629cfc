//! What Java read against what it should have read.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Case, Kind};
use crate::lacks::{self, Version};
use crate::value::Value;

/// Lists that are sets to Java, so that their order is not ours (wire §5).
const SETS: &[&str] = &[
    "codeSet",
    "consumerDataSet",
    "lockOKMQSet",
    "messageQueueAssignments",
    "mqSet",
    "producerDataSet",
    "subscriptionDataSet",
    "subscriptionSet",
    "tagsSet",
    "topicList",
];

/// What differs, each with its place; nothing if all is as it should be.
pub(crate) fn differences(case: &Case, version: Version, line: &Value) -> Vec<String> {
    let absent = line.get("absent") == Some(&Value::Boolean(true));
    match (lacks::class(version, case.class), absent) {
        (true, true) => return Vec::new(),
        (true, false) => return vec![format!("{} is there, but `lacks` says it is not", case.class)],
        (false, true) => return vec![format!("there is no {}", case.class)],
        (false, false) => {}
    }
    let read = line.get("read").expect("what was read");
    let mut expected = case.expected.clone();
    let mut comparison = Comparison { class: case.class, version, differences: Vec::new() };
    if case.kind == Kind::Body {
        comparison.drop_lacking(&mut expected);
        comparison.compare("", &expected, &Value::parse(read.as_text().expect("JSON text")));
    } else {
        comparison.compare("", &expected, read);
    }
    comparison.differences
}

struct Comparison {
    class: &'static str,
    version: Version,
    differences: Vec<String>,
}

impl Comparison {
    /// Leaves out the members, and those whose constants, the version does not know.
    fn drop_lacking(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, value| {
                    let is_lacking = |constant| lacks::constant(self.version, name, constant);
                    !lacks::field(self.version, self.class, name) && !value.as_text().is_some_and(is_lacking)
                });
                members.values_mut().for_each(|member| self.drop_lacking(member));
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.drop_lacking(element)),
            _ => {}
        }
    }

    fn lacks_constant(&self, path: &str, constant: &str) -> bool {
        let (_, name) = path.rsplit_once('.').unwrap_or_default();
        lacks::constant(self.version, name, constant)
    }

    fn compare(&mut self, path: &str, expected: &Value, read: &Value) {
        if let (Value::Object(expected), Some(fields), Some(defaults)) =
            (expected, read.get("fields"), read.get("defaults"))
        {
            self.compare_fields(path, expected, fields, defaults);
            return;
        }
        match (expected, read) {
            (Value::Object(left), Value::Object(right)) => {
                let names: BTreeSet<_> = left.keys().chain(right.keys()).collect();
                for name in names {
                    let place = format!("{path}.{name}");
                    match (left.get(name), right.get(name)) {
                        (Some(expected), Some(read)) => self.compare(&place, expected, read),
                        (Some(_), None) => self.differences.push(format!("{place} is lost")),
                        (None, Some(read)) => self.differences.push(format!("{place} is {read}, not absent")),
                        (None, None) => {}
                    }
                }
            }
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                let (mut left, mut right) = (left.clone(), right.clone());
                if SETS.iter().any(|set| path.ends_with(set)) {
                    left.sort();
                    right.sort();
                }
                for (index, (expected, read)) in left.iter().zip(&right).enumerate() {
                    self.compare(&format!("{path}[{index}]"), expected, read);
                }
            }
            (Value::Text(constant), read) if self.lacks_constant(path, constant) => {
                if *read != Value::Null {
                    self.differences.push(format!("{path} is {read}, but `lacks` says it is unknown"));
                }
            }
            _ if is_same(expected, read) => {}
            _ => self.differences.push(format!("{path} is {read}, not {expected}")),
        }
    }

    /// The fields of a Java object. What we did not write must be as in a new one.
    fn compare_fields(
        &mut self,
        path: &str,
        expected: &BTreeMap<String, Value>,
        read: &Value,
        defaults: &Value,
    ) {
        let Value::Object(fields) = read else { panic!("no fields: {read}") };
        for (name, read) in fields {
            let expected = expected.get(name).or_else(|| defaults.get(name)).expect("a default");
            self.compare(&format!("{path}.{name}"), expected, read);
        }
        for name in expected.keys() {
            let lacks = lacks::field(self.version, self.class, name);
            if fields.contains_key(name) == lacks {
                let says = if lacks { "there, but `lacks` says it is not" } else { "no field of the class" };
                self.differences.push(format!("{path}.{name} is {says}"));
            }
        }
    }
}

/// 0 and 0.0 are the same number.
fn is_same(expected: &Value, read: &Value) -> bool {
    match (expected, read) {
        (Value::Number(expected), Value::Number(read)) if (expected.clone() + read).contains('.') => {
            expected.parse::<f64>().ok() == read.parse::<f64>().ok()
        }
        _ => expected == read,
    }
}

#[test]
fn differences_are_found() {
    let read = |read: &str| format!(r#"{{"id":"i","read":{read}}}"#);
    let instance =
        |fields: &str| read(&format!(r#"{{"header":{{"fields":{fields},"defaults":{{"b":"0"}}}}}}"#));
    let same: &[&str] = &[];
    let rows = [
        (Kind::Hash, r#""1""#, read(r#""1""#), same),
        (Kind::Hash, r#""1""#, read(r#""2""#), &[r#" is "2", not "1""#]),
        (Kind::Hash, r#""1""#, r#"{"id":"i","absent":true}"#.to_owned(), &["there is no C"]),
        (Kind::Properties, r#"{"a":"1"}"#, read("{}"), &[".a is lost"]),
        (Kind::Properties, "{}", read(r#"{"a":null}"#), &[".a is null, not absent"]),
        (Kind::Properties, "{}", read("null"), &[" is null, not {}"]),
        (
            Kind::Record,
            r#"["a","b"]"#,
            read(r#"["b","a"]"#),
            &[r#"[0] is "b", not "a""#, r#"[1] is "a", not "b""#],
        ),
        (Kind::Record, r#"["a"]"#, read("[]"), &[r#" is [], not ["a"]"#]),
        (Kind::Frame, r#"{"header":{"a":"1"}}"#, instance(r#"{"a":"1","b":"0"}"#), same),
        (
            Kind::Frame,
            r#"{"header":{"a":"1"}}"#,
            instance(r#"{"a":null,"b":"0"}"#),
            &[r#".header.a is null, not "1""#],
        ),
        (
            Kind::Frame,
            r#"{"header":{"a":"1"}}"#,
            instance(r#"{"b":"0"}"#),
            &[".header.a is no field of the class"],
        ),
        (Kind::Frame, r#"{"header":{}}"#, instance(r#"{"b":"1"}"#), &[r#".header.b is "1", not "0""#]),
        (Kind::Frame, r#"{"language":"NODE_JS"}"#, read(r#"{"language":null}"#), same),
        (
            Kind::Frame,
            r#"{"language":"RUST"}"#,
            read(r#"{"language":null}"#),
            &[r#".language is null, not "RUST""#],
        ),
        (Kind::Body, r#"{"mqSet":[1,2],"x":[0.0]}"#, read(r#""{mqSet:[2,1],x:[0]}""#), same),
        (Kind::Body, r#"{"mqSet":[1,2]}"#, read(r#""{mqSet:[2,2]}""#), &[".mqSet[0] is 2, not 1"]),
        (Kind::Body, r#"{"x":[1,2]}"#, read(r#""{x:[2,1]}""#), &[".x[0] is 2, not 1", ".x[1] is 1, not 2"]),
    ];
    for (kind, expected, line, differences_expected) in rows {
        let case = Case::new("i", kind, "", Value::parse(expected)).class("C");
        let found = differences(&case, Version::of("4.9.7"), &Value::parse(&line));
        assert_eq!(found, differences_expected, "{expected} read as {line}");
    }
}
