//! What we write, read by the official Java classes: two tests with a Java program between them, which
//! `.ci/run java-reads` runs. Each is skipped without the variable RMQ_READ_BACK, the folder that they share.
//!
//! ```text
//! RMQ_READ_BACK=DIR cargo test -p rmq-proto --test read_back -- --nocapture --exact write      # DIR/written.jsonl
//! real-broker/java-read DIR_OF_JARS DIR/written.jsonl >DIR/read-5.3.3.jsonl
//! RMQ_READ_BACK=DIR cargo test -p rmq-proto --test read_back -- --nocapture --exact compare    # all DIR/read-*.jsonl
//! ```
//!
//! One list of cases drives both: [`cases`]. A case has the bytes that we wrote, which Java class is to read them, and
//! what it should find; `lacks` says what a version of Java does not know yet.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failing step fails the test; how much was compared is printed"
)]

mod bodies;
mod case;
mod commands;
mod compare;
mod compressed;
mod headers;
mod ids;
mod lacks;
mod records;
mod signed;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use case::Case;
use lacks::Version;
use value::Value;

/// Everything that is written and read.
fn cases() -> Vec<Case> {
    let cases = [
        headers::cases(),
        commands::cases(),
        bodies::cases(),
        ids::cases(),
        records::cases(),
        signed::cases(),
        compressed::cases(),
    ]
    .concat();
    let ids: BTreeSet<_> = cases.iter().map(|case| &case.id).collect();
    assert_eq!(ids.len(), cases.len(), "an id stands for two cases");
    cases
}

/// The folder; without it, says that the test is skipped.
fn folder(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("RMQ_READ_BACK").map(PathBuf::from);
    if folder.is_none() {
        println!("SKIPPED {test}: RMQ_READ_BACK is not set");
    }
    folder
}

#[test]
fn write() {
    // So much can be checked with no Java: that each case can be written.
    let cases = cases();
    let Some(folder) = folder("write") else { return };
    let lines: String = cases.iter().map(Case::line).collect();
    fs::write(folder.join("written.jsonl"), lines).unwrap();
    println!("{} cases written", cases.len());
}

#[test]
fn compare() {
    let Some(folder) = folder("compare") else { return };
    let cases = cases();
    let (mut versions, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(version) = name.strip_prefix("read-").and_then(|rest| rest.strip_suffix(".jsonl")) else {
            continue;
        };
        wrong.extend(compare_all(&cases, version, &path));
        versions += 1;
    }
    assert_ne!(versions, 0, "no read-*.jsonl in {}", folder.display());
    assert!(wrong.is_empty(), "Java reads {} things otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

/// What differs in what that version read. Prints how much it read.
fn compare_all(cases: &[Case], version: &str, path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut read: BTreeMap<String, Value> = BTreeMap::new();
    for line in text.lines() {
        let line = Value::parse(line);
        let id = line.get("id").and_then(Value::as_text).expect("an id").to_owned();
        assert!(read.insert(id.clone(), line).is_none(), "read twice: {id}");
    }
    let release = Version::of(version);
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    for case in cases {
        let differences = match read.remove(&case.id) {
            Some(line) => compare::differences(case, release, &line),
            None => vec!["not read".to_owned()],
        };
        wrong.extend(differences.iter().map(|difference| format!("{version} {}: {difference}", case.id)));
        let is_absent = lacks::class(release, case.class);
        counts.entry(case.kind.name()).or_default()[usize::from(is_absent)] += 1;
    }
    wrong.extend(read.into_keys().map(|id| format!("{version} {id}: read, but never written")));
    for (kind, [compared, absent]) in counts {
        println!("Java {version}, {kind}: {compared} compared, {absent} of classes that it lacks");
    }
    println!("Java {version}: {} cases, {} differences", cases.len(), wrong.len());
    wrong
}
