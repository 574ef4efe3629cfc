//! What a client says of itself: within its limits, and the same as was seen from outside.

use rmq_core::{Limits, Stats};

use super::WITHIN_LIMITS;
use super::connections::Connections;
use super::operations::Operations;
use crate::oracle::Violation;

#[derive(Clone, Debug)]
pub(super) struct Gauges {
    limits: Limits,
    name_servers: usize,
    last: Stats,
}

impl Gauges {
    pub(super) fn new(limits: Limits, name_servers: usize) -> Self {
        Self { limits, name_servers, last: Stats::default() }
    }

    /// So many name servers are in a new list. The old ones may have links still, where brokers are at their addresses.
    pub(super) fn name_servers(&mut self, more: usize) {
        self.name_servers += more;
    }

    /// Checks `stats`, taken when all outputs were polled.
    pub(super) fn check(
        &mut self,
        stats: &Stats,
        ops: &Operations,
        conns: &Connections,
    ) -> Result<(), Violation> {
        let last = core::mem::replace(&mut self.last, *stats);
        never_back(&last, stats)?;
        self.limits(stats)?;
        same(stats, ops, conns)
    }

    fn limits(&self, stats: &Stats) -> Result<(), Violation> {
        let limits = &self.limits;
        let links = limits.links + self.name_servers;
        let all_links = stats.links + stats.draining;
        // Besides operations a link waits for a heartbeat and an unregistration per producer, a topic for its question, a
        // broker that is watched for the detector's.
        let watched = stats.fault_items;
        let control = stats.topics + all_links * (1 + stats.producers) + watched;
        // A message that waits for a batch, or is in one, has a timer, and so has the batch.
        let sends = stats.operations + stats.trace_sends + stats.auto_batches;
        // Timers of other things, at most.
        let tables = all_links + 2 * stats.topics + stats.open_checks + watched + stats.producers;
        let bounds = [
            ("operations", stats.operations, limits.operations),
            ("operation_bytes", stats.operation_bytes, limits.operation_bytes),
            ("requests_waiting", stats.requests_waiting, stats.operations),
            ("producers", stats.producers, limits.producers),
            ("topics", stats.topics, limits.topics.max(sends)),
            ("links", stats.links, links),
            ("draining", stats.draining, limits.draining),
            ("connections", stats.connections, all_links),
            ("queued", stats.queued, sends + control + all_links * limits.inbound),
            ("awaited", stats.awaited, sends + control + all_links * limits.tombstones),
            ("operation_timers", stats.operation_timers, sends),
            ("timers", stats.timers, sends + stats.groups + tables + 1),
            ("gathered", stats.gathered, stats.operations),
            ("groups", stats.groups, stats.gathered),
            ("auto_batches", stats.auto_batches, stats.operations - stats.gathered.min(stats.operations)),
            ("open_checks", stats.open_checks, limits.checks),
            ("check_bytes", stats.check_bytes, limits.check_bytes),
            ("traces_waiting", stats.traces_waiting, stats.producers * limits.trace_records),
            ("trace_sends", stats.trace_sends, stats.producers * limits.trace_sends),
            ("fault_items", stats.fault_items, stats.producers * limits.fault_items),
            ("brokers_isolated", stats.brokers_isolated, stats.fault_items),
            ("unread_bytes", stats.unread_bytes, all_links * limits.frame),
        ];
        match bounds.iter().find(|(_, value, most)| value > most) {
            Some((name, value, most)) => {
                Err(Violation::new(WITHIN_LIMITS, format!("{name}: {value}, at most {most}; {stats:?}")))
            }
            None => Ok(()),
        }
    }
}

