//! What is particular to zstd.

use rmq_proto::compress::{Compression, DecompressError, decompress};

use crate::support::hex;

const KIND: Compression = Compression::Zstd;

/// A frame with a window of 2 MiB, as Java producers write them, no checksum, and these blocks.
fn frame(blocks: &str) -> Vec<u8> {
    [hex("28 b5 2f fd 00 58"), hex(blocks)].concat()
}

/// The last block of a frame, compressed.
fn block(content: &str) -> String {
    let len = hex(content).len();
    format!("{:02x} {:02x} 00 {content}", (len & 0x1F) << 3 | 5, len >> 5)
}

fn corrupt(offset: usize, what: &'static str) -> DecompressError {
    DecompressError::Corrupt { kind: KIND, offset, what }
}

#[test]
fn frames_by_hand() {
    let header = |header: &str, rest: &str| [hex("28 b5 2f fd"), hex(header), hex(rest)].concat();
    let abc = "19 00 00 61 62 63";
    let rows = [
        ("a stored block", frame(abc), "abc"),
        ("one byte four times, then abc", frame(&format!("22 00 00 78 {abc}")), "xxxxabc"),
        ("an empty block", frame("01 00 00"), ""),
        ("a single segment", header("20 03", abc), "abc"),
        ("a content size of four bytes", header("a0 03 00 00 00", abc), "abc"),
        ("a content size of eight bytes", header("c0 58 03 00 00 00 00 00 00 00", abc), "abc"),
        ("dictionary 0, which is none", header("01 58 00", abc), "abc"),
        ("a bit that is not used", header("10 58", abc), "abc"),
        ("literals as they are", frame(&block("18 61 62 63 00")), "abc"),
        ("literals of one byte", frame(&block("29 61 00")), "aaaaa"),
        ("as many literals, with two bytes for the count", frame(&block("55 00 61 00")), "aaaaa"),
        ("as many literals, with three bytes", frame(&block("5d 00 00 61 00")), "aaaaa"),
        // Codes that are always the same: three literals, an offset of three, four bytes.
        ("a sequence", frame(&block("18 61 62 63 01 54 03 02 01 06")), "abcabca"),
    ];
    for (name, body, plain) in rows {
        assert_eq!(decompress(KIND, &body, 100).as_deref(), Ok(plain.as_bytes()), "{name}");
    }
}

/// A window of 1920 bytes: 1 KiB, and seven eighths of that.
#[test]
fn a_block_as_large_as_the_window() {
    let body = |block: &str| [hex("28 b5 2f fd 00 07"), hex(block)].concat();
    assert_eq!(decompress(KIND, &body("03 3c 00 61"), 2000).as_deref(), Ok(&[b'a'; 1920][..]));
    let larger = corrupt(6, "a block is larger than it may be");
    assert_eq!(decompress(KIND, &body("0b 3c 00 61"), 2000), Err(larger));
    // Literals of one byte, 1920 of them and one more.
    assert_eq!(decompress(KIND, &body("2d 00 00 0d 78 00 61 00"), 2000).as_deref(), Ok(&[b'a'; 1920][..]));
    let more = corrupt(6, "there are more literals than a block can have");
    assert_eq!(decompress(KIND, &body("2d 00 00 1d 78 00 61 00"), 2000), Err(more));
}

/// Counts of sequences in each of their forms, about where one ends. All codes are always the same: no literals, the second
/// of the recent offsets, three bytes.
#[test]
fn many_sequences() {
    let rows = [
        ("7f", 127),
        ("80 7f", 127),
        ("80 80", 128),
        ("81 01", 257),
        ("fe ff", 0x7EFF),
        ("ff 00 00", 0x7F00),
        ("ff 02 01", 0x8002),
    ];
    for (count, sequences) in rows {
        let body = frame(&format!("22 00 00 61 {}", block(&format!("00 {count} 54 00 00 00 01"))));
        let read = decompress(KIND, &body, 1 << 17).map(|plain| plain.len());
        assert_eq!(read, Ok(4 + 3 * sequences), "{count}");
    }
}

/// The codes of lengths, each with its lowest value: where the values of the code before end.
fn lowest_values(first: usize, plain_codes: usize, bits: &[usize]) -> Vec<(usize, usize)> {
    let bits = core::iter::repeat_n(&0, plain_codes).chain(bits);
    let next = |lowest: &mut usize, bits: &usize| {
        let this = (*lowest, *bits);
        *lowest += 1 << bits;
        Some(this)
    };
    bits.scan(first, next).collect()
}

