//! Hooks: what they see, what they may add, and what they may forbid. Row 24 is among the producer's rows.

use std::sync::{Arc, Mutex};

use rmq_core::proto::code::{RequestCode, ResponseCode};
use rmq_core::proto::command::HeaderFormat;
use rmq_core::proto::message::Message;
use rmq_core::proto::sign::Credentials;
use rmq_core::{
    AddFieldError, FaultTolerance, Forbidden, Limits, OutgoingRequest, Output, ProducerConfig,
    ReceivedAnswer, RequestError, RequestFields, RequestHook, SendAttempt, SendErrorKind, SendOptions,
};

use crate::support::{Act, NAME_SERVER, Net, address_of, config, ms, route};

type Asked = (RequestCode, String, bool, usize);
type Answered = (RequestCode, String, ResponseCode, Option<String>);

/// Writes down what it is told.
#[derive(Default)]
struct Watcher {
    requests: Mutex<Vec<Asked>>,
    answers: Mutex<Vec<Answered>>,
}

impl RequestHook for Watcher {
    fn before_request(&self, request: &OutgoingRequest<'_>, _: &mut RequestFields) {
        let seen = (request.code, request.address.to_string(), request.oneway, request.body.len());
        self.requests.lock().unwrap().push(seen);
    }

    fn after_answer(&self, answer: &ReceivedAnswer<'_>) {
        let remark = answer.remark.map(String::from);
        self.answers.lock().unwrap().push((answer.request, answer.address.to_string(), answer.code, remark));
        if answer.request == RequestCode::SEND_MESSAGE_V2 && answer.code == ResponseCode::SUCCESS {
            assert!(answer.fields.value("msgId").is_some());
        }
    }
}

/// Adds these fields to each request.
struct Adds(Vec<(String, String)>);

impl Adds {
    fn hook(fields: &[(&str, &str)]) -> Arc<dyn RequestHook> {
        Arc::new(Self(fields.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()))
    }
}

impl RequestHook for Adds {
    fn before_request(&self, _: &OutgoingRequest<'_>, fields: &mut RequestFields) {
        for (name, value) in &self.0 {
            fields.add(name, value).unwrap();
        }
    }
}

/// Forbids attempts at a broker.
struct NotAt(&'static str);

impl RequestHook for NotAt {
    fn before_attempt(&self, attempt: &SendAttempt<'_>) -> Result<(), Forbidden> {
        assert_eq!((attempt.topic, attempt.group, &attempt.body[..]), ("T", "PG", &b"Hello"[..]));
        assert_eq!(attempt.address.to_string(), address_of(attempt.broker));
        assert!(attempt.properties.contains("UNIQ_KEY"));
        if attempt.broker == self.0 { Err(Forbidden::new("under repair")) } else { Ok(()) }
    }
}

fn net(hook: Arc<dyn RequestHook>) -> Net {
    Net::with(config().hook(hook).build().unwrap(), ProducerConfig::new("PG"))
}

#[test]
fn a_hook_sees_all_requests_and_their_answers() {
    let hook = Arc::new(Watcher::default());
    let mut net = net(hook.clone());
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.broker("a").sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "busy")].into();
    let op = net.send("T", SendOptions::default());
    net.run(ms(2_000));
    net.take_sent(op);
    net.send("T", SendOptions::default().oneway());
    net.run(ms(0));
    net.client.shutdown(net.now, ms(1_000));
    net.run(ms(1_000));
    let (ns, a) = (NAME_SERVER.to_owned(), address_of("a"));
    let mut requests = hook.requests.lock().unwrap().clone();
    requests.iter_mut().for_each(|(code, .., body)| {
        if *code == RequestCode::HEART_BEAT {
            assert!(std::mem::take(body) > 0, "a heartbeat is all body");
        }
    });
    assert_eq!(
        requests,
        [
            (RequestCode::GET_ROUTEINFO_BY_TOPIC, ns.clone(), false, 0),
            (RequestCode::HEART_BEAT, a.clone(), false, 0),
            (RequestCode::SEND_MESSAGE_V2, a.clone(), false, 5),
            (RequestCode::SEND_MESSAGE_V2, a.clone(), false, 5),
            (RequestCode::SEND_MESSAGE_V2, a.clone(), true, 5),
            (RequestCode::UNREGISTER_CLIENT, a.clone(), false, 0),
        ]
    );
    let ok = |code, from: &String| (code, from.clone(), ResponseCode::SUCCESS, None);
    let answers = hook.answers.lock().unwrap().clone();
    assert_eq!(
        answers,
        [
            ok(RequestCode::GET_ROUTEINFO_BY_TOPIC, &ns),
            ok(RequestCode::HEART_BEAT, &a),
            (RequestCode::SEND_MESSAGE_V2, a.clone(), ResponseCode::SYSTEM_BUSY, Some("busy".into())),
            ok(RequestCode::SEND_MESSAGE_V2, &a),
            ok(RequestCode::UNREGISTER_CLIENT, &a),
        ]
    );
}

