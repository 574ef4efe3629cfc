//! Fault items by broker: pure bookkeeping (producer §4.4).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::config::FaultTolerance;
use crate::error::RequestError;
use crate::time::Instant;

/// What an attempt says of its broker, whatever it says to its caller.
///
/// | an attempt that                                   | is          | counts as | reachable after it     |
/// |---------------------------------------------------|-------------|-----------|------------------------|
/// | was accepted, with any of the four statuses       | `Fine`      | its time  | yes                    |
/// | was one-way, and its bytes were taken             | `Fine`      | its time  | yes                    |
/// | found no master in the routes                     | `Fine`      | its time  | yes                    |
/// | was cancelled, or overtaken by a reply            | `Fine`      | its time  | yes                    |
/// | failed at the connection, or got no usable answer | `Unreached` | a failure | without a detector yes |
/// | was answered with an error code                   | `Refused`   | a failure | no                     |
/// | found too many connections, or was forbidden      | not told: that is this client's own doing |||
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fine,
    Unreached,
    Refused,
}

impl Outcome {
    /// `None` when it says nothing of the broker.
    pub(crate) fn of(error: Option<&RequestError>) -> Option<Self> {
        match error {
            None | Some(RequestError::NoMaster) => Some(Self::Fine),
            Some(RequestError::TooManyConnections { .. } | RequestError::Forbidden { .. }) => None,
            Some(RequestError::Answered { .. }) => Some(Self::Refused),
            Some(_) => Some(Self::Unreached),
        }
    }
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) broker: Arc<str>,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

/// How a broker stands when a queue is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Health {
    /// Not left alone, whether it is taken to be reachable or not.
    Available,
    /// Left alone, but taken to be reachable.
    Reachable,
    Unreachable,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    latency: Duration,
    isolated_until: Instant,
    reachable: bool,
    /// Whether it was told that it is left alone.
    told: bool,
}

/// What is to be told of a broker after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// It is left alone, for so long from now.
    Isolated(Duration),
    /// It was left alone, and is not any more.
    Recovered,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FaultTable {
    items: BTreeMap<Arc<str>, Item>,
}

impl FaultTable {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// No item, or its time is over.
    pub(crate) fn is_available(&self, broker: &str, now: Instant) -> bool {
        self.items.get(broker).is_none_or(|item| now >= item.isolated_until)
    }

    /// No item, or nothing speaks against it.
    pub(crate) fn is_reachable(&self, broker: &str) -> bool {
        self.items.get(broker).is_none_or(|item| item.reachable)
    }

    pub(crate) fn health(&self, broker: &str, now: Instant) -> Health {
        if self.is_available(broker, now) {
            Health::Available
        } else if self.is_reachable(broker) {
            Health::Reachable
        } else {
            Health::Unreachable
        }
    }

    /// Takes note of an attempt that ended `now`. Of more than `limit` items the one goes that says least: first one that
    /// is available, of those the fastest. Its broker is returned.
    pub(crate) fn update(
        &mut self,
        now: Instant,
        report: &Report,
        tolerance: &FaultTolerance,
        limit: usize,
    ) -> Option<Arc<str>> {
        let (isolation, reachable) = match report.outcome {
            Outcome::Fine => (tolerance.isolation(report.took), true),
            Outcome::Unreached => (tolerance.isolation_of_failure(), !tolerance.has_detector()),
            Outcome::Refused => (tolerance.isolation_of_failure(), false),
        };
        let new = Item { latency: report.took, isolated_until: Instant::ZERO, reachable, told: false };
        let item = self.items.entry(report.broker.clone()).or_insert(new);
        item.latency = report.took;
        item.reachable = reachable;
        if !isolation.is_zero() {
            item.isolated_until = item.isolated_until.max(now + isolation);
        }
        if self.items.len() <= limit {
            return None;
        }
        let says = |item: &Item| (now < item.isolated_until, item.latency, item.isolated_until);
        let least = self.items.iter().min_by_key(|(_, item)| says(item)).map(|(broker, _)| broker.clone())?;
        self.items.remove(&least);
        Some(least)
    }

    /// What an attempt changed that ended `now` and was taken note of. That a time is over is no news before an attempt has
    /// shown what the broker does then.
    pub(crate) fn news(&mut self, broker: &str, now: Instant) -> Option<News> {
        let item = self.items.get_mut(broker)?;
        let isolated = now < item.isolated_until;
        if core::mem::replace(&mut item.told, isolated) == isolated {
            return None;
        }
        let span = item.isolated_until.saturating_since(now);
        Some(if isolated { News::Isolated(span) } else { News::Recovered })
    }

    /// Brokers that are left alone.
    pub(crate) fn isolated(&self, now: Instant) -> usize {
        self.items.values().filter(|item| now < item.isolated_until).count()
    }

    /// The broker answered a question: it can be reached, though that does not end the time it is left alone.
    pub(crate) fn reached(&mut self, broker: &str) {
        if let Some(item) = self.items.get_mut(broker) {
            item.reachable = true;
        }
    }

