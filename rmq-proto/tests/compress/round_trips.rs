//! What is written is read back.

use proptest::prelude::*;
use rmq_proto::compress::{Compression, compress, decompress};

use crate::vectors::{self, noise};

fn assert_round_trip(kind: Compression, level: u8, plain: &[u8]) {
    let body = compress(kind, level, plain).expect("it is there");
    let read = decompress(kind, &body, plain.len()).unwrap_or_else(|error| panic!("{kind} {level}: {error}"));
    assert!(read == plain, "{kind} {level}: {} bytes", plain.len());
}

/// Pieces that repeat, pieces that do not, and pieces of one byte.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        (any::<u8>(), 0..2000_usize).prop_map(|(byte, len)| vec![byte; len]),
        ("[a-e ]{1,20}", 1..60_usize).prop_map(|(text, times)| text.repeat(times).into_bytes()),
        (0..3000_usize).prop_map(noise),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_body(plain in bodies(), level in 0..12_u8) {
        for kind in Compression::ALL {
            assert_round_trip(kind, level, &plain);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for (kind, magic) in [(0, &b"\x78\x5e"[..]), (1, b"\x04\x22\x4d\x18\x60\x40\x82"), (2, b"\x28\xb5\x2f\xfd\x00\x58")] {
            let body = [magic, &bytes].concat();
            if let Ok(plain) = decompress(Compression::ALL[kind], &body, 1000) {
                assert!(plain.len() <= 1000);
            }
        }
    }
}

#[test]
fn the_bodies_of_the_vectors_at_every_level() {
    for (_, _, plain, _) in vectors::all() {
        for kind in Compression::ALL {
            for level in [0, 1, 5, 9, u8::MAX] {
                assert_round_trip(kind, level, &plain);
            }
        }
    }
}

/// Lengths at which blocks begin.
#[test]
fn lengths_around_blocks() {
    for block in [64 * 1024, 128 * 1024, 256 * 1024] {
        for len in [block - 1, block, block + 1, 2 * block] {
            let plain: Vec<_> = noise(200).into_iter().cycle().take(len).collect();
            for kind in Compression::ALL {
                assert_round_trip(kind, 5, &plain);
            }
        }
    }
    for kind in Compression::ALL {
        assert_round_trip(kind, 5, &vec![0; (4 << 20) + 1]);
        assert_round_trip(kind, 5, &noise(200_000));
    }
}

#[test]
fn a_higher_level_is_smaller() {
    let plain = b"The quick brown fox jumps over the lazy dog. ".repeat(100);
    let len = |kind, level| compress(kind, level, &plain).expect("it is there").len();
    for kind in [Compression::Zlib, Compression::Zstd] {
        assert!(len(kind, 0) > plain.len() && len(kind, 5) < plain.len() / 20, "{kind}");
    }
    assert!(len(Compression::Lz4, 5) < plain.len() / 20);
    assert_eq!(len(Compression::Lz4, 0), len(Compression::Lz4, 9));
}
