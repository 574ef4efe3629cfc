//! What users may have done around requests (producer §8.7; §5.4, step 7).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;
use rmq_proto::code::{RequestCode, ResponseCode};
use rmq_proto::ext::{ExtFields, ExtSink, WriteExt};
use rmq_proto::sign;

use crate::address::Address;

/// What one field that a hook adds counts for besides its name and its value.
const FIELD_ROOM: usize = 8;

/// Looks at requests and their answers, adds ext fields to requests, and forbids attempts to send. Set by
/// [`ClientConfigBuilder::hook`](crate::ClientConfigBuilder::hook). Java: `RPCHook` and `CheckForbiddenHook`.
///
/// # Pure
///
/// Hooks run inside the client, under the lock that all its handles share. So a hook does not block, does not call the
/// client, and does not panic: a client whose hook panics is lost. To the same call it says the same, whatever the time is and
/// whatever was called before; else a run of a simulation cannot be repeated. It may count.
///
/// Names of topics and groups are those on the wire: with a namespace, where the client has one.
///
/// ```
/// use rmq_core::{OutgoingRequest, RequestFields, RequestHook};
///
/// struct Zone(&'static str);
///
/// impl RequestHook for Zone {
///     fn before_request(&self, _: &OutgoingRequest<'_>, fields: &mut RequestFields) {
///         fields.add("__ZONE_NAME", self.0).expect("no header has this field");
///     }
/// }
/// ```
pub trait RequestHook: Send + Sync {
    /// A request is about to be written, one-way ones included. Called once for each time that one is.
    fn before_request(&self, request: &OutgoingRequest<'_>, fields: &mut RequestFields) {
        let _ = (request, fields);
    }

    /// A request was answered in time. One that was cancelled meanwhile is told, too.
    fn after_answer(&self, answer: &ReceivedAnswer<'_>) {
        let _ = answer;
    }

    /// A message is about to be sent to a broker, once for each attempt.
    ///
    /// # Errors
    ///
    /// Why the attempt is forbidden. It then fails with [`RequestError::Forbidden`](crate::RequestError::Forbidden): nothing
    /// is written, the broker's health is not touched, and another attempt follows as after a failed connection.
    fn before_attempt(&self, attempt: &SendAttempt<'_>) -> Result<(), Forbidden> {
        let _ = attempt;
        Ok(())
    }
}

/// A request that is about to be written.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct OutgoingRequest<'a> {
    /// What is asked for.
    pub code: RequestCode,
    /// Who is asked: a name server or a broker.
    pub address: &'a Address,
    /// Whether no answer is asked for.
    pub oneway: bool,
    /// The body, as it is sent.
    pub body: &'a Bytes,
}

/// An answer that has come in.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReceivedAnswer<'a> {
    /// What was asked for.
    pub request: RequestCode,
    /// Who answered.
    pub address: &'a Address,
    /// Its answer.
    pub code: ResponseCode,
    /// Its words.
    pub remark: Option<&'a str>,
    /// The answer's ext fields.
    pub fields: &'a ExtFields,
}

/// An attempt that is about to begin.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SendAttempt<'a> {
    /// The producer's group.
    pub group: &'a str,
    /// The topic.
    pub topic: &'a str,
    /// The broker chosen.
    pub broker: &'a str,
    /// Its address.
    pub address: &'a Address,
    /// The queue chosen on it.
    pub queue_id: i32,
    /// Which attempt of the message this is, from 1.
    pub attempt: u32,
    /// The message's properties, encoded (wire §6.4).
    pub properties: &'a str,
    /// The body, as it is to be sent; empty for an [automatic batch](crate::AutoBatch), which carries whoever is left when its
    /// bytes are made.
    pub body: &'a Bytes,
}

impl fmt::Debug for OutgoingRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingRequest")
            .field("code", &self.code)
            .field("address", &self.address)
            .field("oneway", &self.oneway)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

impl fmt::Debug for SendAttempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendAttempt")
            .field("group", &self.group)
            .field("topic", &self.topic)
            .field("broker", &self.broker)
            .field("address", &self.address)
            .field("queue_id", &self.queue_id)
            .field("attempt", &self.attempt)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish_non_exhaustive()
    }
}

/// Why an attempt is forbidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    pub(crate) reason: Arc<str>,
}

