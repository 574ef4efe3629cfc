//! Questions to name servers, and what their answers change.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use rmq_proto::body::TopicRouteData;
use rmq_proto::code::ResponseCode;
use rmq_proto::command::RemotingCommand;
use rmq_proto::names::DEFAULT_TOPIC;

use super::{Client, Effect, Timer};
use crate::error::{RequestError, ServerOutcome};
use crate::event::{Event, OpId, RouteLoss};
use crate::link::{Asking, FAIR_WAIT, Owner};
use crate::producer::{Stage, Step};
use crate::route::{Query, QueryOutcome, TopicId};
use crate::time::Instant;

/// Most questions under way when a refresh may start.
const REFRESHES: usize = 32;
/// A refresh that may not start tries again after this long.
const REFRESH_LATER: Duration = Duration::from_millis(100);

/// Whether a failure says nothing of the name server: it answered, or had no time to.
fn is_blameless(error: &RequestError) -> bool {
    match error {
        RequestError::Answered { code, .. } => *code == ResponseCode::TOPIC_NOT_EXIST,
        RequestError::Timeout { after, .. } => *after < FAIR_WAIT,
        _ => false,
    }
}

impl Client {
    /// Lets a send wait for a route; asks for it unless that is being done already.
    pub(super) fn wait_for_route(&mut self, op: OpId, stage: Stage) {
        let (now, serial) = (self.now, self.serial());
        let Some(send) = self.sends.get(op.0) else { return };
        let name = match stage {
            Stage::Topic => send.topic.clone(),
            Stage::Default { .. } => DEFAULT_TOPIC.into(),
        };
        let id = self.topic(&name);
        let Some(send) = self.sends.get_mut(op.0) else { return };
        let deadline = send.deadline;
        let used = matches!(stage, Stage::Topic);
        send.step = Step::Waiting { topic: id, serial, stage };
        let Some(topic) = self.routes.get_mut(id) else { return };
        topic.wait(serial, op);
        if used {
            topic.touch(now);
        }
        match &mut topic.query {
            Some(query) => {
                query.join(deadline);
                self.rearm_query(id);
            }
            None => self.ask(id, Some(deadline)),
        }
        self.arm_send(op, None);
    }

    /// A send stops waiting. A question that nobody waits for any more is dropped, unless it keeps a route fresh.
    pub(super) fn stop_waiting(&mut self, id: TopicId, serial: u64) {
        let Some(topic) = self.routes.get_mut(id) else { return };
        topic.leave(serial);
        if topic.route.is_none() && !topic.is_awaited() {
            self.forget_topic(id);
        }
        self.keep_topics(self.config.limits.topics);
    }

    /// The entry of a topic, made if need be; the one used least recently makes room.
    fn topic(&mut self, name: &Arc<str>) -> TopicId {
        if let Some(id) = self.routes.find(name) {
            return id;
        }
        self.keep_topics(self.config.limits.topics - 1);
        self.routes.insert(name, self.now)
    }

    /// Forgets topics that nobody waits for, those used least recently first, until there are at most `most`.
    fn keep_topics(&mut self, most: usize) {
        while self.routes.len() > most
            && let Some(oldest) = self.routes.least_recently_used()
        {
            self.tell_route_lost(oldest, RouteLoss::Crowded);
            self.forget_topic(oldest);
        }
    }

    fn ask(&mut self, id: TopicId, deadline: Option<Instant>) {
        let (now, timeout) = (self.now, self.config.request_timeout);
        let servers = self.name_servers.in_order();
        let Some(topic) = self.routes.get_mut(id) else { return };
        topic.query = Some(Query::new(servers, now, timeout, deadline));
        self.routes.asking += 1;
        self.ask_server(id);
    }

