//! Routes that several topics have in common, held once: what the topics of a cluster differ in is mostly their names.

use alloc::collections::VecDeque;
use alloc::sync::{Arc, Weak};

use rmq_proto::body::TopicRouteData;

use super::PublishQueues;

/// Routes that are looked through for one that is the same; those told last.
const RECENT: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct SharedRoutes {
    /// None is held for being here.
    recent: VecDeque<(Weak<TopicRouteData>, Weak<PublishQueues>)>,
}

impl SharedRoutes {
    pub(crate) const fn new() -> Self {
        Self { recent: VecDeque::new() }
    }

    /// The route, or the same one that another topic has already, and its queues.
    pub(crate) fn share(&mut self, route: &Arc<TopicRouteData>) -> (Arc<TopicRouteData>, Arc<PublishQueues>) {
        let held = |(known, queues): &(Weak<_>, Weak<_>)| Some((known.upgrade()?, queues.upgrade()?));
        let known = self.recent.iter().filter_map(held).find(|(known, _)| *known == *route);
        known.unwrap_or_else(|| {
            let queues = Arc::new(PublishQueues::of(route));
            self.recent.retain(|known| held(known).is_some());
            if self.recent.len() >= RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back((Arc::downgrade(route), Arc::downgrade(&queues)));
            (route.clone(), queues)
        })
    }
}

#[cfg(test)]
mod tests {
    use rmq_proto::body::QueueData;

    use super::*;

    fn route(queues: i32) -> Arc<TopicRouteData> {
        let queue = QueueData {
            broker_name: "a".into(),
            read_queue_nums: queues,
            write_queue_nums: queues,
            perm: 6,
            topic_sys_flag: 0,
        };
        Arc::new(TopicRouteData { queue_datas: [queue].into(), ..TopicRouteData::default() })
    }

    #[test]
    fn equal_routes_are_held_once_and_only_while_a_topic_has_them() {
        let mut shared = SharedRoutes::new();
        let (first, other) = (shared.share(&route(4)), shared.share(&route(8)));
        let again = shared.share(&route(4));
        assert!(Arc::ptr_eq(&first.0, &again.0) && Arc::ptr_eq(&first.1, &again.1));
        assert!(!Arc::ptr_eq(&first.0, &other.0));
        let gone = Arc::downgrade(&other.0);
        drop(other);
        assert!(gone.upgrade().is_none());
        for queues in 10..10 + 3 * RECENT as i32 {
            drop(shared.share(&route(queues)));
        }
        let kept: alloc::vec::Vec<_> = (100..200).map(|queues| shared.share(&route(queues))).collect();
        assert_eq!((shared.recent.len(), kept.len()), (RECENT, 100));
    }
}
