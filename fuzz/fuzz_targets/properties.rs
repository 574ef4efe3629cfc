//! Any text, as properties; and what is read from it, written.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use rmq_proto::properties::{self, NAME_SEPARATOR, PROPERTY_SEPARATOR, PropertyError};

fuzz_target!(|text: &str| {
    let pairs: Vec<_> = properties::iter(text).collect();
    let backwards: Vec<_> = properties::iter(text).rev().collect();
    assert!(pairs.iter().rev().eq(&backwards));

    let (mut first, mut last) = (BTreeMap::new(), BTreeMap::new());
    for (name, value) in &pairs {
        assert!(!name.is_empty() && !name.contains([NAME_SEPARATOR, PROPERTY_SEPARATOR]));
        assert!(!value.is_empty() && !value.contains(PROPERTY_SEPARATOR));
        first.entry(*name).or_insert(*value);
        last.insert(*name, *value);
    }
    for (name, value) in last {
        assert_eq!(properties::value(text, name), Some(value));
        assert_eq!(properties::first_value(text, name), Some(first[name]));
    }

    encode(&pairs);
    // The pieces of the text, whatever they are.
    let pieces: Vec<_> = text.split('/').collect();
    encode(&pieces.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>());
});

/// What can be written is read back, and nothing else can be written.
fn encode(pairs: &[(&str, &str)]) {
    let is_bad = |text: &str| text.is_empty() || text.contains([NAME_SEPARATOR, PROPERTY_SEPARATOR]);
    let bad = pairs.iter().find(|(name, value)| is_bad(name) || is_bad(value));
    let mut text = String::from("before\u{1}1\u{2}");
    let before = text.clone();
    match (properties::encode(pairs.iter().copied(), &mut text), bad) {
        (Ok(()), None) => {
            let added = text.strip_prefix(&before).expect("it is appended");
            assert!(properties::iter(added).eq(pairs.iter().copied()));
            assert_eq!(properties::iter(&text).count(), pairs.len() + 1);
        }
        (Err(error), Some((name, value))) => {
            assert_eq!(text, before);
            match error {
                PropertyError::EmptyName => assert!(name.is_empty()),
                PropertyError::EmptyValue { name: named } => assert!(named == *name && value.is_empty()),
                PropertyError::Separator { name: named } => assert_eq!(named, *name),
                other => panic!("{other}"),
            }
        }
        (result, bad) => panic!("{result:?} for {bad:?}"),
    }
}