    /// Puts the question to the next server.
    pub(super) fn ask_server(&mut self, id: TopicId) {
        let Some(query) = self.routes.get(id).and_then(|topic| topic.query.as_ref()) else { return };
        if let Some(outcome) = query.exhausted(self.now) {
            return self.query_ended(id, outcome);
        }
        // Without a server, a list of them is waited for.
        let Some(server) = query.server().cloned() else { return self.rearm_query(id) };
        let by_user = query.by_user;
        self.stats.route_queries += 1;
        match self.request(&server, Owner::Route(id), by_user) {
            Ok((link, ticket)) => {
                if let Some(query) = self.routes.get_mut(id).and_then(|topic| topic.query.as_mut()) {
                    query.asking = Asking::Queued { link, ticket };
                }
                self.rearm_query(id);
            }
            Err(error) => self.effects.push_back(Effect::Failed { owner: Owner::Route(id), error }),
        }
    }

    pub(super) fn rearm_query(&mut self, id: TopicId) {
        if let Some(query) = self.routes.get_mut(id).and_then(|topic| topic.query.as_mut()) {
            self.timers.arm(&mut query.timer, query.slice, Timer::Query(id));
        }
    }

    /// The current server had its time.
    pub(super) fn query_timer(&mut self, id: TopicId) {
        let Some(query) = self.routes.get_mut(id).and_then(|topic| topic.query.as_mut()) else { return };
        query.timer = None;
        let (asking, began, slice) = (query.asking, query.began, query.slice);
        let written = matches!(asking, Asking::Awaiting { .. });
        self.withdraw(asking, began, slice);
        let after = self.now.saturating_since(began);
        self.server_failed(id, RequestError::Timeout { after, written });
    }

    /// The current server gave no route: the next one is asked, or this one once more.
    pub(super) fn server_failed(&mut self, id: TopicId, error: RequestError) {
        let now = self.now;
        let Some(query) = self.routes.get_mut(id).and_then(|topic| topic.query.as_mut()) else { return };
        self.timers.disarm(&mut query.timer);
        if query.asks_again(now, &error) {
            return self.ask_server(id);
        }
        let mut switched = None;
        if let Some(server) = query.server().filter(|_| !is_blameless(&error)) {
            switched = self.name_servers.rotate_from(server).map(|to| (server.clone(), to.clone()));
        }
        query.fail(now, error);
        if let Some((from, to)) = switched {
            self.notice(Event::NameServerSwitched { from, to });
        }
        self.ask_server(id);
    }

    pub(super) fn route_answered(&mut self, id: TopicId, command: &RemotingCommand) {
        if ResponseCode(command.code) != ResponseCode::SUCCESS {
            let remark = command.remark.as_deref();
            return self.server_failed(id, RequestError::answered(ResponseCode(command.code), remark));
        }
        match TopicRouteData::decode(&command.body) {
            Ok(route) => self.query_ended(id, QueryOutcome::Found(Arc::new(route))),
            Err(error) => {
                let text = alloc::format!("{error}");
                self.server_failed(id, RequestError::BadRoute(text.into()));
            }
        }
    }

    fn query_ended(&mut self, id: TopicId, outcome: QueryOutcome) {
        self.take_query(id);
        self.tell_name_servers(id, &outcome);
        match &outcome {
            QueryOutcome::Found(route) => self.found(id, route),
            QueryOutcome::Missing { unanimous: true, .. } => self.denied(id),
            QueryOutcome::Missing { .. } | QueryOutcome::Unavailable { .. } => {}
        }
        let waiters: Vec<OpId> =
            self.routes.get_mut(id).map(|topic| topic.take_waiters().collect()).unwrap_or_default();
        for op in waiters {
            self.route_settled(op, &outcome);
        }
        self.after_query(id);
        // Those that were waited for may be more than are kept.
        self.keep_topics(self.config.limits.topics);
    }

    /// Takes a topic's question away, wherever it is.
    fn take_query(&mut self, id: TopicId) -> Option<Query> {
        let mut query = self.routes.get_mut(id)?.query.take()?;
        self.routes.asking -= 1;
        self.timers.disarm(&mut query.timer);
        Some(query)
    }

