//! Rows 1 to 28 and 44 to 54: budget and retries.

use super::*;
use std::num::NonZeroU32;

const CAP_1S: AttemptTimeout = AttemptTimeout::Cap(std::time::Duration::from_millis(1_000));

fn timeout(error: &RequestError) -> bool {
    matches!(error, RequestError::Timeout { .. })
}

fn codes(net: &mut Net, name: &str, codes: &[ResponseCode]) {
    let acts = codes.iter().map(|code| Act::Code(*code, ""));
    net.broker(name).sends = acts.collect();
}

rows! {
    /// The first broker never answers, and an attempt may take the whole time.
    row_001 {
        let mut net = net(AttemptTimeout::Whole);
        let (first, _) = order(&net);
        both(&mut net, &Act::Silent);
        let began = net.now;
        let op = send(&mut net);
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!(when, began + ms(3_000));
        assert_eq!(*error.kind(), SendErrorKind::TimedOut);
        assert_eq!(net.brokers_asked(), [&*first]);
        assert_eq!(net.closes, [(began + ms(3_000), address_of(&first))]);
        assert!(error.is_retryable() && error.may_have_been_stored());
    }

    /// The same when attempts share the time: each broker gets its part.
    row_001b {
        let mut net = net(AttemptTimeout::Split);
        let (first, second) = order(&net);
        both(&mut net, &Act::Silent);
        let began = net.now;
        let op = send(&mut net);
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!(when, began + ms(3_000));
        assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
        assert_eq!(net.brokers_asked(), [first.clone(), second, first]);
        let began: Vec<_> = error.attempts().iter().map(|attempt| attempt.began).collect();
        assert_eq!(began, [ms(0), ms(1_000), ms(2_000)]);
    }

    row_002 {
        let mut net = net(CAP_1S);
        let (first, second) = order(&net);
        both(&mut net, &Act::Silent);
        let began = net.now;
        let op = send(&mut net);
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!(when, began + ms(3_000));
        assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
        let brokers: Vec<_> = error.attempts().iter().map(|attempt| attempt.broker.to_string()).collect();
        assert_eq!(brokers, [first.clone(), second, first]);
        assert!(error.attempts().iter().all(|attempt| timeout(&attempt.error)));
    }

    row_003 {
        let mut net = net(CAP_1S);
        let (first, second) = order(&net);
        net.broker(&first).always = Some(Act::Silent);
        net.broker(&second).sends = [after(20, Act::Stored(ResponseCode::SUCCESS))].into();
        let began = net.now;
        let op = send(&mut net);
        net.run(ms(5_000));
        assert_eq!(net.take_sent(op).0, began + ms(1_020));
        let sends = net.sends();
        assert_eq!(sends.len(), 2);
        assert_ne!(sends[0].command.opaque, sends[1].command.opaque);
        assert_eq!(sends[0].send().properties, sends[1].send().properties, "the same UNIQ_KEY");
        assert_eq!(sends[0].send().born_timestamp, sends[1].send().born_timestamp);
    }

    row_004 {
        let mut net = net(AttemptTimeout::Cap(ms(5_000)));
        let (first, _) = order(&net);
        both(&mut net, &Act::Silent);
        let began = net.now;
        let op = send(&mut net);
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!((when, error.kind()), (began + ms(3_000), &SendErrorKind::TimedOut));
        assert_eq!(net.brokers_asked(), [first]);
    }

    row_005 {
        let mut net = net_of(ProducerConfig::new("PG").attempts(NonZeroU32::MIN).attempt_timeout(CAP_1S));
        both(&mut net, &Act::Silent);
        let began = net.now;
        let op = send(&mut net);
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!((when, error.kind()), (began + ms(3_000), &SendErrorKind::AttemptsExhausted));
        assert_eq!(error.attempts().len(), 1);
    }

    row_006 {
        let mut net = Net::new();
        net.broker("a").accept = Some(Accept::Refuse);
        let op = send(&mut net);
        let other = send(&mut net);
        let third = send(&mut net);
        net.run(ms(0));
        for op in [op, other, third] {
            assert_eq!(&*net.take_sent(op).1.queue.broker, "b");
            assert_eq!(net.take_sent(op).0, at(0));
        }
        assert_eq!(net.brokers_asked(), ["b", "b", "b"], "nothing is written to a");
    }

    /// Three attempts but two connects: the third finds the first one's failure, a moment old.
    row_007 {
        let mut net = Net::new();
        for name in ["a", "b"] {
            net.broker(name).accept = Some(Accept::Refuse);
        }
        let op = send(&mut net);
        net.run(ms(0));
        let (when, error) = net.take_error(op);
        assert_eq!((when, error.kind()), (at(0), &SendErrorKind::AttemptsExhausted));
        let attempts = error.attempts();
        assert_eq!(attempts.len(), 3);
        assert!(attempts[..2].iter().all(|attempt| matches!(attempt.error, RequestError::Connect(_))));
        assert!(matches!(attempts[2].error, RequestError::HeldOff(_)));
        assert_eq!(attempts[0].broker, attempts[2].broker);
        assert_ne!(attempts[0].broker, attempts[1].broker);
        assert_eq!(net.connects.iter().filter(|(_, address)| address != NAME_SERVER).count(), 2);
        assert!(!error.may_have_been_stored());
    }

    row_008 {
        let mut net = Net::with(config().build().unwrap(), ProducerConfig::new("PG").attempt_timeout(AttemptTimeout::Whole));
        for name in ["a", "b"] {
            net.broker(name).accept = Some(Accept::Never);
        }
        let op = net.send("T", SendOptions::default().timeout(ms(1_000)));
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!((when, error.kind()), (at(1_000), &SendErrorKind::TimedOut));
        assert!(matches!(error.attempts()[0].error, RequestError::Timeout { written: false, .. }));
        assert!(!error.may_have_been_stored());
    }

    row_009 {
        let mut net = net(AttemptTimeout::Whole);
        let (first, second) = order(&net);
        net.broker(&first).sends = [after(200, Act::Close)].into();
        net.broker(&second).always = Some(Act::Silent);
        let began = net.now;
        let op = send(&mut net);
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!(when, began + ms(3_000));
        assert!(matches!(error.attempts()[0].error, RequestError::Closed { written: true, .. }));
        assert_eq!(error.attempts()[1].began, ms(200));
        assert_eq!(error.attempts()[1].took, ms(2_800));
        assert_eq!(net.brokers_asked(), [first, second]);
    }

    row_010 {
        let mut net = net(AttemptTimeout::Split);
        let (first, second) = order(&net);
        codes(&mut net, &first, &[ResponseCode::SYSTEM_BUSY]);
        let (began, op) = (net.now, send(&mut net));
        net.run(ms(0));
        let (when, result) = net.take_sent(op);
        assert_eq!((when, &*result.queue.broker, result.attempts), (began, &*second, 2));
    }

    row_011 {
        let mut net = net(AttemptTimeout::Split);
        both(&mut net, &Act::Code(ResponseCode::SYSTEM_BUSY, "[PCBUSY_CLEAN_QUEUE]broker busy"));
        let op = send(&mut net);
        net.run(ms(0));
        let error = net.take_error(op).1;
        assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
        assert_eq!((error.attempts().len(), error.code()), (3, Some(ResponseCode::SYSTEM_BUSY)));
        assert!(error.to_string().contains("SYSTEM_BUSY (2): [PCBUSY_CLEAN_QUEUE]broker busy"), "{error}");
    }

    row_012 {
        for code in [1, 17, 14, 16, 204, 205] {
            let mut net = net(AttemptTimeout::Split);
            let (first, second) = order(&net);
            codes(&mut net, &first, &[ResponseCode(code)]);
            let op = send(&mut net);
            net.run(ms(0));
            assert_eq!(&*net.take_sent(op).1.queue.broker, &*second, "code {code}");
        }
    }

    row_013 {
        let mut net = net(AttemptTimeout::Split);
        both(&mut net, &Act::Code(ResponseCode::MESSAGE_ILLEGAL, "too large"));
        let op = send(&mut net);
        net.run(ms(0));
        let error = net.take_error(op).1;
        assert_eq!((error.kind(), error.attempts().len()), (&SendErrorKind::Refused, 1));
        assert_eq!(error.code(), Some(ResponseCode::MESSAGE_ILLEGAL));
        assert!(!error.is_retryable());
    }

    row_014 {
        for code in [3, 4, 15, 26, 29, 215, 501, 604, 999] {
            let mut net = net(AttemptTimeout::Split);
            both(&mut net, &Act::Code(ResponseCode(code), ""));
            let op = send(&mut net);
            net.run(ms(0));
            let error = net.take_error(op).1;
            assert_eq!((error.kind(), error.code()), (&SendErrorKind::Refused, Some(ResponseCode(code))));
            assert_eq!(net.sends().len(), 1, "code {code}");
        }
    }

    row_015 {
        let retry = RetryPolicy::default().also(ResponseCode::FLOW_CONTROL);
        let mut net = net_of(ProducerConfig::new("PG").retry(retry));
        let (first, second) = order(&net);
        codes(&mut net, &first, &[ResponseCode::FLOW_CONTROL]);
        let op = send(&mut net);
        net.run(ms(0));
        assert_eq!(&*net.take_sent(op).1.queue.broker, &*second);
    }

    row_016 {
        let mut net = net(AttemptTimeout::Split);
        both(&mut net, &Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT));
        let op = send(&mut net);
        net.run(ms(0));
        assert_eq!(net.take_sent(op).1.status, SendStatus::FlushDiskTimeout);
        assert_eq!(net.sends().len(), 1);
    }

    row_017 {
        let mut net = not_stored_ok(AttemptTimeout::Split);
        let (first, second) = order(&net);
        net.broker(&first).sends = [Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT)].into();
        let op = send(&mut net);
        net.run(ms(0));
        let result = net.take_sent(op).1;
        assert_eq!((result.status, &*result.queue.broker), (SendStatus::SendOk, &*second));
        assert_eq!(net.sends().len(), 2);
    }

    row_018 {
        let mut net = not_stored_ok(AttemptTimeout::Split);
        both(&mut net, &Act::Stored(ResponseCode::SLAVE_NOT_AVAILABLE));
        let op = send(&mut net);
        net.run(ms(0));
        let result = net.take_sent(op).1;
        assert_eq!((result.status, result.attempts), (SendStatus::SlaveNotAvailable, 3));
    }

    row_019 {
        let mut net = not_stored_ok(AttemptTimeout::Split);
        let (first, second) = order(&net);
        net.broker(&first).sends = [Act::Stored(ResponseCode::FLUSH_SLAVE_TIMEOUT)].into();
        codes(&mut net, &second, &[ResponseCode::MESSAGE_ILLEGAL]);
        let op = send(&mut net);
        net.run(ms(0));
        assert_eq!(net.take_sent(op).1.status, SendStatus::FlushSlaveTimeout);
    }

    row_020 { stored_then_silence(AttemptTimeout::Whole); }

    row_020b { stored_then_silence(AttemptTimeout::Split); }

    row_021 {
        let mut net = Net::new();
        net.routes.insert("T".into(), route(&[("a", 1), ("b", 1), ("c", 1)]));
        for name in ["a", "b", "c"] {
            net.broker(name).sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "")].into();
        }
        let op = send(&mut net);
        net.run(ms(0));
        let asked = net.brokers_asked();
        assert_eq!(asked.len(), 3, "D4, D10: each broker once: {asked:?}");
        let mut net = Net::new();
        net.routes.insert("T".into(), route(&[("a", 1), ("b", 1), ("c", 1)]));
        net.broker(&asked[0]).sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "")].into();
        net.broker(&asked[1]).accept = Some(Accept::Refuse);
        net.broker(&asked[2]).sends = [Act::Close].into();
        let second = send(&mut net);
        net.run(ms(0));
        let error = net.take_error(second).1;
        let attempts = error.attempts();
        assert_eq!(attempts[0].error.code(), Some(ResponseCode::SYSTEM_BUSY));
        assert!(matches!(attempts[1].error, RequestError::Connect(_)));
        assert!(matches!(attempts[2].error, RequestError::Closed { written: true, .. }));
        assert_eq!((error.code(), error.may_have_been_stored()), (None, true));
        let _ = op;
    }

    row_022 {
        let (net, error) = slow_route(AttemptTimeout::Whole, CloseOnTimeout::Java);
        assert_eq!((error.kind(), error.attempts().len()), (&SendErrorKind::TimedOut, 1));
        assert_eq!(net.closes.len(), 1, "100 ms are more than a quarter of 100 ms");
    }

    /// What is left is shared out, and a connection that has just said something stays.
    row_022b {
        let (net, error) = slow_route(AttemptTimeout::Split, CloseOnTimeout::Silent);
        assert_eq!((error.kind(), error.attempts().len()), (&SendErrorKind::AttemptsExhausted, 3));
        assert!(net.closes.is_empty(), "{:?}", net.closes);
    }

    row_023 {
        let mut net = net_before_connecting();
        for name in ["a", "b"] {
            net.broker(name).accept = Some(Accept::OpenAfter(2_950));
            net.broker(name).always = Some(Act::Silent);
        }
        let op = send(&mut net);
        net.run(ms(3_000));
        let (when, error) = net.take_error(op);
        assert_eq!((when, error.kind()), (at(3_000), &SendErrorKind::TimedOut));
        assert_eq!(net.sends().len(), 1);
        assert!(net.closes.is_empty(), "50 ms is too little to judge by: {:?}", net.closes);
    }

    /// No route names a master: each attempt says so.
    row_025 {
        let mut net = Net::new();
        let mut data = route(&[("a", 1), ("b", 1)]);
        data.order_topic_conf = Some("x:1;y:1".into());
        net.routes.insert("T".into(), data);
        let op = send(&mut net);
        net.run(ms(0));
        let error = net.take_error(op).1;
        assert_eq!(*error.kind(), SendErrorKind::AttemptsExhausted);
        assert!(error.attempts().iter().all(|attempt| attempt.error == RequestError::NoMaster));
    }

    row_044 {
        let mut net = net_of(ProducerConfig::new("PG").retry(RetryPolicy::local_failures_only()));
        both(&mut net, &Act::Code(ResponseCode::SYSTEM_BUSY, ""));
        let op = send(&mut net);
        net.run(ms(0));
        assert_eq!((net.take_error(op).1.code(), net.sends().len()), (Some(ResponseCode::SYSTEM_BUSY), 1));
    }

    row_045 {
        let mut net = net_of(ProducerConfig::new("PG").retry(RetryPolicy::local_failures_only()));
        let (first, second) = order(&net);
        net.broker(&first).sends = [after(100, Act::Close)].into();
        let (began, op) = (net.now, send(&mut net));
        net.run(ms(200));
        let (when, result) = net.take_sent(op);
        assert_eq!((when, &*result.queue.broker), (began + ms(100), &*second));
        assert_ne!(net.sends()[0].command.opaque, net.sends()[1].command.opaque);
    }

    row_047 {
        let mut net = net_of(ProducerConfig::new("PG").retry(RetryPolicy::local_failures_only()));
        both(&mut net, &Act::Close);
        let op = send(&mut net);
        net.run(ms(200));
        let error = net.take_error(op).1;
        assert_eq!((error.attempts().len(), error.kind()), (3, &SendErrorKind::AttemptsExhausted));
    }

    row_053 {
        let mut net = Net::new();
        for name in ["a", "b"] {
            net.broker(name).accept = Some(Accept::Refuse);
        }
        let op = net.send("T", SendOptions::default().oneway());
        net.run(ms(0));
        let error = net.take_error(op).1;
        assert_eq!(error.attempts().len(), 1);
        assert!(matches!(error.attempts()[0].error, RequestError::Connect(CloseCause::Stream(_))));
    }

    row_054 {
        let mut net = net(AttemptTimeout::Split);
        let op = net.send("T", SendOptions::default().oneway());
        net.run(ms(0));
        assert!(matches!(net.end(op).1, Event::OnewayWritten { .. }));
        let seen = net.sends()[0].clone();
        assert_eq!(seen.command.flag, 2);
        let unknown = net.client.stats().unknown_answers;
        net.answer(seen.conn, &stored(&seen.command, 1, ResponseCode::SUCCESS));
        net.run(ms(0));
        assert_eq!(net.client.stats().unknown_answers, unknown + 1);
    }
}

