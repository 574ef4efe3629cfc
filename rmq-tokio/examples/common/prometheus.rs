//! Metrics as Prometheus reads them: its text format, version 0.0.4.

use std::fmt::Write;

use rmq_tokio::{Metric, MetricKind};

/// What the format is called in HTTP.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Adds metrics, with names that begin with `prefix`, and one label that says whose they are. Counters get `_total`, by the
/// rules for names.
pub(crate) fn render(
    out: &mut String,
    prefix: &str,
    client_id: &str,
    metrics: impl IntoIterator<Item = Metric>,
) {
    let client_id = client_id.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    for Metric { name, help, kind, value } in metrics {
        let suffix = if kind == MetricKind::Counter { "_total" } else { "" };
        let (name, help) = (format!("{prefix}_{name}{suffix}"), help.replace('\\', r"\\"));
        let _ = writeln!(out, "# HELP {name} {help}");
        let _ = writeln!(out, "# TYPE {name} {}", kind.as_str());
        let _ = writeln!(out, "{name}{{client_id=\"{client_id}\"}} {value}");
    }
}
