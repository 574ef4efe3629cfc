//! Signatures of requests, wire §8, BUG-17.
#![cfg(feature = "signing")]

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use rmq_proto::command::{CommandHead, HeaderFormat, RemotingCommand, encode_frame};
use rmq_proto::ext::{ExtFields, NoExt, WriteExt};
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_proto::header::{GetRouteHeader, SendMessageV2Header};
use rmq_proto::sign::{Credentials, CredentialsError, Scope, VerifyError};
use rmq_proto::version::Version;

const FORMATS: [HeaderFormat; 2] = [HeaderFormat::Json, HeaderFormat::RocketMq];

/// The body of wire E15.
const E15: &str = r#"{"clientID":"10.0.0.9@1234#5678","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"CG","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[2598919,2598920],"expressionType":"TAG","subString":"TagA || TagB","subVersion":1700000000000,"tagsSet":["TagA","TagB"],"topic":"TopicTest"}],"unitMode":false}],"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"PG"}],"withoutSub":false}"#;

fn credentials(access_key: &str, secret_key: &str) -> Credentials {
    Credentials::new(access_key, secret_key).expect("neither is empty")
}

/// Those of wire §8.3.
fn rocketmq() -> Credentials {
    credentials("RocketMQ", "12345678")
}

fn ext(fields: &[(&str, &str)]) -> ExtFields {
    fields.iter().copied().collect()
}

/// The header of wire E3.
fn e3() -> SendMessageV2Header<'static> {
    SendMessageV2Header {
        producer_group: Cow::Borrowed("PG"),
        topic: Cow::Borrowed("TopicTest"),
        default_topic: Cow::Borrowed("TBW102"),
        default_topic_queue_nums: 4,
        queue_id: 1,
        sys_flag: 0,
        born_timestamp: 1_700_000_000_000,
        flag: 0,
        properties: Some(Cow::Borrowed("TAGS\u{1}TagA\u{2}WAIT\u{1}true\u{2}")),
        reconsume_times: Some(0),
        unit_mode: Some(false),
        max_reconsume_times: None,
        batch: Some(false),
        broker_name: Some(Cow::Borrowed("broker-a")),
    }
}

/// The request that arrives when this header and body are sent.
fn sent(header: &impl WriteExt, body: &[u8], format: HeaderFormat) -> RemotingCommand {
    let mut out = BytesMut::new();
    encode_frame(&mut out, format, &CommandHead::request(1, 1), header, body.len())
        .expect("it can be written");
    out.extend_from_slice(body);
    let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
    let frame = decoder.decode(&mut out.freeze()).expect("our own frame").expect("all of it");
    RemotingCommand::decode(frame).expect("our own header")
}

fn verified(credentials: &Credentials, request: &RemotingCommand) -> Result<(), VerifyError> {
    credentials.verify(Scope::All, &request.ext, &request.body)
}