    fn found(&mut self, id: TopicId, route: &Arc<TopicRouteData>) {
        let changed = self.routes.get(id).is_some_and(|topic| topic.route.is_some());
        if self.routes.install(id, route) {
            if let Some(topic) = self.routes.get(id) {
                let (topic, queues) = (topic.name.clone(), topic.queues.len() as usize);
                let topic = self.users_topic(topic);
                let brokers = route.broker_datas.len();
                self.notice(Event::RouteLearned { topic, brokers, queues, changed });
            }
            let changes = self.brokers.replace(id, Some(route));
            self.brokers_changed(changes);
        }
    }

    /// Stores the route that a topic will have once a broker creates it.
    pub(super) fn install_fallback(&mut self, name: &Arc<str>, route: TopicRouteData) -> TopicId {
        let (id, now) = (self.topic(name), self.now);
        if let Some(topic) = self.routes.get_mut(id) {
            topic.touch(now);
        }
        self.found(id, &Arc::new(route));
        self.after_query(id);
        id
    }

    fn denied(&mut self, id: TopicId) {
        let Some(topic) = self.routes.get_mut(id) else { return };
        if topic.route.is_some() && topic.denied() {
            self.tell_route_lost(id, RouteLoss::Denied);
            self.drop_route(id);
        }
    }

    /// A route is about to go.
    fn tell_route_lost(&mut self, id: TopicId, cause: RouteLoss) {
        if let Some(topic) = self.routes.get(id).filter(|topic| topic.route.is_some()) {
            let topic = self.users_topic(topic.name.clone());
            self.notice(Event::RouteLost { topic, cause });
        }
    }

    /// Tells of name servers when they stop answering, and when one answers again. A question that had no time to be
    /// answered says nothing of them.
    fn tell_name_servers(&mut self, id: TopicId, outcome: &QueryOutcome) {
        let QueryOutcome::Unavailable { servers } = outcome else {
            if core::mem::take(&mut self.name_servers.failing) {
                self.notice(Event::NameServersRecovered);
            }
            return;
        };
        self.stats.route_failures += 1;
        let to_blame = |server: &ServerOutcome| !server.error.as_ref().is_some_and(is_blameless);
        if !servers.is_empty() && !servers.iter().any(to_blame) {
            return;
        }
        let Some(topic) = self.routes.get(id) else { return };
        let topic = self.users_topic(topic.name.clone());
        if !core::mem::replace(&mut self.name_servers.failing, true) {
            self.notice(Event::NameServersFailed { topic, servers: servers.clone() });
        }
    }

    fn drop_route(&mut self, id: TopicId) {
        let Some(topic) = self.routes.get_mut(id) else { return };
        if topic.drop_route() {
            let changes = self.brokers.replace(id, None);
            self.brokers_changed(changes);
        }
    }

    /// Keeps a topic fresh that has a route, and forgets one that has none and that nobody waits for.
    fn after_query(&mut self, id: TopicId) {
        let delay = self.rng.jitter(self.config.route_refresh_interval);
        let at = self.now + delay;
        let Some(topic) = self.routes.get_mut(id) else { return };
        if topic.route.is_some() {
            if self.lifecycle.accepts() {
                self.timers.arm(&mut topic.refresh, at, Timer::Refresh(id));
            }
        } else if topic.query.is_none() && !topic.is_awaited() {
            self.forget_topic(id);
        }
    }

    pub(super) fn refresh_timer(&mut self, id: TopicId) {
        let (now, busy) = (self.now, self.routes.asking >= REFRESHES);
        let Some(topic) = self.routes.get_mut(id) else { return };
        topic.refresh = None;
        if topic.is_unused(now) {
            self.tell_route_lost(id, RouteLoss::Unused);
            return self.forget_topic(id);
        }
        if busy || topic.query.is_some() {
            return self.timers.arm(&mut topic.refresh, now + REFRESH_LATER, Timer::Refresh(id));
        }
        self.ask(id, None);
    }

    pub(super) fn forget_topic(&mut self, id: TopicId) {
        self.drop_route(id);
        let query = self.take_query(id);
        if let Some(mut topic) = self.routes.remove(id) {
            self.timers.disarm(&mut topic.refresh);
        }
        if let Some(Query { asking, began, slice, .. }) = query {
            self.withdraw(asking, began, slice);
        }
    }
}
