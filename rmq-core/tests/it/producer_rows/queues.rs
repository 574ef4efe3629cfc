//! Rows 26 to 28 and 48: a given queue; the queues to choose from; and the wait before another attempt at the same broker.

use super::*;
use rmq_core::RejectReason;
use std::num::NonZeroU32;

fn queues(net: &mut Net) -> Vec<MessageQueue> {
    net.client.publish_queues(net.now, "T").expect("the route is known").to_vec()
}

fn found(net: &Net, op: OpId) -> Vec<String> {
    match net.end(op).1 {
        Event::QueuesFound { queues, .. } => queues.iter().map(ToString::to_string).collect(),
        event => panic!("the queues were to be found: {event:?}"),
    }
}

rows! {
    row_026 {
        let mut net = net(AttemptTimeout::Split);
        let queue = queues(&mut net)[1].clone();
        net.broker("a").always = Some(Act::Code(ResponseCode::SYSTEM_BUSY, ""));
        let op = send_to(&mut net, &queue);
        net.run(ms(3_000));
        let error = net.take_error(op).1;
        assert_eq!((error.kind(), error.code()), (&SendErrorKind::Refused, Some(ResponseCode::SYSTEM_BUSY)));
        let sends = net.sends();
        let header = sends[0].send();
        assert_eq!((sends.len(), header.broker_name.as_deref(), header.queue_id), (1, Some("a"), 1));
    }

    /// A selector's choice comes to the core as a given queue.
    row_027 {
        let mut net = Net::new();
        let op = net.client.find_queues(net.now, net.producer, "T", None).unwrap();
        net.run(ms(0));
        assert_eq!(found(&net, op), ["T/a/0", "T/a/1", "T/b/0", "T/b/1"]);
        net.broker("b").accept = Some(Accept::Refuse);
        let queue = queues(&mut net)[2].clone();
        let op = send_to(&mut net, &queue);
        net.run(ms(0));
        let (when, error) = net.take_error(op);
        assert_eq!((when, error.attempts().len()), (net.now, 1));
        assert!(matches!(error.attempts()[0].error, RequestError::Connect(_)));
    }

    /// Whoever chooses nothing has asked for the queues, and nothing more.
    row_028 {
        let mut net = Net::new();
        let op = net.client.find_queues(net.now, net.producer, "T", None).unwrap();
        net.run(ms(900));
        assert_eq!(found(&net, op).len(), 4);
        assert_eq!(net.sends().len(), 0);
        assert_eq!(net.client.stats().sends, 0);
    }

    row_048 {
        let mut net = net_of(ProducerConfig::new("PG").retry(RetryPolicy::local_failures_only()));
        let queue = queues(&mut net)[0].clone();
        net.broker("a").always = Some(Act::Close);
        let (began, op) = (net.now, send_to(&mut net, &queue));
        net.run(ms(3_000));
        let (when, error) = net.take_error(op);
        assert_eq!((error.kind(), when), (&SendErrorKind::AttemptsExhausted, began + ms(200)));
        assert!(error.attempts().iter().all(|attempt| (&*attempt.broker, attempt.queue_id) == ("a", 0)));
        assert_eq!(net.brokers_asked(), ["a", "a", "a"]);
    }

    /// Codes are final at a given queue, whatever the policy.
    row_048b {
        let retry = RetryPolicy::default().at_given_queue(true).when_not_stored_ok(true);
        let mut net = net_of(ProducerConfig::new("PG").retry(retry));
        let queue = queues(&mut net)[0].clone();
        net.broker("a").sends =
            [Act::Code(ResponseCode::SYSTEM_BUSY, ""), Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT)].into();
        let (busy, slow) = (send_to(&mut net, &queue), send_to(&mut net, &queue));
        net.run(ms(0));
        assert_eq!(net.take_error(busy).1.attempts().len(), 1);
        assert_eq!(net.take_sent(slow).1.status, SendStatus::FlushDiskTimeout);
    }
}

/// A queue that the routes do not lead to: the route is looked for, then the send says that there is no master.
#[test]
fn a_queue_of_an_unknown_broker() {
    let mut net = Net::new();
    let queue = MessageQueue { topic: "T".into(), broker: "gone".into(), queue_id: 0 };
    let op = send_to(&mut net, &queue);
    net.run(ms(0));
    let error = net.take_error(op).1;
    assert_eq!((error.attempts().len(), &error.attempts()[0].error), (1, &RequestError::NoMaster));
    let mut data = route(&[("a", 1)]);
    data.queue_datas[0].perm = 4;
    net.routes.insert("R".into(), data);
    let queue = MessageQueue { topic: "R".into(), broker: "a".into(), queue_id: 0 };
    let message = Message::new("R", "x").prepare(net.client.message_rules()).unwrap();
    let op = net.client.send_to(net.now, net.producer, &queue, message, SendOptions::default()).unwrap();
    net.run(ms(0));
    net.take_sent(op);
}

