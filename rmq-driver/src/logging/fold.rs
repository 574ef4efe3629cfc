//! Troubles: each is told when it begins, now and then while it lasts, and when it is over.
//!
//! | a trouble that      | and                                         | is told              |
//! |---------------------|---------------------------------------------|----------------------|
//! | begins              |                                             | at once              |
//! | goes on             | [`FIRST`] passed since, then twice that, ... | with its count       |
//! | is over             | was told to go on                           | at once              |
//! | begins anew         | within [`SAME`] of its last failure         | as if it had gone on |

use std::time::Duration;

use rmq_core::{Address, Instant};
use std::sync::Arc;

use super::cause::{Cause, Kind};

/// Between the first line of a trouble and the next.
const FIRST: Duration = Duration::from_secs(10);
/// The longest time between two lines of a trouble that goes on.
const LAST: Duration = Duration::from_secs(600);
/// A trouble that begins again so soon is still the same.
const SAME: Duration = Duration::from_secs(60);
/// Sends fail here and there: only when none did for so long is that over.
const CALM: Duration = Duration::from_secs(10);
/// Troubles that are told apart.
const TROUBLES: usize = 256;

/// What a trouble is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Connection(Address),
    Heartbeat(Address),
    Broker(Arc<str>),
    Operation { what: &'static str, topic: Box<str>, kind: Kind },
    NameServers,
    Switch,
    Checks,
    Trace,
    Source,
}

/// How often something failed since it began to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) failures: u64,
    pub(super) lasted: Duration,
}

#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) key: Key,
    pub(super) cause: Cause,
    since: Instant,
    last: Instant,
    /// Not told again before.
    next: Instant,
    period: Duration,
    failures: u64,
    /// Failures since the last line.
    untold: u64,
    /// It goes on.
    lasts: bool,
    /// The last line says that it goes on.
    told: bool,
}

impl Trouble {
    fn new(key: Key, cause: Cause, now: Instant) -> Self {
        let (failures, untold) = (0, 0);
        Self {
            key,
            cause,
            since: now,
            last: now,
            next: now,
            period: FIRST,
            failures,
            untold,
            lasts: true,
            told: false,
        }
    }

    fn line(&mut self, now: Instant) -> Tally {
        self.told = true;
        self.untold = 0;
        self.next = now + self.period;
        self.period = (self.period * 2).min(LAST);
        self.tally(self.last)
    }

    fn tally(&self, until: Instant) -> Tally {
        Tally { failures: self.failures, lasted: until.saturating_since(self.since) }
    }

    /// Whether nothing is to be heard of it any more. What the core tells once lasts until it says otherwise.
    fn is_stale(&self, now: Instant) -> bool {
        let told_once = matches!(self.key, Key::Broker(_) | Key::NameServers);
        now >= self.last + if self.lasts { LAST } else { SAME } && !(self.lasts && told_once)
    }
}

#[derive(Debug, Default)]
pub(super) struct Folds {
    troubles: Vec<Trouble>,
    /// Troubles with sends that go on: while there is none, a send that succeeds is not looked at.
    pub(super) sends: usize,
}

impl Folds {
    /// Something failed. Returns what to tell of it, if it is to be told now.
    pub(super) fn fail(
        &mut self,
        now: Instant,
        is_it: impl Fn(&Key) -> bool,
        key: impl FnOnce() -> Key,
        cause: Cause,
    ) -> Option<Tally> {
        let at = match self.troubles.iter().position(|trouble| is_it(&trouble.key)) {
            Some(at) => at,
            None => {
                self.make_room();
                self.troubles.push(Trouble::new(key(), cause.clone(), now));
                self.troubles.len() - 1
            }
        };
        let trouble = &mut self.troubles[at];
        if !trouble.lasts && now >= trouble.last + SAME {
            *trouble = Trouble::new(trouble.key.clone(), cause.clone(), now);
        }
        trouble.cause = cause;
        trouble.failures += 1;
        trouble.untold += 1;
        trouble.last = now;
        trouble.lasts = true;
        let tally = (now >= trouble.next).then(|| trouble.line(now));
        self.count_sends();
        tally
    }