impl Forbidden {
    /// For this reason.
    pub fn new(reason: impl Into<Arc<str>>) -> Self {
        Self { reason: reason.into() }
    }
}

/// A field that cannot be added to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddFieldError {
    /// It has no name.
    #[error("an ext field needs a name")]
    NoName,
    /// It is the header's own, or the client's: hooks add to a header and change nothing of it.
    #[error("the request has an ext field of this name already")]
    Taken,
    /// All that hooks add is longer than [`Limits::hook_bytes`](crate::Limits::hook_bytes) allows.
    #[error("hooks add more than {limit} bytes to one request (Limits::hook_bytes)")]
    TooManyBytes {
        /// The limit.
        limit: usize,
    },
}

/// The ext fields of a request that is about to be written.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestFields {
    own: BTreeMap<String, String>,
    added: Vec<(String, String)>,
    len: usize,
    limit: usize,
    signed: bool,
}

impl RequestFields {
    pub(crate) fn new(header: &impl WriteExt, limit: usize, signed: bool) -> Self {
        let mut own = BTreeMap::new();
        header.write_ext(&mut own);
        Self { own, added: Vec::new(), len: 0, limit, signed }
    }

    /// The value of a field, whoever set it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find_map(|(found, value)| (found == name).then_some(value))
    }

    /// All fields: those of the header and of the namespace by name, then what hooks added, in the order of adding. The
    /// client's own signature comes later.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.own.iter().map(|(name, value)| (&**name, &**value)).chain(added_of(&self.added))
    }

    /// Adds a field. What this or another hook added under that name before is replaced.
    ///
    /// # Errors
    ///
    /// A field that the header has, or one too many. Nothing is changed then, and the request is written without it.
    pub fn add(&mut self, name: impl Into<String>, value: impl Into<String>) -> Result<(), AddFieldError> {
        let (name, value) = (name.into(), value.into());
        if name.is_empty() {
            return Err(AddFieldError::NoName);
        }
        let is_of_signature = matches!(&*name, sign::ACCESS_KEY | sign::SECURITY_TOKEN | sign::SIGNATURE);
        if self.own.contains_key(&name) || (self.signed && is_of_signature) {
            return Err(AddFieldError::Taken);
        }
        let place = self.added.iter().position(|(found, _)| *found == name);
        let before = place.and_then(|place| self.added.get(place)).map_or(0, room_of);
        let field = (name, value);
        let len = self.len - before + room_of(&field);
        if len > self.limit {
            return Err(AddFieldError::TooManyBytes { limit: self.limit });
        }
        self.len = len;
        match place.and_then(|place| self.added.get_mut(place)) {
            Some(added) => *added = field,
            None => self.added.push(field),
        }
        Ok(())
    }

    pub(crate) fn into_added(self) -> AddedFields {
        AddedFields(self.added)
    }
}

impl fmt::Debug for RequestFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().collect::<ExtFields>().fmt(f)
    }
}

fn room_of((name, value): &(String, String)) -> usize {
    name.len() + value.len() + FIELD_ROOM
}

fn added_of(added: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    added.iter().map(|(name, value)| (&**name, &**value))
}

/// What hooks added to a request, in the order of adding.
#[derive(Default)]
pub(crate) struct AddedFields(Vec<(String, String)>);

impl WriteExt for AddedFields {
    fn write_ext<S: ExtSink>(&self, sink: &mut S) {
        added_of(&self.0).for_each(|(name, value)| sink.text(name, value));
    }
}

/// The hooks of a client, in the order that they are called.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Arc<dyn RequestHook>>);

impl Hooks {
    pub(crate) fn push(&mut self, hook: Arc<dyn RequestHook>) {
        self.0.push(hook);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn before_request(&self, request: &OutgoingRequest<'_>, fields: &mut RequestFields) {
        self.0.iter().for_each(|hook| hook.before_request(request, fields));
    }

    pub(crate) fn after_answer(&self, answer: &ReceivedAnswer<'_>) {
        self.0.iter().for_each(|hook| hook.after_answer(answer));
    }

    /// The first that forbids decides.
    pub(crate) fn before_attempt(&self, attempt: &SendAttempt<'_>) -> Result<(), Forbidden> {
        self.0.iter().try_for_each(|hook| hook.before_attempt(attempt))
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hooks", self.0.len())
    }
}
