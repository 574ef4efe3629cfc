//! Automatic batches whatever happens: sends, cancels and time in any order, brokers that answer anything or nothing.

use rmq_core::proto::code::ResponseCode;
use rmq_core::proto::message::Message;
use rmq_core::{AutoBatch, Event, OpId, ProducerConfig, RetryPolicy, SendOptions};

use crate::support::{Act, Net, after, config, ms, route};

/// A small generator: the same draws for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn act(draw: &mut Draw) -> Act {
    let act = match draw.below(12) {
        0 => Act::Silent,
        1 => Act::Close,
        2 => Act::Code(ResponseCode::SYSTEM_BUSY, "busy"),
        3 => Act::Code(ResponseCode::MESSAGE_ILLEGAL, "no"),
        4 => Act::Stored(ResponseCode::FLUSH_DISK_TIMEOUT),
        _ => Act::Stored(ResponseCode::SUCCESS),
    };
    if draw.below(2) == 0 { after(draw.below(400), act) } else { act }
}

fn storm(seed: u64) {
    let mut draw = Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let batches = AutoBatch::new().delay(ms(1 + draw.below(50))).bytes(1 + draw.below(200) as usize);
    let retry = RetryPolicy::default().when_not_stored_ok(draw.below(2) == 0);
    let producer = ProducerConfig::new("PG").send_timeout(ms(300)).retry(retry).auto_batch(batches);
    let mut net = Net::with(config().build().unwrap(), producer);
    net.routes.insert("U".into(), route(&[("a", 1)]));
    let mut ops: Vec<OpId> = Vec::new();
    for _ in 0..120 {
        match draw.below(10) {
            0..=5 => {
                let topic = ["T", "U", "unknown"][draw.below(8).saturating_sub(5) as usize];
                let body = "x".repeat(1 + draw.below(60) as usize);
                let mut message = Message::new(topic, body);
                if draw.below(4) == 0 {
                    message = message.tag("t");
                }
                let prepared = message.prepare(net.client.message_rules()).unwrap();
                ops.push(net.client.send(net.now, net.producer, prepared, SendOptions::default()).unwrap());
            }
            6 if !ops.is_empty() => {
                let op = ops[draw.below(ops.len() as u64) as usize];
                net.client.cancel(net.now, op);
            }
            7 => {
                let broker = ["a", "b"][draw.below(2) as usize];
                let act = act(&mut draw);
                net.broker(broker).sends.push_back(act);
            }
            _ => net.run(ms(draw.below(40))),
        }
    }
    let shuts_down = draw.below(4) == 0;
    if shuts_down {
        net.client.shutdown(net.now, ms(draw.below(2) * 300));
    }
    net.run(ms(2_000));
    for op in &ops {
        if let (_, Event::Sent { result, .. }) = net.end(*op) {
            assert!(
                !result.message_id.contains(',') && !result.offset_message_id.contains(','),
                "seed {seed}"
            );
        }
    }
    let stats = net.client.stats();
    let left = [stats.operations, stats.operation_bytes, stats.gathered, stats.groups, stats.auto_batches];
    assert_eq!((left, stats.queued, stats.misuses), ([0; 5], 0, 0), "seed {seed}: {stats:?}");
    let ended = stats.sends_succeeded + stats.sends_failed + stats.cancelled;
    assert_eq!(ended, ops.len() as u64, "seed {seed}");
}

#[test]
fn each_send_ends_once_and_nothing_is_left() {
    (1..150).for_each(storm);
}