    /// What failed before works. Whether it had been a trouble, and what to tell of its end.
    pub(super) fn well(&mut self, now: Instant, is_it: impl Fn(&Key) -> bool) -> (bool, Option<Tally>) {
        let lasting = |trouble: &&mut Trouble| trouble.lasts && is_it(&trouble.key);
        let Some(trouble) = self.troubles.iter_mut().find(lasting) else { return (false, None) };
        trouble.lasts = false;
        let told = std::mem::take(&mut trouble.told).then(|| trouble.tally(now));
        (true, told)
    }

    /// A send to a topic succeeded, after which nothing may be wrong with it any more.
    pub(super) fn sent(&mut self, now: Instant, topic: &str) -> Option<Tally> {
        let is_it =
            |key: &Key| matches!(key, Key::Operation { what: "send", topic: of, .. } if **of == *topic);
        if self.troubles.iter().any(|trouble| is_it(&trouble.key) && now < trouble.last + CALM) {
            return None;
        }
        let mut sum: Option<Tally> = None;
        let ending = self.troubles.iter_mut().filter(|trouble| trouble.lasts && is_it(&trouble.key));
        for trouble in ending {
            trouble.lasts = false;
            let one = trouble.tally(now);
            if std::mem::take(&mut trouble.told) {
                let before = sum.unwrap_or(Tally { failures: 0, lasted: Duration::ZERO });
                let failures = before.failures + one.failures;
                sum = Some(Tally { failures, lasted: before.lasted.max(one.lasted) });
            }
        }
        self.count_sends();
        sum
    }

    /// Tells what was counted, once it is time to, or whatever was at the end; forgets what is long over.
    pub(super) fn look(&mut self, now: Instant, at_end: bool, mut tell: impl FnMut(&Trouble, Tally)) {
        for trouble in &mut self.troubles {
            if trouble.lasts && trouble.untold > 0 && (at_end || now >= trouble.next) {
                let tally = trouble.line(now);
                tell(trouble, tally);
            }
        }
        self.troubles.retain(|trouble| !trouble.is_stale(now));
        self.count_sends();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.troubles.is_empty()
    }

    fn make_room(&mut self) {
        if self.troubles.len() < TROUBLES {
            return;
        }
        let oldest = self.troubles.iter().enumerate().min_by_key(|(_, trouble)| trouble.last);
        if let Some((at, _)) = oldest {
            self.troubles.swap_remove(at);
        }
    }

    fn count_sends(&mut self) {
        let of_sends =
            |trouble: &&Trouble| trouble.lasts && matches!(trouble.key, Key::Operation { what: "send", .. });
        self.sends = self.troubles.iter().filter(of_sends).count();
    }
}

/// Lines of one target at INFO and above.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flood {
    since: Instant,
    lines: u32,
    left_out: u64,
}

impl Flood {
    const WINDOW: Duration = Duration::from_secs(60);
    const LINES: u32 = 64;

    /// Whether one more may be told.
    pub(super) fn admits(&mut self) -> bool {
        self.lines += 1;
        let admits = self.lines <= Self::LINES;
        self.left_out += u64::from(!admits);
        admits
    }

