//! Any message, written and read.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use proptest::prelude::*;
use rmq_proto::message::{BatchElement, Messages, RecordVersion, Records, StoredMessage, SysFlag};

use crate::support::*;

fn hosts() -> impl Strategy<Value = SocketAddr> {
    let ips = prop_oneof![any::<[u8; 4]>().prop_map(IpAddr::from), any::<[u8; 16]>().prop_map(IpAddr::from)];
    (ips, any::<u16>()).prop_map(|(ip, port)| SocketAddr::new(ip, port))
}

fn bodies() -> impl Strategy<Value = Bytes> {
    proptest::collection::vec(any::<u8>(), 0..60).prop_map(Bytes::from)
}

prop_compose! {
    fn messages()(
        body_crc: u32,
        queue: (i32, i64),
        flags: (i32, i32),
        times: (i64, i64),
        hosts in (hosts(), hosts()),
        rest: (i64, i32, i64),
        texts in ("\\PC{0,40}", "[\u{1}\u{2}a-c标🎉]{0,40}"),
        is_v2: bool,
        body in bodies(),
    ) -> StoredMessage {
        let topic = texts.0;
        let needs_v2 = RecordVersion::for_topic(&topic) == RecordVersion::V2;
        StoredMessage {
            version: if is_v2 || needs_v2 { RecordVersion::V2 } else { RecordVersion::V1 },
            body_crc,
            queue_id: queue.0,
            flag: flags.0,
            queue_offset: queue.1,
            commit_log_offset: rest.0,
            sys_flag: SysFlag(flags.1).with_hosts(&hosts.0, &hosts.1),
            born_timestamp: times.0,
            born_host: hosts.0,
            store_timestamp: times.1,
            store_host: hosts.1,
            reconsume_times: rest.1,
            prepared_transaction_offset: rest.2,
            body,
            topic: topic.into(),
            properties: texts.1,
        }
    }
}

fn elements() -> impl Strategy<Value = Vec<BatchElement>> {
    let element = (any::<i32>(), bodies(), "\\PC{0,20}").prop_map(|(flag, body, properties)| BatchElement {
        flag,
        body,
        properties,
    });
    proptest::collection::vec(element, 1..6)
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(message in messages()) {
        let bytes = record(&message);
        prop_assert_eq!(bytes.len(), message.encoded_len());
        let read = StoredMessage::decode(&bytes);
        prop_assert_eq!(read.as_ref(), Ok(&message));
        prop_assert_eq!(record(&read.unwrap()), bytes);
    }

    #[test]
    fn any_list_of_messages(messages in proptest::collection::vec(messages(), 0..6)) {
        let read: Result<Vec<_>, _> = Records::new(records(&messages)).collect();
        prop_assert_eq!(read, Ok(messages));
    }

    #[test]
    fn any_inner_batch(message in messages(), elements in elements(), base in 0..i64::MAX - 10) {
        let both = SysFlag::NEEDS_UNWRAP.with(SysFlag::INNER_BATCH);
        let sys_flag = message.sys_flag.with(both).without(SysFlag::COMPRESSED);
        let message = StoredMessage { sys_flag, queue_offset: base, body: batch(&elements), ..message };
        let read: Result<Vec<_>, _> = Messages::new(record(&message)).collect();
        let read = read.expect("no errors");
        prop_assert_eq!(read.len(), elements.len());
        for ((index, element), read) in (0..).zip(elements).zip(read) {
            let expected = StoredMessage {
                queue_offset: base + index,
                flag: element.flag,
                body: element.body,
                properties: element.properties,
                body_crc: 0,
                sys_flag: sys_flag.without(SysFlag::NEEDS_UNWRAP),
                ..message.clone()
            };
            prop_assert_eq!(read, expected);
        }
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let bytes = Bytes::from(bytes);
        prop_assert!(StoredMessage::decode(&bytes).is_err(), "a magic number is not guessed");
        prop_assert_eq!(Records::new(bytes.clone()).flatten().count(), 0);
        prop_assert!(bytes.is_empty() || Messages::new(bytes).count() > 0, "nothing is lost silently");
    }
}