/// Names and values as they arrive.
fn fields(request: &RemotingCommand) -> Vec<(String, String)> {
    request.ext.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

#[test]
fn vectors() {
    // Wire §8.3.
    let with_token = rocketmq().with_security_token("tok");
    assert_eq!(
        rocketmq().sign(&ext(&[("topic", "TopicTest")]), b"").signature(),
        "0jiwhsaYp5ObE5GObbZH1I8/FT4="
    );
    assert_eq!(rocketmq().sign(&e3(), b"Hello").signature(), "EDiPPhzZUNTtt+RxDrFJDEqDhjk=");
    let group = ext(&[("consumerGroup", "CG")]);
    assert_eq!(with_token.sign(&group, b"").signature(), "0MmRILLKwECb0Cd3czzoENf9d2o=");
    assert_eq!(E15.len(), 481);
    assert_eq!(rocketmq().sign(&(), E15.as_bytes()).signature(), "PqRvn3GzZWtOuvlfzc2TX/+BUI8=");
    // Texts that are not ASCII.
    let signed = credentials("ak", "密钥");
    assert_eq!(
        signed.sign(&ext(&[("topic", "T"), ("x", "中")]), b"").signature(),
        "GzvlCFObuDuJpHIsA5pl1nE+dnI="
    );
}

#[test]
fn secret_keys_of_any_length() {
    let rows = [
        (1, "ybX1LlbmBfx2/ymhJIQCbOn/bws="),
        (63, "r2KVHUsuaVVIG5Pw2PLMKtOQSM4="),
        (64, "zwOWQgI7GdtkXy39ZYVB9j1JYMw="),
        (65, "pjnvgqe/vWaYQrQAWFVfaXOi2SU="),
        (80, "Ig1Ym51e/NQtM/ISWuw28RqiymE="),
    ];
    for (len, signature) in rows {
        let credentials = credentials("ak", &"k".repeat(len));
        assert_eq!(credentials.sign(&ext(&[("topic", "T")]), b"").signature(), signature, "{len}");
    }
}

#[test]
fn names_are_in_order() {
    // BUG-17.
    let credentials = credentials("ak", "sk").with_security_token("st");
    let header = ext(&[("topic", "T"), ("b", "TopicTest"), ("a", "GroupA")]);
    let signed = credentials.sign(&header, b"hello");
    assert_eq!(signed.signature(), "GM3/Y53phUNri6Z4JMicPapoUh8=");
    assert_eq!(credentials.sign(&header, b"hello").signature(), signed.signature(), "a second time");
    assert_eq!(credentials.sign(&header, b"").signature(), "5xlIrOMSJNhLmC3N0JwNJgaHQL0=", "no body");
    // What a sort that takes `A` for `a` makes.
    let mut request = sent(&signed, b"hello", HeaderFormat::Json);
    assert_eq!(verified(&credentials, &request), Ok(()));
    request.ext.insert("Signature", "k80iadnDklnD97i1OGlgy1DlAaE=");
    assert_eq!(verified(&credentials, &request), Err(VerifyError::Mismatch));
}

#[test]
fn the_order_is_that_of_java() {
    // Each row: fields in the order of signing. The text signed is that of one field with all their values.
    let rows: [&[&str]; 4] = [
        &["B", "Z", "_", "a", "z"],
        &["a", "a0", "aA", "a_", "aa", "b"],
        // By UTF-16 units: a character past U+FFFF begins with one below U+E000.
        &["z", "é", "中", "\u{1F389}", "\u{E000}", "\u{FFFF}"],
        &["\u{10000}\u{E000}", "\u{10FFFF}", "\u{FB01}"],
    ];
    for names in rows {
        let mut values = String::new();
        let mut fields = Vec::new();
        for (i, name) in names.iter().enumerate() {
            values.push_str(&format!("<{i}>"));
            fields.push((*name, format!("<{i}>")));
        }
        let expected = rocketmq().sign(&ext(&[("Z", &values)]), b"x").signature().to_owned();
        fields.reverse();
        let fields: ExtFields = fields.into_iter().collect();
        assert_eq!(rocketmq().sign(&fields, b"x").signature(), expected, "{names:?}");
    }
}

#[test]
fn what_is_written() {
    let with_token = rocketmq().with_security_token("tok");
    let header = GetRouteHeader { topic: "T".into(), accept_standard_json_only: None };
    for format in FORMATS {
        let signed = rocketmq().sign(&header, b"").signature().to_owned();
        let expected = [("topic", "T"), ("AccessKey", "RocketMQ"), ("Signature", &*signed)];
        let request = sent(&rocketmq().sign(&header, b""), b"", format);
        assert_eq!(fields(&request), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));

        let names: Vec<_> = fields(&sent(&with_token.sign(&header, b""), b"", format))
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["topic", "AccessKey", "SecurityToken", "Signature"]);
        // Also where there was no header at all.
        assert_eq!(verified(&rocketmq(), &sent(&rocketmq().sign(&NoExt, b"b"), b"b", format)), Ok(()));
    }
}

