//! What is particular to LZ4 frames.

use rmq_proto::compress::{Compression, DecompressError, compress, decompress};
use twox_hash::XxHash32;

use crate::support::hex;
use crate::vectors::noise;

const KIND: Compression = Compression::Lz4;

const MAGIC: &str = "04 22 4d 18";

/// A frame of this descriptor, with the right checksum of it, and what follows.
fn frame(descriptor: &str, rest: &str) -> Vec<u8> {
    let descriptor = hex(descriptor);
    let [_, checksum, ..] = XxHash32::oneshot(0, &descriptor).to_le_bytes();
    [hex(MAGIC), descriptor, vec![checksum], hex(rest)].concat()
}

fn corrupt(offset: usize, what: &'static str) -> DecompressError {
    DecompressError::Corrupt { kind: KIND, offset, what }
}

fn checksum(part: &'static str, stated: u32, found: u32) -> DecompressError {
    DecompressError::Checksum { kind: KIND, part, stated, found }
}

#[test]
fn frames_by_hand() {
    let abc = "03 00 00 80 61 62 63";
    let size = "03 00 00 00 00 00 00 00";
    let sum = "ff 53 d1 32";
    let rows = [
        ("a stored block", frame("60 40", &format!("{abc} 00 00 00 00")), "abc"),
        ("two blocks", frame("60 70", &format!("{abc} {abc} 00 00 00 00")), "abcabc"),
        ("no block", frame("60 70", "00 00 00 00"), ""),
        ("a block checksum", frame("70 40", &format!("{abc} {sum} 00 00 00 00")), "abc"),
        ("a content checksum", frame("64 40", &format!("{abc} 00 00 00 00 {sum}")), "abc"),
        ("a content size", frame(&format!("68 40 {size}"), &format!("{abc} 00 00 00 00")), "abc"),
        // Three bytes back, seven bytes; then no more literals.
        ("a repetition", frame("60 40", "07 00 00 00 33 61 62 63 03 00 00 00 00 00 00"), "abcabcabca"),
        (
            "a block that repeats another",
            frame("40 40", &format!("{abc} 04 00 00 00 00 03 00 00 00 00 00 00")),
            "abcabca",
        ),
    ];
    for (name, body, plain) in rows {
        let plain = plain.as_bytes();
        assert_eq!(decompress(KIND, &body, 100).as_deref(), Ok(plain), "{name}");
    }
}

#[test]
fn damaged_frames() {
    let abc = "03 00 00 80 61 62 63";
    let end = "00 00 00 00";
    let size = "04 00 00 00 00 00 00 00";
    let sum = "ff 53 d1 32";
    let dictionary = DecompressError::Dictionary { kind: KIND };
    let rows = [
        ("version 0", frame("20 40", end), corrupt(4, "the version of the frame is not 1")),
        ("a reserved bit", frame("62 40", end), corrupt(4, "a reserved bit is set")),
        ("blocks of size 3", frame("60 30", end), corrupt(5, "there are no blocks of that size")),
        ("a reserved bit of the size", frame("60 41", end), corrupt(5, "there are no blocks of that size")),
        ("a dictionary", frame("61 40 01 00 00 00", end), dictionary),
        (
            "a wrong header",
            [hex(MAGIC), hex("60 40 83"), hex(end)].concat(),
            checksum("frame header", 0x83, 0x82),
        ),
        (
            "a large block",
            frame("60 40", "01 00 01 80"),
            corrupt(7, "a block is larger than the frame allows"),
        ),
        (
            "a wrong block",
            frame("70 40", &format!("{abc} 00 53 d1 32 {end}")),
            checksum("block", 0x32D1_5300, 0x32D1_53FF),
        ),
        (
            "a wrong content",
            frame("64 40", &format!("{abc} {end} 00 53 d1 32")),
            checksum("content", 0x32D1_5300, 0x32D1_53FF),
        ),
        (
            "a wrong size",
            frame(&format!("68 40 {size}"), &format!("{abc} {end}")),
            corrupt(4, "the content has not the size that the frame says"),
        ),
        (
            "an offset of nothing",
            frame("60 40", &format!("04 00 00 00 10 61 00 00 {end}")),
            corrupt(7, "a block repeats what is not there"),
        ),
        (
            "a block that repeats another, and may not",
            frame("60 40", &format!("{abc} 04 00 00 00 00 03 00 00 {end}")),
            corrupt(14, "a block repeats what is not there"),
        ),
        (
            "a block that ends early",
            frame("60 40", &format!("01 00 00 00 30 {end}")),
            corrupt(7, "a block ends in the middle of a sequence"),
        ),
        (
            "a frame that repeats what another has",
            [
                frame("40 40", &format!("{abc} {end}")),
                frame("40 40", &format!("04 00 00 00 00 03 00 00 {end}")),
            ]
            .concat(),
            corrupt(25, "a block repeats what is not there"),
        ),
        (
            "what is no frame",
            [frame("64 40", &format!("{abc} {end} {sum}")), b"more".to_vec()].concat(),
            corrupt(22, "what follows a frame is not another"),
        ),
    ];
    for (name, body, error) in rows {
        assert_eq!(decompress(KIND, &body, 100), Err(error), "{name}");
    }
}

