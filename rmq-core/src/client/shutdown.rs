//! The end of a client: let sends finish, send their traces, tell the brokers, close (producer §11.5, PORT).
//!
//! | state       | leaves on                                             | to          |
//! |-------------|-------------------------------------------------------|-------------|
//! | Running     | `shutdown`                                            | Finishing   |
//! | Finishing   | no send is under way, or its share of the time is over | Unregistering |
//! | Unregistering | all brokers answered, or the time is over           | Ended       |

use alloc::vec::Vec;
use core::time::Duration;

use super::{Client, Timer};
use crate::deadlines::Armed;
use crate::error::CloseCause;
use crate::event::Event;
use crate::link::{LinkId, Owner, Request};
use crate::slab::Slab;
use crate::time::Instant;

/// The part of the time that is kept for telling the brokers.
const FAREWELL: u32 = 4;

#[derive(Clone, Debug)]
pub(super) enum Lifecycle {
    Running,
    Finishing { deadline: Instant, timer: Option<Armed> },
    Unregistering { timer: Option<Armed>, awaited: usize },
    Ended,
}

impl Lifecycle {
    pub(super) fn accepts(&self) -> bool {
        matches!(self, Self::Running)
    }
}

impl Client {
    /// Stops accepting commands, lets the sends under way finish, sends the [trace](crate::Trace) records that wait, unregisters from the brokers and closes all
    /// connections, all within `within`; what is not finished by then fails. Ends in [`Event::ShutDown`]. With a zero
    /// duration everything ends at once. A second call does nothing.
    pub fn shutdown(&mut self, now: Instant, within: Duration) {
        self.advance(now);
        if !self.lifecycle.accepts() {
            return;
        }
        let deadline = self.now + within;
        let finish = self.now + (within - within / FAREWELL);
        self.lifecycle = Lifecycle::Finishing { deadline, timer: None };
        self.end_probes();
        self.ignore_checks();
        for id in self.routes.ids() {
            if let Some(topic) = self.routes.get_mut(id) {
                self.timers.disarm(&mut topic.refresh);
            }
        }
        for id in self.links.ids() {
            self.rearm_link(id);
        }
        self.depart_all();
        if within.is_zero() {
            self.fail_all_sends();
            self.end_all();
        } else {
            self.arm_shutdown(finish);
        }
        self.settle();
    }

    /// Whether [`shutdown`](Self::shutdown) was called: no command is accepted any more.
    pub fn is_shutting_down(&self) -> bool {
        !self.lifecycle.accepts()
    }

    /// Whether [`Event::ShutDown`] was emitted: nothing more comes of this client.
    pub fn is_shut_down(&self) -> bool {
        matches!(self.lifecycle, Lifecycle::Ended)
    }

    fn arm_shutdown(&mut self, at: Instant) {
        if let Lifecycle::Finishing { timer, .. } | Lifecycle::Unregistering { timer, .. } =
            &mut self.lifecycle
        {
            self.timers.arm(timer, at, Timer::Shutdown);
        }
    }

    pub(super) fn shutdown_timer(&mut self) {
        match self.lifecycle {
            Lifecycle::Finishing { .. } => self.fail_all_sends(),
            Lifecycle::Unregistering { .. } => self.end_all(),
            Lifecycle::Running | Lifecycle::Ended => {}
        }
    }

    /// Moves on when nothing is left to wait for.
    pub(super) fn shutdown_step(&mut self) {
        if matches!(self.lifecycle, Lifecycle::Finishing { .. })
            && self.sends.len() == self.tracers.under_way()
        {
            self.flush_last_traces();
        }
        match self.lifecycle {
            Lifecycle::Finishing { deadline, .. } if self.sends.is_empty() => self.say_farewell(deadline),
            Lifecycle::Unregistering { awaited: 0, .. } => self.end_all(),
            _ => {}
        }
    }

    fn say_farewell(&mut self, deadline: Instant) {
        if let Lifecycle::Finishing { timer, .. } = &mut self.lifecycle {
            self.timers.disarm(timer);
        }
        let registered: Vec<LinkId> =
            self.links.iter().filter(|(_, link)| link.is_registered()).map(|(id, _)| id).collect();
        let groups: Vec<_> = self.producers.ids().collect();
        let awaited = registered.len() * groups.len();
        self.lifecycle = Lifecycle::Unregistering { timer: None, awaited };
        for id in registered {
            for group in &groups {
                if let Some(link) = self.links.get_mut(id) {
                    link.queue.push(Request::new(Owner::Unregister(*group)));
                }
            }
            self.want_write(id);
        }
        if awaited == 0 {
            self.end_all();
        } else {
            self.arm_shutdown(deadline);
        }
    }

    /// A broker answered, or will not.
    pub(super) fn unregistered(&mut self) {
        if let Lifecycle::Unregistering { awaited, .. } = &mut self.lifecycle {
            *awaited = awaited.saturating_sub(1);
        }
    }

    fn end_all(&mut self) {
        self.lifecycle = Lifecycle::Ended;
        for id in self.links.ids() {
            self.break_link(id, CloseCause::ShutDown, true);
        }
        self.effects.clear();
        self.routes.ids().into_iter().for_each(|id| self.forget_topic(id));
        self.links = Slab::new();
        self.link_by_address.clear();
        self.draining.clear();
        self.timers.clear();
        self.outputs.push_shut_down(Event::ShutDown);
    }
}
