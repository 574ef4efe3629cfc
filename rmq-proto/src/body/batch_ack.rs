//! Acknowledgements of many popped messages in one request (wire §5.18).

use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::BodyError;
use super::value::{Sink, Source, Value};

/// How many offsets, from the start offset on, one [`BatchAck`] can tell apart. A pop gives 32 messages; they lie apart only
/// where messages between them did not match.
pub const MAX_ACK_BITS: u32 = 65_536;

/// As Java writes it; the padding may be missing, which Java's reader does not mind.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

objects! {
    /// The body of BATCH_ACK_MESSAGE (wire §5.18).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct BatchAckRequest {
        /// The acknowledgements.
        acks: Vec<BatchAck> = "acks",
        /// The broker that the messages were popped from.
        broker_name: String = required "brokerName",
    }

    /// Acknowledges messages of one queue that were popped together.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct BatchAck {
        /// Which messages, as distances of their queue offsets from `start_offset`.
        bits: AckBits = "b",
        /// The group that popped them.
        consumer_group: String = required "c",
        /// How long they were to stay invisible, in milliseconds.
        invisible_time: i64 = "it",
        /// When they were popped, in milliseconds since the Unix epoch, on the broker's clock.
        pop_time: i64 = "pt",
        /// The queue.
        queue_id: i32 = "q",
        /// The retry mark (wire §11.1).
        retry: String = required "r",
        /// The revive queue, from the pop's answer.
        revive_queue_id: i32 = "rq",
        /// The queue offset of the pop's first message.
        start_offset: i64 = "so",
        /// The plain topic, also for messages of its retry topics.
        topic: String = required "t",
    }
}

/// An offset that a [`BatchAck`] cannot hold; acknowledge that message by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("offset {offset} is not one of the {MAX_ACK_BITS} from {start_offset} on")]
pub struct AckOffsetError {
    /// The offset.
    pub offset: i64,
    /// The start offset.
    pub start_offset: i64,
}

impl BatchAck {
    /// Adds the message with this queue offset.
    ///
    /// # Errors
    ///
    /// An offset below the start offset, or [`MAX_ACK_BITS`] or more above it.
    pub fn insert(&mut self, offset: i64) -> Result<(), AckOffsetError> {
        let bit = offset.checked_sub(self.start_offset).and_then(|bit| u32::try_from(bit).ok());
        match bit.filter(|bit| *bit < MAX_ACK_BITS) {
            Some(bit) => {
                self.bits.set(bit);
                Ok(())
            }
            None => Err(AckOffsetError { offset, start_offset: self.start_offset }),
        }
    }

    /// The queue offsets of the messages, in order. Those that would pass the largest number there is are left out.
    pub fn offsets(&self) -> impl Iterator<Item = i64> + '_ {
        self.bits.iter().map_while(|bit| self.start_offset.checked_add(bit.into()))
    }
}

/// A set of numbers below [`MAX_ACK_BITS`], as the bits of bytes: number 9 is the second bit from below of the second byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AckBits {
    /// The last one is not zero.
    bytes: Vec<u8>,
}

impl AckBits {
    /// The numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).step_by(8).zip(&self.bytes).flat_map(|(first, byte)| {
            (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| first + bit)
        })
    }

    fn set(&mut self, bit: u32) {
        // A number below MAX_ACK_BITS fits any usize.
        let byte = (bit / 8) as usize;
        if self.bytes.len() <= byte {
            self.bytes.resize(byte + 1, 0);
        }
        self.bytes[byte] |= 1 << (bit % 8);
    }
}

impl Value for AckBits {
    fn read(source: &mut Source<'_>) -> Result<Self, BodyError> {
        let text = source.json.text()?.unwrap_or_default();
        let bad = BodyError::AckBits { offset: source.json.offset() };
        let mut bytes = BASE64.decode(&*text).map_err(|_| bad.clone())?;
        let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(len);
        if len > MAX_ACK_BITS as usize / 8 { Err(bad) } else { Ok(Self { bytes }) }
    }

    fn write(&self, sink: &mut Sink<'_>) {
        sink.json.text(&BASE64.encode(&self.bytes));
    }
}
