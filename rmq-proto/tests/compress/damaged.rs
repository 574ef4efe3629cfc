//! Bodies that are not whole, or not as they were.

use rmq_proto::compress::{Compression, DecompressError, decompress};

use crate::vectors;

#[test]
fn cut_off_at_every_byte() {
    for (kind, made, plain, body) in vectors::all() {
        for len in 0..body.len() {
            match decompress(kind, &body[..len], plain.len()) {
                Err(error) => assert_eq!(error, DecompressError::Truncated { kind, len }, "{made}"),
                // Between two frames nothing tells that there was a second one.
                Ok(read) => {
                    assert!(made.starts_with("two of"), "{made}: {len} bytes are a body");
                    assert!(read.len() < plain.len() || len > body.len() / 2, "{made}: {len}");
                    assert!(plain.starts_with(&read), "{made}: {len}");
                }
            }
        }
    }
}

#[test]
fn every_bit_turned() {
    for (kind, made, plain, body) in vectors::all() {
        // One bit of each byte of those that take long.
        let step = if plain.len() > 1_000 { 9 } else { 1 };
        for bit in (0..body.len() * 8).step_by(step) {
            let mut body = body.clone();
            body[bit / 8] ^= 1 << (bit % 8);
            // Some bits say nothing: how large a window is, say. A frame can be skipped as a whole.
            if let Ok(read) = decompress(kind, &body, plain.len()) {
                let must_be_found = has_checksum(kind, &body) && !made.starts_with("two of");
                assert!(read == plain || !must_be_found, "{made}: bit {bit}");
            }
        }
    }
}

/// Whether damage to the content is always found.
fn has_checksum(kind: Compression, body: &[u8]) -> bool {
    const FLAG: u8 = 0x04;
    kind == Compression::Zlib || body[4] & FLAG != 0
}

#[test]
fn another_format() {
    let looks_like = |kind: Compression| match kind {
        Compression::Lz4 => "LZ4",
        Compression::Zstd => "zstd",
        _ => "zlib",
    };
    for (kind, made, plain, body) in vectors::all() {
        for other in Compression::ALL.into_iter().filter(|other| *other != kind) {
            let expected = DecompressError::Format { kind: other, found: Some(looks_like(kind)) };
            let read = decompress(other, &body, plain.len());
            assert_eq!(read, Err(expected), "{made}, read as {other}");
            assert!(expected.to_string().ends_with(&format!("it looks like {}", looks_like(kind))));
        }
    }
}

#[test]
fn no_format_at_all() {
    let rows: [(&[u8], Option<&str>); 5] = [
        (b"plain text", None),
        (b"{\"json\":1}", None),
        (&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0], Some("gzip")),
        // E11's body as raw deflate.
        (&[0x73, 0x74, 0xA4, 0x0C, 0x00, 0x00], None),
        (&[0x02, 0x21, 0x4C, 0x18, 1, 0, 0, 0, 0], Some("LZ4 of the legacy kind")),
    ];
    for (body, found) in rows {
        for kind in Compression::ALL {
            assert_eq!(decompress(kind, body, 100), Err(DecompressError::Format { kind, found }), "{body:?}");
        }
    }
}
