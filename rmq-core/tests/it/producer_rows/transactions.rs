//! Rows 90 to 95: transactions. What row 92 leaves undone, and what of row 91 runs in a user's task, is the handle's part:
//! its tests belong to `rmq-driver`.

use super::*;
use crate::transactions::{END, HALF_TOPIC, check, ends, half_sent, question, send_half};
use rmq_core::Resolution;
use rmq_core::proto::header::EndTransactionHeader;
use rmq_core::proto::properties::{self, PGROUP, TRAN_MSG};

rows! {
    row_090 {
        let mut net = net(AttemptTimeout::Split);
        let half = half_sent(&mut net);
        let sent = net.sends()[0].clone();
        let header = sent.send();
        let text = header.properties.as_deref().unwrap();
        let property = |name| properties::value(text, name);
        assert_eq!((property(TRAN_MSG), property(PGROUP), header.sys_flag), (Some("true"), Some("PG"), 4));
        let op = net.client.end_transaction(net.now, net.producer, &half, Resolution::Commit, None).unwrap();
        net.run(ms(0));
        assert!(matches!(net.end(op), (_, Event::TransactionEnded { .. })));
        let seen = net.requests(END);
        assert_eq!(seen.len(), 1);
        assert_eq!((&seen[0].address, seen[0].conn), (&sent.address, sent.conn));
        assert!(seen[0].command.is_oneway() && seen[0].command.remark.is_none());
        assert_eq!(ends(&net)[0], EndTransactionHeader {
            producer_group: "PG".into(),
            transaction_offset: half.queue_offset,
            commit_log_offset: 1_024,
            commit_or_rollback: 8,
            from_check: Some(false),
            message_id: half.message_id.as_str().into(),
            transaction_id: None,
            topic: Some("T".into()),
            broker_name: Some((&*half.queue.broker).into()),
        });
    }

    row_091 {
        let mut net = net(AttemptTimeout::Split);
        let half = half_sent(&mut net);
        let remark = Some("executeLocalTransactionBranch exception: out of stock");
        net.client.end_transaction(net.now, net.producer, &half, Resolution::Unknown, remark).unwrap();
        net.run(ms(0));
        assert_eq!(ends(&net)[0].commit_or_rollback, 0);
        assert_eq!(net.requests(END)[0].command.remark.as_deref(), remark);
    }

    row_092 {
        for (code, undone) in [
            (ResponseCode::SUCCESS, false),
            (ResponseCode::FLUSH_DISK_TIMEOUT, true),
            (ResponseCode::FLUSH_SLAVE_TIMEOUT, true),
            (ResponseCode::SLAVE_NOT_AVAILABLE, true),
        ] {
            let mut net = net(AttemptTimeout::Split);
            both(&mut net, &Act::Stored(code));
            let half = half_sent(&mut net);
            assert_eq!(half.is_to_be_rolled_back(), undone, "{code}");
            if undone {
                let end = Resolution::Rollback;
                net.client.end_transaction(net.now, net.producer, &half, end, None).unwrap();
                net.run(ms(0));
                assert_eq!(ends(&net)[0].commit_or_rollback, 12);
            }
        }
    }

    row_093 {
        let mut net = net(AttemptTimeout::Split);
        both(&mut net, &Act::Code(ResponseCode::SYSTEM_ERROR, "full"));
        let op = send_half(&mut net);
        net.run(ms(40_000));
        let (_, error) = net.take_error(op);
        assert_eq!((error.kind(), error.attempts().len()), (&SendErrorKind::AttemptsExhausted, 3));
        assert!(net.requests(END).is_empty());
    }

    row_094 {
        let mut net = net(AttemptTimeout::Split);
        for (group, strangers) in [(Some("others"), 1), (None, 2)] {
            check(&mut net, "a", &question(group, Some("a")));
            net.run(ms(1_000));
            assert_eq!(net.client.stats().checks_of_strangers, strangers);
        }
        assert!(net.seen.iter().all(|seen| seen.command.code != END.0 && !seen.command.is_response()));
        assert_eq!((net.client.stats().open_checks, net.client.stats().checks), (0, 0));
    }

    row_095 {
        // A release that names neither the topic of half messages nor itself, and one that does.
        for broker in [None, Some("a")] {
            let mut net = net(AttemptTimeout::Split);
            let (token, conn) = check(&mut net, "a", &question(Some("PG"), broker)).expect("it is passed on");
            let op = net.client.answer_check(net.now, token, Resolution::Rollback, None).unwrap();
            net.run(ms(0));
            assert!(matches!(net.end(op), (_, Event::TransactionEnded { .. })));
            let seen = net.requests(END);
            assert_eq!((seen.len(), seen[0].conn, seen[0].command.is_oneway()), (1, conn, true));
            assert_eq!(ends(&net)[0], EndTransactionHeader {
                producer_group: "PG".into(),
                transaction_offset: 3,
                commit_log_offset: 2_048,
                commit_or_rollback: 12,
                from_check: Some(true),
                message_id: "AC0A".into(),
                transaction_id: Some("AC0A".into()),
                topic: broker.map(|_| HALF_TOPIC.into()),
                broker_name: broker.map(Into::into),
            });
        }
    }
}
