//! Rows 69 to 78, 89 and 101 to 104: replies, connections, life cycle.

use super::*;
use rmq_core::proto::command::RemotingCommand;
use rmq_core::proto::ext::ExtFields;
use rmq_core::{ConfigError, RejectReason};

/// Sends once with `a` and `b` both answering so; the fields come on top of a full header.
fn result_with(fields: &[(&str, &str)]) -> rmq_core::SendResult {
    let mut net = net(AttemptTimeout::Split);
    both(&mut net, &Act::Silent);
    let op = send(&mut net);
    net.run(ms(0));
    let seen = net.sends()[0].clone();
    let mut answer = stored(&seen.command, 7, ResponseCode::SUCCESS);
    let mut ext: ExtFields = answer.ext.clone();
    fields.iter().for_each(|(name, value)| ext.insert(*name, *value));
    answer.ext = ext;
    net.answer(seen.conn, &answer);
    net.run(ms(0));
    net.take_sent(op).1
}

rows! {
    row_069 {
        let mut net = net(AttemptTimeout::Split);
        let conn = net.conn(&address_of("a")).unwrap();
        let mut answer = RemotingCommand::request(ResponseCode::SUCCESS.0);
        (answer.flag, answer.opaque) = (1, 123_456);
        net.answer(conn, &answer);
        let before = net.client.stats().unknown_answers;
        net.run(ms(0));
        assert_eq!(net.client.stats().unknown_answers, before + 1);
        assert_eq!(net.conn(&address_of("a")), Some(conn), "the connection stays");
    }

    row_070 {
        let once = ProducerConfig::new("PG").attempts(std::num::NonZeroU32::MIN);
        let mut net = Net::with(config().build().unwrap(), once);
        net.routes.insert("T".into(), route(&[("a", 1)]));
        net.warm();
        net.broker("a").always = Some(after(3_500, Act::Stored(ResponseCode::SUCCESS)));
        let op = net.send("T", SendOptions::default().timeout(ms(3_000)));
        net.run(ms(4_000));
        assert_eq!(net.take_error(op).0, at(3_000));
        assert_eq!(net.client.stats().unknown_answers, 1, "the answer came when nobody waited");
    }

    row_071 {
        let mut net = net(AttemptTimeout::Whole);
        both(&mut net, &Act::Silent);
        let op = send(&mut net);
        net.run(ms(0));
        let seen = net.sends()[0].clone();
        let other = if seen.address == address_of("a") { "b" } else { "a" };
        let other = net.conn(&address_of(other)).unwrap();
        net.answer(other, &stored(&seen.command, 1, ResponseCode::SUCCESS));
        net.run(ms(0));
        assert!(net.ends(op).is_empty(), "an answer counts on its own connection only");
        assert_eq!(net.client.stats().unknown_answers, 1);
    }

    /// B11: all fail in the same step, each is tried again.
    row_072 {
        let mut net = Net::new();
        net.routes.insert("T".into(), route(&[("a", 1)]));
        net.warm();
        net.broker("a").sends = (0..5).map(|_| Act::Silent).collect();
        let ops: Vec<_> = (0..5).map(|_| send(&mut net)).collect();
        net.run(ms(10));
        let conn = net.conn(&address_of("a")).unwrap();
        net.later(90, rmq_core::Input::Closed { conn, reason: rmq_core::CloseReason::PeerClosed });
        net.run(ms(100));
        for op in ops {
            let (when, result) = net.take_sent(op);
            assert_eq!((when, result.attempts), (at(100), 2));
        }
        assert_eq!(net.client.stats().awaited, 0);
    }

    row_074 {
        let config = config().route_refresh_interval(ms(3_600_000)).heartbeat_interval(ms(3_600_000)).build().unwrap();
        let mut net = Net::with(config, ProducerConfig::new("PG"));
        net.warm();
        net.run(ms(130_000));
        let closed: Vec<_> = net.closes.iter().map(|(_, address)| address.clone()).collect();
        assert_eq!(closed.len(), 3, "{closed:?}");
        assert!(net.closes.iter().all(|(when, _)| *when >= at(119_000) && *when <= at(122_000)), "{:?}", net.closes);
        assert_eq!(net.client.stats().sends_failed, 0);
        // B3: the next send opens a new connection and is written once.
        net.forget();
        let op = send(&mut net);
        net.run(ms(0));
        net.take_sent(op);
        assert_eq!(net.sends().len(), 1);
    }

    row_077 {
        let result = result_with(&[]);
        assert_eq!((&*result.region_id, result.trace_on), ("DefaultRegion", true));
    }

    row_078 {
        assert!(!result_with(&[("TRACE_ON", "false")]).trace_on);
        assert!(result_with(&[("TRACE_ON", "FALSE")]).trace_on);
        assert_eq!(result_with(&[("MSG_REGION", "cn-x")]).region_id, "cn-x");
    }

    row_087 {
        let group = |length| ProducerConfig::new("g".repeat(length));
        let mut net = Net::new();
        assert!(net.client.add_producer(at(0), group(120)).is_ok());
        for bad in [group(121), ProducerConfig::new("DEFAULT_PRODUCER"), ProducerConfig::new("a b"), group(0)] {
            assert!(matches!(net.client.add_producer(at(0), bad), Err(ConfigError::Group { .. })));
        }
    }

    row_089 {
        let mut net = Net::new();
        net.client.shutdown(at(0), ms(0));
        let message = rmq_core::proto::message::Message::new("T", "Hello");
        let message = message.prepare(net.client.message_rules()).unwrap();
        let rejected = net.client.send(at(0), net.producer, message.clone(), SendOptions::default());
        let rejected = rejected.expect_err("it is shut down");
        assert_eq!((rejected.reason, rejected.given), (RejectReason::ShutDown, message));
    }

    row_101 {
        let mut net = Net::new();
        let mut data = route(&[("a", 1)]);
        data.broker_datas[0].addresses.insert(1, "slave:10911".into());
        net.routes.insert("T".into(), data);
        send(&mut net);
        net.run(ms(60_000));
        let addresses: Vec<_> = net.requests(RequestCode::HEART_BEAT).iter().map(|seen| seen.address.clone()).collect();
        assert!(!addresses.is_empty() && addresses.iter().all(|address| *address == address_of("a")), "{addresses:?}");
    }

    row_102 {
        let mut net = Net::new();
        send(&mut net);
        net.run(ms(0));
        let first = net.seen.iter().find(|seen| seen.address != NAME_SERVER).unwrap();
        assert_eq!(first.command.code, RequestCode::HEART_BEAT.0, "before the send, in the same write");
        assert_eq!(net.requests(RequestCode::HEART_BEAT).len(), 1);
    }

    /// B10: a hundred heartbeats, one connection.
    row_102b {
        let config = config().heartbeat_interval(ms(5_000)).build().unwrap();
        let mut net = Net::with(config, ProducerConfig::new("PG"));
        net.routes.insert("T".into(), route(&[("a", 1)]));
        send(&mut net);
        net.run(ms(590_000));
        let beats = net.requests(RequestCode::HEART_BEAT).len();
        assert!((100..140).contains(&beats), "{beats}");
        assert_eq!(net.connects.iter().filter(|(_, address)| *address == address_of("a")).count(), 1);
    }

    row_103 {
        let mut net = net(AttemptTimeout::Whole);
        for name in ["a", "b"] {
            net.broker(name).others.insert(RequestCode::HEART_BEAT.0, Act::Silent);
        }
        both(&mut net, &Act::Silent);
        net.run(ms(35_000));
        for name in ["a", "b"] {
            assert!(net.closes.iter().any(|(_, address)| *address == address_of(name)), "{:?}", net.closes);
        }
    }

    row_104 {
        let mut net = Net::new();
        let again = net.client.add_producer(at(0), ProducerConfig::new("PG"));
        assert_eq!(again, Err(ConfigError::DuplicateGroup { group: "PG".into() }));
    }
}