#[test]
fn a_block_that_becomes_too_large() {
    // One byte, then as much of it as would make a block of 64 KiB one byte too long.
    let mut block = hex("1f 61 01 00");
    let repeated = 64 * 1024 - 19;
    block.extend(vec![0xFF; repeated / 255]);
    block.push((repeated % 255) as u8);
    block.extend(hex("00"));
    for (more, expected) in [(1, None), (0, Some(65536))] {
        let mut block = block.clone();
        let at = block.len() - 2;
        block[at] -= 1 - more;
        let len = format!("{:08x}", (block.len() as u32).swap_bytes());
        let body = [frame("60 40", &len), block, hex("00 00 00 00")].concat();
        let read = decompress(KIND, &body, 1 << 20);
        match expected {
            Some(len) => assert_eq!(read.map(|plain| plain.len()), Ok(len)),
            None => assert_eq!(read, Err(corrupt(7, "a block becomes larger than the frame allows"))),
        }
    }
}

#[test]
fn frames_written() {
    // The header that is written for plain bodies of this length, the checksum left out.
    for (len, header) in
        [(0, "60 40"), (65_536, "60 40"), (65_537, "60 50"), (300_000, "60 60"), (5_000_000, "60 70")]
    {
        let body = compress(KIND, 5, &vec![7; len]).expect("it is there");
        assert_eq!(body[..6], [hex(MAGIC), hex(header)].concat(), "{len}");
        assert_eq!(body[body.len() - 4..], [0; 4], "{len}");
    }
    // What does not get smaller is stored.
    let noise = noise(64);
    let body = compress(KIND, 5, &noise).expect("it is there");
    assert_eq!(body, [frame("60 40", "40 00 00 80"), noise, vec![0; 4]].concat());
}

#[test]
fn a_block_reaches_64_kib_back() {
    let before = noise(1 << 16);
    let blocks = [hex("00 00 01 80"), before.clone(), hex("04 00 00 00 00 ff ff 00 00 00 00 00")].concat();
    let read = decompress(KIND, &[frame("40 40", ""), blocks].concat(), 1 << 17);
    assert_eq!(read.as_deref(), Ok(&[&before[..], &before[1..5]].concat()[..]));
}

/// A block does not tell how long it gets. What it becomes is 4 to 255 times as long here.
#[test]
fn blocks_of_any_ratio() {
    for random in (0..1 << 14).step_by(150) {
        let mut plain = noise(1 << 16);
        plain[random..].fill(0);
        let body = compress(KIND, 0, &plain).expect("it is there");
        assert_eq!(decompress(KIND, &body, plain.len()), Ok(plain.into()), "{random}");
    }
}
