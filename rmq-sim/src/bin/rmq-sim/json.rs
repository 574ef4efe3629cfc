//! Output for machines.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::BytesMut;
use rmq_proto::json::Writer;
use rmq_sim::run::RunReport;

use crate::make;
use crate::summary::Summary;

/// One run.
pub(crate) fn run(report: &RunReport, twice: bool) -> String {
    object(|json| {
        number(json, "seed", report.seed);
        text(json, "hash", &format!("{:016x}", report.hash));
        number(json, "time_us", micros(report.time));
        number(json, "operations", report.operations);
        number(json, "rejected", report.rejected);
        number(json, "turns", report.turns);
        number(json, "requests", report.requests);
        counts(json, "ends", &report.ends);
        counts(json, "faults", &report.faults);
        json.key("violation");
        let Some((at, violation)) = &report.violation else { return json.null() };
        json.begin_object();
        text(json, "oracle", violation.oracle);
        text(json, "detail", &violation.detail);
        number(json, "at_us", at.as_micros());
        text(json, "replay", &make::replay(report.seed, twice));
        json.end_object();
    })
}

/// All runs together.
pub(crate) fn summary(summary: &Summary, elapsed: Duration) -> String {
    object(|json| {
        json.key("summary");
        json.begin_object();
        number(json, "runs", summary.runs);
        number(json, "violations", summary.violations());
        text(json, "hash", &format!("{:016x}", summary.hash));
        number(json, "time_us", micros(summary.time));
        number(json, "elapsed_ms", u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
        number(json, "operations", summary.operations.sum());
        number(json, "rejected", summary.rejected);
        number(json, "requests", summary.requests);
        counts(json, "ends", &summary.ends);
        counts(json, "faults", &summary.fault_kinds);
        json.end_object();
    })
}

fn object(fill: impl FnOnce(&mut Writer<'_>)) -> String {
    let mut out = BytesMut::new();
    let mut json = Writer::new(&mut out);
    json.begin_object();
    fill(&mut json);
    json.end_object();
    String::from_utf8_lossy(&out).into_owned()
}

fn number(json: &mut Writer<'_>, key: &str, value: u64) {
    json.key(key);
    json.integer(i64::try_from(value).unwrap_or(i64::MAX));
}

fn text(json: &mut Writer<'_>, key: &str, value: &str) {
    json.key(key);
    json.text(value);
}

fn counts(json: &mut Writer<'_>, key: &str, counts: &BTreeMap<&'static str, u64>) {
    json.key(key);
    json.begin_object();
    counts.iter().for_each(|(name, count)| number(json, name, *count));
    json.end_object();
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
