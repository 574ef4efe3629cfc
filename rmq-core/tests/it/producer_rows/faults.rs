//! Rows 33 to 43: brokers that are left alone. What a report does to the table, and which queue is chosen by it, are tables
//! beside them; here is that the two are joined.

use super::*;
use rmq_core::proto::header::GetMaxOffsetHeader;
use rmq_core::{FaultTolerance, Instant, Limits};
use std::num::NonZeroU32;
use std::time::Duration;

/// One attempt for each send, so that what each came to is seen.
fn tolerant(tolerance: FaultTolerance) -> ProducerConfig {
    ProducerConfig::new("PG").attempts(NonZeroU32::MIN).fault_tolerance(tolerance)
}

fn tolerant_net(tolerance: FaultTolerance) -> Net {
    net_of(tolerant(tolerance))
}

/// Which brokers so many sends in turn go to, each once.
fn brokers(net: &mut Net, sends: usize) -> Vec<String> {
    net.forget();
    for _ in 0..sends {
        send(net);
    }
    net.run(ms(0));
    let mut asked = net.brokers_asked();
    assert_eq!(asked.len(), sends);
    asked.sort();
    asked.dedup();
    asked
}

/// Makes a broker do this about the next send it gets, and sends until it has one.
fn meet(net: &mut Net, name: &str, act: Act, wait: Duration) -> OpId {
    net.broker(name).sends = [act].into();
    for _ in 0..10 {
        let goes_there = net.next_broker("T") == name;
        let op = send(net);
        net.run(if goes_there { wait } else { ms(0) });
        if goes_there {
            return op;
        }
    }
    panic!("no send goes to {name}");
}

/// A broker that answered in this time, and how long it is then left alone.
fn answered_in(millis: u64, isolated: u64) {
    let mut net = tolerant_net(FaultTolerance::new());
    let op = meet(&mut net, "a", after(millis, Act::Stored(ResponseCode::SUCCESS)), ms(millis));
    net.take_sent(op);
    if isolated > 0 {
        assert_eq!(brokers(&mut net, 4), ["b"], "after {millis} ms");
        net.run(ms(isolated - 1));
        assert_eq!(brokers(&mut net, 4), ["b"], "{millis} ms: 1 ms before its time is over");
        net.run(ms(1));
    }
    assert_eq!(brokers(&mut net, 4), ["a", "b"], "{millis} ms: {isolated} ms later");
}

/// A broker that cannot be connected to while its connection is gone.
fn unreached(net: &mut Net, name: &str) {
    net.broker(name).accept = Some(Accept::Refuse);
    let op = meet(net, name, Act::Close, ms(0));
    assert_eq!(*net.take_error(op).1.kind(), SendErrorKind::AttemptsExhausted);
}

fn probes(net: &Net) -> Vec<(Instant, String)> {
    let probes = net.requests(RequestCode::GET_MAX_OFFSET);
    probes.iter().map(|seen| (seen.at, seen.address.clone())).collect()
}

