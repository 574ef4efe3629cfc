//! Rows 96 to 100: send-backs.

use super::*;
use crate::support::{Seen, back};
use rmq_core::proto::header::SendBackHeader;
use rmq_core::proto::properties::{self, DELAY, ORIGIN_MESSAGE_ID, RETRY_TOPIC, TRAN_MSG, UNIQ_KEY};
use rmq_core::{SendBackErrorKind, SentBack};

const BACK: RequestCode = RequestCode::CONSUMER_SEND_MSG_BACK;

/// A network that knows `T` and the retry topic of group `g`, on brokers `a` and `b`.
fn net_with_retry_topic() -> Net {
    let mut net = net(AttemptTimeout::Split);
    net.routes.insert("%RETRY%g".into(), route(&[("a", 1), ("b", 1)]));
    net
}

fn refuse(net: &mut Net) {
    net.broker("a").others.insert(BACK.0, Act::Code(ResponseCode::SYSTEM_ERROR, "no"));
}

/// What each message to the retry topic has to be: the third time it is consumed, of 16.
fn assert_is_retry(seen: &Seen) {
    let header = seen.send();
    assert_eq!((&*header.topic, header.flag, &*seen.command.body), ("%RETRY%g", 7, &b"Hello"[..]));
    assert_eq!((header.reconsume_times, header.max_reconsume_times), (Some(3), Some(16)), "j and l");
    let text = header.properties.unwrap();
    let property = |name| properties::value(&text, name);
    assert_eq!(property(DELAY), Some("5"));
    assert_eq!(property(RETRY_TOPIC), Some("T"));
    assert_eq!(property(ORIGIN_MESSAGE_ID), Some("AC0A"));
    assert_eq!(property(TRAN_MSG), None);
    assert_eq!(
        (property(UNIQ_KEY), property("KEYS"), property("TAGS")),
        (Some("AC0A"), Some("order-42"), Some("TagA"))
    );
}

rows! {
    row_096 {
        let mut net = net_with_retry_topic();
        net.broker("a").others.insert(BACK.0, Act::Silent);
        let op = net.send_back(back());
        net.run(ms(0));
        let asked: Vec<_> = net.requests(BACK).into_iter().cloned().collect();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].address, address_of("a"));
        let header: SendBackHeader<'_> = asked[0].command.header().unwrap();
        assert_eq!(header, SendBackHeader {
            commit_log_offset: 4_711,
            group: "g".into(),
            delay_level: 0,
            origin_message_id: Some("AC0A".into()),
            origin_topic: Some("T".into()),
            unit_mode: Some(false),
            max_reconsume_times: Some(16),
            broker_name: Some("a".into()),
        });
        net.run(ms(4_999));
        assert!(net.ends(op).is_empty() && net.sends().is_empty(), "it has 5 s");
        net.broker("a").others.insert(BACK.0, Act::Code(ResponseCode::SUCCESS, ""));
        let op = net.send_back(back());
        net.run(ms(0));
        assert_eq!(net.take_sent_back(op).1, SentBack::ByBroker);
        assert!(net.sends().is_empty());
    }

    row_097 {
        let mut net = net_with_retry_topic();
        refuse(&mut net);
        let op = net.send_back(back());
        net.run(ms(0));
        assert_eq!((net.requests(BACK).len(), net.sends().len()), (1, 1));
        assert_is_retry(net.sends()[0]);
        let (_, how) = net.take_sent_back(op);
        let SentBack::RetryTopic(result) = how else { panic!("{how:?}") };
        assert_eq!((&*result.queue.topic, &*result.message_id, result.attempts), ("%RETRY%g", "AC0A", 1));
    }

    row_098 {
        let mut net = net_with_retry_topic();
        refuse(&mut net);
        for name in ["a", "b"] {
            net.broker(name).sends = [Act::Code(ResponseCode::SYSTEM_BUSY, "busy")].into();
        }
        let op = net.send_back(back());
        net.run(ms(0));
        assert_eq!(net.sends().len(), 3);
        net.sends().into_iter().for_each(assert_is_retry);
        let born: Vec<_> = net.sends().iter().map(|seen| seen.send().born_timestamp).collect();
        assert!(born.iter().all(|at| *at == born[0]), "one message: {born:?}");
        assert!(matches!(net.take_sent_back(op).1, SentBack::RetryTopic(result) if result.attempts == 3));
    }

    row_099 {
        let mut net = net_with_retry_topic();
        let op = net.send_back(back().broker("gone"));
        net.run(ms(0));
        assert_eq!(net.requests(BACK).len(), 0);
        assert_is_retry(net.sends()[0]);
        assert!(matches!(net.take_sent_back(op), (_, SentBack::RetryTopic(_))));
    }

    /// Consuming again after 5 s is the consumer's part: it is told that the message is still its own.
    row_100 {
        let mut net = net_with_retry_topic();
        refuse(&mut net);
        both(&mut net, &Act::Code(ResponseCode::SYSTEM_ERROR, "full"));
        let op = net.send_back(back());
        net.run(ms(8_000));
        let (_, error) = net.take_back_error(op);
        assert_eq!(error.attempts().len(), 1);
        assert_eq!(error.attempts()[0].error.code(), Some(ResponseCode::SYSTEM_ERROR));
        let SendBackErrorKind::RetryFailed(retry) = error.kind() else { panic!("{error:?}") };
        assert_eq!((retry.kind(), retry.attempts().len()), (&SendErrorKind::AttemptsExhausted, 3));
        assert_eq!((error.is_retryable(), error.may_have_been_stored()), (true, false));
        let text = error.to_string();
        assert!(text.contains("message AC0A of topic `T`") && text.contains("still the caller's"), "{text}");
        assert!(text.contains("a (a:10911): SYSTEM_ERROR") && text.contains("%RETRY%g"), "{text}");
    }
}
