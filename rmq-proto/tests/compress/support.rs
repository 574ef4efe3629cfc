//! What the tests share.

use rmq_proto::compress::Compression;
use rmq_proto::json::Reader;

use crate::vectors::Vector;

/// Bytes from hex, with or without blanks.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// The compressed bodies among the golden vectors.
pub(crate) fn golden() -> Vec<Vector> {
    // Where the body lies in the two stored messages: behind its length, which is behind 84 bytes.
    let stored = |message: Vec<u8>| {
        let len = u32::from_be_bytes(message[84..88].try_into().expect("four bytes"));
        message[88..][..len as usize].to_vec()
    };
    let read = |kind: &str, name: &str| golden_line(kind, name);
    let [plain_zlib, zlib] = read("stored-message", "zlib");
    let [plain_lz4, lz4] = read("stored-message", "lz4");
    let [plain_zstd, zstd] = read("compress-check", "zstd");
    vec![
        (Compression::Zlib, "golden zlib", plain_zlib, stored(zlib)),
        (Compression::Lz4, "golden LZ4", plain_lz4, stored(lz4)),
        (Compression::Zstd, "golden zstd", plain_zstd, zstd),
    ]
}

/// The plain body of a golden vector, and its other bytes.
fn golden_line(kind: &str, name: &str) -> [Vec<u8>; 2] {
    let lines = include_str!("../golden/vectors.jsonl").lines();
    let mut found = lines.filter_map(|line| {
        let (mut is_found, mut plain, mut bytes) = ([false; 2], None, None);
        let mut json = Reader::new(line.as_bytes()).expect("UTF-8");
        json.object().expect("an object");
        while let Some(member) = json.key().expect("a key") {
            match &*member {
                "kind" => is_found[0] = json.text().expect("text").as_deref() == Some(kind),
                "name" => is_found[1] = json.text().expect("text").as_deref() == Some(name),
                "body" | "plain" if is_found == [true; 2] => plain = json.text().expect("text"),
                "hex" if is_found == [true; 2] => bytes = json.text().expect("text"),
                _ => json.skip().expect("a value"),
            }
        }
        Some([hex(&plain?), hex(&bytes?)])
    });
    found.next().expect("the vector")
}
