//! How long a decompressed body may be, and how much memory it takes.

use allocation_counter::measure;
use rmq_proto::compress::{Compression, DEFAULT_MAX_LEN, DecompressError, WORKING_LEN, compress, decompress};

use crate::support::hex;
use crate::vectors;

/// What decompressing holds at most besides the output and the literals of a block of zstd.
const TABLES: usize = 32 * 1024;

/// Each block of literals of zstd has no more.
const LITERALS: usize = 128 * 1024;

/// What the body is read to, and how many bytes were held at most.
fn read(kind: Compression, body: &[u8], max: usize) -> (Result<usize, DecompressError>, usize) {
    let mut read = Ok(0);
    let counted = measure(|| read = decompress(kind, body, max).map(|plain| plain.len()));
    (read, counted.bytes_max as usize)
}

/// A frame of zstd with a window of 128 MiB whose blocks, given by their first byte, are 128 KiB each: of one byte over and
/// over (2), or compressed, with literals of one byte over and over (4).
fn zstd_bomb(block_type: u8, count: usize) -> Vec<u8> {
    let block = match block_type {
        2 => hex("02 00 10 61"),
        _ => hex("2c 00 00 0d 00 20 61 00"),
    };
    [hex("28 b5 2f fd 00 88"), block.repeat(count), hex("01 00 00")].concat()
}

/// Bodies of about a KiB, or a little more, that become very large, and how large.
fn bombs() -> Vec<(Compression, &'static str, Vec<u8>, usize)> {
    const LEN: usize = 1 << 20;
    let of = |kind| compress(kind, 9, &vec![0; LEN]).expect("it is there").to_vec();
    vec![
        (Compression::Zlib, "zeros", of(Compression::Zlib), LEN),
        (Compression::Lz4, "zeros", of(Compression::Lz4), LEN),
        (Compression::Zstd, "zeros", of(Compression::Zstd), LEN),
        (Compression::Zstd, "blocks of one byte", zstd_bomb(2, 250), 250 << 17),
        (Compression::Zstd, "literals of one byte", zstd_bomb(4, 120), 120 << 17),
    ]
}

#[test]
fn a_bomb_takes_no_more_than_its_limit() {
    for (kind, name, body, len) in bombs() {
        for max in [0, 1, 100, 4096, 100_000, 1 << 20, DEFAULT_MAX_LEN] {
            let (read, held) = read(kind, &body, max);
            let expected = if len <= max { Ok(len) } else { Err(DecompressError::TooLong { max }) };
            assert_eq!(read, expected, "{kind}, {name}, {max}");
            let allowed = max + max.min(LITERALS) + TABLES;
            assert!(held <= allowed, "{kind}, {name}: {held} bytes for a limit of {max}");
        }
    }
    const { assert!(LITERALS + TABLES == WORKING_LEN) };
}

/// Of many blocks and steps of growth.
#[test]
fn a_long_body_takes_no_more_than_its_limit() {
    const LEN: usize = 1_000_000;
    let plain: Vec<_> =
        b"The quick brown fox jumps over the lazy dog. ".iter().copied().cycle().take(LEN).collect();
    for kind in Compression::ALL {
        let body = compress(kind, 1, &plain).expect("it is there");
        for max in [LEN, LEN + 1, LEN * 3 / 2] {
            let (read, held) = read(kind, &body, max);
            assert_eq!(read, Ok(LEN));
            assert!(held <= max + WORKING_LEN, "{kind}: {held} bytes for a limit of {max}");
        }
        let max = LEN - 1;
        assert_eq!(read(kind, &body, max).0, Err(DecompressError::TooLong { max }));
    }
}

/// What a body says about its size is not believed.
#[test]
fn sizes_that_are_declared_take_no_memory() {
    use Compression::{Lz4, Zstd};
    let too_long = Err(DecompressError::TooLong { max: DEFAULT_MAX_LEN });
    let truncated = |kind, len| Err(DecompressError::Truncated { kind, len });
    let rows = [
        (Lz4, "a content of 2^62 bytes", "04224d18 6840 0000000000000040 0a 01000080 61 00000000", too_long),
        (Lz4, "blocks of 4 MiB", "04224d18 6070 73 01000080 61 00000000", Ok(1)),
        (Lz4, "a stored block of 4 MiB", "04224d18 6070 73 00004080 61", truncated(Lz4, 12)),
        (Lz4, "a skippable frame of 4 GiB", "502a4d18 ffffffff 00", truncated(Lz4, 9)),
        (Zstd, "a window of 3.75 TiB", "28b52ffd 00 ff 090000 61", Ok(1)),
        (Zstd, "a content of 2^62 bytes", "28b52ffd e0 0000000000000040 090000 61", too_long),
        (Zstd, "a block of 128 KiB", "28b52ffd 00 58 010010 61", truncated(Zstd, 10)),
        (Zstd, "a skippable frame of 4 GiB", "502a4d18 ffffffff 00", truncated(Zstd, 9)),
    ];
    for (kind, name, body, expected) in rows {
        let (read, held) = read(kind, &hex(body), DEFAULT_MAX_LEN);
        assert_eq!(read, expected, "{name}");
        assert!(held <= 1024, "{name}: {held} bytes");
    }
}

/// A small body takes little, though its frame asks for a window of 2 MiB, as those of Java producers do.
#[test]
fn small_bodies_take_little() {
    for (kind, made, plain, body) in vectors::all() {
        let (_, held) = read(kind, &body, DEFAULT_MAX_LEN);
        let allowed = 3 * plain.len().max(2 * body.len()) + LITERALS.min(plain.len()) + TABLES;
        assert!(held <= allowed, "{made}: {held} bytes for {}", plain.len());
    }
}
