//! Row 81: which bodies go out compressed. Row 82 is with batches, which never are.

use bytes::Bytes;
use rmq_core::proto::compress::{Compression, DEFAULT_MAX_LEN, decompress};
use rmq_core::{ClientConfig, ClientConfigBuilder};

use super::*;

fn text(len: usize) -> Bytes {
    b"Hello, world! ".iter().copied().cycle().take(len).collect()
}

/// A network whose client compresses as it is told.
fn net_with(set: impl FnOnce(ClientConfigBuilder) -> ClientConfigBuilder) -> Net {
    let builder = set(ClientConfig::builder().name_server(NAME_SERVER));
    Net::with(builder.build().unwrap(), ProducerConfig::new("PG"))
}

/// System flag and body of each attempt at a message with this body.
fn written(net: &mut Net, body: &Bytes) -> Vec<(i32, Bytes)> {
    net.forget();
    let message = Message::new("T", body.clone()).prepare(net.client.message_rules()).unwrap();
    let op = net.client.send(net.now, net.producer, message, SendOptions::default()).unwrap();
    net.run(ms(1_000));
    net.take_sent(op);
    net.sends().iter().map(|seen| (seen.send().sys_flag, seen.command.body.clone())).collect()
}

rows! {
    row_081 {
        let mut net = net_with(|builder| builder);
        assert_eq!(written(&mut net, &text(4_095)), [(0, text(4_095))]);
        let sent = written(&mut net, &text(4_096));
        assert_eq!((sent.len(), sent[0].0), (1, 0x301));
        assert!(sent[0].1.len() < 500);
        assert_eq!(decompress(Compression::Zlib, &sent[0].1, DEFAULT_MAX_LEN), Ok(text(4_096)));
    }

    /// The same with all that can be set.
    row_081_as_configured {
        for (kind, sys_flag) in [
            (Compression::Zlib, 0x301),
            (Compression::Lz4, 0x101),
            (Compression::Zstd, 0x201),
        ] {
            let mut net = net_with(|builder| builder.compression(kind).compress_from(100).compression_level(9));
            assert_eq!(written(&mut net, &text(99)), [(0, text(99))]);
            let sent = written(&mut net, &text(100));
            assert_eq!((sent.len(), sent[0].0), (1, sys_flag), "{kind}");
            assert_eq!(decompress(kind, &sent[0].1, DEFAULT_MAX_LEN), Ok(text(100)), "{kind}");
        }
        let mut net = net_with(|builder| builder.compression(None));
        assert_eq!(written(&mut net, &text(10_000)), [(0, text(10_000))]);
    }

    /// D8: each attempt carries the same compressed body.
    row_081_in_each_attempt {
        let mut net = net_with(|builder| builder);
        both(&mut net, &Act::Code(ResponseCode::SYSTEM_BUSY, ""));
        let message = Message::new("T", text(5_120)).prepare(net.client.message_rules()).unwrap();
        net.client.send(net.now, net.producer, message.clone(), SendOptions::default()).unwrap();
        net.run(ms(1_000));
        let sends = net.sends();
        assert_eq!(sends.len(), 3);
        for seen in sends {
            assert_eq!((seen.send().sys_flag, &seen.command.body), (0x301, message.body()));
        }
    }
}
