//! Nothing is told.

use std::time::Duration;

use rmq_core::{Address, Event, Instant};

use crate::error::Error;
use crate::shared::Shared;

#[derive(Debug, Default)]
pub(crate) struct Log(());

impl Log {
    pub(crate) const fn begin(&self, _: Instant) {}

    pub(crate) const fn note(&self, _: &Event) {}

    pub(crate) const fn unheard(&self) {}

    pub(crate) const fn tell(&self, _: &str) {}

    pub(crate) const fn end(&self, _: &str) {}
}

pub(crate) struct List;

impl List {
    pub(crate) const fn of(_: &[Address]) -> Self {
        Self
    }

    pub(crate) const fn changed<E>(self, _: &str, _: &Result<bool, E>) {}
}

#[derive(Default)]
pub(crate) struct Source(());

#[allow(clippy::needless_pass_by_ref_mut, reason = "it has something to keep with the feature")]
impl Source {
    pub(crate) const fn looked(&mut self, _: &Shared, _: Instant) {}
}

pub(crate) const fn started(_: &str) {}

pub(crate) const fn shutting_down(_: &Shared, _: Duration) {}

pub(crate) const fn dropped(_: &Shared) {}

pub(crate) const fn lost(_: &str, _: bool) {}

pub(crate) const fn rejected(_: &str, _: &Error) {}
