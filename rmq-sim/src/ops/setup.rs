//! What programs choose from: clients to start from, and what is given to them.

use core::time::Duration;

use bytes::Bytes;
use rmq_core::proto::command::HeaderFormat;
use rmq_core::proto::message::StoredMessage;
use rmq_core::proto::recall::RecallHandle;
use rmq_core::proto::sign::Credentials;
use rmq_core::{
    ClientConfig, CloseOnTimeout, Identity, Instant, Limits, Recall, Redelivery, SendBack, Start,
};

use super::Setup;
use crate::checked::CheckedClient;

/// Lists of name servers: clients begin with one of the first four. Some have servers that are brokers, too.
pub(super) const NAME_SERVERS: [&str; 6] =
    ["ns:9876", "ns:9876;ns2:9876", "ns:9876;ns2:9876;ns3:9876", "", "ns3:9876;a:1", "b:1"];

fn config(setup: Setup) -> Option<ClientConfig> {
    let ms = Duration::from_millis;
    let tight = Limits {
        fault_items: 2,
        draining: 2,
        operations: 3,
        operation_bytes: 2_000,
        producers: 2,
        topics: 1,
        links: 2,
        frame: 1_024,
        write_batch: 700,
        trace_records: 2,
        trace_sends: 1,
        hook_bytes: 16,
        inbound: 1,
        checks: 2,
        check_bytes: 4_096,
        tombstones: 1,
        notices: 1,
    };
    let limits = match setup.limits % 3 {
        0 => Limits::default(),
        1 => tight,
        _ => Limits {
            operations: 8,
            topics: 2,
            links: 3,
            write_batch: 1_500,
            tombstones: 2,
            ..Limits::default()
        },
    };
    let rules = [CloseOnTimeout::Silent, CloseOnTimeout::Java];
    let builder = ClientConfig::builder()
        // Frames are as long as the program says.
        .compression(None)
        .name_server(NAME_SERVERS[usize::from(setup.servers) % 4])
        .limits(limits)
        .close_on_timeout(rules[usize::from(setup.servers >> 2) % 2]);
    let builder = match setup.times % 3 {
        0 => builder,
        1 => builder.idle_timeout(ms(1_000)).heartbeat_interval(ms(400)).route_refresh_interval(ms(300)),
        _ => builder.connect_timeout(ms(50)).request_timeout(ms(100)).write_stall(ms(60)),
    };
    let builder = match setup.limits & 0x80 {
        0 => builder,
        _ => builder.namespace_v2("blue").credentials(Credentials::new("key", "secret").ok()?),
    };
    builder.header_format(format(setup)).build().ok()
}

pub(super) fn format(setup: Setup) -> HeaderFormat {
    if setup.times & 0x80 == 0 { HeaderFormat::Json } else { HeaderFormat::RocketMq }
}

/// A client that has done nothing, and the time.
pub(super) fn client(setup: Setup) -> (CheckedClient, Instant) {
    let identity = Identity { ip: [10, 0, 0, 9].into(), pid: 1 };
    let now = Instant::from_millis(1_000);
    let start = Start { now, unix_ms: 1_700_000_000_000, seed: u64::from(setup.seed), identity };
    (CheckedClient::new(config(setup).expect("all setups are valid"), start), now)
}

/// One of a few stored messages, given back by one of two groups to a broker that routes name, or may, or do not; or to the
/// host that stored it.
pub(super) fn given_back(choice: u8, dead: bool) -> SendBack {
    let stored = StoredMessage {
        topic: if choice & 1 == 0 { "T0".into() } else { "%RETRY%0".into() },
        body: Bytes::from_static(b"hello"),
        commit_log_offset: i64::from(choice),
        reconsume_times: i32::from(choice >> 6),
        store_host: ([10, 0, 0, 1], 10_911).into(),
        properties: if choice & 2 == 0 { "UNIQ_KEY\u{1}AC0A\u{2}TRAN_MSG\u{1}true\u{2}" } else { "" }.into(),
        ..StoredMessage::default()
    };
    let group = ["0", "1"][usize::from(choice >> 2) % 2];
    let message = SendBack::new(group, &stored).expect("all of them can be given back");
    let broker = ["", "a", "b", "a", "c", "gone", "a", "__syslo__a"][usize::from(choice >> 3) % 8];
    let message = if broker.is_empty() { message } else { message.broker(broker) };
    if dead { message.redelivery(Redelivery::DeadLetter) } else { message }
}

/// A message of one of a few topics, at a broker that routes name, or may, or do not.
pub(super) fn recalled(choice: u8) -> Recall {
    let topic = format!("T{}", choice % 8);
    let broker = ["a", "b", "c", "gone"][usize::from(choice >> 3) % 4];
    let handle = RecallHandle {
        topic: topic.clone(),
        broker_name: broker.to_owned(),
        timestamp: i64::from(choice),
        unique_key: "AC0A".to_owned(),
    };
    let text = handle.encode().expect("no part has a blank");
    Recall::new(&topic, text).expect("all of them can be recalled")
}
