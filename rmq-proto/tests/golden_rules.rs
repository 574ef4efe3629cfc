//! Golden vectors of rules about texts: hashes of tags, namespaces, signatures.

use std::collections::BTreeMap;

use rmq_proto::ext::ExtFields;
use rmq_proto::hash::{java_hash, tag_code};
use rmq_proto::json::Reader;
use rmq_proto::names::namespace;
use rmq_proto::sign::{Credentials, Scope};

/// The members of each vector of this kind, each as JSON text.
fn vectors(kind: &str) -> Vec<BTreeMap<String, String>> {
    let lines = include_str!("golden/vectors.jsonl").lines();
    let vectors = lines.map(|line| members(line, |value| value.skip_raw().expect("a value").to_owned()));
    vectors.filter(|vector| text(&vector["kind"]) == kind).collect()
}

fn members(object: &str, value: impl Fn(&mut Reader<'_>) -> String) -> BTreeMap<String, String> {
    let mut members = BTreeMap::new();
    let mut json = Reader::of(object);
    json.object().expect("an object");
    while let Some(name) = json.key().expect("a key") {
        members.insert(name.into_owned(), value(&mut json));
    }
    members
}

fn text(json: &str) -> String {
    Reader::of(json).text().expect("text").expect("not null").into_owned()
}

#[test]
fn hashes_of_tags() {
    let vectors = vectors("tag-hash");
    assert_eq!(vectors.len(), 5);
    for vector in vectors {
        let (tag, hash) = (text(&vector["tag"]), vector["hash"].parse::<i32>().expect("a number"));
        assert_eq!((java_hash(&tag), tag_code(&tag)), (hash, hash.into()), "{tag:?}");
    }
}

#[test]
fn tag_codes_keep_their_sign() {
    // Wire §6.4, and the two ends of what a hash can be.
    let rows = [
        ("TagB", 2_598_920),
        ("标签", 857_175),
        ("polygenelubricants", -2_147_483_648),
        ("zzzzzz", -685_785_664),
    ];
    for (tag, code) in rows {
        assert_eq!(tag_code(tag), code, "{tag}");
    }
}

#[test]
fn namespaces() {
    let vectors = vectors("namespace");
    assert_eq!(vectors.len(), 7);
    for vector in vectors {
        let [name, wrapped, unwrapped] =
            ["resource", "wrapped", "unwrapped"].map(|member| text(&vector[member]));
        assert_eq!(namespace::wrap("INST", &name), wrapped, "{name:?}");
        assert_eq!(namespace::unwrap("INST", &name), unwrapped, "{name:?}");
    }
}

#[test]
fn signatures() {
    let vectors = vectors("acl");
    assert_eq!(vectors.len(), 1);
    for vector in vectors {
        let mut fields: ExtFields =
            members(&vector["fields"], |value| value.text().expect("text").expect("not null").into_owned())
                .into_iter()
                .collect();
        assert_eq!(text(&vector["body"]), "68656c6c6f", "hello");
        let credentials = Credentials::new("ak", text(&vector["secret"])).expect("both are there");
        let signature = text(&vector["signature"]);
        assert_eq!(credentials.sign(&fields, b"hello").signature(), signature);
        fields.insert("Signature", signature);
        assert_eq!(credentials.verify(Scope::All, &fields, b"hello"), Ok(()));
    }
}
