//! The rows of the producer's decision table (producer §14), a test each. Row 32 is a test beside `select`, as no send
//! comes there from outside; the other rows of selection stand there too, with their positions.

macro_rules! rows {
    ($($(#[doc = $doc:literal])* $name:ident $body:block)*) => {
        $($(#[doc = $doc])* #[test] fn $name() $body)*
    };
}

mod batches;
mod budget;
mod compression;
mod connections;
mod faults;
mod hooks;
mod in_flight;
mod queues;
mod replies;
mod requests;
mod routes;
mod selection;
mod send_backs;
mod transactions;
mod validation;

use rmq_core::{
    AttemptTimeout, CloseCause, CloseOnTimeout, Event, MessageQueue, OpId, ProducerConfig, RequestError,
    RetryPolicy, SendErrorKind, SendOptions, SendStatus,
};

use crate::support::{Accept, Act, NAME_SERVER, Net, address_of, after, at, config, ms, route, stored};
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::message::Message;

/// A network whose route and connections are there already, with this rule for attempts.
fn net(rule: AttemptTimeout) -> Net {
    net_of(ProducerConfig::new("PG").attempt_timeout(rule))
}

fn net_of(producer: ProducerConfig) -> Net {
    let config = config().close_on_timeout(CloseOnTimeout::Java).build().unwrap();
    let mut net = Net::with(config, producer);
    net.warm();
    net
}

fn send(net: &mut Net) -> OpId {
    net.send("T", SendOptions::default())
}

fn send_to(net: &mut Net, queue: &MessageQueue) -> OpId {
    let message = Message::new(&*queue.topic, "Hello").prepare(net.client.message_rules()).unwrap();
    net.client.send_to(net.now, net.producer, queue, message, SendOptions::default()).unwrap()
}

/// Both brokers, each with the same script.
fn both(net: &mut Net, act: &Act) {
    for name in ["a", "b"] {
        net.broker(name).always = Some(act.clone());
    }
}

/// The broker that the next send goes to first, and the other.
fn order(net: &Net) -> (String, String) {
    let first = net.next_broker("T");
    let other = if first == "a" { "b" } else { "a" };
    (first, other.to_owned())
}
