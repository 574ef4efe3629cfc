//! Compressed bodies.

use rmq_proto::compress::{Compression, compress};

use crate::case::{Case, Kind, hex};
use crate::value::Value;

pub(crate) fn cases() -> Vec<Case> {
    let mixed: Vec<u8> =
        (0..200_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> (24 + i % 8)) as u8).collect();
    let rows = [
        ("empty", Vec::new()),
        ("one", b"x".to_vec()),
        ("same", vec![b'A'; 100_000]),
        ("text", "RocketMQ 标签, ".repeat(5_000).into_bytes()),
        ("mixed", mixed),
    ];
    let mut cases = Vec::new();
    for kind in Compression::ALL {
        // Those that make a difference.
        let levels: &[u8] = match kind {
            Compression::Zlib => &[0, 1, 5, 9],
            Compression::Zstd => &[0, 5],
            _ => &[5],
        };
        for (id, plain) in &rows {
            for &level in levels {
                let bytes = compress(kind, level, plain).expect("the feature is on");
                let id = format!("{kind}/{id}/{level}");
                let case = Case::new(id, Kind::Compressed, bytes, Value::text(hex(plain)));
                cases.push(case.arguments(&[&kind.name().to_uppercase()]));
            }
        }
    }
    cases
}
