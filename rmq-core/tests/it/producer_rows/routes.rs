//! Rows 55 to 67: routes.

use super::*;
use rmq_core::proto::header::GetRouteHeader;

/// The topics that name servers were asked for, in order.
fn asked(net: &Net) -> Vec<String> {
    let topic = |seen: &&crate::support::Seen| {
        seen.command.header::<GetRouteHeader<'_>>().unwrap().topic.into_owned()
    };
    net.requests(RequestCode::GET_ROUTEINFO_BY_TOPIC).iter().map(topic).collect()
}

/// Which queues a topic's sends go to, in the order of their names.
fn queues(net: &mut Net, topic: &str, sends: usize) -> Vec<String> {
    let ops: Vec<_> = (0..sends).map(|_| net.send(topic, SendOptions::default())).collect();
    net.run(ms(0));
    let queue = |op: &OpId| {
        let queue = net.take_sent(*op).1.queue;
        format!("{}{}", queue.broker, queue.queue_id)
    };
    let mut queues: Vec<_> = ops.iter().map(queue).collect();
    queues.sort();
    queues.dedup();
    queues
}

rows! {
    row_055 {
        let mut net = Net::new();
        net.routes.insert("TBW102".into(), route(&[("a", 8), ("b", 8)]));
        let queues = queues(&mut net, "New", 16);
        assert_eq!(queues, ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"]);
        assert_eq!(asked(&net), ["New", "TBW102"]);
        let header = net.sends()[0].send().clone();
        assert_eq!((&*header.default_topic, header.default_topic_queue_nums), ("TBW102", 4));
    }

    row_056 {
        let mut net = Net::new();
        net.routes.insert("TBW102".into(), route(&[("a", 2), ("b", 2)]));
        assert_eq!(queues(&mut net, "New", 8), ["a0", "a1", "b0", "b1"]);
    }

    row_057 {
        let mut net = Net::new();
        for round in 1..=2 {
            let op = net.send("New", SendOptions::default());
            net.run(ms(0));
            let error = net.take_error(op).1;
            let SendErrorKind::TopicNotFound { servers } = error.kind() else { panic!("{error:?}") };
            assert_eq!(servers[0].error.as_ref().and_then(RequestError::code), Some(ResponseCode::TOPIC_NOT_EXIST));
            assert_eq!(asked(&net).len(), 2 * round);
            assert!(error.to_string().contains("ns:9876: TOPIC_NOT_EXIST (17): No topic route info"), "{error}");
        }
    }

    row_058 {
        let config = rmq_core::ClientConfig::builder().build().unwrap();
        let mut net = Net::with(config, ProducerConfig::new("PG"));
        let op = send(&mut net);
        net.run(ms(0));
        assert_eq!(*net.take_error(op).1.kind(), SendErrorKind::NoNameServer);
        assert!(net.connects.is_empty());
    }

    row_059 {
        let mut net = Net::new();
        let mut data = route(&[("a", 4)]);
        data.queue_datas[0].perm = 4;
        net.routes.insert("T".into(), data);
        net.routes.insert("TBW102".into(), route(&[("a", 4)]));
        let op = send(&mut net);
        net.run(ms(0));
        assert_eq!(*net.take_error(op).1.kind(), SendErrorKind::NoWritableQueue);
        assert_eq!(asked(&net), ["T"]);
    }

    row_060 {
        let mut net = Net::new();
        let mut data = route(&[("a", 2), ("b", 2)]);
        data.broker_datas[0].addresses = [(1, "slave:10911".into())].into();
        net.routes.insert("T".into(), data);
        assert_eq!(queues(&mut net, "T", 4), ["b0", "b1"]);
    }

    row_061 {
        let mut net = Net::new();
        let mut data = route(&[("a", 8), ("b", 8)]);
        data.order_topic_conf = Some("b:1;bad;a:2;c:x".into());
        net.routes.insert("T".into(), data);
        assert_eq!(queues(&mut net, "T", 3), ["a0", "a1", "b0"], "X6: a bad part is passed over");
    }

    /// The same route in another order, or with another cluster, changes nothing: the rotation goes on.
    row_062_063 {
        let mut net = Net::new();
        let once = queues(&mut net, "T", 1);
        let mut data = route(&[("b", 2), ("a", 2)]);
        data.broker_datas[0].cluster = "Other".into();
        net.routes.insert("T".into(), data);
        net.run(ms(40_000));
        assert!(asked(&net).len() >= 2, "it was refreshed");
        let mut all = queues(&mut net, "T", 3);
        all.extend(once);
        all.sort();
        assert_eq!(all, ["a0", "a1", "b0", "b1"]);
    }

    row_064 {
        let mut net = Net::new();
        assert_eq!(queues(&mut net, "T", 4).len(), 4);
        net.routes.insert("T".into(), route(&[("a", 3), ("b", 2)]));
        net.run(ms(40_000));
        assert_eq!(queues(&mut net, "T", 5).len(), 5);
    }

    row_065 {
        let mut net = Net::new();
        net.routes.insert("U".into(), route(&[("a", 1)]));
        queues(&mut net, "T", 1);
        queues(&mut net, "U", 1);
        net.forget();
        net.peer(NAME_SERVER).others.insert(RequestCode::GET_ROUTEINFO_BY_TOPIC.0, Act::Silent);
        net.run(ms(45_000));
        let topics = asked(&net);
        assert!(topics.contains(&"T".to_owned()) && topics.contains(&"U".to_owned()), "{topics:?}");
    }

    /// Nothing new goes to a broker that left; its connection closes when it has nothing left to do.
    row_066 {
        let mut net = Net::new();
        net.warm();
        net.routes.insert("T".into(), route(&[("b", 2)]));
        net.run(ms(40_000));
        net.forget();
        assert_eq!(queues(&mut net, "T", 4), ["b0", "b1"]);
        net.run(ms(130_000));
        assert!(net.seen.iter().all(|seen| seen.address != address_of("a")));
        assert_eq!(net.closes.iter().filter(|(_, address)| *address == address_of("a")).count(), 1);
    }

    row_067 {
        for accept in [Accept::Refuse, Accept::Never] {
            let config = config().name_server("ns2:9876").build().unwrap();
            let mut net = Net::with(config, ProducerConfig::new("PG"));
            let op = send(&mut net);
            net.client.handle_timeout(net.now);
            net.peer("ns:9876").accept = Some(accept);
            net.peer("ns2:9876").accept = Some(accept);
            net.drain();
            let first = net.connects[0].1.clone();
            let second = if first == "ns:9876" { "ns2:9876" } else { "ns:9876" };
            net.peer(second).accept = Some(Accept::Open);
            net.run(ms(1_500));
            net.take_sent(op);
            assert_eq!(asked(&net), ["T"], "{accept:?}: the other is asked within the same time");
        }
    }

    /// A connection that was dead since long before says nothing about its name server: it is asked once more, and no more.
    lost_connections {
        let lost = || crate::support::after(1, Act::Close);
        for closes in 1..=2 {
            let mut net = Net::new();
            net.routes.insert("U".into(), route(&[("a", 1)]));
            queues(&mut net, "T", 1);
            net.run(ms(1_000));
            net.forget();
            net.peer(NAME_SERVER).others.insert(RequestCode::GET_ROUTEINFO_BY_TOPIC.0, lost());
            let op = net.send("U", SendOptions::default());
            if closes == 1 {
                net.turn();
                net.peer(NAME_SERVER).others.clear();
                net.run(ms(10));
                net.take_sent(op);
            } else {
                net.run(ms(10));
                let error = net.take_error(op).1;
                let SendErrorKind::RouteUnavailable { servers } = error.kind() else { panic!("{error}") };
                assert_eq!(servers.len(), 1, "{error}");
            }
            assert_eq!(asked(&net), ["U", "U"]);
        }
    }
}