fn never_back(last: &Stats, stats: &Stats) -> Result<(), Violation> {
    let counters = |s: &Stats| {
        [
            ("sends", s.sends),
            ("sends_succeeded", s.sends_succeeded),
            ("sends_failed", s.sends_failed),
            ("send_backs", s.send_backs),
            ("send_backs_succeeded", s.send_backs_succeeded),
            ("send_backs_failed", s.send_backs_failed),
            ("recalls", s.recalls),
            ("recalls_succeeded", s.recalls_succeeded),
            ("recalls_failed", s.recalls_failed),
            ("requests", s.requests),
            ("requests_succeeded", s.requests_succeeded),
            ("requests_failed", s.requests_failed),
            ("unknown_replies", s.unknown_replies),
            ("transaction_ends", s.transaction_ends),
            ("transaction_ends_written", s.transaction_ends_written),
            ("transaction_ends_failed", s.transaction_ends_failed),
            ("checks", s.checks),
            ("checks_dropped", s.checks_dropped),
            ("checks_undecodable", s.checks_undecodable),
            ("checks_of_strangers", s.checks_of_strangers),
            ("checks_expired", s.checks_expired),
            ("cancelled", s.cancelled),
            ("rejected", s.rejected),
            ("retries", s.retries),
            ("attempts_failed", s.attempts_failed),
            ("attempts_timed_out", s.attempts_timed_out),
            ("attempts_refused", s.attempts_refused),
            ("attempts_unreached", s.attempts_unreached),
            ("isolations", s.isolations),
            ("connects", s.connects),
            ("connections_opened", s.connections_opened),
            ("connect_failures", s.connect_failures),
            ("disconnects", s.disconnects),
            ("frames_written", s.frames_written),
            ("frames_received", s.frames_received),
            ("bytes_written", s.bytes_written),
            ("bytes_received", s.bytes_received),
            ("protocol_errors", s.protocol_errors),
            ("unknown_answers", s.unknown_answers),
            ("go_aways", s.go_aways),
            ("inbound", s.inbound),
            ("inbound_dropped", s.inbound_dropped),
            ("stale_inputs", s.stale_inputs),
            ("misuses", s.misuses),
            ("route_queries", s.route_queries),
            ("route_failures", s.route_failures),
            ("heartbeats", s.heartbeats),
            ("heartbeats_refused", s.heartbeats_refused),
            ("heartbeats_unanswered", s.heartbeats_unanswered),
            ("notices_dropped", s.notices_dropped),
            ("traces", s.traces),
            ("traces_sent", s.traces_sent),
            ("traces_failed", s.traces_failed),
            ("traces_dropped", s.traces_dropped),
        ]
    };
    for ((name, before), (_, after)) in counters(last).into_iter().zip(counters(stats)) {
        Violation::unless(before <= after, WITHIN_LIMITS, || {
            format!("{name} went from {before} to {after}")
        })?;
    }
    Ok(())
}

fn same(stats: &Stats, ops: &Operations, conns: &Connections) -> Result<(), Violation> {
    let tally = ops.tally;
    let pairs = [
        ("operations", stats.operations as u64, ops.live() as u64),
        ("producers", stats.producers as u64, ops.producers() as u64),
        ("connections", stats.connections as u64, conns.open() as u64),
        ("sends", stats.sends, tally.accepted),
        ("sends_succeeded", stats.sends_succeeded, tally.succeeded),
        ("sends_failed", stats.sends_failed, tally.failed),
        ("send_backs", stats.send_backs, tally.backs),
        ("send_backs_succeeded", stats.send_backs_succeeded, tally.backs_succeeded),
        ("send_backs_failed", stats.send_backs_failed, tally.backs_failed),
        ("recalls", stats.recalls, tally.recalls),
        ("recalls_succeeded", stats.recalls_succeeded, tally.recalls_succeeded),
        ("recalls_failed", stats.recalls_failed, tally.recalls_failed),
        ("requests", stats.requests, tally.requests),
        ("requests_succeeded", stats.requests_succeeded, tally.requests_succeeded),
        ("requests_failed", stats.requests_failed, tally.requests_failed),
        ("transaction_ends", stats.transaction_ends, tally.ends),
        ("transaction_ends_written", stats.transaction_ends_written, tally.ends_written),
        ("transaction_ends_failed", stats.transaction_ends_failed, tally.ends_failed),
        ("cancelled", stats.cancelled, tally.cancelled),
        ("rejected", stats.rejected, tally.rejected),
    ];
    for (name, told, seen) in pairs {
        Violation::unless(told == seen, WITHIN_LIMITS, || format!("{name}: {told} told, {seen} seen"))?;
    }
    let (least, most) = ops.bytes();
    Violation::unless((least..=most).contains(&stats.operation_bytes), WITHIN_LIMITS, || {
        format!("operation_bytes: {} told, {least} to {most} seen", stats.operation_bytes)
    })?;
    Violation::unless(stats.misuses <= conns.misuses, WITHIN_LIMITS, || {
        format!("misuses: {} told, {} seen", stats.misuses, conns.misuses)
    })?;
    let ordered = conns.ordered() as u64;
    Violation::unless(stats.connects >= ordered, WITHIN_LIMITS, || {
        format!("connects: {} told, {ordered} seen", stats.connects)
    })
}
