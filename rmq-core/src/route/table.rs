//! Routes by topic: what is known, what is being asked, who waits for it.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use rmq_proto::body::TopicRouteData;
use rmq_proto::names::namespace;

use super::names::Names;
use super::select::{Choice, Cursor, select};
use super::shared::SharedRoutes;
use super::{PublishQueues, Query};
use crate::deadlines::Armed;
use crate::event::{MessageQueue, OpId, ProducerId};
use crate::fault::Health;
use crate::rng::Rng;
use crate::slab::{Id, Slab};
use crate::time::Instant;

/// A route that nobody used for so long is forgotten.
const UNUSED: Duration = Duration::from_secs(600);
/// Rounds in which every server denied the topic before its route is dropped: one server that has just restarted must
/// not make a topic vanish.
const DENIALS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TopicId(pub(crate) Id);

#[derive(Clone, Debug)]
pub(crate) struct Topic {
    pub(crate) name: Arc<str>,
    pub(crate) route: Option<Arc<TopicRouteData>>,
    pub(crate) queues: Arc<PublishQueues>,
    pub(crate) query: Option<Query>,
    pub(crate) refresh: Option<Armed>,
    /// Whether somebody sends to it; a topic only asked for as a default is not kept.
    pub(crate) used: bool,
    /// Made of `queues` when asked for.
    list: Option<Arc<[MessageQueue]>>,
    last_used: Instant,
    denials: u32,
    waiters: BTreeMap<u64, OpId>,
    cursors: BTreeMap<ProducerId, Cursor>,
}

impl Topic {
    /// The queue for a producer's next attempt, after those at brokers `tried`.
    pub(crate) fn choose<'a, T>(
        &mut self,
        producer: ProducerId,
        health: impl Fn(&str) -> Health,
        tried: T,
        rng: &mut Rng,
    ) -> Option<Choice>
    where
        T: Iterator<Item = &'a str> + Clone,
    {
        let cursor = self.cursors.entry(producer).or_insert_with(|| Cursor::random(rng));
        select(&self.queues, health, tried, cursor)
    }

    /// The queues that can be written to, for a user to choose from, who calls the topic by its name within `namespace`;
    /// none when no route has any.
    pub(crate) fn list(&mut self, namespace: Option<&str>) -> Option<Arc<[MessageQueue]>> {
        if self.queues.is_empty() {
            return None;
        }
        let list = self.list.get_or_insert_with(|| {
            let shown = namespace::unwrap(namespace.unwrap_or_default(), &self.name);
            let topic = if *shown == *self.name { self.name.clone() } else { shown.into() };
            let queue = |(broker, queue_id): (&Arc<str>, i32)| MessageQueue {
                topic: topic.clone(),
                broker: broker.clone(),
                queue_id,
            };
            self.queues.iter().map(queue).collect()
        });
        Some(list.clone())
    }

    /// Puts other queues in the place of those known.
    fn set_queues(&mut self, queues: Arc<PublishQueues>) {
        self.queues = queues;
        self.list = None;
    }

    pub(crate) fn wait(&mut self, serial: u64, op: OpId) {
        self.waiters.insert(serial, op);
    }

    pub(crate) fn leave(&mut self, serial: u64) {
        self.waiters.remove(&serial);
    }

    pub(crate) fn take_waiters(&mut self) -> impl Iterator<Item = OpId> + use<> {
        core::mem::take(&mut self.waiters).into_values()
    }

    pub(crate) fn touch(&mut self, now: Instant) {
        self.used = true;
        self.last_used = now;
    }

    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiters.is_empty()
    }

    pub(crate) fn is_unused(&self, now: Instant) -> bool {
        now.saturating_since(self.last_used) >= UNUSED && self.waiters.is_empty()
    }

    /// Forgets the route; false when there is none.
    pub(crate) fn drop_route(&mut self) -> bool {
        self.set_queues(Arc::default());
        self.route.take().is_some()
    }

    /// Every server denied the topic once more; true when its route is to go.
    pub(crate) fn denied(&mut self) -> bool {
        self.denials += 1;
        self.denials >= DENIALS
    }
}

#[derive(Clone, Debug)]
pub(crate) struct RouteTable {
    topics: Slab<Topic>,
    by_name: Names,
    shared: SharedRoutes,
    /// Questions under way.
    pub(crate) asking: usize,
}

impl RouteTable {
    pub(crate) const fn new() -> Self {
        Self { topics: Slab::new(), by_name: Names::new(), shared: SharedRoutes::new(), asking: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.topics.len()
    }

    pub(crate) fn get(&self, id: TopicId) -> Option<&Topic> {
        self.topics.get(id.0)
    }

    pub(crate) fn get_mut(&mut self, id: TopicId) -> Option<&mut Topic> {
        self.topics.get_mut(id.0)
    }

    pub(crate) fn find(&self, name: &str) -> Option<TopicId> {
        let is_it = |id: TopicId| self.get(id).is_some_and(|topic| *topic.name == *name);
        self.by_name.find(name, is_it)
    }

    pub(crate) fn insert(&mut self, name: &Arc<str>, now: Instant) -> TopicId {
        let topic = Topic {
            name: name.clone(),
            route: None,
            queues: Arc::default(),
            query: None,
            refresh: None,
            used: false,
            list: None,
            last_used: now,
            denials: 0,
            waiters: BTreeMap::new(),
            cursors: BTreeMap::new(),
        };
        let id = TopicId(self.topics.insert(topic));
        self.by_name.insert(name, id);
        id
    }

    pub(crate) fn remove(&mut self, id: TopicId) -> Option<Topic> {
        let topic = self.topics.remove(id.0)?;
        self.by_name.remove(&topic.name, id);
        Some(topic)
    }

    /// Takes the new route of a topic that is used; false when it does not differ.
    pub(crate) fn install(&mut self, id: TopicId, route: &Arc<TopicRouteData>) -> bool {
        let Some(topic) = self.topics.get_mut(id.0).filter(|topic| topic.used) else { return false };
        topic.denials = 0;
        // Mostly even the order is the same, which is quick to see.
        if topic.route.as_ref().is_some_and(|old| old == route || old.same_as(route)) {
            return false;
        }
        let (route, queues) = self.shared.share(route);
        topic.set_queues(queues);
        topic.cursors.clear();
        topic.route = Some(route);
        true
    }

    /// The topic used least recently of those that nobody waits for.
    pub(crate) fn least_recently_used(&self) -> Option<TopicId> {
        let idle = self.topics.iter().filter(|(_, topic)| !topic.is_awaited());
        idle.min_by_key(|(_, topic)| topic.last_used).map(|(id, _)| TopicId(id))
    }

    /// A topic that a broker has, to ask it about.
    pub(crate) fn topic_at(&self, broker: &str) -> Option<&Arc<str>> {
        let has = |topic: &Topic| topic.queues.iter().any(|(name, _)| &**name == broker);
        self.topics.iter().find(|(_, topic)| has(topic)).map(|(_, topic)| &topic.name)
    }

    pub(crate) fn ids(&self) -> Vec<TopicId> {
        self.topics.ids().into_iter().map(TopicId).collect()
    }
}
