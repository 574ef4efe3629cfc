//! A client that is held to its contract while it runs.
//!
//! [`CheckedClient`] is a [`Client`] beside a model of what `rmq_core` promises. Drive it as the client itself, call
//! [`end_turn`](CheckedClient::end_turn) after each turn, and ask [`take_violation`](CheckedClient::take_violation) now and
//! then. Every driver will do, a hostile one included: only the client is judged. A call costs O(log n) more than the
//! client's own.
//!
//! # The oracles
//!
//! ## `one-terminal-event`
//!
//! Each accepted operation ends in exactly one of `Sent`, `OnewayWritten`, `QueuesFound`, `SendFailed`, `SentBack`,
//! `SendBackFailed`, `Replied`, `RequestFailed`, `Recalled`, `RecallFailed` and `Cancelled` (clause 4), each for operations of its kind. No other
//! operation ends; no id is given out twice. `OnewayWritten` is for one-way sends and comes after the stream took their bytes,
//! `Sent` for the others and comes after a broker answered that it stored the message; `SentBack` comes after a broker
//! answered that it took the message back, or stored it in the retry topic; `Recalled` after one answered so; `Replied` comes
//! after a broker pushed a reply with the request's correlation id; `Cancelled` comes after a cancel.
//! What has ended is not written any more. `ShutDown` comes once, when it was asked for and everything has ended, and
//! nothing after it.
//!
//! ## `no-spin`
//!
//! After a turn the next timer is later than now, nothing is left to poll, and another `handle_timeout` does nothing
//! (clause 3).
//!
//! ## `one-write`
//!
//! A `Write` is not empty, is for an open connection that has none outstanding, and has at most `Limits::write_batch`
//! bytes unless it is a single frame (clause 5). A connection is ordered once and closed at most once.
//!
//! ## `within-limits`
//!
//! No gauge of `Stats` is over its limit, a command is rejected when and only when there is a reason and hands its message back
//! (clause 7), what
//! can be seen from outside is counted right, no counter goes back, and no misuse is counted that the driver did not commit.
//!
//! ## `within-policy`
//!
//! After a turn nothing is left whose deadline is over, and the next timer is not later than the first deadline; a shutdown ends
//! in its time. No send has more attempts than configured, nor is written more often than it has attempts; the times of
//! its attempts follow each other inside its own. A dead letter is not sent to a retry topic.
//!
//! ## `frames-decode`, `unique-opaque`, `one-key`
//!
//! Each `Write` is whole frames, which decode with their typed headers. No two requests of a connection that wait for an
//! answer have the same opaque. `UNIQ_KEY` is what the operation's event says, the same in all its attempts, as is the
//! rest of the message, and another for each, those of a batch included; but a message that is sent to a retry topic has the key of the one that was
//! given back. These look at every byte;
//! [`watch_frames`](CheckedClient::watch_frames) switches them off. The oldest of more than 16,384 messages, or
//! unanswered requests of a connection, are forgotten, and with them what could be found.

mod call;
mod commands;
mod connections;
mod frames;
mod gauges;
mod keys;
mod model;
mod operations;
#[cfg(test)]
mod tests;

use core::time::Duration;

use rmq_core::proto::message::MessageRules;
use rmq_core::proto::sign::Credentials;
use rmq_core::{
    Address, Client, ClientConfig, ConfigError, Input, Instant, OpId, Output, ProducerConfig, ProducerId,
    Start, Stats,
};

use crate::oracle::Violation;
use model::Model;

const ONE_TERMINAL_EVENT: &str = "one-terminal-event";
const NO_SPIN: &str = "no-spin";
const ONE_WRITE: &str = "one-write";
const WITHIN_LIMITS: &str = "within-limits";
const WITHIN_POLICY: &str = "within-policy";
const FRAMES_DECODE: &str = "frames-decode";
const UNIQUE_OPAQUE: &str = "unique-opaque";
const ONE_KEY: &str = "one-key";

/// A [`Client`] and the model that judges it; the [module](self) says how. A clone is a snapshot of both.
#[derive(Clone, Debug)]
pub struct CheckedClient {
    client: Client,
    model: Model,
    /// Whether nothing was called since the outputs were polled to the end.
    drained: bool,
    /// What came when nothing should: already judged, still to be handed out.
    held: Option<Output>,
}