rows! {
    row_033 { answered_in(549, 0); }

    row_034 { answered_in(550, 2_000); }

    row_035 {
        for (millis, isolated) in [(1_799, 2_000), (1_800, 5_000), (2_999, 5_000)] {
            answered_in(millis, isolated);
        }
    }

    row_036 {
        for detector in [false, true] {
            let mut net = tolerant_net(FaultTolerance::new().detector(detector));
            unreached(&mut net, "a");
            net.broker("a").accept = Some(Accept::Open);
            net.run(ms(9_999));
            assert_eq!(brokers(&mut net, 4), ["b"]);
            net.run(ms(1));
            assert_eq!(brokers(&mut net, 4), ["a", "b"]);
        }
    }

    /// A is isolated until 10,000; a success at 4,000 does not shorten that.
    row_037 {
        let mut net = tolerant_net(FaultTolerance::new());
        let began = net.now;
        meet(&mut net, "a", Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
        net.run(ms(4_000));
        let queue = net.client.publish_queues(net.now, "T").unwrap()[0].clone();
        let op = send_to(&mut net, &queue);
        net.run(ms(0));
        assert_eq!((&*queue.broker, net.take_sent(op).0), ("a", began + ms(4_000)));
        assert_eq!(brokers(&mut net, 4), ["b"]);
        net.run(ms(5_999));
        assert_eq!(brokers(&mut net, 4), ["b"]);
        net.run(ms(1));
        assert_eq!(brokers(&mut net, 4), ["a", "b"]);
    }

    row_038 {
        let mut net = tolerant_net(FaultTolerance::new());
        for name in ["a", "b"] {
            meet(&mut net, name, Act::Close, ms(0));
            net.run(ms(100));
        }
        assert_eq!(brokers(&mut net, 4), ["a", "b"], "they go round");
    }

    row_039 {
        let mut net = tolerant_net(FaultTolerance::new());
        both(&mut net, &Act::Code(ResponseCode::SYSTEM_BUSY, ""));
        assert_eq!(brokers(&mut net, 4), ["a", "b"], "nothing better is left after the first two");
        assert_eq!(brokers(&mut net, 4), ["a", "b"]);
    }

    /// Of two that are left alone, the one that can be reached.
    row_039b {
        let mut net = tolerant_net(FaultTolerance::new());
        meet(&mut net, "a", Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
        meet(&mut net, "b", Act::Close, ms(100));
        assert_eq!(brokers(&mut net, 4), ["b"]);
    }

    row_040 {
        let mut net = net_of(ProducerConfig::new("PG").attempts(NonZeroU32::MIN));
        meet(&mut net, "a", Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
        assert_eq!(net.client.stats().fault_items, 0);
        assert_eq!(brokers(&mut net, 4), ["a", "b"]);
    }

    /// Both are left alone; the one that answered the detector is taken.
    row_041 {
        let mut net = tolerant_net(FaultTolerance::new().detector(true));
        let began = net.now;
        net.broker("b").others.insert(RequestCode::GET_MAX_OFFSET.0, Act::Code(ResponseCode::SYSTEM_ERROR, ""));
        for name in ["a", "b"] {
            meet(&mut net, name, Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
        }
        net.forget();
        net.run(ms(2_600));
        assert_eq!(probes(&net), [], "a tenth less than three seconds have to pass");
        net.run(ms(800));
        let (times, mut asked): (Vec<_>, Vec<_>) = probes(&net).into_iter().unzip();
        asked.sort();
        assert_eq!(asked, [address_of("a"), address_of("b")]);
        assert!(times.iter().all(|at| (began + ms(2_700)..=began + ms(3_300)).contains(at)), "{times:?}");
        assert_ne!(times[0], times[1], "they are spread");
        assert_eq!(brokers(&mut net, 4), ["a"], "its isolation goes on, and b's as well");
        net.run(ms(5_000));
        assert!(probes(&net).iter().all(|(_, address)| *address == address_of("b")), "a is not asked any more");
        net.run(ms(1_600));
        assert_eq!(brokers(&mut net, 4), ["a", "b"], "all isolation is over");
    }

    /// A broker that does not tell offsets to who may only send is there all the same (5.3.3 with ACL).
    row_041b {
        let mut net = tolerant_net(FaultTolerance::new().detector(true));
        for (name, code) in [("a", ResponseCode::NO_PERMISSION), ("b", ResponseCode::SYSTEM_ERROR)] {
            net.broker(name).others.insert(RequestCode::GET_MAX_OFFSET.0, Act::Code(code, ""));
            meet(&mut net, name, Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
        }
        net.run(ms(3_400));
        assert_eq!(brokers(&mut net, 4), ["a"]);
        net.run(ms(3_400));
        assert!(probes(&net).iter().all(|(_, address)| *address == address_of("b")), "a is not asked any more");
    }

    row_042 {
        let mut net = tolerant_net(FaultTolerance::new().detector(true));
        meet(&mut net, "a", Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
        let items = net.client.stats().fault_items;
        let mut data = route(&[("a", 2), ("b", 2)]);
        data.broker_datas[0].addresses = [(1, "slave:10911".into())].into();
        net.routes.insert("T".into(), data);
        net.broker("a").others.insert(RequestCode::GET_MAX_OFFSET.0, Act::Code(ResponseCode::SYSTEM_ERROR, ""));
        net.run(ms(40_000));
        assert_eq!((items, net.client.stats().fault_items), (2, 1));
    }

    row_043 {
        let mut net = tolerant_net(FaultTolerance::new());
        meet(&mut net, "a", Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
        net.run(ms(9_999));
        assert_eq!(brokers(&mut net, 4), ["b"]);
        net.run(ms(1));
        assert_eq!(brokers(&mut net, 4), ["a", "b"], "the first look does not ask whether it is reachable");
    }
}

/// A retry goes to the broker that is not left alone, though one untried would be nearer.
#[test]
fn a_retry_looks_at_health_too() {
    let mut net = Net::with(
        config().build().unwrap(),
        ProducerConfig::new("PG")
            .attempts(NonZeroU32::MIN.saturating_add(1))
            .fault_tolerance(FaultTolerance::new()),
    );
    net.routes.insert("T".into(), route(&[("a", 1), ("b", 1), ("c", 1)]));
    net.warm();
    net.broker("a").always = Some(Act::Code(ResponseCode::SYSTEM_BUSY, ""));
    for _ in 0..3 {
        let op = send(&mut net);
        net.run(ms(0));
        net.take_sent(op);
    }
    net.broker("b").sends = [Act::Close].into();
    net.forget();
    let ops: Vec<_> = (0..4).map(|_| send(&mut net)).collect();
    net.run(ms(0));
    ops.into_iter().for_each(|op| drop(net.take_sent(op)));
    assert!(!net.brokers_asked().contains(&"a".to_owned()), "{:?}", net.brokers_asked());
}

/// What is cancelled says how long its broker took, and that is all.
#[test]
fn what_is_cancelled_counts_with_its_time() {
    let mut net = tolerant_net(FaultTolerance::new());
    let op = meet(&mut net, "a", Act::Silent, ms(600));
    net.client.cancel(net.now, op);
    net.run(ms(1_999));
    assert_eq!(brokers(&mut net, 4), ["b"]);
    net.run(ms(1));
    assert_eq!(brokers(&mut net, 4), ["a", "b"]);
}

#[test]
fn tables_that_cannot_work_are_refused() {
    let mut net = Net::new();
    let tolerance = FaultTolerance::new().latency_max([ms(1)]);
    let error =
        net.client.add_producer(net.now, ProducerConfig::new("x").fault_tolerance(tolerance)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`latency_max` has 1 thresholds and `not_available_duration` 7 times: each threshold needs one"
    );
}

/// Producers of one client do not share what they know: each has its own notion of slow.
#[test]
fn each_producer_has_a_table_of_its_own() {
    let mut net = tolerant_net(FaultTolerance::new());
    let other = net.client.add_producer(net.now, ProducerConfig::new("other")).unwrap();
    net.run(ms(0));
    meet(&mut net, "a", Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
    assert_eq!(brokers(&mut net, 4), ["b"]);
    net.producer = other;
    assert_eq!(brokers(&mut net, 4), ["a", "b"]);
}

/// A broker that no route names any more is forgotten, and so is what a late attempt says of it.
#[test]
fn items_go_with_the_routes() {
    let mut net = tolerant_net(FaultTolerance::new().detector(true));
    meet(&mut net, "a", Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
    assert_eq!(net.client.stats().fault_items, 2);
    net.run(ms(10_000));
    net.broker("a").sends = [after(60_000, Act::Stored(ResponseCode::SUCCESS))].into();
    for _ in 0..4 {
        net.send("T", SendOptions::default().timeout(ms(120_000)));
    }
    net.run(ms(0));
    assert!(net.broker("a").sends.is_empty());
    net.routes.insert("T".into(), route(&[("b", 2)]));
    net.run(ms(40_000));
    assert_eq!(net.client.stats().fault_items, 1);
    net.run(ms(40_000));
    assert_eq!(net.client.stats().fault_items, 1);
    net.forget();
    net.run(ms(60_000));
    assert_eq!(probes(&net), [], "nobody is asked about it");
}

#[test]
fn clause_7_fault_items() {
    let config = config().limits(Limits { fault_items: 1, ..Limits::default() }).build().unwrap();
    let mut net = Net::with(config, tolerant(FaultTolerance::new().detector(true)));
    net.warm();
    assert_eq!(net.client.stats().fault_items, 1);
    for name in ["a", "b"] {
        meet(&mut net, name, Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
        assert_eq!(net.client.stats().fault_items, 1);
    }
    let timers = net.client.stats().timers;
    net.forget();
    net.run(ms(3_400));
    assert_eq!(probes(&net).len(), 1, "only one is watched; {timers} timers");
}

/// The detector is quiet when it has nothing to find out, and after a shutdown.
#[test]
fn the_detector_is_quiet() {
    let mut net = tolerant_net(FaultTolerance::new().detector(true));
    net.run(ms(30_000));
    assert_eq!(probes(&net), [], "each broker is reachable");
    for name in ["a", "b"] {
        meet(&mut net, name, Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
    }
    net.broker("a").others.insert(RequestCode::GET_MAX_OFFSET.0, Act::Silent);
    net.forget();
    net.run(ms(3_600));
    assert_eq!(probes(&net).len(), 2);
    assert_eq!(net.client.stats().awaited, 0, "200 ms are enough for an answer");
    let header: GetMaxOffsetHeader<'_> =
        net.requests(RequestCode::GET_MAX_OFFSET)[0].command.header().unwrap();
    assert_eq!((&*header.topic, header.queue_id), ("T", 0));
    let before = net.client.stats().timers;
    net.client.shutdown(net.now, ms(60_000));
    assert!(net.client.stats().timers < before);
    net.run(ms(10_000));
    assert!(net.client.is_shut_down());
    let mut off = tolerant_net(FaultTolerance::new());
    meet(&mut off, "a", Act::Code(ResponseCode::SYSTEM_BUSY, ""), ms(0));
    off.run(ms(30_000));
    assert_eq!(probes(&off), [], "off by default");
}