/// So many bits that are 0, and the end.
fn zero_bits(count: usize) -> String {
    format!("{}{:02x}", "00".repeat(count / 8), 1 << (count % 8))
}

#[test]
fn every_code_of_a_length() {
    let bits = [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    for (code, (lowest, bits)) in lowest_values(0, 16, &bits).into_iter().enumerate() {
        let [count, next, last, _] = (lowest << 4 | 0xD).to_le_bytes()[..4] else { unreachable!() };
        let literals = format!("{count:02x} {next:02x} {last:02x} 61");
        let content = block(&format!("{literals} 01 54 {code:02x} 00 00 {}", zero_bits(bits)));
        let read = decompress(KIND, &frame(&format!("22 00 00 61 {content}")), 1 << 17);
        assert_eq!(read.map(|plain| plain.len()), Ok(4 + lowest + 3), "literal length {code}");
    }
    let bits = [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    for (code, (lowest, bits)) in lowest_values(3, 32, &bits).into_iter().enumerate() {
        let content = block(&format!("00 01 54 00 00 {code:02x} {}", zero_bits(bits)));
        let read = decompress(KIND, &frame(&format!("22 00 00 61 {content}")), 1 << 17);
        assert_eq!(read.map(|plain| plain.len()), Ok(4 + lowest), "match length {code}");
    }
}

/// Offsets used before, after ten bytes: each sequence repeats three bytes, with an offset value of 2 or 3.
#[test]
fn recent_offsets() {
    let ten = "50 00 00 61 62 63 64 65 66 67 68 69 6a";
    let rows = [
        // Literals between: the third, the third, the second.
        ("18 58 59 5a 03 54 01 01 00 0e", "abcdefghijXdefYdefZdef"),
        // No literals: the third, twice one less than the first, the third.
        ("00 04 54 00 01 00 16", "abcdefghijcdeghicdedeg"),
    ];
    for (content, plain) in rows {
        let body = frame(&format!("{ten} {}", block(content)));
        assert_eq!(decompress(KIND, &body, 100).as_deref(), Ok(plain.as_bytes()), "{content}");
    }
}

#[test]
fn damaged_frames() {
    let header = |header: &str| [hex("28 b5 2f fd"), hex(header), hex("19 00 00 61 62 63")].concat();
    let dictionary = DecompressError::Dictionary { kind: KIND };
    let size = corrupt(4, "the content has not the size that the frame says");
    let checksum =
        |stated| DecompressError::Checksum { kind: KIND, part: "content", stated, found: 0xad770999 };
    let rows = [
        ("a reserved bit", header("08 58"), corrupt(4, "a reserved bit of the frame is set")),
        ("a dictionary of one byte", header("01 58 07"), dictionary),
        ("a dictionary of two bytes", header("02 58 00 01"), dictionary),
        ("a dictionary of four bytes", header("03 58 00 00 00 01"), dictionary),
        ("a content that is longer", header("a0 04 00 00 00"), size),
        ("a content that is shorter", header("c0 58 02 00 00 00 00 00 00 00"), size),
        ("a wrong checksum", [header("04 58"), vec![1, 2, 3, 4]].concat(), checksum(0x0403_0201)),
        ("a type of block", frame("07 00 00"), corrupt(6, "a block has a type that does not exist")),
        ("a large block", frame("09 00 10"), corrupt(6, "a block is larger than it may be")),
        ("a block larger than the window", header("20 02"), corrupt(6, "a block is larger than it may be")),
        (
            "a frame that repeats what another has",
            [frame("19 00 00 61 62 63"), frame(&block("00 01 54 00 02 01 06"))].concat(),
            corrupt(18, "a sequence repeats what is not there"),
        ),
        (
            "what is no frame",
            [frame("01 00 00"), vec![0; 9]].concat(),
            corrupt(9, "what follows a frame is not another"),
        ),
    ];
    for (name, body, error) in rows {
        assert_eq!(decompress(KIND, &body, 1000), Err(error), "{name}");
    }
}

#[test]
fn damaged_blocks() {
    let cut_off = "literals are cut off";
    let many = format!("12 80 09 24 10 3f {} 01 02 00", "00 ".repeat(33));
    let codes = "literals end before or behind the end of their bits";
    let rows = [
        ("nothing", "", cut_off),
        ("literals that are not there", "18 61 62", cut_off),
        ("one literal that is not there", "29", cut_off),
        ("half a count", "5d 00", cut_off),
        ("2^20 literals, less one", "fd ff ff 61 00", "there are more literals than a block can have"),
        ("codes of no block", "53 40 00 00 00", "literals use codes of a block before, and there is none"),
        ("no sequences", "18 61 62 63", "sequences are cut off"),
        ("half a count of sequences", "18 61 62 63 ff 00", "sequences are cut off"),
        ("no codes of sequences", "18 61 62 63 01", "sequences are cut off"),
        ("no bits", "18 61 62 63 01 54 03 02 01", "sequences are cut off"),
        ("bits without an end", "18 61 62 63 01 54 03 02 01 00", "sequences are cut off"),
        ("bytes behind", "18 61 62 63 00 00", "there are bytes behind a block without sequences"),
        ("a reserved bit", "18 61 62 63 01 55 03 02 01 06", "a reserved bit of the sequences is set"),
        (
            "a literal length that does not exist",
            "18 61 62 63 01 54 24 02 01 06",
            "the only code of sequences does not exist",
        ),
        (
            "an offset that does not exist",
            "18 61 62 63 01 54 03 20 01 06",
            "the only code of sequences does not exist",
        ),
        (
            "a match length that does not exist",
            "18 61 62 63 01 54 03 02 35 06",
            "the only code of sequences does not exist",
        ),
        (
            "tables of no block",
            "18 61 62 63 01 fc 06",
            "sequences use codes of a block before, and there is none",
        ),
        (
            "bits that are left over",
            "18 61 62 63 01 54 03 02 01 0d",
            "sequences end before or behind the end of their bits",
        ),
        (
            "bits that are not there",
            "18 61 62 63 01 54 03 02 01 02",
            "sequences end before or behind the end of their bits",
        ),
        (
            "literals that are not there for a sequence",
            "10 61 62 01 54 03 02 01 06",
            "sequences take more literals than there are",
        ),
        (
            "an offset before the beginning",
            "18 61 62 63 01 54 03 02 01 07",
            "a sequence repeats what is not there",
        ),
        ("an offset of 0", "00 01 54 00 01 01 03", "a sequence repeats what is not there"),
        (
            "a repetition that is too long",
            "18 61 62 63 01 54 03 02 34 ff ff 06",
            "a block becomes larger than it may",
        ),
        (
            "a table of too many states",
            "18 61 62 63 01 a8 0f 00 00",
            "a table of probabilities has more states than it may",
        ),
        (
            "a table of twice as many states as literal lengths may have",
            "18 61 62 63 01 a8 05 00 00",
            "a table of probabilities has more states than it may",
        ),
        (
            "a table of twice as many states as offsets may have",
            "18 61 62 63 01 64 03 04 00 00",
            "a table of probabilities has more states than it may",
        ),
        (
            "a table of twice as many states as weights may have",
            "12 80 01 04 f2 03 00 04 02 00",
            "a table of probabilities has more states than it may",
        ),
        (
            "the largest offset that there can be",
            "00 01 54 00 1f 00 00 00 00 80",
            "a sequence repeats what is not there",
        ),
        ("a table that is cut off", "18 61 62 63 01 a8 00", "a table of probabilities is cut off"),
        (
            "a table of symbols that do not exist",
            "18 61 62 63 01 a8 10 fe ff ff 01 00 00 00 ff",
            "a table of probabilities has symbols that do not exist",
        ),
        ("a Huffman table of nothing", "12 c0 00 82 00 00 00", "a Huffman table is empty"),
        ("a Huffman table that is cut off", "12 40 00 ff 00", "a Huffman table is cut off"),
        ("a Huffman code of 15 bits", "12 c0 00 81 f0 01 00", "a Huffman code is longer than it may be"),
        ("a Huffman code of 12 bits", "12 c0 00 81 bb 01 00", "a Huffman code is longer than it may be"),
        ("weights without an end", "12 80 01 04 f0 03 00 04 02 00", "a Huffman table has too many weights"),
        ("one weight too many", &many, "a Huffman table has too many weights"),
        (
            "weights that do not add up",
            "12 00 01 83 35 10 01 00",
            "the weights of a Huffman table do not add up",
        ),
        ("one literal of codes, and two bits", "12 c0 00 80 10 04 00", codes),
        ("one literal of codes, and no bit", "12 c0 00 80 10 01 00", codes),
    ];
    for (name, content, what) in rows {
        assert_eq!(decompress(KIND, &frame(&block(content)), 1000), Err(corrupt(6, what)), "{name}");
    }
    // As the last row but one, with one bit.
    assert_eq!(decompress(KIND, &frame(&block("12 c0 00 80 10 02 00")), 1000).as_deref(), Ok(&[0][..]));
}
