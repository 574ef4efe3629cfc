//! The choice of a queue: a pure function (decided per attempt, producer §4.1 to §4.3).

use alloc::sync::Arc;

use super::PublishQueues;
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

/// A queue on a broker that was not tried yet; else on one that was not tried last; else any.
pub(crate) fn select<'a, T>(queues: &PublishQueues, tried: T, cursor: &mut Cursor) -> Option<Choice>
where
    T: Iterator<Item = &'a str> + Clone,
{
    let choice = |(broker, queue_id): (&Arc<str>, i32)| Choice { broker: broker.clone(), queue_id };
    let last = tried.clone().last();
    let mut second = None;
    for _ in 0..queues.len() {
        let candidate = queues.at(cursor.next(queues.len()))?;
        if mutated!(PickTriedBroker) || !tried.clone().any(|broker| broker == &**candidate.0) {
            return Some(choice(candidate));
        }
        if second.is_none() && last != Some(&**candidate.0) {
            second = Some(candidate);
        }
    }
    if queues.is_empty() {
        return None;
    }
    second.or_else(|| queues.at(cursor.next(queues.len()))).map(choice)
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
            ("row 32: the position wraps to 0", (two, &[], 0x7fff_ffff, ("a", 0), 0x8000_0000)),
            ("row 2: both tried, the one not tried last", (two, &["a", "b"], 1, ("a", 0), 5)),
            ("D4: two dead of three", (&[("a", 1), ("b", 1), ("c", 1)], &["a", "b"], 2, ("c", 0), 5)),
        ];
        for (name, (brokers, tried, before, (broker, queue_id), after)) in rows {
            let mut cursor = Cursor(*before);
            let choice = select(&queues(brokers), tried.iter().copied(), &mut cursor).unwrap();
            assert_eq!((&*choice.broker, choice.queue_id, cursor.0), (*broker, *queue_id, *after), "{name}");
        }
    }

    #[test]
    fn no_queue_no_choice() {
        assert_eq!(select(&PublishQueues::default(), core::iter::empty(), &mut Cursor(0)), None);
    }
}