/// wire §8.1: the signature is over all others, so it is the last; what a hook adds goes behind the namespace.
#[test]
fn fields_go_out_in_their_order() {
    for format in [HeaderFormat::Json, HeaderFormat::RocketMq] {
        let builder = config().namespace_v2("blue").hook(Adds::hook(&[("zone", "z1"), ("Kind", "\u{1}é")]));
        let builder = builder.hook(Adds::hook(&[("zone", "z2")])).header_format(format);
        let credentials = Credentials::new("ak", "sk").unwrap();
        let config = builder.credentials(credentials.with_security_token("st")).build().unwrap();
        let mut net = Net::with(config, ProducerConfig::new("PG"));
        let op = net.send("T", SendOptions::default());
        net.run(ms(0));
        net.take_sent(op);
        assert_eq!(net.seen.len(), 3, "route, heartbeat, send");
        for seen in &net.seen {
            let names: Vec<_> = seen.command.ext.iter().map(|(name, _)| name.into_owned()).collect();
            let own: &[&str] = match RequestCode(seen.command.code) {
                RequestCode::GET_ROUTEINFO_BY_TOPIC => &["topic", "acceptStandardJsonOnly"],
                RequestCode::HEART_BEAT => &[],
                _ => &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "m", "n"],
            };
            let behind = ["ns", "nsd", "zone", "Kind", "AccessKey", "SecurityToken", "Signature"];
            assert_eq!(names, [own, &behind].concat());
            let value = |name| seen.command.ext.value(name).unwrap().into_owned();
            assert_eq!([value("ns"), value("nsd"), value("zone")], ["blue", "true", "z2"]);
            assert_eq!(value("Kind"), "\u{1}é");
        }
    }
}

/// What is added under the name of another field is refused, and the request goes out as it is without.
#[test]
fn a_hook_changes_no_field_of_others() {
    struct Meddler;
    impl RequestHook for Meddler {
        fn before_request(&self, request: &OutgoingRequest<'_>, fields: &mut RequestFields) {
            assert_eq!(fields.add("", "x"), Err(AddFieldError::NoName));
            assert_eq!(fields.add("nsd", "false"), Err(AddFieldError::Taken));
            for name in ["AccessKey", "Signature", "SecurityToken"] {
                assert_eq!(fields.add(name, "mine"), Err(AddFieldError::Taken));
            }
            if request.code == RequestCode::SEND_MESSAGE_V2 {
                assert_eq!(
                    (fields.get("b"), fields.get("nsd"), fields.get("l")),
                    (Some("T"), Some("true"), None)
                );
                assert_eq!(fields.add("b", "Other"), Err(AddFieldError::Taken));
            }
            fields.add("late", "1").unwrap();
            assert_eq!(fields.iter().last(), Some(("late", "1")));
        }
    }
    let builder = config().namespace_v2("blue").hook(Arc::new(Meddler));
    let config = builder.credentials(Credentials::new("ak", "sk").unwrap()).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    assert_eq!(net.sends()[0].send().topic, "T");
}

/// Who signs by other rules than ours does so in a hook.
#[test]
fn a_hook_may_sign_where_the_client_does_not() {
    let mut net = net(Adds::hook(&[("AccessKey", "me"), ("Signature", "by hand")]));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    assert_eq!(net.sends()[0].command.ext.value("Signature").unwrap(), "by hand");
}

#[test]
fn an_attempt_that_is_forbidden_is_followed_by_one_elsewhere() {
    let tolerance = FaultTolerance::default();
    let producer = ProducerConfig::new("PG").fault_tolerance(tolerance);
    let mut net = Net::with(config().hook(Arc::new(NotAt("a"))).build().unwrap(), producer);
    for _ in 0..4 {
        let op = net.send("T", SendOptions::default());
        net.run(ms(0));
        let result = net.take_sent(op).1;
        assert_eq!(&*result.queue.broker, "b");
    }
    assert!(net.seen.iter().all(|seen| seen.address != address_of("a")), "nothing is written to it");
    let stats = net.client.stats();
    assert_eq!((stats.operations, stats.operation_bytes, stats.queued, stats.awaited), (0, 0, 0, 0));
    assert_eq!(stats.fault_items, 1, "of `b`");
}

#[test]
fn a_forbidden_send_ends_once_whatever_kind_it_is() {
    for options in [SendOptions::default(), SendOptions::default().oneway()] {
        let mut net = net(Arc::new(NotAt("a")));
        net.routes.insert("T".into(), route(&[("a", 1)]));
        let op = net.send("T", options);
        net.run(ms(1_000));
        let error = net.take_error(op).1;
        assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
        assert_eq!(error.attempts().len(), if options.oneway { 1 } else { 3 });
        let reason = "under repair".into();
        assert!(error.attempts().iter().all(
            |attempt| attempt.error == RequestError::Forbidden { reason: std::sync::Arc::clone(&reason) }
        ));
        assert!(error.to_string().contains("forbidden by a hook: under repair"), "{error}");
        assert_eq!((error.is_retryable(), error.may_have_been_stored(), error.code()), (false, false, None));
        let stats = net.client.stats();
        assert_eq!((stats.operations, stats.operation_bytes, stats.sends_failed), (0, 0, 1));
    }
}

/// Clause 5, with the most that hooks and signatures can add.
#[test]
fn a_write_is_bounded_with_all_that_is_added() {
    let limits = Limits { write_batch: 4_000, hook_bytes: 108, ..Limits::default() };
    // Each of these characters takes six bytes.
    let (mut builder, text) = (config().limits(limits), "\u{1}".repeat(96));
    builder = builder.hook(Adds::hook(&[("wide", &text)])).namespace_v2(&text);
    let config = builder.credentials(Credentials::new(text.clone(), "sk").unwrap()).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG"));
    let op = net.send("T", SendOptions::default());
    net.run(ms(0));
    net.take_sent(op);
    for _ in 0..20 {
        let message = Message::new("T", "Hello").prepare(net.client.message_rules()).unwrap();
        net.client.send(net.now, net.producer, message, SendOptions::default()).unwrap();
    }
    let mut writes = Vec::new();
    while let Some(output) = net.client.poll_output() {
        if let Output::Write { conn, data } = output {
            writes.push(data.len());
            net.client.handle_input(net.now, rmq_core::Input::Written { conn, bytes: data.len() });
        }
    }
    assert!(writes.len() > 5 && writes.iter().all(|len| *len <= 4_000), "{writes:?}");
}