fn not_stored_ok(rule: AttemptTimeout) -> Net {
    let retry = RetryPolicy::default().when_not_stored_ok(true);
    net_of(ProducerConfig::new("PG").retry(retry).attempt_timeout(rule))
}

fn stored_then_silence(rule: AttemptTimeout) {
    let mut net = not_stored_ok(rule);
    let (first, second) = order(&net);
    net.broker(&first).sends =
        [after(100, Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT)), Act::Silent].into();
    net.broker(&second).always = Some(Act::Silent);
    let (began, op) = (net.now, send(&mut net));
    net.run(ms(5_000));
    let (when, result) = net.take_sent(op);
    assert_eq!((when, result.status), (began + ms(3_000), SendStatus::FlushDiskTimeout));
}

fn net_before_connecting() -> Net {
    let config = config().close_on_timeout(CloseOnTimeout::Java).build().unwrap();
    Net::with(config, ProducerConfig::new("PG").attempt_timeout(AttemptTimeout::Whole))
}

/// The route takes 2,900 of 3,000 ms, then the brokers are silent.
fn slow_route(rule: AttemptTimeout, close: CloseOnTimeout) -> (Net, rmq_core::SendError) {
    let config = config().close_on_timeout(close).build().unwrap();
    let mut net = Net::with(config, ProducerConfig::new("PG").attempt_timeout(rule));
    let found = after(2_900, Act::Route(net.routes["T"].encode()));
    net.peer(NAME_SERVER).others.insert(RequestCode::GET_ROUTEINFO_BY_TOPIC.0, found);
    both(&mut net, &Act::Silent);
    let op = send(&mut net);
    net.run(ms(3_000));
    let (when, error) = net.take_error(op);
    assert_eq!(when, at(3_000));
    assert!(error.attempts().iter().all(|attempt| timeout(&attempt.error)), "{error}");
    (net, error)
}
