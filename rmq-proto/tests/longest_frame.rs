//! Lengths that only a buffer of 2 GiB can state. The memory is never written to, so it costs nothing; that is why this is a
//! program of its own, without the allocator of the other tests, which counts, and clears what is to be zero by hand.

#![cfg(target_pointer_width = "64")]

use rmq_proto::frame::{FrameDecoder, FrameError};

#[test]
fn no_limit_makes_a_negative_length_good() {
    let mut frame = vec![0; 4 + (1 << 31)];
    frame[0] = 0x80;
    let error = FrameError::NegativeLength(i32::MIN);
    assert_eq!(FrameDecoder::new(usize::MAX).decode(&mut frame.into()), Err(error));
}
