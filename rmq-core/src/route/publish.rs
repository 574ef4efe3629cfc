//! From a route to the queues that can be written to (producer §3.4).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use rmq_proto::body::{BrokerData, QueueData, TopicRouteData};

/// Most queues of one topic that are chosen from; a route that claims more is cut there.
const MAX_QUEUES: u32 = 65_536;

#[derive(Clone, Debug)]
struct Span {
    broker: Arc<str>,
    /// Position after the last of this broker's queues.
    end: u32,
    len: u32,
}

/// The queues of a topic in the order of the rotation, held as one span per broker.
#[derive(Clone, Debug, Default)]
pub(crate) struct PublishQueues {
    spans: Vec<Span>,
}

impl PublishQueues {
    pub(crate) fn of(route: &TopicRouteData) -> Self {
        match route.order_topic_conf.as_deref() {
            Some(conf) if !conf.is_empty() => Self::ordered(conf),
            _ => Self::by_permission(route),
        }
    }

    /// The route of the default topic, made that of a topic yet to be created (producer §3.2).
    pub(crate) fn fallback(route: &TopicRouteData, default_queues: i32) -> TopicRouteData {
        let queue_datas = route.queue_datas.iter().map(|queue| {
            let queues = default_queues.min(queue.read_queue_nums);
            QueueData { read_queue_nums: queues, write_queue_nums: queues, ..queue.clone() }
        });
        TopicRouteData { queue_datas: queue_datas.collect(), ..route.clone() }
    }

    /// `broker:queues;broker:queues`, in that order. A part that cannot be read contributes nothing.
    fn ordered(conf: &str) -> Self {
        let mut queues = Self::default();
        for part in conf.split(';') {
            if let Some((broker, count)) = part.split_once(':')
                && let Ok(count) = count.trim().parse()
            {
                queues.push(broker.trim(), count);
            }
        }
        queues
    }

    fn by_permission(route: &TopicRouteData) -> Self {
        let mut sorted: Vec<&QueueData> = route.queue_datas.iter().collect();
        sorted.sort_by(|a, b| a.broker_name.cmp(&b.broker_name));
        // Of several of one name the first counts.
        let brokers: BTreeMap<&str, &BrokerData> =
            route.broker_datas.iter().rev().map(|broker| (&*broker.broker_name, broker)).collect();
        let mut queues = Self::default();
        for queue in sorted {
            let master = brokers.get(&*queue.broker_name).and_then(|broker| broker.master_address());
            if queue.is_writable() && master.is_some() {
                queues.push(&queue.broker_name, queue.write_queue_nums);
            }
        }
        queues
    }

    fn push(&mut self, broker: &str, count: i32) {
        let len = u32::try_from(count).unwrap_or(0).min(MAX_QUEUES - self.len());
        if len > 0 {
            self.spans.push(Span { broker: broker.into(), end: self.len() + len, len });
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.spans.last().map_or(0, |span| span.end)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The broker, where all queues are on one.
    pub(crate) fn only_broker(&self) -> Option<&str> {
        let (first, others) = self.spans.split_first()?;
        others.iter().all(|span| span.broker == first.broker).then_some(&*first.broker)
    }

    /// Broker and queue id of each, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, i32)> {
        (0..self.len()).filter_map(|position| self.at(position))
    }

    /// Broker and queue id at a position below [`len`](Self::len).
    pub(crate) fn at(&self, position: u32) -> Option<(&Arc<str>, i32)> {
        let span = self.spans.get(self.spans.partition_point(|span| span.end <= position))?;
        Some((&span.broker, (position - (span.end - span.len)) as i32))
    }
}
