//! Signed requests: cases BUG-17, I1, I2 and I6, and credentials that change.

use std::sync::Arc;

use bytes::BytesMut;
use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::{HeaderFormat, RemotingCommand};
use rmq_core::proto::ext::ExtFields;
use rmq_core::proto::sign::{Credentials, Scope};
use rmq_core::{
    Event, Input, OutgoingRequest, ProducerConfig, RequestFields, RequestHook, SendErrorKind, SendOptions,
    SentBack,
};

use crate::support::{Act, NAME_SERVER, Net, Seen, address_of, back, config, ms, route};

fn credentials() -> Credentials {
    Credentials::new("the-key", "the-secret").unwrap().with_security_token("the-token")
}

fn net() -> Net {
    Net::with(config().credentials(credentials()).build().unwrap(), ProducerConfig::new("PG"))
}

fn signature(seen: &Seen) -> String {
    seen.command.ext.value("Signature").expect("it is signed").into_owned()
}

fn assert_signed(seen: &Seen, credentials: &Credentials) {
    let checked = credentials.verify(Scope::All, &seen.command.ext, &seen.command.body);
    assert_eq!(checked, Ok(()), "{:?}", seen.command);
}

struct Tag;

impl RequestHook for Tag {
    fn before_request(&self, _: &OutgoingRequest<'_>, fields: &mut RequestFields) {
        fields.add("Zone", "z1").unwrap();
        fields.add("aside", "z2").unwrap();
    }
}

/// The values of all fields in the byte order of their names, which puts `Zone` before `a`, then the body.
fn signature_by_hand(seen: &Seen) -> String {
    let mut fields: Vec<_> = seen.command.ext.iter().collect();
    fields.retain(|(name, _)| !["AccessKey", "SecurityToken", "Signature"].contains(&&**name));
    fields.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    let text: String = fields.into_iter().map(|(_, value)| value).collect();
    // One field, behind access key and token, with all that text.
    let one: ExtFields = [("b", text)].into_iter().collect();
    credentials().sign(&one, &seen.command.body).signature().to_owned()
}

#[test]
fn bug_17_i1_every_request_is_signed_over_its_values_in_byte_order() {
    for format in [HeaderFormat::Json, HeaderFormat::RocketMq] {
        let builder = config().credentials(credentials()).hook(Arc::new(Tag)).header_format(format);
        let mut net = Net::with(builder.build().unwrap(), ProducerConfig::new("PG"));
        let op = net.send("T", SendOptions::default());
        net.run(ms(0));
        net.take_sent(op);
        net.send("T", SendOptions::default().oneway());
        let op = net.send_back(back());
        net.run(ms(0));
        net.take_sent_back(op);
        net.client.shutdown(net.now, ms(1_000));
        net.run(ms(1_000));
        for code in [
            RequestCode::GET_ROUTEINFO_BY_TOPIC,
            RequestCode::HEART_BEAT,
            RequestCode::SEND_MESSAGE_V2,
            RequestCode::CONSUMER_SEND_MSG_BACK,
            RequestCode::UNREGISTER_CLIENT,
        ] {
            assert!(!net.requests(code).is_empty(), "{code}");
        }
        assert!(net.seen.iter().any(|seen| seen.address == NAME_SERVER));
        for seen in &net.seen {
            assert_signed(seen, &credentials());
            assert_eq!(signature(seen), signature_by_hand(seen), "{:?}", seen.command);
            assert_eq!(seen.command.ext.value("SecurityToken").unwrap(), "the-token");
        }
    }
}

/// What a hook adds is signed; the signature is over nothing that differs between two attempts at one queue.
#[test]
fn i2_a_retry_with_another_opaque_has_the_same_signature() {
    let builder = config().credentials(credentials()).hook(Arc::new(Tag));
    let mut net = Net::with(builder.build().unwrap(), ProducerConfig::new("PG"));
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.broker("a").sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "busy")].into();
    let op = net.send("T", SendOptions::default());
    net.run(ms(1_000));
    net.take_sent(op);
    let sends = net.sends();
    assert_eq!(sends.len(), 2);
    assert_ne!(sends[0].command.opaque, sends[1].command.opaque);
    assert_eq!(signature(sends[0]), signature(sends[1]));
    assert_eq!(sends[0].command.ext.value("Zone").unwrap(), "z1");
    assert_signed(sends[1], &credentials());
}

