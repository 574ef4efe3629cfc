//! Any bytes, taken for a compressed body, and taken for a plain one. The first byte says the format and the limit; the
//! body follows.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rmq_proto::compress::{Compression, DEFAULT_MAX_LEN, DecompressError, compress, decompress};

/// The limits, from those that short inputs can reach to the one of a client.
const LIMITS: [usize; 4] = [0, 100, 4096, DEFAULT_MAX_LEN];

fuzz_target!(|data: &[u8]| {
    let Some((&choice, body)) = data.split_first() else { return };
    let kind = Compression::ALL[usize::from(choice) % Compression::ALL.len()];
    let max = LIMITS[usize::from(choice) / Compression::ALL.len() % LIMITS.len()];
    let level = choice / 16;
    let read = decompress(kind, body, max);
    if let Ok(plain) = &read {
        assert!(plain.len() <= max);
        round_trip(kind, level, plain);
        // The limit is exact.
        assert_eq!(decompress(kind, body, plain.len()).as_ref(), Ok(plain));
        if let Some(max) = plain.len().checked_sub(1) {
            assert_eq!(decompress(kind, body, max), Err(DecompressError::TooLong { max }));
        }
    }
    // A limit changes what is read to an error, and nothing else.
    if max < DEFAULT_MAX_LEN
        && let Ok(plain) = decompress(kind, body, DEFAULT_MAX_LEN)
    {
        match read {
            Ok(read) => assert_eq!(read, plain),
            Err(error) => assert_eq!(error, DecompressError::TooLong { max }),
        }
    }
    round_trip(kind, level, body);
});

fn round_trip(kind: Compression, level: u8, plain: &[u8]) {
    let compressed = compress(kind, level, plain).expect("all formats are there");
    assert_eq!(decompress(kind, &compressed, plain.len()).as_deref(), Ok(plain));
}
