//! Rows 79, 80, 82 and 88: batches.

use super::*;
use crate::support::elements;
use rmq_core::proto::ext::ExtFields;
use rmq_core::proto::message::{BatchError, MessageRules, PreparedBatch};
use rmq_core::proto::properties::{UNIQ_KEY, value};
use rmq_core::{DelayLevel, SendResult};

/// A batch of three that is answered with these fields on top of a full header: its result, and the ids that went out, the
/// batch's own last.
fn result_with(fields: &[(&str, &str)]) -> (SendResult, Vec<String>) {
    let mut net = net(AttemptTimeout::Split);
    both(&mut net, &Act::Silent);
    let op = net.send_batch("T", &["one", "two", "three"]);
    net.run(ms(0));
    let seen = net.batches()[0].clone();
    let mut answer = stored(&seen.command, 7, ResponseCode::SUCCESS);
    let mut ext: ExtFields = answer.ext.clone();
    fields.iter().for_each(|(name, value)| ext.insert(*name, *value));
    answer.ext = ext;
    net.answer(seen.conn, &answer);
    net.run(ms(0));
    let elements = elements(&seen.command.body);
    let texts = elements.iter().map(|element| element.properties.clone());
    let own = seen.send().properties.unwrap().into_owned();
    let ids = texts.chain([own]).map(|text| value(&text, UNIQ_KEY).unwrap().to_owned()).collect();
    (net.take_sent(op).1, ids)
}

fn refused(messages: impl IntoIterator<Item = Message>) -> BatchError {
    PreparedBatch::new(messages, &MessageRules::default()).expect_err("no batch")
}

rows! {
    row_079 {
        let (result, ids) = result_with(&[]);
        assert_eq!(result.message_id, ids[..3].join(","));
        assert_eq!(result.message_ids().collect::<Vec<_>>(), &ids[..3]);
        let offsets: Vec<_> = result.offset_message_ids().collect();
        assert_eq!(offsets.len(), 3);
        assert!(offsets[0].ends_with("0400") && offsets[2].ends_with("0402"), "{offsets:?}");
        assert_eq!(result.queue_offset, 7);
    }

    row_080 {
        let id = ("batchUniqId", "from the broker");
        let (result, ids) = result_with(&[id, ("msgId", "0A00000100002A9F0000000000000400")]);
        assert_eq!(result.message_ids().collect::<Vec<_>>(), [&*ids[3]], "the batch's own");
        assert_eq!(result.offset_message_ids().count(), 1);
    }

    row_082 {
        let mut net = net(AttemptTimeout::Split);
        let long = "x".repeat(10_000);
        let op = net.send_batch("T", &[&long]);
        net.run(ms(0));
        net.take_sent(op);
        let seen = net.batches()[0].clone();
        assert_eq!((seen.send().sys_flag, seen.send().batch), (0, Some(true)));
        assert_eq!(elements(&seen.command.body)[0].body, long);
    }

    /// Nothing can be written: there is no batch.
    row_088 {
        let hello = |topic| Message::new(topic, "Hello");
        let several = refused([hello("T1"), hello("T2")]);
        assert!(matches!(several, BatchError::SeveralTopics { index: 1, .. }), "{several}");
        assert!(matches!(refused([hello("%RETRY%g")]), BatchError::RetryTopic { .. }));
        let level = DelayLevel::new(3).unwrap();
        assert!(matches!(refused([hello("T1").delay_level(level)]), BatchError::Delayed { index: 0, .. }));
    }
}
