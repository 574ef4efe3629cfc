//! The choice of a queue: a pure function (decided per attempt, producer §4.1 to §4.3).

use alloc::sync::Arc;

use super::PublishQueues;
use crate::fault::Health;
use crate::rng::Rng;

/// Round-robin position of one producer in one topic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor(u32);

impl Cursor {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        Self(rng.next() as u32)
    }

    fn next(&mut self, len: u32) -> u32 {
        self.0 = self.0.wrapping_add(1);
        (self.0 & 0x7fff_ffff) % len
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) broker: Arc<str>,
    pub(crate) queue_id: i32,
}

/// The queue for the next attempt: the first, in the order of the rotation, of those that are best by this table. Of rows that
/// no broker fits the next one counts; `tried` is in order, the last one tried is its end.
///
/// | row | the broker is                        |
/// |-----|--------------------------------------|
/// | 1   | available, and was not tried         |
/// | 2   | available, and was not tried last    |
/// | 3   | reachable, and was not tried         |
/// | 4   | reachable, and was not tried last    |
/// | 5   | one that was not tried               |
/// | 6   | one that was not tried last          |
/// | 7   | any                                  |
///
/// Rows 2, 4 and 7 are those of fault tolerance (producer §4.3), to each of which comes that an untried broker goes first.
/// Without fault tolerance every broker is available, which leaves rows 1, 2 and 7. One look at all queues finds
/// the best, and the rotation goes on from there; row 7 takes the next one after that look. The rotation is not drawn anew
/// for a repetition, as Java does: of equal queues any will do.
pub(crate) fn select<'a, T>(
    queues: &PublishQueues,
    health: impl Fn(&str) -> Health,
    tried: T,
    cursor: &mut Cursor,
) -> Option<Choice>
where
    T: Iterator<Item = &'a str> + Clone,
{
    let choice = |(broker, queue_id): (&Arc<str>, i32)| Choice { broker: broker.clone(), queue_id };
    let last = tried.clone().last();
    let rank = |broker: &str| {
        let health = if mutated!(PickIsolatedBroker) { Health::Available } else { health(broker) };
        let was_tried = !mutated!(PickTriedBroker) && tried.clone().any(|name| name == broker);
        (health, was_tried)
    };
    let mut best = None;
    for _ in 0..queues.len() {
        let candidate = queues.at(cursor.next(queues.len()))?;
        let rank = rank(candidate.0);
        if rank == (Health::Available, false) {
            return Some(choice(candidate));
        }
        let may = last != Some(&**candidate.0);
        if may && best.is_none_or(|(before, _, _)| rank < before) {
            best = Some((rank, candidate, *cursor));
        }
    }
    if queues.is_empty() {
        return None;
    }
    if let Some((_, candidate, there)) = best {
        *cursor = there;
        return Some(choice(candidate));
    }
    queues.at(cursor.next(queues.len())).map(choice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmq_proto::body::{BrokerData, QueueData, TopicRouteData};

    fn queues(spec: &[(&str, i32)]) -> PublishQueues {
        let queue_datas = spec.iter().map(|(name, count)| QueueData {
            broker_name: (*name).into(),
            read_queue_nums: *count,
            write_queue_nums: *count,
            perm: 6,
            topic_sys_flag: 0,
        });
        let broker_datas = spec.iter().map(|(name, _)| BrokerData {
            cluster: "c".into(),
            broker_name: (*name).into(),
            addresses: [(0, "10.0.0.1:10911".into())].into(),
            ..BrokerData::default()
        });
        PublishQueues::of(&TopicRouteData {
            queue_datas: queue_datas.collect(),
            broker_datas: broker_datas.collect(),
            ..TopicRouteData::default()
        })
    }

    /// Brokers with their queues, brokers tried, the cursor before; the queue chosen and the cursor after.
    type Row<'a> = (&'a [(&'a str, i32)], &'a [&'a str], u32, (&'a str, i32), u32);

    #[test]
    fn selection_rows() {
        let two: &[_] = &[("a", 2), ("b", 2)];
        let rows: &[(&str, Row<'_>)] = &[
            ("row 29, first", (two, &[], 9, ("b", 0), 10)),
            ("row 29, second", (two, &[], 10, ("b", 1), 11)),
            ("row 29, third", (two, &[], 11, ("a", 0), 12)),
            ("row 30: the rest of the failed broker is passed over", (two, &["b"], 10, ("a", 0), 12)),
            ("row 31: one broker is tried again", (&[("a", 2)], &["a"], 1, ("a", 0), 4)),
            ("row 2: both tried, the one not tried last", (two, &["a", "b"], 1, ("a", 0), 4)),
            ("D4: two dead of three", (&[("a", 1), ("b", 1), ("c", 1)], &["a", "b"], 2, ("c", 0), 5)),
        ];
        for (name, (brokers, tried, before, (broker, queue_id), after)) in rows {
            let mut cursor = Cursor(*before);
            let tried = tried.iter().copied();
            let choice = select(&queues(brokers), |_| Health::Available, tried, &mut cursor).unwrap();
            assert_eq!((&*choice.broker, choice.queue_id, cursor.0), (*broker, *queue_id, *after), "{name}");
        }
    }

    mod producer_rows {
        use super::*;

        /// Of three queues, as the places of four would be the same without the wrap.
        #[test]
        fn row_032() {
            let three = queues(&[("a", 3)]);
            for (before, expected) in [(0x7fff_fffe, 1), (0x7fff_ffff, 0), (0x8000_0000, 1), (u32::MAX, 0)] {
                let mut cursor = Cursor(before);
                let none = core::iter::empty();
                let choice = select(&three, |_| Health::Available, none, &mut cursor).unwrap();
                assert_eq!((choice.queue_id, cursor.0), (expected, before.wrapping_add(1)), "{before:#x}");
            }
        }
    }

    /// With fault tolerance, from a cursor at 3 of `a0 b0 c0 d0`. Each broker by its letter: `-` available, `r` left alone
    /// but reachable, `u` unreachable.
    #[test]
    fn selection_rows_with_fault_tolerance() {
        let four: &[_] = &[("a", 1), ("b", 1), ("c", 1), ("d", 1)];
        let rows: &[(&str, &str, &[&str], &str, u32)] = &[
            ("1: the next available one", "r-r-", &[], "b", 5),
            ("1: of available ones the untried", "r---", &["b", "c"], "d", 7),
            (
                "2: rather a tried one that is available than one that is left alone",
                "--rr",
                &["a", "b"],
                "a",
                4,
            ),
            ("2: but not the last one", "-rrr", &["b", "a"], "c", 6),
            ("row 38: all left alone, the next reachable one", "urru", &[], "b", 5),
            ("3: of reachable ones the untried", "rrur", &["a", "b"], "d", 7),
            ("4: a tried one that is reachable", "rruu", &["a", "b"], "a", 4),
            ("5: nothing is reachable, the untried one", "uuuu", &["a", "b", "d"], "c", 6),
            ("6: all tried and unreachable, not the last one", "uuuu", &["a", "b", "c", "d"], "a", 4),
            ("row 39: nothing is reachable, the next one", "uuuu", &[], "a", 4),
            ("row 40: without fault tolerance the next one", "----", &[], "a", 4),
        ];
        for (name, health, tried, broker, after) in rows {
            let of = |broker: &str| match health.as_bytes()[usize::from(broker.as_bytes()[0] - b'a')] {
                b'-' => Health::Available,
                b'r' => Health::Reachable,
                _ => Health::Unreachable,
            };
            let mut cursor = Cursor(3);
            let choice = select(&queues(four), of, tried.iter().copied(), &mut cursor).unwrap();
            assert_eq!((&*choice.broker, cursor.0), (*broker, *after), "{name}");
        }
        let mut cursor = Cursor(1);
        let one = queues(&[("a", 2)]);
        let choice = select(&one, |_| Health::Unreachable, ["a"].into_iter(), &mut cursor).unwrap();
        assert_eq!((choice.queue_id, cursor.0), (0, 4), "row 7: the only broker, as in row 31");
    }

    #[test]
    fn no_queue_no_choice() {
        let none = core::iter::empty();
        assert_eq!(select(&PublishQueues::default(), |_| Health::Available, none, &mut Cursor(0)), None);
    }
}
