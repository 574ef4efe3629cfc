//! Ext fields as such.

use rmq_proto::command::RemotingCommand;
use rmq_proto::ext::{ExtFields, NoExt};

use crate::support::{FORMATS, hex, read, read_json, written};

#[test]
fn the_last_of_several_counts() {
    let json = read_json(r#"{"extFields":{"a":"1","b":"2","a":"3","a":null}}"#).expect("fine").ext;
    let binary = hex("00000031 0100002d 000000 0000 00000000 00000000 00000000 00000018
         0001 61 00000001 31  0001 62 00000001 32  0001 61 00000001 33");
    let binary = read(&binary).expect("fine").ext;
    for ext in [&json, &binary] {
        assert_eq!(ext.value("a").as_deref(), Some("3"));
        assert_eq!(ext.value("b").as_deref(), Some("2"));
        assert_eq!(ext.value("c"), None);
        assert_eq!(ext.iter().count(), 3, "duplicates come as they stand there");
        assert_eq!(ext, &ExtFields::from_iter([("b", "2"), ("a", "3")]));
    }
}

#[test]
fn absent_and_empty() {
    let (absent, empty) = (ExtFields::absent(), ExtFields::new());
    assert!(absent.is_absent() && absent.is_empty());
    assert!(!empty.is_absent() && empty.is_empty());
    assert_eq!(absent, empty);
    assert_eq!(ExtFields::default(), absent);
    assert_ne!(absent, ExtFields::from_iter([("a", "")]));
    let request = RemotingCommand::request(1);
    assert!(!request.ext.is_absent(), "brokers fail on requests without");
    let command = RemotingCommand::response_to(&request, 0);
    assert!(command.ext.is_absent());
    assert!(command.clone().with_ext(&NoExt).ext.is_absent());
    assert!(command.clone().with_ext(&ExtFields::absent()).ext.is_absent());
    assert!(!command.with_ext(&()).ext.is_absent());
}

#[test]
fn fields_are_added_to_those_of_a_frame() {
    let mut command = read_json(r#"{"extFields":{"a":"1","b":"2"}}"#).expect("fine");
    command.ext.insert("b", "3");
    let command = command.with_ext(&ExtFields::from_iter([("c", "4")]));
    assert_eq!(command.ext, ExtFields::from_iter([("a", "1"), ("b", "3"), ("c", "4")]));
}

/// Texts are copied and compared by the word, in another way for each length.
#[test]
fn names_and_values_of_any_length() {
    const TEXT: &str = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for len in 0..=TEXT.len() {
        let name = &TEXT[..len];
        // With another byte in each place in turn.
        let others: Vec<_> = (0..len).map(|at| format!("{}_{}", &name[..at], &name[at + 1..])).collect();
        let names = others.iter().map(String::as_str).chain([name]);
        let ext = ExtFields::from_iter(names.map(|name| (name, name)));
        let command = RemotingCommand { ext, ..RemotingCommand::request(1) }.with_remark(name);
        for format in FORMATS {
            let found = read(&written(&command, format)).expect("our own frame");
            assert_eq!(found.remark.unwrap_or_default(), name, "{format:?}");
            assert_eq!(found.ext.iter().count(), 1 + len, "{format:?}");
            for name in others.iter().map(String::as_str).chain([name]) {
                assert_eq!(found.ext.value(name).as_deref(), Some(name), "{format:?}");
            }
        }
    }
}

#[test]
fn fields_are_removed() {
    let mut command = read_json(r#"{"extFields":{"a":"1","b":"2","a":"3"}}"#).expect("fine");
    assert!(command.ext.remove("a"));
    assert_eq!(command.ext, ExtFields::from_iter([("b", "2")]));
    assert!(!command.ext.remove("a"));
    assert!(!ExtFields::absent().remove("a"));
}

#[test]
fn secrets_are_not_printed() {
    let header = r#"{"extFields":{"AccessKey":"k1","Signature":"k2","SecurityToken":"k3","topic":"T"}}"#;
    let command = read_json(header).expect("fine");
    let printed = format!("{command:?} {:#?}", command.ext);
    for secret in ["k1", "k2", "k3"] {
        assert!(!printed.contains(secret), "{printed}");
    }
    assert!(printed.contains(r#""AccessKey": "<redacted>""#), "{printed}");
    assert!(printed.contains(r#""topic": "T""#), "{printed}");
}