/// A broker that denies a send-back to whom it may: the message takes the way of BUG-11, and the caller is told which.
#[test]
fn i6_a_denied_send_back_goes_to_the_retry_topic() {
    let mut net = net();
    net.routes.insert("%RETRY%g".into(), route(&[("a", 1), ("b", 1)]));
    net.warm();
    let denied = Act::Code(ResponseCode::NO_PERMISSION, "User:the-key has no permission to access Group:g");
    net.broker("a").others.insert(RequestCode::CONSUMER_SEND_MSG_BACK.0, denied.clone());
    let op = net.send_back(back());
    net.run(ms(0));
    assert!(matches!(net.take_sent_back(op).1, SentBack::RetryTopic(_)));
    net.seen.iter().for_each(|seen| assert_signed(seen, &credentials()));
    // And where the retry topic is denied, too, both words are told.
    for name in ["a", "b"] {
        net.broker(name).always = Some(denied.clone());
    }
    let op = net.send_back(back());
    net.run(ms(8_000));
    let error = net.take_back_error(op).1;
    assert_eq!(error.code(), Some(ResponseCode::NO_PERMISSION));
    assert_eq!(error.to_string().matches("has no permission to access Group:g").count(), 4, "{error}");
    assert_eq!(net.client.stats().operations, 0);
}

#[test]
fn a_refusal_names_its_code_and_the_brokers_words() {
    let mut net = net();
    net.warm();
    for name in ["a", "b"] {
        net.broker(name).always = Some(Act::Code(ResponseCode::NO_PERMISSION, "check signature failed."));
        net.broker(name).others.insert(
            RequestCode::HEART_BEAT.0,
            Act::Code(ResponseCode::NO_PERMISSION, "check signature failed."),
        );
    }
    let op = net.send("T", SendOptions::default());
    net.run(ms(60_000));
    let error = net.take_error(op).1;
    assert_eq!(
        (error.kind(), error.code()),
        (&SendErrorKind::AttemptsExhausted, Some(ResponseCode::NO_PERMISSION))
    );
    assert!(error.to_string().contains("NO_PERMISSION (16): check signature failed."), "{error}");
    let told = net.events.iter().find_map(|(_, event)| match event {
        Event::HeartbeatRefused { code, remark, .. } => Some((*code, remark.as_deref())),
        _ => None,
    });
    assert_eq!(told, Some((ResponseCode::NO_PERMISSION, Some("check signature failed."))));
}

/// What is not written yet goes out with the new credentials, attempts after the first included.
#[test]
fn credentials_are_replaced_while_running() {
    let mut net = net();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").sends = [Act::Code(ResponseCode::NO_PERMISSION, "expired")].into();
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    let fresh = Credentials::new("the-key", "another-secret").unwrap();
    net.client.set_credentials(net.now, Some(fresh.clone()));
    net.run(ms(1_000));
    net.take_sent(op);
    assert_signed(net.sends()[0], &credentials());
    assert_signed(net.sends()[1], &fresh);
    assert_eq!(net.sends()[1].command.ext.value("SecurityToken"), None);
    net.client.set_credentials(net.now, None);
    net.forget();
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    for name in ["AccessKey", "Signature", "SecurityToken"] {
        assert_eq!(net.sends()[0].command.ext.value(name), None);
    }
    assert!(net.connects.is_empty(), "the connections stay");
}

/// wire §8.1: our answers to brokers' requests are not signed.
#[test]
fn answers_are_not_signed() {
    let mut net = Net::with(
        config().credentials(credentials()).hook(Arc::new(Tag)).namespace_v2("blue").build().unwrap(),
        ProducerConfig::new("PG"),
    );
    net.warm();
    let conn = net.conn(&address_of("a")).unwrap();
    let mut asked = BytesMut::new();
    RemotingCommand::request(307).encode(HeaderFormat::Json, &mut asked).unwrap();
    net.client.handle_input(net.now, Input::Received { conn, data: asked.freeze() });
    net.run(ms(0));
    let answer = net.seen.iter().find(|seen| seen.command.is_response()).unwrap();
    assert!(answer.command.ext.is_absent());
}

#[test]
fn secrets_are_in_no_debug_text() {
    let mut net = net();
    net.warm();
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    let config = config().credentials(credentials());
    let texts = [
        format!("{:?}", net.client),
        format!("{config:?}"),
        format!("{:?}", config.build().unwrap()),
        format!("{:?}", net.seen),
        format!("{:?}", net.events),
    ];
    let signature = signature(net.sends()[0]);
    for text in texts {
        for secret in ["the-secret", "the-token", "the-key", &signature] {
            assert!(!text.contains(secret), "{secret} is told");
        }
    }
}
