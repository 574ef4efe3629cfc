//! Bodies compressed by `Message::prepare` (producer §5.4 step 5, wire §6.3).

use bytes::Bytes;
use rmq_proto::compress::{Compression, DEFAULT_MAX_LEN};
use rmq_proto::message::{
    BodyCompression, Message, MessageError, MessageRules, Prepared, StoredMessage, SysFlag,
};

/// A text that any format makes shorter.
fn text(len: usize) -> Bytes {
    (0..len).map(|i| b"the quick brown fox "[i % 20] ^ (i / 1_000) as u8).collect()
}

/// Bytes that no format makes shorter.
fn noise(len: usize) -> Bytes {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn prepared(body: Bytes, compression: BodyCompression) -> Prepared {
    let rules = MessageRules { compression, ..MessageRules::default() };
    Message::new("orders", body).prepare(&rules).expect("it breaks no rule")
}

fn with(kind: Compression) -> BodyCompression {
    BodyCompression { kind: Some(kind), ..BodyCompression::default() }
}

/// What a consumer gets of it.
fn received(prepared: &Prepared) -> Bytes {
    let (body, sys_flag) = (prepared.body().clone(), SysFlag(prepared.sys_flag()));
    let mut message = StoredMessage { body, sys_flag, ..StoredMessage::default() };
    message.inflate(DEFAULT_MAX_LEN).expect("it was compressed just now");
    message.body
}

/// Row 81, without a client: the threshold is inclusive, and zlib is the default.
#[test]
fn bodies_from_the_threshold_on_are_compressed() {
    let defaults = BodyCompression::default();
    let short = prepared(text(4_095), defaults);
    assert_eq!((short.sys_flag(), short.body()), (0, &text(4_095)));
    let long = prepared(text(4_096), defaults);
    assert_eq!(long.sys_flag(), 0x301);
    assert!(long.body().len() < 4_096);
    // Level 5 (wire §6.3).
    assert_eq!(long.body()[..2], [0x78, 0x5e]);
    assert_eq!(received(&long), text(4_096));

    let two = BodyCompression { min_len: 2, ..defaults };
    assert_eq!(prepared(text(1), two).sys_flag(), 0);
    assert_eq!(prepared(text(2), two).sys_flag(), 0x301);
    let all = BodyCompression { min_len: 0, ..defaults };
    assert_eq!(prepared(text(1), all).sys_flag(), 0x301);
}

/// A10, the producing half: what goes out is what consumers of all languages read.
#[test]
fn a10_every_format_reads_back() {
    let heads: [(Compression, i32, &[u8]); 3] = [
        (Compression::Zlib, 0x301, &[0x78]),
        (Compression::Lz4, 0x101, &[0x04, 0x22, 0x4d, 0x18]),
        (Compression::Zstd, 0x201, &[0x28, 0xb5, 0x2f, 0xfd]),
    ];
    for (kind, sys_flag, head) in heads {
        let check = |body: Bytes, level| {
            let prepared = prepared(body.clone(), BodyCompression { level, ..with(kind) });
            assert_eq!(prepared.sys_flag(), sys_flag, "{kind}");
            assert_eq!(prepared.body()[..head.len()], *head, "{kind}");
            assert_eq!(received(&prepared), body, "{kind}, {} bytes, level {level}", body.len());
        };
        for level in [0, 1, 5, 9, 255] {
            check(text(50_000), level);
        }
        check(noise(4_096), 5);
        check(vec![0; 1 << 20].into(), 5);
    }
}

/// Nobody but `prepare` sets the bit, and it sets it only with a body that is compressed.
#[test]
fn a16_a_plain_body_is_never_called_compressed() {
    let off = BodyCompression { kind: None, ..BodyCompression::default() };
    assert_eq!(BodyCompression::NONE.kind, None);
    for compression in [off, BodyCompression { min_len: usize::MAX, ..BodyCompression::default() }] {
        let plain = prepared(text(100_000), compression);
        assert_eq!((plain.sys_flag(), plain.body()), (0, &text(100_000)));
    }
    // The flag of a user is another one.
    let rules = MessageRules::default();
    let flagged = Message::new("orders", "x").flag(0x301).prepare(&rules).unwrap();
    assert_eq!((flagged.flag(), flagged.sys_flag()), (0x301, 0));
}

/// Java takes what the compressor gives, longer or not; but what brokers refuse for its length helps nobody.
#[test]
fn a_body_that_grows_is_compressed_all_the_same() {
    let grown = prepared(noise(4_096), BodyCompression::default());
    assert_eq!(grown.sys_flag(), 0x301);
    assert!(grown.body().len() > 4_096);

    let longest = noise(MessageRules::default().max_body_len);
    let plain = prepared(longest.clone(), BodyCompression::default());
    assert_eq!((plain.sys_flag(), plain.body()), (0, &longest));
}

#[test]
fn the_limit_is_that_of_the_plain_body() {
    let rules = MessageRules { max_body_len: 10_000, ..MessageRules::default() };
    let error = Message::new("orders", vec![0; 10_001]).prepare(&rules).unwrap_err();
    let expected = MessageError::BodyTooLong { topic: "orders".to_owned(), len: 10_001, max: 10_000 };
    assert_eq!(error, expected);
    assert_eq!(Message::new("orders", vec![0; 10_000]).prepare(&rules).unwrap().sys_flag(), 0x301);
}

/// D8: a message is compressed once, and the caller's is as it was.
#[test]
fn d8_the_message_itself_stays_plain() {
    let message = Message::new("orders", text(5_120));
    let first = message.clone().prepare(&MessageRules::default()).unwrap();
    assert_eq!(message.body(), &text(5_120));
    assert_eq!(message.prepare(&MessageRules::default()).unwrap(), first);
}

#[test]
fn below_the_threshold_nothing_is_copied() {
    let body = text(4_095);
    assert_eq!(prepared(body.clone(), BodyCompression::default()).body().as_ptr(), body.as_ptr());
}