impl CheckedClient {
    /// See [`Client::new`].
    pub fn new(config: ClientConfig, start: Start) -> Self {
        let model = Model::new(&config, start.now);
        Self { client: Client::new(config, start), model, drained: false, held: None }
    }

    /// The client itself.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// See [`Client::client_id`].
    pub fn client_id(&self) -> &str {
        self.client.client_id()
    }

    /// See [`Client::message_rules`].
    pub fn message_rules(&self) -> &MessageRules {
        self.client.message_rules()
    }

    /// See [`Client::stats`]; O(connections).
    pub fn stats(&self) -> Stats {
        self.client.stats()
    }

    /// See [`Client::is_shut_down`].
    pub fn is_shut_down(&self) -> bool {
        self.client.is_shut_down()
    }

    /// Whether what is written and received is looked into; it is by default. See [the oracles](self#the-oracles). Once a
    /// connection was ordered, switching it on again has no effect.
    pub fn watch_frames(&mut self, watch: bool) {
        self.model.watch_frames(watch);
    }

    /// The first promise that was broken since the last call.
    pub fn take_violation(&mut self) -> Option<Violation> {
        self.model.take_violation()
    }

    /// How often promises were broken.
    pub fn violations(&self) -> u64 {
        self.model.violations
    }

    fn called(&mut self, now: Instant) {
        self.drained = false;
        self.model.advance(now);
    }

    /// See [`Client::add_producer`].
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn add_producer(&mut self, now: Instant, config: ProducerConfig) -> Result<ProducerId, ConfigError> {
        self.called(now);
        let id = self.client.add_producer(now, config.clone())?;
        self.model.producer(id, &config);
        Ok(id)
    }

    /// See [`Client::set_name_servers`].
    ///
    /// # Errors
    ///
    /// Those of the client.
    pub fn set_name_servers(&mut self, now: Instant, servers: Vec<Address>) -> Result<bool, ConfigError> {
        self.called(now);
        let count = servers.len();
        let changed = self.client.set_name_servers(now, servers)?;
        if changed {
            self.model.name_servers(count);
        }
        Ok(changed)
    }

    /// See [`Client::set_credentials`].
    pub fn set_credentials(&mut self, now: Instant, credentials: Option<Credentials>) {
        self.called(now);
        self.client.set_credentials(now, credentials);
    }

    /// See [`Client::cancel`].
    pub fn cancel(&mut self, now: Instant, op: OpId) {
        self.called(now);
        self.model.cancel(op);
        self.client.cancel(now, op);
    }

    /// See [`Client::shutdown`].
    pub fn shutdown(&mut self, now: Instant, within: Duration) {
        self.called(now);
        self.model.shutdown(within);
        self.client.shutdown(now, within);
    }

    /// See [`Client::handle_input`].
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        self.called(now);
        self.model.input(&input);
        self.client.handle_input(now, input);
    }

    /// See [`Client::handle_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        self.called(now);
        self.client.handle_timeout(now);
    }

    /// See [`Client::poll_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.client.poll_timeout()
    }

    /// See [`Client::poll_output`].
    pub fn poll_output(&mut self) -> Option<Output> {
        if let Some(output) = self.held.take() {
            return Some(output);
        }
        let output = self.client.poll_output();
        match &output {
            Some(output) => self.model.output(output),
            None => {
                self.drained = true;
                self.model.drained();
            }
        }
        output
    }

    /// To be called when a turn is over: all ready input was fed, then `handle_timeout(now)` called, then `poll_output`
    /// until it gave `None`. With time going back, `now` counts as the latest time of any call.
    ///
    /// # Panics
    ///
    /// When something was called since `poll_output` gave `None`.
    pub fn end_turn(&mut self, now: Instant) {
        assert!(self.drained, "a turn is over when all outputs were polled");
        self.model.advance(now);
        let (next, stats) = (self.client.poll_timeout(), self.client.stats());
        self.model.end_turn(next, &stats);
        self.client.handle_timeout(now);
        self.held = self.client.poll_output();
        let idle = self.held.is_none() && self.client.poll_timeout() == next;
        let held = &self.held;
        let result = Violation::unless(idle, NO_SPIN, || {
            format!(
                "another handle_timeout at {now:?} gives {held:?} and a timer at {:?}",
                self.client.poll_timeout()
            )
        });
        self.model.note(result);
        if let Some(output) = &self.held {
            self.model.output(output);
        }
    }
}