/// The room is enough for what is added, whatever characters it is of.
#[test]
fn room_is_left_for_a_signature() {
    for text in ["ak", "\u{1}\u{2}\"\\", "\u{1f600}\u{e4}"] {
        let credentials = credentials(text, "sk").with_security_token(text);
        for format in FORMATS {
            let (head, fields) = (CommandHead::request(1, 1), ext(&[("a", "b")]));
            let (mut plain, mut signed) = (BytesMut::new(), BytesMut::new());
            encode_frame(&mut plain, format, &head, &fields, 0).expect("it is short");
            encode_frame(&mut signed, format, &head, &credentials.sign(&fields, b""), 0)
                .expect("it is short");
            let added = signed.len() - plain.len();
            assert!(added <= credentials.room(), "{added} in {format:?}");
        }
    }
}

#[test]
fn what_was_signed_before_is_signed_anew() {
    let old = ext(&[
        ("AccessKey", "other"),
        ("SecurityToken", "old"),
        ("Signature", "AAAA"),
        ("topic", "T"),
        // Names of other fields, as names are in one case only.
        ("signature", "s"),
        ("accesskey", "a"),
    ]);
    let clean = ext(&[("topic", "T"), ("signature", "s"), ("accesskey", "a")]);
    for credentials in [rocketmq(), rocketmq().with_security_token("tok")] {
        let signed = credentials.sign(&old, b"body");
        assert_eq!(signed.signature(), credentials.sign(&clean, b"body").signature());
        for format in FORMATS {
            let request = sent(&signed, b"body", format);
            let again = sent(&credentials.sign(&request.ext, &request.body), &request.body, format);
            assert_eq!(fields(&again), fields(&request), "signing changes nothing that is signed");
            assert_eq!(verified(&credentials, &again), Ok(()));
            let mut names: Vec<_> = fields(&again).into_iter().map(|(name, _)| name).collect();
            names.sort();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "no field twice");
        }
    }
}

#[test]
fn absent_fields_are_not_signed() {
    let with = GetRouteHeader { topic: "T".into(), accept_standard_json_only: Some(true) };
    let without = GetRouteHeader { accept_standard_json_only: None, ..with.clone() };
    let signature = |header: &GetRouteHeader<'_>| rocketmq().sign(header, b"").signature().to_owned();
    assert_eq!(signature(&without), rocketmq().sign(&ext(&[("topic", "T")]), b"").signature());
    assert_ne!(signature(&with), signature(&without));
    // An empty token is none.
    let header = ext(&[]);
    let empty_token = rocketmq().with_security_token("");
    assert_eq!(empty_token, rocketmq());
    assert_eq!(fields(&sent(&empty_token.sign(&header, b""), b"", HeaderFormat::Json)).len(), 2);
}

#[test]
fn the_last_of_two_fields_counts() {
    let header = r#"{"code":1,"extFields":{"t":"old","AccessKey":"RocketMQ","t":"new"}}"#;
    let header = Bytes::from_static(header.as_bytes());
    let frame = rmq_proto::frame::Frame { format: HeaderFormat::Json, header, body: Bytes::new() };
    let request = RemotingCommand::decode(frame).expect("it can be read");
    let signature = rocketmq().sign(&ext(&[("t", "new")]), b"").signature().to_owned();
    assert_eq!(rocketmq().sign(&request.ext, b"").signature(), signature);
}

#[test]
fn a_field_of_queries_is_signed_or_not() {
    let query = ext(&[
        ("topic", "T"),
        ("key", "k"),
        ("maxNum", "32"),
        ("beginTimestamp", "0"),
        ("endTimestamp", "9"),
        ("_UNIQUE_KEY_QUERY", "true"),
    ]);
    let rows = [
        (Scope::All, "8aSjVNSf5/6B5ZgGIQzwYKcZIrQ="),
        (Scope::WithoutUniqueKeyQuery, "9FIgLU0dkOhBjfuuMIMULECDi6o="),
    ];
    for (scope, signature) in rows {
        let credentials = rocketmq();
        let signed = credentials.sign_for(scope, &query, b"");
        assert_eq!(signed.signature(), signature);
        let request = sent(&signed, b"", HeaderFormat::Json);
        assert_eq!(request.ext.value("_UNIQUE_KEY_QUERY").as_deref(), Some("true"), "written in any case");
        for server in [Scope::All, Scope::WithoutUniqueKeyQuery] {
            let expected = if server == scope { Ok(()) } else { Err(VerifyError::Mismatch) };
            assert_eq!(rocketmq().verify(server, &request.ext, b""), expected);
        }
    }
    assert_eq!(rocketmq().sign(&query, b"").signature(), rows[0].1);
}

