//! Bodies of batches, wire §6.6. Elements that come out of a record are in `inner_batch`.

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use rmq_proto::message::{BatchElement, BatchElements, BatchEncodeError, RecordErrorKind, encode_batch};

use crate::support::*;

#[test]
fn nothing_is_a_batch_of_none() {
    assert!(batch(&[]).is_empty());
    assert_eq!(BatchElements::new(Bytes::new()).count(), 0);
}

#[test]
fn what_cannot_be_written_leaves_the_output_as_it_was() {
    let long = |len| BatchElement { properties: "p".repeat(len), ..BatchElement::default() };
    // Half a gigabyte that no page of memory is used for, shared by four elements.
    let huge = BatchElement { body: vec![0; 1 << 29].into(), ..BatchElement::default() };
    let max = i32::MAX as usize;
    let rows = [
        (
            vec![element("fine", "", 0), long(32_768)],
            BatchEncodeError::PropertiesTooLong { index: 1, len: 32_768, max: 32_767 },
        ),
        (vec![long(70_000)], BatchEncodeError::PropertiesTooLong { index: 0, len: 70_000, max: 32_767 }),
        (vec![huge; 4], BatchEncodeError::TooLong { index: 3, len: 4 * (22 + (1 << 29)), max }),
    ];
    for (elements, error) in rows {
        let mut out = BytesMut::from(&b"before"[..]);
        assert_eq!(encode_batch(&elements, &mut out), Err(error));
        assert_eq!(out, b"before"[..]);
    }
    let longest = [long(32_767)];
    assert_eq!(read(&batch(&longest)), longest);
}

#[test]
fn magic_number_and_checksum_are_not_looked_at() {
    let bytes = patched(&hex(E10), 4, &[0xFF; 8]);
    assert_eq!(read(&bytes), read(&hex(E10)));
}

#[test]
fn a_batch_that_is_cut_gives_its_whole_messages() {
    let bytes = hex(E10);
    for len in 0..bytes.len() {
        let read: Vec<_> = BatchElements::new(bytes.slice(..len)).collect();
        let whole = usize::from(len >= 37);
        assert_eq!(read.iter().flatten().count(), whole);
        let errors: Vec<_> = read.into_iter().filter_map(Result::err).collect();
        let start = 37 * whole;
        match &errors[..] {
            [] => assert_eq!(len, start),
            [error] => {
                assert_eq!((error.offset, error.len, error.queue_offset), (start, len - start, None));
                let available = len - start;
                let kind = if available < 4 {
                    RecordErrorKind::Cut { at: 0, needed: 4, available }
                } else {
                    RecordErrorKind::Length { length: if whole == 0 { 37 } else { 36 }, min: 22, available }
                };
                assert_eq!(error.kind, kind);
            }
            _ => panic!("{errors:?}"),
        }
    }
}

fn read(bytes: &Bytes) -> Vec<BatchElement> {
    BatchElements::new(bytes.clone()).map(|element| element.expect("an element")).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        elements in proptest::collection::vec(
            (any::<i32>(), proptest::collection::vec(any::<u8>(), 0..40), "\\PC{0,20}"), 0..8,
        ),
    ) {
        let elements: Vec<_> = elements
            .into_iter()
            .map(|(flag, body, properties)| BatchElement { flag, body: body.into(), properties })
            .collect();
        let bytes = batch(&elements);
        prop_assert_eq!(bytes.len(), elements.iter().map(BatchElement::encoded_len).sum::<usize>());
        prop_assert_eq!(read(&bytes), elements);
    }
}
