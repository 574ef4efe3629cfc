//! The namespace of version 1, at the border (producer §1.5, wire §7.3): within the client all names are those on the wire.
//! They are wrapped when an operation begins or a producer is added, and unwrapped in the one event that ends it.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::sync::Arc;

use rmq_proto::code::RequestCode;
use rmq_proto::names::{self, namespace};

use super::Client;
use crate::config::{ConfigError, ProducerConfig};
use crate::error::{RejectReason, SendBackErrorKind, SendBackFailure, SendError};
use crate::event::{Event, SendResult};
use crate::producer::SendOp;
use crate::send_back::{SendBack, SentBack};

impl Client {
    /// A topic or a group as it is called on the wire.
    pub(super) fn wire_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self.config.rules.namespace.as_deref() {
            Some(namespace) => namespace::wrap(namespace, name),
            None => Cow::Borrowed(name),
        }
    }

    /// Whether a topic can be called so on the wire. With a namespace it may be too long for it, though it is not without.
    pub(super) fn admit_topic(&self, topic: &str) -> Result<(), RejectReason> {
        names::validate_topic(&self.wire_name(topic)).map_err(|_| RejectReason::TopicName)
    }

    /// [`admit_topic`](Self::admit_topic), for one that was found good by itself.
    pub(super) fn admit_good_topic(&self, topic: &str) -> Result<(), RejectReason> {
        if self.config.rules.namespace.is_none() { Ok(()) } else { self.admit_topic(topic) }
    }

    pub(super) fn producer_on_the_wire(&self, config: ProducerConfig) -> Result<ProducerConfig, ConfigError> {
        let group = self.wire_name(&config.group).into_owned();
        if let Err(error) = names::validate_group(&group) {
            return Err(ConfigError::Group { group: config.group, error });
        }
        if self.producers.has_group(&group) {
            return Err(ConfigError::duplicate(&config.group));
        }
        Ok(ProducerConfig { group, ..config })
    }

    /// A topic as its user calls it.
    pub(super) fn users_topic(&self, mut topic: Arc<str>) -> Arc<str> {
        if let Some(namespace) = self.config.rules.namespace.as_deref() {
            unwrap(namespace, &mut topic);
        }
        topic
    }

    /// A message to be given back, as it is called on the wire; `None` when that is no difference.
    pub(super) fn back_on_the_wire(&self, message: &SendBack) -> Result<Option<SendBack>, RejectReason> {
        let Some(namespace) = &self.config.rules.namespace else { return Ok(None) };
        let message = message.in_namespace(namespace);
        match names::validate_group(message.group()) {
            Ok(()) => Ok(Some(message)),
            Err(_) => Err(RejectReason::TopicName),
        }
    }

    /// The end of an operation, as its user calls things.
    pub(super) fn leave_namespace(&self, event: &mut Event) {
        let Some(namespace) = self.config.rules.namespace.as_deref() else { return };
        match event {
            Event::Sent { result, .. } | Event::SentBack { how: SentBack::RetryTopic(result), .. } => {
                unwrap(namespace, &mut result.queue.topic);
            }
            Event::SendFailed { error, .. } => unwrap_error(namespace, error),
            Event::Replied { reply, .. } => unwrap_sent(namespace, &mut reply.sent),
            Event::RequestFailed { error, .. } => {
                unwrap_sent(namespace, &mut error.0.sent);
                unwrap_error(namespace, &mut error.0.error);
            }
            Event::RecallFailed { error, .. } => unwrap_error(namespace, &mut error.0),
            Event::EndTransactionFailed { error, .. } => unwrap(namespace, error.topic_mut()),
            Event::SendBackFailed { error, .. } => {
                let SendBackFailure { kind, group, topic, .. } = &mut *error.0;
                *group = namespace::unwrap(namespace, group).to_string();
                unwrap(namespace, topic);
                if let SendBackErrorKind::RetryFailed(error) = kind {
                    unwrap_error(namespace, error);
                }
            }
            _ => {}
        }
    }
}

/// The topic of replies is the cluster's own: each broker has it as it is, and in a namespace none.
pub(super) fn enter_namespace(namespace: Option<&str>, send: &mut SendOp) {
    let Some(namespace) = namespace else { return };
    if send.code == RequestCode::SEND_REPLY_MESSAGE_V2 {
        return;
    }
    if let Cow::Owned(topic) = namespace::wrap(namespace, &send.topic) {
        send.topic = topic.into();
    }
}

fn unwrap_sent(namespace: &str, sent: &mut Option<SendResult>) {
    if let Some(sent) = sent {
        unwrap(namespace, &mut sent.queue.topic);
    }
}

fn unwrap_error(namespace: &str, error: &mut SendError) {
    unwrap(namespace, &mut error.0.topic);
}

fn unwrap(namespace: &str, topic: &mut Arc<str>) {
    let shown = match namespace::unwrap(namespace, topic) {
        Cow::Borrowed(shown) if shown.len() == topic.len() => return,
        shown => shown.into(),
    };
    *topic = shown;
}