#[test]
fn scopes_of_brokers() {
    use Scope::{All, WithoutUniqueKeyQuery};
    // broker, for a client of 4.9.3, for one of 4.9.4 and later
    let rows = [
        (0, All, All),
        (293, All, All),
        (352, All, All),
        (353, WithoutUniqueKeyQuery, WithoutUniqueKeyQuery),
        (409, WithoutUniqueKeyQuery, WithoutUniqueKeyQuery),
        (413, WithoutUniqueKeyQuery, WithoutUniqueKeyQuery),
        (432, WithoutUniqueKeyQuery, WithoutUniqueKeyQuery),
        (433, WithoutUniqueKeyQuery, All),
        (479, WithoutUniqueKeyQuery, All),
        (612, WithoutUniqueKeyQuery, All),
    ];
    for (broker, old, new) in rows {
        let scope = |client| Scope::of(Version(broker), client);
        assert_eq!(scope(Version(399)), old, "{broker}");
        for client in [Version(400), Version(401), Version::CURRENT] {
            assert_eq!(scope(client), new, "{broker} {client}");
        }
    }
}

#[test]
fn what_is_not_signed_so() {
    let good = sent(&rocketmq().sign(&e3(), b"Hello"), b"Hello", HeaderFormat::Json);
    assert_eq!(verified(&rocketmq(), &good), Ok(()));
    let with = |name: &str, value: &str| {
        let mut request = good.clone();
        request.ext.insert(name, value);
        request
    };
    let without = |left_out: &str| RemotingCommand {
        ext: good.ext.iter().filter(|(name, _)| name != left_out).collect(),
        ..good.clone()
    };
    let rows = [
        (without("AccessKey"), VerifyError::NoAccessKey),
        (without("Signature"), VerifyError::NoSignature),
        (with("AccessKey", "rocketmq"), VerifyError::OtherAccessKey),
        (with("AccessKey", ""), VerifyError::OtherAccessKey),
        (without("a"), VerifyError::Mismatch),
        (with("a", "pg"), VerifyError::Mismatch),
        // Fields that came after the signature: wire §8.1.
        (with("__ZONE_NAME", "z"), VerifyError::Mismatch),
        (with("SecurityToken", "tok"), VerifyError::Mismatch),
        (good.clone().with_body(Bytes::from_static(b"hello")), VerifyError::Mismatch),
        (good.clone().with_body(Bytes::new()), VerifyError::Mismatch),
        // Signatures that cannot be: empty, no base64, short, long, without padding, with blanks.
        (with("Signature", ""), VerifyError::Mismatch),
        (with("Signature", "中"), VerifyError::Mismatch),
        (with("Signature", "EDiPPhzZUNTtt+RxDrFJDEqDhg=="), VerifyError::Mismatch),
        (with("Signature", "EDiPPhzZUNTtt+RxDrFJDEqDhjkA"), VerifyError::Mismatch),
        (with("Signature", "EDiPPhzZUNTtt+RxDrFJDEqDhjkAAAAAAAAA"), VerifyError::Mismatch),
        (with("Signature", "EDiPPhzZUNTtt+RxDrFJDEqDhjk"), VerifyError::Mismatch),
        (with("Signature", "EDiPPhzZUNTtt-RxDrFJDEqDhjk="), VerifyError::Mismatch),
        (with("Signature", "EDiPPhzZUNTtt+RxDrFJDEqDhjk= "), VerifyError::Mismatch),
        (with("Signature", "EDiPPhzZUNTtt+RxDrFJDEqDhjl="), VerifyError::Mismatch),
    ];
    for (request, error) in rows {
        assert_eq!(verified(&rocketmq(), &request), Err(error), "{request:?}");
    }
    assert_eq!(verified(&credentials("RocketMQ", "12345679"), &good), Err(VerifyError::Mismatch));
    assert_eq!(verified(&rocketmq(), &RemotingCommand::request(1)), Err(VerifyError::NoAccessKey));
}

