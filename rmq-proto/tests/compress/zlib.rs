//! What is particular to zlib.

use rmq_proto::compress::{Compression, DecompressError, compress, decompress};

use crate::support::hex;
use crate::vectors;

const KIND: Compression = Compression::Zlib;

/// E11's body: 64 times `A`.
const BODY: &str = "78 5e 73 74 a4 0c 00 00 10 7e 10 41";

#[test]
fn e11_body() {
    assert_eq!(decompress(KIND, &hex(BODY), 64).as_deref(), Ok(&[b'A'; 64][..]));
    // Another deflater may write other bytes between the header and the checksum.
    let written = compress(KIND, 5, &[b'A'; 64]).expect("it is there");
    assert_eq!(written[..2], hex("78 5e"));
    assert_eq!(written[written.len() - 4..], hex("10 7e 10 41"));
}

/// The headers are those that zlib writes for the level.
#[test]
fn headers_written() {
    for (level, header) in
        [(0, "78 01"), (1, "78 01"), (2, "78 5e"), (5, "78 5e"), (6, "78 9c"), (7, "78 da"), (99, "78 da")]
    {
        for plain in [&b""[..], b"abc", &[0; 10_000]] {
            assert_eq!(compress(KIND, level, plain).expect("it is there")[..2], hex(header), "{level}");
        }
    }
}

#[test]
fn bytes_behind_the_end_are_ignored() {
    let mut body = hex(BODY);
    body.extend(b"and more");
    assert_eq!(decompress(KIND, &body, 64).as_deref(), Ok(&[b'A'; 64][..]));
}

#[test]
fn a_wrong_checksum() {
    let mut body = hex(BODY);
    body[11] = 0x42;
    let expected =
        DecompressError::Checksum { kind: KIND, part: "content", stated: 0x107E_1042, found: 0x107E_1041 };
    assert_eq!(decompress(KIND, &body, 64), Err(expected));
    assert_eq!(
        expected.to_string(),
        "a body compressed with zlib is damaged: the checksum of the content is 0x107e1041, not 0x107e1042"
    );
}

#[test]
fn damaged_bodies() {
    let broken = |offset| {
        let what = "the deflate stream breaks its own rules";
        DecompressError::Corrupt { kind: KIND, offset, what }
    };
    let none = DecompressError::Format { kind: KIND, found: None };
    let rows = [
        ("a dictionary", "78 20 00 00 00 01 03 00", DecompressError::Dictionary { kind: KIND }),
        ("a header that is no multiple of 31", "78 5f 73 74", none),
        ("a window of 64 KiB", "88 1c 03 00 00 00 00 01", none),
        ("another method", "79 09 03 00 00 00 00 01", none),
        ("a type of block that does not exist", "78 5e 07 00", broken(3)),
        ("a stored block with two lengths", "78 5e 01 01 00 00 00 61", broken(7)),
        ("a repetition of nothing", "78 5e 03 02 00", broken(4)),
    ];
    for (name, body, error) in rows {
        assert_eq!(decompress(KIND, &hex(body), 100), Err(error), "{name}");
    }
}

#[test]
fn no_level_is_above_9() {
    let plain = vectors::noise(3000).repeat(3);
    let highest = compress(KIND, 9, &plain);
    for level in [10, 11, 255] {
        assert_eq!(compress(KIND, level, &plain), highest, "{level}");
    }
}
