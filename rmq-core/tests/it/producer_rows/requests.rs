//! Rows 105 to 108: requests and their replies.

use super::*;
use crate::support::{UNIX_MS, pushed, reply_to};
use rmq_core::NoReplyErrorKind;
use rmq_core::proto::properties::{self, ARRIVE_TIME, CORRELATION_ID, REPLY_TO_CLIENT, TTL};

/// The answers that arrived at brokers.
fn answers(net: &Net) -> Vec<(i32, i32, Option<&str>)> {
    let answers = net.seen.iter().filter(|seen| seen.command.is_response());
    answers.map(|seen| (seen.command.opaque, seen.command.code, seen.command.remark.as_deref())).collect()
}

rows! {
    /// The acknowledgement that follows is nobody's.
    row_105 {
        let mut net = net(AttemptTimeout::Split);
        both(&mut net, &after(100, Act::Stored(ResponseCode::SUCCESS)));
        let op = net.request(ms(3_000));
        net.run(ms(50));
        let request = net.sends()[0].clone();
        net.push("a", &reply_to(&request));
        net.run(ms(5_000));
        let (when, reply) = net.take_reply(op);
        assert_eq!((when, reply.attempts, reply.sent), (at(50), 1, None));
        assert_eq!((&*reply.message.body, reply.message.flag), (&b"pong"[..], 3));
        assert_eq!(reply.message.property(ARRIVE_TIME), Some(&*(UNIX_MS + 50).to_string()));
        let text = request.send().properties.unwrap();
        assert_eq!(properties::value(&text, "UNIQ_KEY"), Some(&*reply.message_id));
        assert_eq!(properties::value(&text, CORRELATION_ID), reply.message.property(CORRELATION_ID));
        assert_eq!(properties::value(&text, REPLY_TO_CLIENT), Some(net.client.client_id()));
        assert_eq!(properties::value(&text, TTL), Some("3000"));
        assert_eq!(answers(&net), [(7, 0, None)]);
        assert_eq!(net.client.stats().unknown_answers, 1);
    }

    row_106 {
        let mut net = net(AttemptTimeout::Split);
        let op = net.request(ms(3_000));
        net.run(ms(2_999));
        assert!(net.ends(op).is_empty());
        net.run(ms(1));
        let (when, error) = net.take_no_reply(op);
        assert_eq!((when, error.kind(), error.took()), (at(3_000), NoReplyErrorKind::TimedOut, ms(3_000)));
        let sent = error.request().expect("a broker has it");
        assert_eq!((&*sent.message_id, sent.attempts), (error.message_id(), 1));
        assert!(error.is_retryable() && error.may_have_been_stored() && error.code().is_none());
        let text = error.to_string();
        assert!(text.contains("topic `T` within 3.0 s; it is stored in T/"), "{text}");
    }

    /// Row 106, told apart: nobody says that it was stored, so the time was over for the send as well.
    row_106b {
        let mut net = net(AttemptTimeout::Whole);
        both(&mut net, &Act::Silent);
        let op = net.request(ms(3_000));
        net.run(ms(3_000));
        let (when, error) = net.take_no_reply(op);
        assert_eq!((when, error.kind()), (at(3_000), NoReplyErrorKind::TimedOut));
        let unanswered = error.request().expect_err("nobody said that it was stored");
        assert_eq!(unanswered.attempts().len(), 1);
        assert!(error.is_retryable() && error.may_have_been_stored());
    }

    /// As in Java's asynchronous sends a broker's answer is final.
    row_107 {
        let mut net = net(AttemptTimeout::Split);
        both(&mut net, &Act::Code(ResponseCode::SYSTEM_BUSY, "full"));
        let op = net.request(ms(3_000));
        net.run(ms(0));
        let (when, error) = net.take_no_reply(op);
        assert_eq!((when, error.kind()), (at(0), NoReplyErrorKind::SendFailed));
        let cause = error.request().expect_err("it was refused");
        assert_eq!((cause.kind(), cause.attempts().len()), (&SendErrorKind::Refused, 1));
        assert_eq!(error.code(), Some(ResponseCode::SYSTEM_BUSY));
        assert!(error.is_retryable() && !error.may_have_been_stored());
        assert!(error.to_string().contains("SYSTEM_BUSY (2): full"), "{error}");
        assert_eq!(net.client.stats().requests_waiting, 0);
    }

    /// Row 107 with failures of the connection: those are followed by other attempts, at the other broker first.
    row_107b {
        let mut net = net(AttemptTimeout::Split);
        both(&mut net, &Act::Close);
        let op = net.request(ms(3_000));
        net.run(ms(1_000));
        let (when, error) = net.take_no_reply(op);
        assert!(when < at(1_000) && error.kind() == NoReplyErrorKind::SendFailed, "{error}");
        let cause = error.request().unwrap_err();
        assert_eq!((cause.kind(), cause.attempts().len()), (&SendErrorKind::AttemptsExhausted, 3));
    }

    row_108 {
        let mut net = net(AttemptTimeout::Split);
        let unknown = "CORRELATION_ID\u{1}84dcde7b-f56a-4d59-b22a-f814155a45ed\u{2}";
        for (properties, answer) in [
            (unknown, (7, 0, None)),
            ("CORRELATION_ID\u{1}of another make\u{2}", (7, 0, None)),
            ("MSG_TYPE\u{1}reply\u{2}", (7, 1, Some("the reply has no property CORRELATION_ID"))),
        ] {
            net.forget();
            net.push("a", &pushed(properties, 0, "pong"));
            net.run(ms(0));
            assert_eq!(answers(&net), [answer], "{properties:?}");
            assert!(net.events.is_empty());
        }
        let stats = net.client.stats();
        assert_eq!((stats.unknown_replies, stats.inbound, stats.inbound_dropped), (2, 3, 0));
    }
}