#[test]
fn opaque_and_code_are_not_signed() {
    let header = e3();
    let mut request = sent(&rocketmq().sign(&header, b"Hello"), b"Hello", HeaderFormat::Json);
    (request.opaque, request.code, request.remark) = (77, 10, Some("again".to_owned()));
    assert_eq!(verified(&rocketmq(), &request), Ok(()));
}

#[test]
fn credentials_that_cannot_be() {
    assert_eq!(Credentials::new("", "sk"), Err(CredentialsError::EmptyAccessKey));
    assert_eq!(Credentials::new("ak", ""), Err(CredentialsError::EmptySecretKey));
    assert_eq!(credentials("ak", "sk").access_key(), "ak");
    assert_ne!(credentials("ak", "sk"), credentials("ak", "sk2"));
}

#[test]
fn nothing_secret_is_shown() {
    let credentials = credentials("who-i-am", "top-secret").with_security_token("for-now");
    let header = ext(&[("topic", "T"), ("AccessKey", "who-i-was"), ("Signature", "c2VjcmV0")]);
    let signed = credentials.sign(&header, b"");
    let request = sent(&signed, b"", HeaderFormat::Json);
    let shown = format!("{credentials:?} {credentials:#?} {signed:?} {signed:#?} {request:?}");
    for secret in ["who-i", "top-secret", "for-now", "c2VjcmV0", signed.signature()] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    assert!(shown.contains("topic"));
}

#[test]
fn signing_allocates_little() {
    let (credentials, header) = (rocketmq(), e3());
    let counted = allocation_counter::measure(|| {
        std::hint::black_box(credentials.sign(&header, b"Hello").signature());
    });
    assert!(counted.count_total <= 2, "{counted:?}");
}

proptest! {
    #[test]
    fn what_is_signed_is_verified(
        fields in proptest::collection::vec(("[A-Za-z_é\u{FFFF}\u{10000}]{1,3}", "\\PC{0,9}"), 0..12),
        token in proptest::option::of("\\PC{1,9}"),
        body in proptest::collection::vec(any::<u8>(), 0..40),
        at: proptest::sample::Index,
    ) {
        let credentials = match token {
            Some(token) => rocketmq().with_security_token(token),
            None => rocketmq(),
        };
        let header: ExtFields = fields.into_iter().collect();
        let signed = credentials.sign(&header, &body);
        for format in FORMATS {
            let request = sent(&signed, &body, format);
            prop_assert_eq!(verified(&credentials, &request), Ok(()));
            if !body.is_empty() {
                let mut other = body.clone();
                other[at.index(body.len())] ^= 1;
                let other = request.clone().with_body(other.into());
                prop_assert_eq!(verified(&credentials, &other), Err(VerifyError::Mismatch));
            }
            // A character more in the value of any field.
            let mut other = request.clone();
            let names: Vec<_> = request.ext.iter().map(|(name, _)| name.into_owned()).collect();
            let name = &names[at.index(names.len())];
            let value = format!("{}x", request.ext.value(name).expect("it is there"));
            other.ext.insert(name.clone(), value);
            prop_assert!(verified(&credentials, &other).is_err());
        }
    }

    #[test]
    fn any_request_can_be_checked(
        fields in proptest::collection::vec(("AccessKey|Signature|SecurityToken|t", "RocketMQ|[A-Za-z0-9+/=]{0,30}|\\PC{0,9}"), 0..6),
        body in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let fields: ExtFields = fields.into_iter().collect();
        prop_assert!(rocketmq().verify(Scope::All, &fields, &body).is_err());
    }
}