    pub(crate) fn remove(&mut self, broker: &str) {
        self.items.remove(broker);
    }

    /// Forgets the brokers that are not `known` any more, and returns them.
    pub(crate) fn keep(&mut self, known: impl Fn(&str) -> bool) -> Vec<Arc<str>> {
        let gone: Vec<_> = self.items.keys().filter(|broker| !known(broker)).cloned().collect();
        gone.iter().for_each(|broker| self.remove(broker));
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(broker: &str, millis: u64, outcome: Outcome) -> Report {
        Report { broker: broker.into(), took: Duration::from_millis(millis), outcome }
    }

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Rows 34, 36, 37 and 43: what is reported when, and what it leaves.
    #[test]
    fn report_rows() {
        use Outcome::{Fine, Refused, Unreached};
        // Reports at a time, whether there is a detector, until when the broker is isolated, and whether reachable.
        type Row<'a> = (&'a [(u64, u64, Outcome)], bool, u64, bool);
        let rows: [(&str, Row<'_>); 8] = [
            ("row 33", (&[(549, 549, Fine)], false, 0, true)),
            ("row 34", (&[(550, 550, Fine)], false, 2_550, true)),
            ("row 36, no detector", (&[(0, 0, Unreached)], false, 10_000, true)),
            ("row 36, detector", (&[(0, 0, Unreached)], true, 10_000, false)),
            ("row 37: not shortened", (&[(0, 0, Unreached), (4_000, 10, Fine)], true, 10_000, true)),
            (
                "a shorter isolation does not shorten",
                (&[(0, 0, Unreached), (5_000, 600, Fine)], true, 10_000, true),
            ),
            ("lengthened", (&[(0, 0, Unreached), (4_000, 0, Unreached)], false, 14_000, true)),
            ("row 43", (&[(0, 0, Refused)], false, 10_000, false)),
        ];
        for (name, (reports, detector, until, reachable)) in rows {
            let tolerance = FaultTolerance::new().detector(detector);
            let mut table = FaultTable::default();
            for (when, took, outcome) in reports {
                assert_eq!(table.update(at(*when), &report("a", *took, *outcome), &tolerance, 8), None);
            }
            assert_eq!(table.is_reachable("a"), reachable, "{name}");
            assert!(table.is_available("a", at(until)), "{name}: available again at the very moment");
            let before = until.checked_sub(1).map(at);
            assert!(before.is_none_or(|before| !table.is_available("a", before)), "{name}");
            assert!(
                table.is_available("b", at(0)) && table.is_reachable("b"),
                "{name}: others are untouched"
            );
        }
    }

    /// Row 41.
    #[test]
    fn an_answer_makes_reachable_and_nothing_else() {
        let mut table = FaultTable::default();
        table.update(at(0), &report("a", 0, Outcome::Refused), &FaultTolerance::new(), 8);
        assert_eq!(table.health("a", at(3_000)), Health::Unreachable);
        table.reached("a");
        assert_eq!(table.health("a", at(3_000)), Health::Reachable);
        assert_eq!(table.health("a", at(10_000)), Health::Available);
        table.reached("never seen");
        assert_eq!(table.len(), 1);
    }

    /// Told is each change once, however often a time is prolonged.
    #[test]
    fn changes_are_news_once() {
        use Outcome::{Fine, Unreached};
        let isolated = |millis| Some(News::Isolated(Duration::from_millis(millis)));
        let rows = [
            (0, 10, Fine, None),
            (1_000, 0, Unreached, isolated(10_000)),
            (2_000, 0, Unreached, None),
            (3_000, 10, Fine, None),
            (12_000, 0, Unreached, None),
            (22_000, 10, Fine, Some(News::Recovered)),
            (22_100, 10, Fine, None),
            (23_000, 600, Fine, isolated(2_000)),
        ];
        let mut table = FaultTable::default();
        for (when, took, outcome, news) in rows {
            table.update(at(when), &report("a", took, outcome), &FaultTolerance::new(), 8);
            assert_eq!(table.news("a", at(when)), news, "at {when} ms");
        }
        assert_eq!((table.isolated(at(24_000)), table.isolated(at(25_000))), (1, 0));
        assert_eq!(table.news("never seen", at(25_000)), None);
    }

    #[test]
    fn what_says_least_makes_room() {
        let tolerance = FaultTolerance::new();
        let mut table = FaultTable::default();
        let mut update = |broker: &str, took, outcome| {
            table.update(at(1_000), &report(broker, took, outcome), &tolerance, 2)
        };
        assert_eq!(update("a", 3, Outcome::Fine), None);
        assert_eq!(update("b", 0, Outcome::Unreached), None);
        assert_eq!(update("c", 9, Outcome::Fine).as_deref(), Some("a"));
        assert_eq!(update("d", 700, Outcome::Fine).as_deref(), Some("c"));
        assert_eq!(update("e", 1, Outcome::Fine).as_deref(), Some("e"));
        assert_eq!(table.keep(|broker| broker == "d").len(), 1);
        assert_eq!((table.len(), table.is_available("d", at(1_000))), (1, false));
    }
}
