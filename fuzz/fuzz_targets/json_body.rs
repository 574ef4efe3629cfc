//! Any bytes, as the JSON body of any kind. The first byte is a letter for the kind, or anything else for all kinds; the body
//! follows.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use rmq_proto::body::{
    BatchAckRequest, BodyError, CheckClientConfig, ClusterInfo, ConsumeDirectlyResult, ConsumerList,
    ConsumerRunningInfo, ConsumerStatus, HeartbeatData, KvTable, LockBatchRequest, LockBatchResponse,
    QueryAssignmentRequest, QueryAssignmentResponse, RegisterBroker, ResetOffset, TopicList, TopicRouteData,
};
use rmq_proto::json::{JsonError, Kind, Reader};

fuzz_target!(|data: &[u8]| {
    let Some((&kind, body)) = data.split_first() else { return };
    match BODIES.get(usize::from(kind.wrapping_sub(b'a'))) {
        Some(check) => check(body),
        None => BODIES.iter().for_each(|check| check(body)),
    }
    if let Ok(mut json) = Reader::new(body) {
        let _ = assert_reads_agree(&mut json, body.len());
    }
});

/// From `a` on.
const BODIES: [fn(&[u8]); 17] = [
    |body| check(body, BatchAckRequest::decode, BatchAckRequest::encode),
    |body| check(body, CheckClientConfig::decode, CheckClientConfig::encode),
    |body| check(body, ClusterInfo::decode, ClusterInfo::encode),
    |body| check(body, ConsumeDirectlyResult::decode, ConsumeDirectlyResult::encode),
    |body| check(body, ConsumerList::decode, ConsumerList::encode),
    |body| check(body, ConsumerRunningInfo::decode, ConsumerRunningInfo::encode),
    |body| check(body, ConsumerStatus::decode, ConsumerStatus::encode),
    |body| check(body, HeartbeatData::decode, HeartbeatData::encode),
    |body| check(body, KvTable::decode, KvTable::encode),
    |body| check(body, LockBatchRequest::decode, LockBatchRequest::encode),
    |body| check(body, LockBatchResponse::decode, LockBatchResponse::encode),
    |body| check(body, QueryAssignmentRequest::decode, QueryAssignmentRequest::encode),
    |body| check(body, QueryAssignmentResponse::decode, QueryAssignmentResponse::encode),
    |body| check(body, RegisterBroker::decode, RegisterBroker::encode),
    |body| check(body, ResetOffset::decode, ResetOffset::encode),
    |body| check(body, TopicList::decode, TopicList::encode),
    |body| check(body, TopicRouteData::decode, TopicRouteData::encode),
];

/// What is read can be written and read again, and is then written in the same way.
fn check<T: PartialEq + std::fmt::Debug>(
    body: &[u8],
    decode: fn(&[u8]) -> Result<T, BodyError>,
    encode: fn(&T) -> Bytes,
) {
    match decode(body) {
        Ok(read) => {
            let written = encode(&read);
            let again = decode(&written).expect("our own body");
            assert_eq!(again, read);
            assert_eq!(encode(&again), written);
        }
        Err(error) => drop(error.to_string()),
    }
}

/// Whichever way a value is read, the reader then stands behind it.
fn assert_reads_agree(json: &mut Reader<'_>, len: usize) -> Result<(), JsonError> {
    let kind = json.peek()?;
    let (start, mut end) = (json.offset(), json.clone());
    let raw = end.skip_raw()?;
    assert!(start < end.offset() && end.offset() <= len);
    assert_eq!(raw.len(), end.offset() - start);
    assert_eq!(Reader::of(raw).skip_raw(), Ok(raw));

    let at = |mut other: Reader<'_>, read: fn(&mut Reader<'_>) -> Result<(), JsonError>| {
        if read(&mut other).is_ok() {
            assert_eq!(other.offset(), end.offset());
        }
    };
    at(json.clone(), |json| json.text().map(drop));
    at(json.clone(), |json| json.i32().map(drop));
    at(json.clone(), |json| json.i64().map(drop));
    at(json.clone(), |json| json.f64().map(drop));
    at(json.clone(), |json| json.boolean().map(drop));

    match kind {
        Kind::Object => {
            assert_eq!(json.object(), Ok(true));
            while json.key().expect("was skipped before").is_some() {
                assert_reads_agree(json, len).expect("was skipped before");
            }
        }
        Kind::Array => {
            assert_eq!(json.array(), Ok(true));
            while json.element().expect("was skipped before") {
                assert_reads_agree(json, len).expect("was skipped before");
            }
        }
        _ => json.skip()?,
    }
    assert_eq!(json.offset(), end.offset());
    Ok(())
}