#[test]
fn a_queue_of_another_topic_is_rejected() {
    let mut net = net(AttemptTimeout::Split);
    let queue = queues(&mut net)[0].clone();
    let message = Message::new("U", "x").prepare(net.client.message_rules()).unwrap();
    let rejected = net.client.send_to(net.now, net.producer, &queue, message.clone(), SendOptions::default());
    let rejected = rejected.unwrap_err();
    assert_eq!((rejected.reason, rejected.given), (RejectReason::OtherTopic, message));
}

/// The question for queues ends as a send would.
#[test]
fn queues_that_cannot_be_found() {
    let mut net = Net::new();
    let asked = |net: &mut Net, topic: &str| net.client.find_queues(net.now, net.producer, topic, None);
    assert_eq!(asked(&mut net, "no such name"), Err(RejectReason::TopicName));
    let missing = asked(&mut net, "New").unwrap();
    net.run(ms(0));
    let error = net.take_error(missing).1;
    assert!(matches!(error.kind(), SendErrorKind::TopicNotFound { .. }));
    assert!(error.to_string().starts_with("question for the queues of topic `New` failed"), "{error}");
    net.routes.insert("TBW102".into(), route(&[("a", 8)]));
    let new = asked(&mut net, "New").unwrap();
    net.run(ms(0));
    assert_eq!(found(&net, new).len(), 4, "those that the topic will have");
    net.peer(NAME_SERVER).others.insert(RequestCode::GET_ROUTEINFO_BY_TOPIC.0, Act::Silent);
    let late = net.client.find_queues(net.now, net.producer, "Late", Some(ms(500))).unwrap();
    let cancelled = asked(&mut net, "Later").unwrap();
    net.client.cancel(net.now, cancelled);
    let began = net.now;
    net.run(ms(1_000));
    let (when, error) = net.take_error(late);
    assert_eq!(when, began + ms(500));
    assert!(matches!(error.kind(), SendErrorKind::RouteUnavailable { .. }));
    assert!(matches!(net.end(cancelled).1, Event::Cancelled { .. }));
    let stats = net.client.stats();
    assert_eq!((stats.sends, stats.sends_failed, stats.cancelled, stats.rejected), (0, 0, 1, 1));
    assert_eq!(net.client.publish_queues(net.now, "Late"), None);
}

/// A single broker that is down: attempts begin a tenth of a second apart, so that it may come back meanwhile.
#[test]
fn attempts_at_the_only_broker_wait() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 4)]));
    net.broker("a").accept = Some(Accept::Refuse);
    let op = send(&mut net);
    net.run(ms(199));
    net.broker("a").accept = Some(Accept::Open);
    net.run(ms(1));
    let (when, result) = net.take_sent(op);
    assert_eq!((when, result.attempts), (at(200), 3));
}

/// An attempt that itself took that long is followed by another at once.
#[test]
fn a_slow_failure_is_wait_enough() {
    let mut net = Net::new();
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.warm();
    net.broker("a").sends = [after(150, Act::Code(ResponseCode::SYSTEM_BUSY, ""))].into();
    let op = send(&mut net);
    net.run(ms(150));
    assert_eq!(net.take_sent(op).0, at(150));
}

/// No send waits for the end of its time: what went wrong is told at once. And no wait, where it is set to zero.
#[test]
fn a_wait_has_to_be_worth_it() {
    for (wait, timeout, attempts, ends) in
        [(100, 100, 1, 0), (100, 101, 2, 100), (100, 3_000, 3, 200), (0, 3_000, 3, 0), (10_000, 3_000, 1, 0)]
    {
        let producer = ProducerConfig::new("PG").retry_backoff(ms(wait));
        let mut net = Net::with(config().build().unwrap(), producer);
        net.routes.insert("T".into(), route(&[("a", 1)]));
        net.broker("a").accept = Some(Accept::Refuse);
        let op = net.send("T", SendOptions::default().timeout(ms(timeout)));
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!(
            (error.kind(), when),
            (&SendErrorKind::AttemptsExhausted, at(ends)),
            "{wait} of {timeout}"
        );
        assert_eq!(error.attempts().len(), attempts, "{wait} of {timeout}");
        let cause = &error.attempts()[0].error;
        assert!(matches!(cause, RequestError::Connect(CloseCause::Stream(_))), "{cause}");
    }
}

/// A send that waits can be cancelled, and ends with a shutdown.
#[test]
fn a_send_that_waits_can_be_ended() {
    let producer =
        ProducerConfig::new("PG").retry_backoff(ms(1_000)).attempts(NonZeroU32::MIN.saturating_add(9));
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("T".into(), route(&[("a", 1)]));
    net.broker("a").accept = Some(Accept::Refuse);
    let (first, second) = (send(&mut net), send(&mut net));
    net.run(ms(500));
    net.client.cancel(net.now, first);
    net.client.shutdown(net.now, ms(100));
    net.run(ms(200));
    assert!(matches!(net.end(first).1, Event::Cancelled { .. }));
    assert_eq!(*net.take_error(second).1.kind(), SendErrorKind::ShutDown);
    assert!(net.client.is_shut_down());
    assert_eq!(net.client.stats().timers, 0);
}