    /// Begins a new window when it is time to, or this is the end; returns how many lines the last one left out.
    pub(super) fn turn(&mut self, now: Instant, at_end: bool) -> u64 {
        if now < self.since + Self::WINDOW && !at_end {
            return 0;
        }
        let left_out = self.left_out;
        *self = Self { since: now, lines: 0, left_out: 0 };
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1_000)
    }

    fn fail(folds: &mut Folds, seconds: u64, key: &Key) -> Option<u64> {
        let told = folds.fail(at(seconds), |known| known == key, || key.clone(), Cause::Text("it broke"));
        told.map(|tally| tally.failures)
    }

    fn send(topic: &str) -> Key {
        Key::Operation { what: "send", topic: topic.into(), kind: Kind::named("timeout") }
    }

    /// When a failure in each second is told, and with which count.
    #[test]
    fn a_trouble_is_told_ever_more_seldom() {
        let mut folds = Folds::default();
        let told: Vec<_> = (0..3_600)
            .filter_map(|second| fail(&mut folds, second, &Key::NameServers).map(|count| (second, count)))
            .collect();
        let begin =
            [(0, 1), (10, 11), (30, 31), (70, 71), (150, 151), (310, 311), (630, 631), (1_230, 1_231)];
        assert_eq!(told[..8], begin);
        assert_eq!(told[8..], [(1_830, 1_831), (2_430, 2_431), (3_030, 3_031)]);
        let (was, tally) = folds.well(at(3_600), |key| *key == Key::NameServers);
        assert!(was);
        assert_eq!(tally, Some(Tally { failures: 3_600, lasted: Duration::from_secs(3_600) }));
    }

    /// What comes and goes is one trouble; after a minute in peace it is another.
    #[test]
    fn a_trouble_that_comes_and_goes_is_one() {
        let (mut folds, key) = (Folds::default(), Key::NameServers);
        let mut lines = 0;
        for second in 0..60 {
            lines += usize::from(fail(&mut folds, second, &key).is_some());
            lines += usize::from(folds.well(at(second), |known| *known == key).1.is_some());
        }
        assert_eq!(lines, 6, "at 0, 10 and 30 s, each with its end");
        assert_eq!(fail(&mut folds, 118, &key), Some(61));
        folds.well(at(118), |known| *known == key);
        assert_eq!(fail(&mut folds, 178, &key), Some(1), "a minute later");
    }

    #[test]
    fn what_was_only_counted_is_told_in_time() {
        let mut folds = Folds::default();
        for _ in 0..100 {
            fail(&mut folds, 0, &send("T"));
        }
        let looked = |folds: &mut Folds, seconds, at_end| {
            let mut told = Vec::new();
            folds.look(at(seconds), at_end, |_, tally| told.push(tally.failures));
            told
        };
        assert_eq!(looked(&mut folds, 9, false), <[u64; 0]>::default());
        assert_eq!(looked(&mut folds, 10, false), [100]);
        assert_eq!(looked(&mut folds, 40, true), <[u64; 0]>::default());
        fail(&mut folds, 20, &send("T"));
        assert_eq!(looked(&mut folds, 21, true), [101], "nothing is kept back at the end");
        looked(&mut folds, 700, false);
        assert!(folds.is_empty(), "what is long over is forgotten");
    }

    /// A send that succeeds ends nothing while others fail.
    #[test]
    fn sends_are_well_when_none_failed_for_a_while() {
        let mut folds = Folds::default();
        for second in 0..30 {
            fail(&mut folds, second, &send("T"));
            assert_eq!(folds.sent(at(second), "T"), None);
        }
        assert_eq!((folds.sent(at(39), "U"), folds.sent(at(38), "T"), folds.sends), (None, None, 1));
        assert_eq!(folds.sent(at(39), "T").map(|tally| tally.failures), Some(30));
        assert_eq!((folds.sent(at(40), "T"), folds.sends), (None, 0));
    }

    #[test]
    fn troubles_are_bounded() {
        let mut folds = Folds::default();
        for number in 0..10_000 {
            assert_eq!(fail(&mut folds, number, &send(&number.to_string())), Some(1));
        }
        assert_eq!((folds.troubles.len(), folds.sends), (TROUBLES, TROUBLES));
        assert_eq!(fail(&mut folds, 10_000, &send("9999")), None, "the newest are there");
        assert_eq!(fail(&mut folds, 10_000, &send("1")), Some(1));
    }

    #[test]
    fn lines_are_bounded() {
        let mut flood = Flood::default();
        let admitted = |flood: &mut Flood| (0..100).filter(|_| flood.admits()).count();
        assert_eq!((admitted(&mut flood), flood.turn(at(59), false)), (64, 0));
        assert_eq!((flood.turn(at(60), false), admitted(&mut flood)), (36, 64));
        assert_eq!((flood.turn(at(61), true), flood.turn(at(62), true)), (36, 0));
    }
}
