//! Rows 46 to 51, 68, 73, 75 and 76: what becomes of sends whose connections end, hang or are sent away.

use super::*;

/// Java's asynchronous sends.
fn local() -> ProducerConfig {
    ProducerConfig::new("PG").retry(RetryPolicy::local_failures_only())
}

rows! {
    row_046 {
        let producer = local().attempt_timeout(AttemptTimeout::Whole);
        let mut net = Net::with(config().build().unwrap(), producer);
        net.warm();
        both(&mut net, &Act::Silent);
        let (began, op) = (net.now, send(&mut net));
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!((when, error.attempts().len()), (began + ms(3_000), 1));
        assert!(matches!(error.attempts()[0].error, RequestError::Timeout { written: true, .. }));
        assert_eq!(net.sends().len(), 1);
        assert!(net.closes.is_empty(), "{:?}", net.closes);
    }

    row_049 {
        let mut net = net_of(local());
        both(&mut net, &Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT));
        let op = send(&mut net);
        net.run(ms(3_000));
        assert_eq!(net.take_sent(op).1.status, SendStatus::FlushDiskTimeout);
        assert_eq!(net.sends().len(), 1);
    }

    row_050 {
        let producer = local().attempt_timeout(AttemptTimeout::Whole).send_timeout(ms(1_000));
        let mut net = Net::with(config().build().unwrap(), producer);
        for name in ["a", "b"] {
            net.broker(name).accept = Some(Accept::OpenAfter(2_000));
        }
        let op = send(&mut net);
        net.run(ms(5_000));
        let (when, error) = net.take_error(op);
        assert_eq!((when, error.attempts().len()), (at(1_000), 1));
        assert!(matches!(error.attempts()[0].error, RequestError::Timeout { written: false, .. }));
        assert!(net.sends().is_empty());
    }

    /// Nobody asks for the outcome: the send goes on as any other, and leaves nothing behind. The handle's part,
    /// `SendFuture::detach`, is the driver's.
    row_051 {
        let mut net = net_of(local());
        let (first, second) = order(&net);
        net.broker(&first).sends = [after(100, Act::Close)].into();
        send(&mut net);
        net.run(ms(200));
        assert_eq!(net.brokers_asked(), [first, second]);
        let stats = net.client.stats();
        assert_eq!((stats.operations, stats.operation_bytes, stats.queued, stats.awaited), (0, 0, 0, 0));
    }

    row_068 {
        let config = config().name_server("ns2:9876").build().unwrap();
        let mut net = Net::with(config, ProducerConfig::new("PG"));
        net.warm();
        net.routes.insert("U".into(), route(&[("a", 1)]));
        let chosen = ["ns:9876", "ns2:9876"].into_iter().find(|server| net.conn(server).is_some()).unwrap();
        net.peer(chosen).others.insert(RequestCode::GET_ROUTEINFO_BY_TOPIC.0, Act::Silent);
        let op = net.send("U", SendOptions::default());
        net.run(ms(10));
        let list = ["ns3:9876", "ns4:9876"].map(|server| server.parse().unwrap());
        assert_eq!(net.client.set_name_servers(net.now, list.to_vec()), Ok(true));
        net.run(ms(10));
        assert_eq!(net.closes, [(at(10), chosen.to_owned())]);
        assert_eq!(net.take_sent(op).0, at(10), "the question went on to the new list");
        let asked: Vec<_> = net.requests(RequestCode::GET_ROUTEINFO_BY_TOPIC);
        assert_eq!(asked.len(), 2);
        assert!(["ns3:9876", "ns4:9876"].contains(&&*asked[1].address), "{asked:?}");
    }

    /// A send that times out takes the connection away from its neighbour, which is tried again elsewhere.
    row_073 {
        let mut net = net_of(local().attempt_timeout(AttemptTimeout::Whole).send_timeout(ms(10_000)));
        let (first, second) = order(&net);
        net.broker(&first).always = Some(Act::Silent);
        let op = send(&mut net);
        net.run(ms(0));
        let other = net.client.add_producer(net.now, ProducerConfig::new("other")).unwrap();
        let message = Message::new("T", "Hello").prepare(net.client.message_rules()).unwrap();
        let queue = MessageQueue { topic: "T".into(), broker: first.as_str().into(), queue_id: 0 };
        let options = SendOptions::default().timeout(ms(500));
        let late = net.client.send_to(net.now, other, &queue, message, options).unwrap();
        net.run(ms(600));
        assert_eq!(net.take_error(late).0, at(500));
        let (when, result) = net.take_sent(op);
        assert_eq!((when, result.attempts, &*result.queue.broker), (at(500), 2, &*second));
        assert_eq!(net.closes, [(at(500), address_of(&first))]);
    }

    row_075 {
        let mut net = net_of(ProducerConfig::new("PG"));
        let (first, _) = order(&net);
        net.send_away(&address_of(&first));
        let op = send(&mut net);
        net.run(ms(0));
        let result = net.take_sent(op).1;
        assert_eq!((result.attempts, &*result.queue.broker), (1, &*first));
        assert_eq!(net.brokers_asked(), [&*first, &*first]);
        let sends = net.sends();
        assert!(sends[0].conn != sends[1].conn && sends[0].command.opaque != sends[1].command.opaque);
        assert_eq!(sends[0].send(), sends[1].send());
        assert_eq!(net.closes, [(net.now, address_of(&first))], "the old connection, as nothing waits there");
        assert_eq!(net.client.stats().retries, 0);
    }

    row_076 {
        let mut net = net_of(ProducerConfig::new("PG"));
        let (first, second) = order(&net);
        net.broker(&first).always = Some(Act::Code(ResponseCode::GO_AWAY, ""));
        let op = send(&mut net);
        net.run(ms(0));
        let result = net.take_sent(op).1;
        assert_eq!((result.attempts, &*result.queue.broker), (2, &*second));
        assert_eq!(net.brokers_asked(), [first.clone(), first, second]);
    }
}
