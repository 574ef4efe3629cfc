//! What the example `metrics` serves can be read by Prometheus.

#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

#[path = "../examples/common/prometheus.rs"]
mod prometheus;

use std::collections::BTreeSet;

use rmq_tokio::{Client, Metric, MetricKind};

/// A metric as read back: its name, whether it is a counter, and its value.
type Read = (String, bool, u64);

/// Reads the text format strictly, one metric after the other: HELP, TYPE, one sample with one label.
fn parse(text: &str) -> Vec<Read> {
    assert!(text.ends_with('\n'));
    let lines: Vec<_> = text.lines().collect();
    let read = |three: &[&str]| {
        let [help, kind, sample] = three else { panic!("{three:?}") };
        let (name, help) = help.strip_prefix("# HELP ").unwrap().split_once(' ').unwrap();
        assert!(!help.is_empty() && help.len() == help.trim().len(), "{help:?}");
        let kind = kind.strip_prefix(&format!("# TYPE {name} ")).unwrap();
        assert!(["counter", "gauge"].contains(&kind), "{kind}");
        let (label, value) = sample.strip_prefix(name).unwrap().rsplit_once(' ').unwrap();
        let id = label.strip_prefix("{client_id=\"").unwrap().strip_suffix("\"}").unwrap();
        assert!(!id.replace(r"\\", "").replace("\\\"", "").contains(['"', '\\']), "{id}");
        (name.to_owned(), kind == "counter", value.parse().unwrap())
    };
    lines.chunks(3).map(read).collect()
}

#[tokio::test]
async fn the_text_parses_and_names_keep_to_the_rules() {
    let client = Client::builder().name_server("127.0.0.1:1").start().unwrap();
    let mut text = String::new();
    prometheus::render(&mut text, "rmq", client.client_id(), client.stats().metrics());
    prometheus::render(&mut text, "rmq_loop", client.client_id(), client.driver_stats().metrics());
    let read = parse(&text);
    assert_eq!(read.len(), client.stats().metrics().count() + client.driver_stats().metrics().count());
    for (name, is_counter, _) in &read {
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        assert_eq!(name.ends_with("_total"), *is_counter, "{name}");
    }
    let names: BTreeSet<_> = read.iter().map(|(name, ..)| name).collect();
    assert_eq!(names.len(), read.len(), "no name twice");
    client.shutdown().await.unwrap();
}

/// What the format has marks for is marked.
#[test]
fn text_is_escaped() {
    let metric = Metric { name: "odd", help: r"a \ b.", kind: MetricKind::Gauge, value: 7 };
    let mut text = String::new();
    prometheus::render(&mut text, "rmq", "a\"b\\c", [metric]);
    let expected = "# HELP rmq_odd a \\\\ b.\n# TYPE rmq_odd gauge\nrmq_odd{client_id=\"a\\\"b\\\\c\"} 7\n";
    assert_eq!(text, expected);
    assert_eq!(parse(&text), [("rmq_odd".to_owned(), false, 7)]);
    assert!(prometheus::CONTENT_TYPE.contains("version=0.0.4"));
}
